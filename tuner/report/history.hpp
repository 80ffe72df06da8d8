// SPDX-License-Identifier: Apache-2.0
// What the database knows of one device, arranged as the report tells it: by kernel, then by size.
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/report/configurations.hpp"
#include "tuner/report/search_run.hpp"
#include "tuner/store/store.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tuner::report {

/// Which element type the results of a kernel are of.
struct ResultTypes {
  std::string dimension = {};  ///< whose value in a size is the type; empty: all sizes have `usual`
  std::string usual = {};      ///< where a size names none: "f32"; empty: not known

  [[nodiscard]] bool known() const { return !dimension.empty() || !usual.empty(); }
  /// The type at a canonical size: "4096,4096,4096,TYPE=bf16" → "bf16". Where nothing is known, a
  /// dimension TYPE tells it, as in the included families.
  [[nodiscard]] std::string at(std::string_view problem) const;
};
/// By the family's dimension of types or, without one, of the first buffer that a kernel writes.
[[nodiscard]] ResultTypes result_types(const family::Family& family);

/// A size of a kernel.
struct SizeHistory {
  std::string problem;                     ///< canonical, "4096,4096,4096"
  std::vector<ReportedTrial> evaluations;  ///< the latest of each configuration, in the order made
  std::optional<store::BestRecord> best;   ///< the latest over environments; absent before a final
  std::vector<store::FinalistRecord> finalists;  ///< of the final that chose `best`, best first
  std::optional<store::ExplanationRecord> explanation;  ///< of `best`, where there is one
  std::string card;                 ///< uuid, where the run of that final had several cards
  std::vector<SearchRun> searches;  ///< of its runs, oldest first
};

/// A kernel in the version tuned last: results of an older source are not mixed in.
struct KernelHistory {
  std::string family = {}, kernel = {}, hash = {};
  /// With its space file and source, from the database or an installed table; null without.
  std::shared_ptr<const store::KernelRecord> record = {};
  std::string unproven = {};  ///< as of family::Kernel; empty without the space file
  /// The path of the space file: as the latest run that named one did or, of an imported result
  /// whose kernel is an included one, that of its family; else as the other kernels of the family
  /// have it. Empty where none has one, or they have several.
  std::string space_path = {};
  ResultTypes types = {};
  std::vector<std::string> parameters = {};  ///< in the order of the space file
  Configurations configs = {};               ///< of all trials, their values in that order
  std::vector<space::EnvironmentInfo> environments =
      {};                                   ///< that the bests were measured in, latest first
  std::vector<store::RunRecord> runs = {};  ///< oldest first
  std::vector<SizeHistory> sizes = {};      ///< smallest first
};

/// The kernels with results on a device, by family and name; empty when there are none.
[[nodiscard]] std::vector<KernelHistory> kernel_histories(const store::Store& store,
                                                          const std::string& device_name);

/// The numbers of a canonical size that every size has: "4096,1,7,TRANS_B=1" → {4096, 1, 7}. Text
/// that is no number counts as 0.
[[nodiscard]] std::vector<double> extents(std::string_view problem);
/// Whether a size stands before another: by volume, then number by number.
[[nodiscard]] bool comes_before(std::string_view a, std::string_view b);
/// Their geometric mean: where a size stands on the axis of sizes whose work is not known.
[[nodiscard]] double mean_extent(std::string_view problem);
/// What that axis is called.
inline constexpr std::string_view kMeanOfDimensions = "Size (mean of the dimensions)";

}  // namespace tuner::report
