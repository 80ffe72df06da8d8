// SPDX-License-Identifier: Apache-2.0
// The sizes of a family as its table has them: each with the kernels that have a result there.
#pragma once

#include "tuner/report/history.hpp"
#include "tuner/report/roofs.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::report {

/// One kernel at one size.
struct Entry {
  const KernelHistory* kernel = nullptr;
  const SizeHistory* size = nullptr;
};

/// A size with the kernels that have a result there, the fastest first.
struct Row {
  std::string problem;
  std::string type;  ///< empty: not known
  std::vector<Entry> entries;
  bool is_back_to_back = false;  ///< all entries have such times, which rank them

  [[nodiscard]] const SizeHistory* best() const {
    return entries.empty() ? nullptr : entries.front().size;
  }
  /// The time that ranks an entry.
  [[nodiscard]] double ns_of(const Entry& entry) const;
};

/// Smallest first.
[[nodiscard]] std::vector<Row> rows_of(std::span<const KernelHistory> kernels);

/// Floating-point operations and bytes of a size, of whichever kernel knows them; null where none
/// does.
[[nodiscard]] const store::BestRecord* demand_of(const Row& row);
/// The time at the roof over the time taken. A faster one is of work that was not done: none.
[[nodiscard]] std::optional<double> share_of_roof(const Row& row, const Roofs& roofs);
/// The rate over the nominal one; none where that is not known.
[[nodiscard]] std::optional<double> share_of_peak(const Row& row, const Roofs& roofs);
/// The library's time over that of a size's best; none where it was not timed.
[[nodiscard]] std::optional<double> ratio_of(const SizeHistory& size);

/// What a reader should know before using a size's result; empty when there is nothing.
[[nodiscard]] std::vector<std::string_view> warnings(const Row& row);

}  // namespace tuner::report
