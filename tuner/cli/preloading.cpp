// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/preloading.hpp"

#include "tuner/cli/database.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/core/environment.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/trust.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tuner::cli {
namespace {

namespace fs = std::filesystem;

/// Of this program: built, installed, or both in neighbouring folders; none that others may change.
fs::path preloaded_library(const char* name) {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  const fs::path folder = program.parent_path();
  for (const fs::path& candidate : {folder / TUNER_LIBRARY_FOLDER / name,
                                    folder / ".." / "lib" / name, folder / "lib" / name}) {
    std::error_code unreadable;
    fs::path found = fs::canonical(candidate, unreadable);
    if (!unreadable && !distrust(found)) return found;
  }
  throw Error(ErrorCode::failure,
              fmt::format("{} was not found beside {}: it is built and installed with the CUDA "
                          "backend (-DTUNER_CUDA=ON)",
                          name, program.string()));
}

void set(const char* name, const std::string& value) {
  ::setenv(name, value.c_str(), 1);
}

/// This program ignores them, which a program that it starts would inherit.
void restore_signals() {
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_DFL);
}

std::vector<char*> as_arguments(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  return arguments;
}

/// Says why a program cannot be started; the exit code that a shell has for it.
int tell_of_no_start(const std::string& program, int error) {
  constexpr int kNotFound = 127, kNotExecutable = 126;
  tell_error(fmt::format("{} cannot be started: {}", program, std::strerror(error)),
             ColorChoice::automatic);
  return error == ENOENT ? kNotFound : kNotExecutable;
}

// Whom signals are for: a handler sees nothing else.
std::atomic<pid_t> running_program = 0;
static_assert(std::atomic<pid_t>::is_always_lock_free);

/// The terminal sends its signals to all processes of the foreground; a signal that is sent to this
/// process is meant for the program.
void pass_on(int signal, siginfo_t* info, void*) {
  const int error = errno;
  const pid_t program = running_program;
  if (info->si_code <= 0 && program > 0) ::kill(program, signal);
  errno = error;
}

/// While it lives, signals are the program's; those that arrive before begin() wait for it.
class PassedSignals {
 public:
  PassedSignals() {
    struct sigaction action {};
    action.sa_sigaction = &pass_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigset_t all;
    ::sigemptyset(&all);
    for (const int signal : kSignals) ::sigaddset(&all, signal);
    ::sigprocmask(SIG_BLOCK, &all, &mask_);
    for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &old_[i]);
  }
  /// What was blocked before, and the program is to start with.
  [[nodiscard]] const sigset_t& mask() const { return mask_; }
  void begin(pid_t program) {
    running_program = program;
    ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }
  ~PassedSignals() {
    running_program = 0;
    for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &old_[i], nullptr);
    ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }
  PassedSignals(const PassedSignals&) = delete;
  PassedSignals& operator=(const PassedSignals&) = delete;

 private:
  static constexpr std::array kSignals = {SIGINT,  SIGTERM, SIGHUP,   SIGQUIT,
                                          SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT};
  std::array<struct sigaction, kSignals.size()> old_{};
  sigset_t mask_{};
};

}  // namespace

void set_preloaded(const char* name) {
  const std::string library = preloaded_library(name).string();
  if (library.find_first_of(": ") != std::string::npos) {
    throw Error(ErrorCode::failure, fmt::format("{}: the dynamic linker accepts no path with a "
                                                "colon or a space: install tuner elsewhere",
                                                library));
  }
  const std::string others = environment_variable("LD_PRELOAD");
  set("LD_PRELOAD", others.empty() ? library : library + ":" + others);
}

void set_preloading(const CommonOptions& common, const std::string& mode) {
  set_preloaded("libtuner_cublas.so");
  set("TUNER_CUBLAS", mode);
  std::error_code missing;
  const fs::path database = database_path(common);
  if (common.database || fs::exists(database, missing)) set("TUNER_DB", fs::absolute(database));
}

int become_program(const std::vector<std::string>& words) {
  restore_signals();
  ::execvp(words.front().c_str(), as_arguments(words).data());
  return tell_of_no_start(words.front(), errno);
}

Expected<int, int> run_program(const std::vector<std::string>& words) {
  PassedSignals passed;
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t defaults;
  ::sigemptyset(&defaults);
  for (const int signal : {SIGPIPE, SIGXFSZ}) ::sigaddset(&defaults, signal);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setsigmask(&attributes, &passed.mask());
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  pid_t program = 0;
  const int error = ::posix_spawnp(&program, words.front().c_str(), nullptr, &attributes,
                                   as_arguments(words).data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return Unexpected(tell_of_no_start(words.front(), error));
  passed.begin(program);
  int status = 0;
  while (::waitpid(program, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace tuner::cli
