// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/output.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace tuner::cli {

void open_missing_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest number that is free, which is this one. Whoever misses a result must hear of it.
    static_cast<void>(::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY));
  }
}

void tell(std::string_view text) noexcept {
  const Terminal terminal(STDERR_FILENO, ColorChoice::never);
  const std::string encoded = terminal.encoded(text);
  std::fwrite(encoded.data(), 1, encoded.size(), stderr);
}

std::string json_text(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Output::Output(const CommonOptions& common) : terminal_(STDOUT_FILENO, common.color) {}

void Output::write(const std::string& text) const {
  fmt::print("{}", terminal_.encoded(text));
}

void flush_result() {
  if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category());
}

}  // namespace tuner::cli
