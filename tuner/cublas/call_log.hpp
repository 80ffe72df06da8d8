// SPDX-License-Identifier: Apache-2.0
// Module cublas: libtuner_cublas.so, preloaded into unmodified programs: serves, passes on or
// records their calls of cuBLAS.
//
// Messages to the user: rare lines, and one at the end.
#pragma once

#include "tuner/cublas/product.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace tuner::cublas {

/// How many calls were taken, and why others were not. Of a process; a fork begins anew.
class CallCounts {
 public:
  void add_taken(double saved_ns) {
    taken_.fetch_add(1, std::memory_order_relaxed);
    saved_ns_.fetch_add(static_cast<std::int64_t>(saved_ns), std::memory_order_relaxed);
  }
  void add_passed(PassReason reason) {
    passed_[static_cast<std::size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
  }
  void reset();
  /// "cuBLAS calls: 12 served, 3 passed to cuBLAS (math mode 2, batch strides 1); saved 0.012 s of
  /// GPU time"; empty when there was none.
  [[nodiscard]] std::string text() const;

 private:
  std::atomic<std::uint64_t> taken_ = 0;
  std::atomic<std::int64_t> saved_ns_ = 0;
  std::array<std::atomic<std::uint64_t>, kPassReasons> passed_{};
};

[[nodiscard]] CallCounts& call_counts();

/// A line of this library, in the file that the settings name or on the standard error. Never
/// fails.
void write_line(std::string_view line) noexcept;

/// Writes a line as write_line(), the first time that it is given.
void write_line_once(std::string_view line) noexcept;

}  // namespace tuner::cublas
