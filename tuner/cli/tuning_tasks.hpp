// SPDX-License-Identifier: Apache-2.0
// What a run of `tune` is about.
#pragma once

#include "tuner/cli/commands.hpp"
#include "tuner/family/family.hpp"

#include <string>
#include <vector>

namespace tuner::cli {

/// A kernel and the sizes at which it is tuned, at least one.
struct TuningTask {
  family::Kernel kernel;
  std::vector<space::Size> sizes;
  std::vector<double> importance = {};      ///< of the sizes, as RunPlan has it
  std::vector<std::string> continued = {};  ///< runs of this command, by uuid
};

/// The kernels that the options name, as --set restricts them, each with those of the chosen sizes
/// at which it has a valid configuration with a launch on the device and its default, as the file
/// has it, is one. Says on stderr, in a line for each kernel, what is left out and the first
/// reason. Throws Error when nothing is left, and for a kernel that is left with nothing and would
/// be at every size that the file lists: what is wrong at the first size; `no_device` when no
/// kernel runs on the backend; `usage` for sizes and values that do not exist.
[[nodiscard]] std::vector<TuningTask> tuning_tasks(const family::Family& family,
                                                   const TuneOptions& options,
                                                   const space::DeviceInfo& device);

}  // namespace tuner::cli
