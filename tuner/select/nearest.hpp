// SPDX-License-Identifier: Apache-2.0
// What was tuned for other sizes than the one that was asked for.
#pragma once

#include "tuner/select/catalogue.hpp"
#include "tuner/select/library_model.hpp"
#include "tuner/select/nearness.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tuner::select {

/// A kernel that a question is about.
struct AskedKernel {
  const CatalogueKernel* kernel = nullptr;
  std::optional<KnownSize> size;  ///< the asked one; absent when it is none of this kernel's
};

/// A configuration that was tuned for other sizes and is valid at the asked one.
struct NearCandidate {
  const AskedKernel* asked = nullptr;
  std::size_t config = 0;        ///< among the kernel's
  const Entry* entry = nullptr;  ///< the nearest that has it; null where it was nowhere the best
  Nearness nearness;             ///< of the nearest size at which it was timed
  std::optional<ExpectedTime> expected = {};  ///< where a model tells
  /// Of a portfolio's member: the library's time over its own, or where there is no library that of
  /// the fastest member.
  std::optional<ExpectedRatio> gain = {};
};

/// Why a configuration of a kernel cannot answer for `size` (canonical), to which `at` is bound;
/// none when it can.
[[nodiscard]] std::optional<std::string> why_rejected(const RankedKernel& kernel,
                                                      const space::BoundDefinition& at,
                                                      const std::string& size,
                                                      const KnownConfig& config);

/// The library as an answer beside candidates.
struct ExpectedLibrary {
  ExpectedTime time;
  bool is_first = false;  ///< before all candidates: none is certain enough to be faster
  std::string explanation = {};
};

struct Nearest {
  std::vector<NearCandidate> candidates;  ///< best first
  std::vector<std::string> explanation;
  std::optional<ExpectedLibrary> library = {};  ///< absent: the candidates do not tell
};

/// By the cost models of the kernels, where each kernel that has something of this kind of problem
/// has a model; else by nearness. Points into `asked`.
[[nodiscard]] Nearest nearest_candidates(const std::vector<AskedKernel>& asked,
                                         const space::DeviceAttributes& device);

/// How the library does at a size at which it was not timed.
struct LibraryEstimate {
  ExpectedTime time;         ///< from the sizes of all kinds of problem
  double ratio = 1;          ///< its time / that of the best configuration, were this size tuned
  double error = 0;          ///< of ln ratio, one standard deviation
  std::size_t sizes = 0;     ///< of this kind of problem, that the ratio is from
  std::string nearest = {};  ///< of them
};

/// From the sizes of this kind of problem at which it was timed beside the best configuration; none
/// without any.
[[nodiscard]] std::optional<LibraryEstimate> library_estimate(
    const std::vector<AskedKernel>& asked);

}  // namespace tuner::select
