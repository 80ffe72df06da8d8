// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/output.hpp"

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace tuner::cli {

void tell(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void flush_result() {
  if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category());
}

}  // namespace tuner::cli
