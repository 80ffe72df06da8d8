// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/launched_agents.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/core/environment.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/process.hpp"
#include "tuner/worker/worker_main.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <sys/prctl.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace {

/// The reader of the result has gone, as `head` does when it has enough: ends as programs do that
/// do not ignore the signal.
void end_by_sigpipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
}

/// With $TUNER_PARENT, the number of the process that started this one and waits for it: this one
/// ends when the other does, however that ends, as by SIGTERM.
void end_with_parent() {
  const std::string parent = tuner::environment_variable("TUNER_PARENT");
  if (parent.empty()) return;
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (!std::filesystem::exists("/proc/" + parent)) std::raise(SIGTERM);  // before the call
}

}  // namespace

int main(int argc, char** argv) {
  using tuner::ErrorCode;
  using tuner::printable;
  using tuner::cli::tell_error;
  tuner::cli::open_missing_streams();
  // A reader that has gone and a file that may not grow are errors of a write, not the end.
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto color = tuner::cli::asked_color(arguments);
  try {
    // Not a command for people: what `tune` starts itself as, in a process of its own.
    if (!arguments.empty() && arguments.front() == "worker") {
      const auto role = std::span(arguments).subspan(1);
      return tuner::cli::is_agent(role) ? tuner::cli::run_agent()
                                        : tuner::worker::worker_main(role);
    }
    // Which characters the terminal shows. Numbers stay as they are in C.
    std::setlocale(LC_CTYPE, "");
    tuner::adopt_orphans();
    end_with_parent();
    const int exit_code = tuner::cli::run(argc, argv);
    tuner::cli::flush_result();
    return exit_code;
  } catch (const tuner::Error& error) {
    tell_error(printable(error.what()), color);
    tuner::cli::print_error_document(error, arguments);
    return static_cast<int>(error.code());
  } catch (const std::system_error& error) {
    if (std::ferror(stdout) != 0 && error.code().value() == EPIPE) end_by_sigpipe();
    tell_error(std::ferror(stdout) != 0
                   ? fmt::format("the result cannot be written: {}", error.code().message())
                   : printable(error.what()),
               color);
  } catch (const std::exception& error) {
    tell_error(fmt::format("{} (this is a defect of tune; please report it with the command)",
                           printable(error.what())),
               color);
  }
  return static_cast<int>(ErrorCode::failure);
}
