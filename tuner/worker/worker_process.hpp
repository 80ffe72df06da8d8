// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/file.hpp"
#include "tuner/core/process.hpp"
#include "tuner/worker/channel.hpp"

#include <chrono>
#include <string>
#include <variant>
#include <vector>

namespace tuner::worker {

/// Takes what a program writes to a descriptor, its stderr as a rule, for the message about its
/// end: a file in memory that cannot grow, so whatever it writes, the rest is refused.
class LastWords {
 public:
  /// Throws Error(failure) when there is no memory for it.
  LastWords();
  ~LastWords();
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;

  [[nodiscard]] int descriptor() const { return file_; }
  /// The last of what was written, without the line ends after it; empty: nothing.
  [[nodiscard]] std::string text() const;

 private:
  int file_;
};

/// How to start a worker: the program and its arguments. It finds its end of the channel as
/// descriptor 3 (worker_main.hpp).
using WorkerCommand = std::vector<std::string>;

/// This very program as a worker: `tune worker <arguments>`.
[[nodiscard]] WorkerCommand worker_command(std::vector<std::string> arguments);

/// That a worker is gone, and how: for the message about what it was doing.
struct WorkerLost {
  bool late = false;     ///< it missed its deadline and was killed; else it died by itself
  bool faulted = false;  ///< a signal for what it did itself ended it, such as SIGSEGV or SIGABRT
  bool killed = false;   ///< by SIGKILL, which others send: the user, the system short of memory
  bool trapped = false;  ///< by SIGILL, as by a failed assert
  bool divided = false;  ///< by SIGFPE, for an integer quotient that does not exist
  std::string how;       ///< "was ended by signal 11 (Segmentation fault)", and what it last said
};

/// A worker and the channel to it, as its parent sees them. All deadlines are kept here, and a
/// worker that misses one is killed with all that it started: nothing is asked of a process that
/// does not answer. Once lost it stays lost. It has a folder for temporary files of its own, which
/// goes with it however it ends.
class WorkerProcess {
 public:
  WorkerProcess(const WorkerCommand& command, const ProcessLimits& limits);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Whether it still runs.
  [[nodiscard]] bool alive();
  /// Sends a message; what goes wrong shows in the next receive.
  void send(const Json& message);
  [[nodiscard]] std::variant<Json, WorkerLost> receive(std::chrono::duration<double> deadline);

 private:
  WorkerProcess(const WorkerCommand& command, const ProcessLimits& limits,
                std::pair<Channel, Channel> ends);
  [[nodiscard]] WorkerLost lost(bool late, std::chrono::duration<double> deadline);

  Channel channel_;
  TemporaryDirectory temporary_files_;
  LastWords errors_;
  ChildProcess child_;
};

}  // namespace tuner::worker
