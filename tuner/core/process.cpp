// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/process.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tuner {
namespace {

constexpr std::size_t kOutputLimit = std::size_t{64} * 1024;

/// The reading end of a pipe and a child that writes to it; kills and reaps what is left.
class Child {
 public:
  explicit Child(const std::vector<std::string>& arguments) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail(arguments.front(), errno);
    output_ = ends[0];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (const std::string& argument : arguments)
      argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    const int error = ::posix_spawnp(&pid_, argv[0], &actions, &attributes, argv.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (error != 0) {
      ::close(output_);
      fail(arguments.front(), error);
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) {
      kill();
      static_cast<void>(wait());
    }
    ::close(output_);
  }

  [[nodiscard]] int output() const { return output_; }
  void kill() const { ::kill(-pid_, SIGKILL); }
  [[nodiscard]] int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    return ended(status);
  }
  /// The exit code, once it has ended.
  [[nodiscard]] std::optional<int> poll_exit() {
    int status = 0;
    return ::waitpid(pid_, &status, WNOHANG) == pid_ ? std::optional(ended(status)) : std::nullopt;
  }

 private:
  [[noreturn]] static void fail(const std::string& program, int error) {
    throw Error(ErrorCode::failure,
                fmt::format("{}: cannot be started: {}", program, std::strerror(error)));
  }

  int ended(int status) {
    pid_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

  pid_t pid_ = -1;
  int output_ = -1;
};

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments,
                          std::chrono::milliseconds deadline) {
  using Clock = std::chrono::steady_clock;
  Child child(arguments);
  ProcessResult result;
  std::array<char, 4096> buffer{};
  const auto end = Clock::now() + deadline;
  bool open = true;  // some process may still write to us
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) {
      child.kill();
      result.timed_out = true;
      result.exit_code = child.wait();
      return result;
    }
    if (open) {
      pollfd waiting{.fd = child.output(), .events = POLLIN, .revents = 0};
      if (::poll(&waiting, 1, static_cast<int>(left.count())) <= 0) continue;
      const ssize_t got = ::read(child.output(), buffer.data(), buffer.size());
      open = got > 0;
      if (!open) continue;
      const std::size_t room = kOutputLimit - result.output.size();
      result.output.append(buffer.data(), std::min(room, static_cast<std::size_t>(got)));
    } else if (const auto exit_code = child.poll_exit()) {
      result.exit_code = *exit_code;
      return result;
    } else {
      // Output is closed but the program runs on: rare, so looking now and then is enough.
      ::usleep(1'000);
    }
  }
}

}  // namespace tuner
