// SPDX-License-Identifier: Apache-2.0
// Stands in for tuner/core/failpoint.cpp in the program `tune_killable`: says which failpoints a
// run passes, and kills the process with SIGKILL at one of them.
//
//   TUNER_KILL_TRACE  a file to which every point passed adds a line "ROLE PID NAME"
//   TUNER_KILL_AT     "ROLE NAME COUNT [AFTER]": where, in any process of this role, to die: the
//                     COUNT-th time it passes NAME, counted from the first time it passes AFTER
//   TUNER_KILL_LATCH  a file that is made by who dies; while it is there nobody else does
//
// The role is `worker` for what `tune` starts as `tune worker`, else `parent`. The writes of SQLite
// are failpoints of their own here: a commit is many of them, and a kill may fall between any two.
#include "tuner/core/failpoint.hpp"

#include <sqlite3.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <unistd.h>

namespace {

std::string setting(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string own_role() {
  std::ifstream arguments("/proc/self/cmdline");
  std::string program;
  std::string command;
  std::getline(arguments, program, '\0');
  std::getline(arguments, command, '\0');
  return command == "worker" ? "worker" : "parent";
}

class Killer {
 public:
  Killer() {
    std::istringstream(setting("TUNER_KILL_AT")) >> its_role_ >> point_ >> count_ >> after_;
    counts_ = after_.empty();
    if (!trace_path_.empty()) {
      trace_ = ::open(trace_path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    }
  }

  void pass(std::string_view name) {
    const std::string line =
        role_ + ' ' + std::to_string(::getpid()) + ' ' + std::string(name) + '\n';
    if (trace_ >= 0 && ::write(trace_, line.data(), line.size()) < 0) std::abort();
    if (name == after_) counts_ = true;
    if (role_ != its_role_ || !counts_ || name != point_ || ++passed_ != count_) return;
    const int latch = ::open(latch_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (latch < 0) return;
    if (::write(latch, line.data(), line.size()) < 0) std::abort();
    ::kill(::getpid(), SIGKILL);
  }

 private:
  std::string role_ = own_role();
  std::string trace_path_ = setting("TUNER_KILL_TRACE");
  std::string latch_path_ = setting("TUNER_KILL_LATCH");
  int trace_ = -1;
  std::string its_role_;
  std::string point_;
  int count_ = 0;
  std::string after_;
  std::atomic<bool> counts_ = false;
  std::atomic<int> passed_ = 0;
};

Killer& killer() {
  static Killer killer;
  return killer;
}

/// In two halves, as a disk that loses power or a process that is killed may leave it.
ssize_t write_in_halves(int file, const void* bytes, size_t size, off64_t at) {
  tuner::failpoint("sqlite.writing");
  const size_t half = size / 2;
  const ssize_t first = ::pwrite64(file, bytes, half, at);
  if (first != static_cast<ssize_t>(half)) return first;
  tuner::failpoint("sqlite.half_written");
  const ssize_t second = ::pwrite64(file, static_cast<const char*>(bytes) + half, size - half,
                                    at + static_cast<off64_t>(half));
  return second < 0 ? second : first + second;
}

int truncate(int file, off_t size) {
  tuner::failpoint("sqlite.truncating");
  return ::ftruncate(file, size);
}

template <class Function>
void replace(const char* name, Function* function) {
  sqlite3_vfs* const files = sqlite3_vfs_find(nullptr);
  if (files->xGetSystemCall(files, name) == nullptr) return;
  files->xSetSystemCall(files, name, reinterpret_cast<sqlite3_syscall_ptr>(function));
}

/// Before `main`: nothing of SQLite's runs earlier.
[[maybe_unused]] const bool replaced = [] {
  replace("pwrite", write_in_halves);
  replace("pwrite64", write_in_halves);
  replace("ftruncate", truncate);
  return true;
}();

}  // namespace

namespace tuner {

void failpoint(std::string_view name) noexcept {
  killer().pass(name);
}

}  // namespace tuner
