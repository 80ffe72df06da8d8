// SPDX-License-Identifier: Apache-2.0
// Module report: the data document of a report page, made by queries, and launch code to paste. The
// page is rendered from it by the script in reports/.
//
// Two sets of results beside one another: of databases, environments, kernel versions or devices.
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/store/store.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::report {

/// One side of a comparison.
struct ComparedResults {
  std::string name;                      ///< as the user wrote it
  std::vector<store::StoredBest> bests;  ///< confirmed by final rounds; newest first
};

/// The results of `results` about which `words` says something: part of the device's name, the
/// driver, the compiler, the library, the version of tune or the kernel's name, from the beginning
/// of a word on, in any case, or the beginning of the kernel's hash.
[[nodiscard]] std::vector<store::StoredBest> results_about(std::vector<store::StoredBest> results,
                                                           std::string_view words);

/// A ratio with its 95 % interval.
struct Ratio {
  double value = 1, low = 1, high = 1;
};

/// What the two are compared by.
enum class ComparedBy {
  time,     ///< the confirmed times
  library,  ///< the ratios to the library, timed in the same rounds
};

/// How B differs from A. In the order in which sizes are shown.
enum class Change {
  slower,     ///< the interval of the ratio lies below 1
  uncertain,  ///< it holds 1 and more than a change of 1 %
  faster,     ///< it lies above 1
  same,       ///< it lies within 1 %
};
[[nodiscard]] std::string_view name(Change change);  ///< "SLOWER", …
[[nodiscard]] Change change_of(const Ratio& ratio);

/// One size: the fastest of the family's kernels on each side.
struct ComparedSize {
  store::StoredBest a, b;
  Ratio ratio;  ///< speed of B over that of A: above 1, B is faster
  std::optional<double> library =
      {};  ///< the same of the library, where both timed the same version
  Change change = Change::same;
};

struct Comparison {
  ComparedResults a, b;
  ComparedBy by = ComparedBy::time;
  std::vector<ComparedSize> sizes;  ///< by change, the slowest first
  std::size_t only_a = 0, only_b = 0;
  std::size_t without_library = 0;  ///< on both sides, but not comparable by the library
};

/// Compares the newest result of each kernel and size on both sides. Where each side is of one
/// device, sizes match whatever the device, else only on the same device.
[[nodiscard]] Comparison compare(ComparedResults a, ComparedResults b, ComparedBy by);

/// The latest environment of `bests`, newest first, as B beside each earlier one that has a size of
/// it.
[[nodiscard]] std::vector<Comparison> comparisons_with_latest(
    const std::vector<store::StoredBest>& bests);

/// Absent for no sizes.
[[nodiscard]] std::optional<double> geometric_mean(std::span<const ComparedSize> sizes);
[[nodiscard]] std::size_t count_of(std::span<const ComparedSize> sizes, Change change);

/// "driver 580.159.04, NVRTC 13.0, cuBLAS 13.1.0, tune 0.2.0".
[[nodiscard]] std::string environment_in_words(const space::EnvironmentInfo& environment);

/// A device with its versions, and how many results are of it: "NVIDIA H200, driver 580.159.04,
/// NVRTC 13.0, cuBLAS 13.1.0: 72 sizes".
[[nodiscard]] std::vector<std::string> described_environments(
    std::span<const store::StoredBest> bests);

/// "72 sizes: speed of B ×1.012 (geometric mean); 3 slower, …", one sentence each.
[[nodiscard]] std::vector<std::string> comparison_sentences(const Comparison& comparison);

/// {"title", "sides": [A, B], "verdict": […], "table"}: a part of the page.
[[nodiscard]] Json comparison_part(const Comparison& comparison);

/// The document of a page (report_document) about a comparison alone.
[[nodiscard]] Json comparison_document(const Comparison& comparison);

}  // namespace tuner::report
