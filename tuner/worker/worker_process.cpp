// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/worker_process.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace tuner::worker {
namespace {

// Bytes of a program's last words: as many are kept and told.
constexpr off_t kKept = off_t{64} * 1024;
constexpr std::size_t kTold = 500;

std::string own_program() {
  std::string path(4096, '\0');
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) {
    throw Error(ErrorCode::failure, "cannot find the path of this program in /proc/self/exe");
  }
  path.resize(static_cast<std::size_t>(length));
  return path;
}

/// Whether a process ended by what it did itself.
bool is_fault(const ProcessEnd& end) {
  constexpr std::array kFaults = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGTRAP};
  return std::ranges::count(kFaults, end.signal) > 0;
}

ProcessLimits within(ProcessLimits limits, const std::filesystem::path& temporary_files) {
  limits.temporary_files = temporary_files;
  return limits;
}

}  // namespace

LastWords::LastWords() : file_(::memfd_create("tune-stderr", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  if (file_ < 0 || ::ftruncate(file_, kKept) != 0 ||
      ::fcntl(file_, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) != 0) {
    throw Error(ErrorCode::failure,
                fmt::format("cannot keep the messages of a program: {}", std::strerror(errno)));
  }
}

LastWords::~LastWords() {
  ::close(file_);
}

std::string LastWords::text() const {
  const off_t written = ::lseek(file_, 0, SEEK_CUR);  // the program's descriptor shares the offset
  if (written <= 0) return "";
  std::string text(static_cast<std::size_t>(written), '\0');
  const ssize_t got = ::pread(file_, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.size() > kTold) text.erase(0, text.size() - kTold);
  return text;
}

WorkerCommand worker_command(std::vector<std::string> arguments) {
  WorkerCommand command = {own_program(), "worker"};
  command.insert(command.end(), std::make_move_iterator(arguments.begin()),
                 std::make_move_iterator(arguments.end()));
  return command;
}

WorkerProcess::WorkerProcess(const WorkerCommand& command, const ProcessLimits& limits)
    : WorkerProcess(command, limits, Channel::pair()) {}

WorkerProcess::WorkerProcess(const WorkerCommand& command, const ProcessLimits& limits,
                             std::pair<Channel, Channel> ends)
    : channel_(std::move(ends.first)),
      child_(command,
             {.output = -1, .errors = errors_.descriptor(), .channel = ends.second.descriptor()},
             within(limits, temporary_files_.path())) {}

bool WorkerProcess::alive() {
  return !child_.poll_end();
}

void WorkerProcess::send(const Json& message) {
  // A worker that does not read is as lost as one that does not answer.
  constexpr std::chrono::seconds kPatience{10};
  if (channel_.send(message, Channel::Clock::now() + kPatience) == Channel::Sending::late) {
    child_.kill();
  }
}

std::variant<Json, WorkerLost> WorkerProcess::receive(std::chrono::duration<double> deadline) {
  try {
    const auto end =
        Channel::Clock::now() + std::chrono::duration_cast<Channel::Clock::duration>(deadline);
    auto arrived = channel_.receive(end);
    if (auto* message = std::get_if<Json>(&arrived)) return std::move(*message);
    return lost(std::get<Channel::Absence>(arrived) == Channel::Absence::late, deadline);
  } catch (const Error& error) {
    if (child_.kill()) static_cast<void>(child_.wait());
    return WorkerLost{.late = false, .how = error.what()};
  }
}

WorkerLost WorkerProcess::lost(bool late, std::chrono::duration<double> deadline) {
  // One that closed its channel is about to end, or will never: it gets no more time.
  constexpr std::chrono::milliseconds kToEnd{500};
  const auto end = Channel::Clock::now() + kToEnd;
  while (!late && alive() && Channel::Clock::now() < end) ::usleep(1'000);
  const bool is_killed = child_.kill();
  if (late) {
    if (is_killed) static_cast<void>(child_.wait());
    return {.late = true,
            .how = fmt::format("did not end within {:.3g} s{}", deadline.count(),
                               is_killed ? " and was killed" : "")};
  }
  if (!is_killed) return {.late = false, .how = "closed its channel and did not end"};
  const ProcessEnd ended = child_.wait();
  const std::string said = errors_.text();
  return {.late = false,
          .faulted = is_fault(ended),
          .killed = ended.signal == SIGKILL,
          .trapped = ended.signal == SIGILL,
          .divided = ended.signal == SIGFPE,
          .how = ended.text() + (said.empty() ? "" : ": " + said)};
}

}  // namespace tuner::worker
