// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace tuner {

/// How a program ended.
struct ProcessEnd {
  int exit_code = 0;  ///< 128 + signal number when a signal ended it
  int signal = 0;     ///< 0 when it ended by itself

  /// "ended with exit code 3", "was ended by signal 11 (Segmentation fault)".
  [[nodiscard]] std::string text() const;
};

/// Where the descriptors of a program lead; -1: /dev/null.
struct ProcessStreams {
  int input = -1;    ///< its descriptor 0
  int output = -1;   ///< its descriptor 1
  int errors = -1;   ///< its descriptor 2
  int channel = -1;  ///< its descriptor 3; absent when -1
};

/// What a program is started into: a session of its own, without a terminal.
enum class Surroundings {
  reduced,  ///< of the environment what compilers and drivers need; no open files but its streams
  bare,     ///< likewise, of the environment only what says where libraries and headers of CUDA are
  users,    ///< the whole environment, and the files that are open
};

/// What a program may use. Time and memory are enforced by the kernel on it and on what it starts.
/// Where this process is confined without outside access, the program has this process's limits
/// instead.
struct ProcessLimits {
  std::optional<std::chrono::seconds> processor_time = {};
  std::optional<std::uint64_t> address_space_bytes = {};
  std::optional<std::uint64_t> file_bytes = {};  ///< of each file that it writes
  std::filesystem::path temporary_files = {};    ///< its TMPDIR; empty: as this program's
  Surroundings surroundings = Surroundings::reduced;
};

/// From now on a process that a child leaves behind ends with that child: what leaves the child's
/// process group too, as daemons do. For programs whose children are all started by ChildProcess.
void adopt_orphans();

/// Sends SIGKILL to every program that ChildProcess has started and not reaped, with its group: for
/// a program that ends at once and must leave none behind.
void kill_children();

/// A program in a session of its own; killed with its group, and reaped, when the owner goes. It
/// leaves no core file. One that was started before confine_process() can no longer be killed.
class ChildProcess {
 public:
  /// Starts a program without a shell. The first argument is the program, looked up on PATH. Throws
  /// Error(failure) when it cannot be started.
  ChildProcess(const std::vector<std::string>& arguments, const ProcessStreams& streams,
               const ProcessLimits& limits = {});
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Sends SIGTERM to the whole group.
  void ask_to_end() const;
  /// Sends SIGKILL to the whole group; whether this process may.
  bool kill() const;  // NOLINT(modernize-use-nodiscard): most children can be
  /// Waits for the end.
  [[nodiscard]] ProcessEnd wait();
  /// How it ended, once it has.
  [[nodiscard]] std::optional<ProcessEnd> poll_end();

 private:
  [[nodiscard]] ProcessEnd ended(int status);

  pid_t pid_ = -1;
  std::optional<ProcessEnd> end_;
};

/// What a program that is run reads, and what of its words is kept.
struct ProcessTexts {
  std::string_view input = {};                             ///< it finds this as descriptor 0
  std::size_t most_output_bytes = std::size_t{64} * 1024;  ///< what is beyond is left out
  bool keeps_errors = true;                                ///< stderr counts as output, too
};

/// What a program said and how it ended.
struct ProcessResult {
  int exit_code = 0;       ///< 128 + signal number when a signal ended it
  bool timed_out = false;  ///< it was killed at the deadline
  std::string output;      ///< stdout, and stderr where it is kept
};

/// Runs a program without a shell and waits for it. At the deadline its whole process group is
/// killed. Throws Error(failure) when it cannot be started.
[[nodiscard]] ProcessResult run_process(const std::vector<std::string>& arguments,
                                        std::chrono::milliseconds deadline,
                                        const ProcessLimits& limits = {},
                                        const ProcessTexts& texts = {});

}  // namespace tuner
