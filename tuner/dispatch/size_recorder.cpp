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
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/file.h>
#include <unistd.h>
#include <vector>

namespace tuner::dispatch {
namespace {

constexpr std::size_t kMostBytes = 1 << 20;  // of a suite
constexpr std::size_t kMostSizes = 1000;     // of a group
constexpr std::size_t kMostKnown = 10'000;   // of which the file need not be asked

/// Holds off other recorders, of this and of other processes, while it lives. It locks the file's
/// directory, since the file itself is replaced.
class DirectoryLock {
 public:
  explicit DirectoryLock(const std::filesystem::path& file)
      : directory_(::open((file.has_parent_path() ? file.parent_path() : ".").c_str(),
                          O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (directory_ < 0 || ::flock(directory_, LOCK_EX) != 0) {
      const std::string why = std::strerror(errno);
      if (directory_ >= 0) ::close(directory_);
      throw Error(ErrorCode::failure, fmt::format("{}: cannot be written: {}", file.string(), why));
    }
  }
  ~DirectoryLock() { ::close(directory_); }
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int directory_;
};

Json empty_suite(std::string_view family) {
  return {{"format", "suite/1"},
          {"family", std::string(family)},
          {"doc", "Sizes that applications asked for, recorded by the dispatcher (TUNER_RECORD)."},
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
  if (known_.size() >= kMostKnown) known_.clear();
  std::error_code unmade;  // shows when the directory is opened
  std::filesystem::create_directories(file_.parent_path(), unmade);
  const DirectoryLock lock(file_);
  const std::filesystem::path to = file(family);
  Json suite = read_suite(to).value_or(empty_suite(family));
  const Json written = space::size_json(size, dims);
  if (!has(suite, written)) {
    group_with_room(suite)["sizes"].push_back(written);
    write_file(to, suite_text(suite));
  }
  known_.emplace(family, size);
}

}  // namespace tuner::dispatch
