// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/size_recorder.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <optional>
#include <sys/file.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace tuner::dispatch {
namespace {

constexpr std::size_t kMostBytes = 1 << 20;  // of a suite
constexpr std::size_t kMostSizes = 1000;     // of a group
constexpr std::size_t kMostKnown = 10'000;   // of which the file need not be asked

/// How long a launch may wait for other recorders. Anybody who may read the directory can hold the
/// lock for ever; then the sizes that follow do not wait at all.
constexpr int kMostTries = 125;
constexpr std::chrono::milliseconds kBetweenTries{2};

/// Holds off other recorders, of this and of other processes, while it lives. It locks the file's
/// directory, since the file itself is replaced.
class DirectoryLock {
 public:
  DirectoryLock(const std::filesystem::path& file, int most_tries)
      : directory_(::open((file.has_parent_path() ? file.parent_path() : ".").c_str(),
                          O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (directory_ < 0) fail(file, std::strerror(errno));
    for (int tries = 1; ::flock(directory_, LOCK_EX | LOCK_NB) != 0; ++tries) {
      const int error = errno;
      if (error == EWOULDBLOCK && tries < most_tries) {
        std::this_thread::sleep_for(kBetweenTries);
        continue;
      }
      ::close(directory_);
      fail(file, error == EWOULDBLOCK ? "another program has locked its folder; the size is "
                                        "recorded with the next one"
                                      : std::strerror(error));
    }
  }
  ~DirectoryLock() { ::close(directory_); }
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  [[noreturn]] static void fail(const std::filesystem::path& file, const std::string& why) {
    throw Error(ErrorCode::failure, fmt::format("{}: cannot be written: {}", file.string(), why));
  }

  int directory_;
};

Json empty_suite(std::string_view family) {
  return {{"format", "suite/1"},
          {"family", std::string(family)},
          {"doc", "Sizes that applications requested, recorded by the dispatcher (TUNER_RECORD)."},
          {"groups", Json::array()}};
}

/// The file's suite; none when there is no file.
std::optional<Json> read_suite(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return std::nullopt;
  Json suite = parse_json(read_file(file, kMostBytes), file.string());
  const auto is = [&](const char* key, Json::value_t type) {
    return suite.is_object() && suite.contains(key) && suite[key].type() == type;
  };
  const bool good =
      is("format", Json::value_t::string) && suite["format"] == "suite/1" &&
      is("family", Json::value_t::string) && is("groups", Json::value_t::array) &&
      std::ranges::all_of(suite["groups"], [](const Json& group) {
        return group.is_object() && group.contains("sizes") && group["sizes"].is_array();
      });
  if (good) return suite;
  throw Error(
      ErrorCode::usage,
      fmt::format(
          "{}: is not a suite of sizes: nothing is recorded; name another file in TUNER_RECORD",
          file.string()));
}

/// A group that has room for another size; the last one, or a new one.
Json& group_with_room(Json& suite) {
  Json& groups = suite["groups"];
  if (groups.empty() || groups.back()["sizes"].size() >= kMostSizes) {
    groups.push_back(
        {{"name", fmt::format("recorded_{}", groups.size() + 1)}, {"sizes", Json::array()}});
  }
  return groups.back();
}

bool has(const Json& suite, const Json& size) {
  return std::ranges::any_of(suite["groups"], [&](const Json& group) {
    return std::ranges::count(group["sizes"], size) > 0;
  });
}

/// One size a line.
std::string group_text(const Json& group) {
  std::string text;
  for (const auto& [key, value] : group.items()) {
    if (key == "sizes") continue;
    text += fmt::format("{}: {}, ", Json(key).dump(), value.dump());
  }
  std::vector<std::string> sizes;
  for (const Json& size : group["sizes"]) sizes.push_back("      " + size.dump());
  return fmt::format("    {{{}\"sizes\": [\n{}\n    ]}}", text, fmt::join(sizes, ",\n"));
}

std::string suite_text(const Json& suite) {
  std::string text;
  for (const auto& [key, value] : suite.items()) {
    if (key == "groups") continue;
    text += fmt::format("  {}: {},\n", Json(key).dump(), value.dump());
  }
  std::vector<std::string> groups;
  for (const Json& group : suite["groups"]) groups.push_back(group_text(group));
  return fmt::format("{{\n{}  \"groups\": [\n{}\n  ]\n}}\n", text, fmt::join(groups, ",\n"));
}

}  // namespace

SizeRecorder::SizeRecorder(std::filesystem::path file)
    : file_(std::move(file)), most_tries_(kMostTries) {}

std::filesystem::path SizeRecorder::file(std::string_view family) {
  const auto suite = read_suite(file_);
  if (!suite || (*suite)["family"] == family) return file_;
  std::filesystem::path beside = file_;
  return beside.replace_filename(
      fmt::format("{}.{}{}", file_.stem().string(), family, file_.extension().string()));
}

void SizeRecorder::record(const std::string& family, const space::Dimensions& dims,
                          const space::Size& size) {
  const std::lock_guard guard(mutex_);
  if (known_.contains({family, size})) return;
  if (known_.size() >= kMostKnown) {
    known_.clear();
    unwritten_.clear();
  }
  known_.emplace(family, size);
  unwritten_[family].push_back(space::size_json(size, dims).dump());
  std::error_code unmade;  // shows when the directory is opened
  std::filesystem::create_directories(file_.parent_path(), unmade);
  const DirectoryLock lock(file_, std::exchange(most_tries_, 1));
  most_tries_ = kMostTries;
  std::exception_ptr failure;  // of one family; the others have files of their own
  for (auto next = unwritten_.begin(); next != unwritten_.end();) {
    try {
      write(next->first, next->second);
      next = unwritten_.erase(next);
    } catch (const Error&) {
      failure = std::current_exception();
      ++next;
    }
  }
  if (failure) std::rethrow_exception(failure);
}

void SizeRecorder::write(const std::string& family, const std::vector<std::string>& sizes) {
  const std::filesystem::path to = file(family);
  Json suite = read_suite(to).value_or(empty_suite(family));
  bool is_changed = false;
  for (const std::string& text : sizes) {
    const Json size = Json::parse(text);
    if (has(suite, size)) continue;
    group_with_room(suite)["sizes"].push_back(size);
    is_changed = true;
  }
  if (is_changed) write_file(to, suite_text(suite));
}

}  // namespace tuner::dispatch
