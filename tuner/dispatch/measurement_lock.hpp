// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string_view>

namespace tuner::dispatch {

/// Keeps all others, threads and processes, from measuring the same while it lives. It ends with
/// its process, however that ends.
class MeasurementLock {
 public:
  ~MeasurementLock();
  MeasurementLock(const MeasurementLock&) = delete;
  MeasurementLock& operator=(const MeasurementLock&) = delete;

  /// Waits as long as another has it; null where that is longer than `patience`, or where there is
  /// no such folder. `key` is of content_hash's form.
  [[nodiscard]] static std::unique_ptr<const MeasurementLock> take(
      const std::filesystem::path& folder, std::string_view key,
      std::chrono::milliseconds patience);

 private:
  explicit MeasurementLock(int file) : file_(file) {}

  int file_;
};

}  // namespace tuner::dispatch
