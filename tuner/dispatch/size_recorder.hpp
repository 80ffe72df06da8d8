// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/size.hpp"

#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tuner::dispatch {

/// Keeps the sizes that an application asks for in suites, as `tune --sizes FILE` takes them. The
/// file holds the sizes of one family, the first that was ever recorded in it; those of another
/// one go to a file beside it: "sizes.json", "sizes.gemm.json". What processes record at the same
/// time, or recorded before, is kept. Safe for many threads at once.
class SizeRecorder {
 public:
  explicit SizeRecorder(std::filesystem::path file);

  /// Adds a size to the family's file, which has it once. Throws Error: usage when the file is
  /// there and is no suite, failure when it cannot be written. Where another program has locked the
  /// file's folder, it waits a moment, once, and the size is written with the next one.
  void record(const std::string& family, const space::Dimensions& dims, const space::Size& size);

  /// The file of a family.
  [[nodiscard]] std::filesystem::path file(std::string_view family);

 private:
  void write(const std::string& family, const std::vector<std::string>& sizes);

  std::filesystem::path file_;
  std::mutex mutex_;
  int most_tries_;                                             // for the lock
  std::map<std::string, std::vector<std::string>> unwritten_;  // by family: sizes as JSON
  std::set<std::pair<std::string, space::Size>> known_;
};

}  // namespace tuner::dispatch
