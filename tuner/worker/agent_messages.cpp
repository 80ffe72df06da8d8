// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/agent_messages.hpp"

#include "tuner/core/file.hpp"
#include "tuner/core/hash.hpp"

#include <array>
#include <unistd.h>

namespace tuner::worker {

AgentProgram this_program() {
  constexpr std::size_t kLargest = std::size_t{1} << 30;
  return {.version = TUNER_VERSION, .hash = content_hash({read_file("/proc/self/exe", kLargest)})};
}

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace tuner::worker
