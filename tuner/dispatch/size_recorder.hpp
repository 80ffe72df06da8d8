// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/size.hpp"

#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace tuner::dispatch {

/// Keeps the sizes that an application asks for in suites, as `tune --sizes FILE` takes them. The
/// file holds the sizes of one family, the first that was ever recorded in it; those of another
/// one go to a file beside it: "sizes.json", "sizes.gemm.json". What processes record at the same
/// time, or recorded before, is kept. Safe for many threads at once.
class SizeRecorder {
 public:
  explicit SizeRecorder(std::filesystem::path file) : file_(std::move(file)) {}

  /// Adds a size to the family's file, which has it once. Throws Error: usage when the file is
  /// there and is no suite, failure when it cannot be written.
  void record(const std::string& family, const space::Dimensions& dims, const space::Size& size);

  /// The file of a family.
  [[nodiscard]] std::filesystem::path file(std::string_view family);

 private:
  std::filesystem::path file_;
  std::mutex mutex_;
  std::set<std::pair<std::string, space::Size>> known_;
};

}  // namespace tuner::dispatch
