// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/process_identity.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace tuner::store {
namespace {

std::string first_line(const std::filesystem::path& path) {
  std::string line;
  std::ifstream stream(path);
  std::getline(stream, line);
  return line;
}

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

struct ProcessStatus {
  char state = 0;  ///< 'Z' when it has ended and its parent has yet to ask how
  std::int64_t start = 0;
};

/// Of /proc/PID/stat; see proc(5). None when it cannot be read.
std::optional<ProcessStatus> status_of(std::int64_t pid) {
  const std::string line = first_line("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = line.rfind(')');  // the name may hold anything
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream rest(line.substr(name_end + 1));
  const std::vector<std::string> fields{std::istream_iterator<std::string>(rest), {}};
  constexpr std::size_t kState = 0;
  constexpr std::size_t kStart = 19;
  if (fields.size() <= kStart) return std::nullopt;
  return ProcessStatus{.state = fields[kState][0], .start = std::stoll(fields[kStart])};
}

}  // namespace

ProcessIdentity this_process() {
  const std::int64_t pid = ::getpid();
  std::error_code ignored;
  return {.host = host_name(),
          .boot_id = first_line("/proc/sys/kernel/random/boot_id"),
          .pid_namespace = std::filesystem::read_symlink("/proc/self/ns/pid", ignored).string(),
          .pid = pid,
          .start = status_of(pid).value_or(ProcessStatus{}).start};
}

bool is_gone(const ProcessIdentity& process) {
  const ProcessIdentity here = this_process();
  if (process.host != here.host) return false;
  if (process.boot_id != here.boot_id) return true;
  if (process.pid_namespace != here.pid_namespace) return false;
  if (::kill(static_cast<pid_t>(process.pid), 0) != 0 && errno == ESRCH) return true;
  const auto status = status_of(process.pid);
  if (!status) return false;  // hidden from this user
  return status->start != process.start || status->state == 'Z' || status->state == 'X';
}

}  // namespace tuner::store
