// SPDX-License-Identifier: Apache-2.0
// Which configuration to launch a kernel with, and why that one.
#pragma once

#include "tuner/space/size.hpp"
#include "tuner/store/records.hpp"
#include "tuner/store/store.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

/// How far from the question an answer may be.
enum class Policy {
  exact,    ///< only what was tuned for the very size: the rungs exact and stale
  nearest,  ///< every rung
};

struct Question {
  std::optional<std::string> device = {};  ///< exact name; absent: the device used last
  std::optional<std::string> kernel = {};  ///< at least one of kernel and family
  std::optional<std::string> family = {};  ///< without a kernel: whichever of its kernels is best
  std::string size = {};                   ///< as parse_size takes it: "4096,4096,64,TRANS_B=1"
  Policy policy = Policy::nearest;
  /// What the kernel would run with; absent: what the device was last tuned with.
  std::optional<EnvironmentInfo> environment = {};
};

/// The rungs of the ladder, from the best answer to the last resort.
enum class Rung {
  exact,           ///< tuned for this size on this device
  stale,           ///< the same, but with another driver or compiler than the one in use
  nearest,         ///< tuned for another size on this device; valid for this one
  default_config,  ///< never tuned here: the kernel's default configuration
};
[[nodiscard]] std::string_view name(Rung rung);  ///< "exact", "stale", "nearest", "default"

struct Selection {
  Rung rung = Rung::default_config;
  DeviceInfo device;
  KernelRecord kernel;
  std::optional<Dimensions> dims;   ///< of the kernel; absent where it came without its space file
  std::string size_text;            ///< the asked size, canonical
  Size size;                        ///< its numbers; empty where the dimensions are not known
  std::string config_json;          ///< canonical
  std::optional<StoredBest> entry;  ///< what answered; absent on the rung default_config
  std::optional<double> expected_ns;  ///< at the asked size; absent where it was not measured
  /// On the rung nearest: the largest |ln(asked / tuned)| over the dimensions. Otherwise 0.
  double distance = 0;
  /// Every rung that was looked at, in order: what was found there and why it was taken or not.
  std::vector<std::string> explanation;
};

/// Answers from the database alone; never with an entry of another device or of a source that has
/// changed since. Of several kernels the fastest answers; on the rung nearest the one that does
/// best beside the library (throughput where the library was not timed).
///
/// Throws Error(nothing_found), with a suggestion or with all that was looked at, when there is no
/// answer; Error(usage) when the question has no kernel and no family, a kernel that several
/// families have, or a size that does not fit the family.
[[nodiscard]] Selection select_configuration(const Store& store, const Question& question);

}  // namespace tuner
