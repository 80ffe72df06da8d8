// SPDX-License-Identifier: Apache-2.0
#include "tuner/cluster/agent_messages.hpp"

#include "tuner/core/file.hpp"
#include "tuner/core/hash.hpp"
#include "tuner/core/printable.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unistd.h>

namespace tuner::cluster {

AgentProgram this_program() {
  constexpr std::size_t kLargest = std::size_t{1} << 30;
  return {.version = TUNER_VERSION, .hash = content_hash({read_file("/proc/self/exe", kLargest)})};
}

void validate(AgentHello& hello) {
  constexpr int kMost = 1 << 16;
  hello.threads = std::clamp(hello.threads, 1, kMost);
  for (std::string* text : {&hello.host, &hello.job, &hello.processors}) *text = printable(*text);
}

std::string token_proof(Role role, const std::string& token, const std::string& challenge,
                        const std::string& nonce) {
  const std::string_view side = role == Role::parent ? "parent" : "agent";
  return sha256(std::array<std::string_view, 4>{token, side, challenge, nonce});
}

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace tuner::cluster
