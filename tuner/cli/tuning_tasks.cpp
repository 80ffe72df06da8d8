// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/tuning_tasks.hpp"

#include "tuner/cli/output.hpp"
#include "tuner/cli/sizes.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/family/check_entries.hpp"
#include "tuner/family/check_promises.hpp"
#include "tuner/space/shared_diagrams.hpp"
#include "tuner/verify/problem_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

namespace tuner::cli {
namespace {

/// The values that every --set NAME=v1,v2 keeps, those of one parameter together.
std::map<std::string, std::vector<std::string>> kept_values(
    const std::vector<std::string>& assignments) {
  std::map<std::string, std::vector<std::string>> kept;
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos) {
      throw Error(ErrorCode::usage,
                  fmt::format("--set: '{}' has no '='; write --set TILE_M=64,128", assignment));
    }
    const std::string list = assignment.substr(equals + 1);
    if (list.empty()) {
      throw Error(ErrorCode::usage, fmt::format("--set: '{}' names no value", assignment));
    }
    std::vector<std::string>& values = kept[assignment.substr(0, equals)];
    std::istringstream words(list);
    for (std::string value; std::getline(words, value, ',');) values.push_back(value);
  }
  return kept;
}

/// Applies --set to a kernel's parameters.
void apply_set(family::Kernel& kernel, const std::vector<std::string>& assignments) {
  if (assignments.empty()) return;
  auto definition = std::make_shared<space::SpaceDefinition>(*kernel.space);
  for (const auto& [parameter, values] : kept_values(assignments)) {
    space::restrict_parameter(*definition, parameter, values);
  }
  kernel.space = std::move(definition);
}

/// The kernels that are to be tuned, and a line for each that is left out.
struct ChosenKernels {
  std::vector<family::Kernel> kernels;
  std::vector<std::string> left_out;
};

ChosenKernels chosen_kernels(const family::Family& family, const TuneOptions& options,
                             const std::string& backend) {
  ChosenKernels chosen;
  auto& [kernels, left_out] = chosen;
  for (const family::Kernel& kernel : family.kernels) {
    if (!options.kernel.empty() && kernel.name != options.kernel) continue;
    if (options.kernel.empty() && kernel.runs_on(backend) && !kernel.unproven.empty()) {
      left_out.push_back(fmt::format("skipped: kernel {}, unless --kernel names it: {}\n",
                                     kernel.name, kernel.unproven));
      continue;
    }
    if (kernel.runs_on(backend)) {
      kernels.push_back(kernel);
      apply_set(kernels.back(), options.set);
      continue;
    }
    const std::string why = fmt::format("kernel {} runs on {} only, not on the {} backend",
                                        kernel.name, fmt::join(kernel.backends, ", "), backend);
    if (!options.kernel.empty()) throw Error(ErrorCode::no_device, why);
    left_out.push_back(fmt::format("skipped: {}\n", why));
  }
  if (kernels.empty()) {
    throw Error(ErrorCode::no_device,
                fmt::format("{}: no kernel runs on the {} backend", family.path, backend));
  }
  return chosen;
}

std::string nothing_valid(const family::Family& family, const family::Kernel& kernel,
                          const space::DeviceInfo& device, const space::Space& space,
                          const space::Size& size) {
  const auto violation = space.violation(space.default_config());
  return fmt::format(
      "{}: kernel {} has no valid configuration on {} at {}{}; `tune space count` shows what each "
      "constraint removes",
      family.path, kernel.name, device.name, space::display(size, family.problem.dims),
      violation ? "; its default violates " + violation->message : "");
}

/// Why a kernel cannot be tuned at a size, if it cannot.
std::optional<Error> refusal(const family::Family& family, const family::Kernel& kernel,
                             const space::DeviceInfo& device, const space::Size& size,
                             space::SharedDiagrams& shared) {
  const space::BoundDefinition bound(kernel.space, device.attributes, size);
  const space::Config by_default = bound.default_config();
  // Where the default is valid nothing has to be enumerated.
  if (bound.violation(by_default)) {
    const space::Space space(kernel.space, device.attributes, size, shared);
    if (space.size() == 0) {
      return Error(ErrorCode::no_valid_config, nothing_valid(family, kernel, device, space, size));
    }
  }
  try {
    verify::check_size(family, device.attributes, size);
    family::check_default(family.kernel(kernel.name), device.attributes, size);
  } catch (const Error& error) {
    return error;
  }
  if (why_no_launch(family, kernel, bound, by_default, size).empty()) return std::nullopt;
  const space::Space space(kernel.space, device.attributes, size, shared);
  const LaunchCount count = count_launches(family, kernel, space, size);
  if (count.launchable > 0) return std::nullopt;
  return Error(ErrorCode::no_valid_config,
               fmt::format("{}: no configuration of kernel {} has a launch at {}: {}", family.path,
                           kernel.name, space::display(size, family.problem.dims), count.why));
}

void caution(const family::Family& family, const TuningTask& task,
             const space::DeviceInfo& device) {
  for (const space::Size& size : task.sizes) {
    const space::BoundDefinition space(task.kernel.space, device.attributes, size);
    const std::string text = check_sizes_caution(family, task.kernel, space, size);
    if (!text.empty()) tell(text + "\n");
  }
}

/// Whether a kernel is good for a size of its file on this device or on one that is known, such as
/// a newer GPU. If not, that is a mistake in the file.
bool is_good_somewhere(const family::Family& family, const family::Kernel& kernel,
                       const space::DeviceInfo& device) {
  if (listed_size_for(family, kernel, device.attributes)) return true;
  return std::ranges::any_of(space::device_profile_names(), [&](const std::string& name) {
    return listed_size_for(family, kernel, space::device_profile(name)->attributes).has_value();
  });
}

/// A kernel's task, and why it is not tuned at the first of the sizes that are left out.
struct Applicable {
  TuningTask task;
  std::optional<Error> refused;
};

Applicable applicable_sizes(const family::Family& family, const family::Kernel& kernel,
                            const space::DeviceInfo& device,
                            const std::vector<space::Size>& sizes) {
  Applicable applicable{.task = {.kernel = kernel, .sizes = {}}, .refused = std::nullopt};
  space::SharedDiagrams shared;
  for (const space::Size& size : sizes) {
    if (auto refused = refusal(family, kernel, device, size, shared)) {
      if (!applicable.refused) applicable.refused = std::move(refused);
    } else {
      applicable.task.sizes.push_back(size);
    }
  }
  return applicable;
}

}  // namespace

std::vector<TuningTask> tuning_tasks(const family::Family& family, const TuneOptions& options,
                                     const space::DeviceInfo& device) {
  auto [kernels, left_out] = chosen_kernels(family, options, device.backend);
  for (const family::Kernel& kernel : kernels) family::check_entries(family, kernel);
  const std::vector<space::Size> sizes = chosen_sizes(family, options, device.backend);
  std::vector<TuningTask> tasks;
  std::optional<Error> first;
  for (const family::Kernel& kernel : kernels) {
    auto [task, refused] = applicable_sizes(family, kernel, device, sizes);
    if (refused) {
      if (task.sizes.empty() && !is_good_somewhere(family, kernel, device)) throw *refused;
      left_out.push_back(fmt::format(
          "skipped: {} of {} for kernel {}; the first: {}\n", sizes.size() - task.sizes.size(),
          quantity::count(sizes.size(), "size"), kernel.name, refused->what()));
      if (!first) first = refused;
    }
    if (!task.sizes.empty()) tasks.push_back(std::move(task));
  }
  if (tasks.empty()) throw *first;
  for (const std::string& line : left_out) tell(line);
  for (const TuningTask& task : tasks) caution(family, task, device);
  for (const std::string& text : family::check_cautions(family, tasks.front().sizes.front())) {
    tell(fmt::format("warning: {}\n", text));
  }
  return tasks;
}

}  // namespace tuner::cli
