// SPDX-License-Identifier: Apache-2.0
#include "tuner/cublas/call_log.hpp"

#include "tuner/core/environment.hpp"
#include "tuner/core/links.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/cublas/settings.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <mutex>
#include <set>
#include <unistd.h>

namespace tuner::cublas {
namespace {

/// Lines that are remembered: a program whose every call fails otherwise fills the log.
constexpr std::size_t kMostLines = 32;

constinit CallCounts counts;

/// The file TUNER_CUBLAS_LOG, to append to; standard error for one that a link of another user
/// leads to, after a line about it. -1 where it cannot be opened.
int open_log(const std::string& path) {
  const FollowedPath to = follow_links(path);
  if (to.link_of_another_user) {
    static std::once_flag told;
    std::call_once(told, [&] {
      const std::string text = fmt::format(
          "tuner: TUNER_CUBLAS_LOG is not written: {} is a link that belongs to "
          "another user: name the file that it leads to\n",
          printable_name(to.link_of_another_user->string()));
      [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    });
    return STDERR_FILENO;
  }
  constexpr int kAppending = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC;
  constexpr mode_t kPrivate = 0600;
  return to.is_open_file ? ::open(to.path.c_str(), kAppending, kPrivate)
                         : open_without_links(to.path, kAppending, kPrivate);
}

}  // namespace

CallCounts& call_counts() {
  return counts;
}

void CallCounts::reset() {
  taken_ = 0;
  saved_ns_ = 0;
  for (auto& passed : passed_) passed = 0;
}

std::string CallCounts::text() const {
  std::uint64_t all = 0;
  std::string reasons;
  for (std::size_t i = 0; i < kPassReasons; ++i) {
    const std::uint64_t calls = passed_[i].load();
    if (calls == 0) continue;
    all += calls;
    reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", name(static_cast<PassReason>(i)),
                           calls);
  }
  if (all + taken_ == 0) return "";
  std::string text =
      fmt::format("cuBLAS calls: {} served, {} passed to cuBLAS", taken_.load(), all);
  if (!reasons.empty()) text += fmt::format(" ({})", reasons);
  // What the final rounds say of the sizes that were tuned themselves; of others nothing is known.
  if (taken_ != 0) text += fmt::format("; saved {:.3g} s of GPU time", double(saved_ns_) / 1e9);
  return text;
}

void write_line(std::string_view line) noexcept {
  try {
    if (environment_variable("TUNER_LOG") == "off" && settings().log.empty()) return;
    const std::string text = fmt::format("tuner: {}\n", line);
    int file = STDERR_FILENO;
    if (!settings().log.empty()) {
      file = open_log(settings().log);
      if (file < 0) return;
    }
    // One call, so that lines of several processes do not mix.
    [[maybe_unused]] const ssize_t written = ::write(file, text.data(), text.size());
    if (file != STDERR_FILENO) ::close(file);
  } catch (...) {  // no memory: there is nobody to tell
  }
}

void write_line_once(std::string_view line) noexcept {
  try {
    static std::mutex& mutex = *new std::mutex;
    static auto& known = *new std::set<std::string, std::less<>>;
    {
      const std::scoped_lock lock(mutex);
      if (known.contains(line) || known.size() >= kMostLines) return;
      known.emplace(line);
    }
    write_line(line);
  } catch (...) {  // likewise
  }
}

}  // namespace tuner::cublas
