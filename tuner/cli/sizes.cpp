// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/sizes.hpp"

#include "tuner/core/quantity.hpp"
#include "tuner/family/awkward_sizes.hpp"
#include "tuner/family/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace tuner::cli {
namespace {

/// Whether an expression depends on a parameter, itself or by what is derived from one.
bool reads_parameters(const SpaceDefinition& definition, const Expression& expression) {
  return std::ranges::any_of(expression.slots(), [&](std::size_t slot) {
    if (std::ranges::count(definition.parameters, slot, &Parameter::slot) > 0) return true;
    const auto derived = std::ranges::find(definition.derived, slot, &Derived::slot);
    return derived != definition.derived.end() && reads_parameters(definition, derived->expression);
  });
}

}  // namespace

std::vector<Size> chosen_sizes(const Family& family, const TuneOptions& options,
                               const std::string& backend) {
  std::vector<Size> sizes;
  for (const std::string& text : options.sizes)
    sizes.push_back(parse_size(text, family.problem.dims));
  if (!options.sizes_name.empty()) {
    // A list's name is a word; anything else is a file.
    const std::vector<Size> named = is_word(options.sizes_name)
                                        ? family.sizes(options.sizes_name)
                                        : suite_sizes(options.sizes_name, family);
    sizes.insert(sizes.end(), named.begin(), named.end());
  }
  if (sizes.empty()) {
    // A list named after the backend serves machines that the default would keep busy for hours.
    sizes = family.sizes(family.problem.sizes.contains(backend) ? backend : "default");
  }
  std::vector<Size> each_once;
  for (const Size& size : sizes) {
    if (std::ranges::find(each_once, size) == each_once.end()) each_once.push_back(size);
  }
  return each_once;
}

std::optional<std::string> unfit_for(const Kernel& kernel, const DeviceAttributes& device,
                                     const Size& size) {
  SpaceDefinition fixed = *kernel.space;
  for (Parameter& parameter : fixed.parameters) {
    parameter.values = {parameter.values[parameter.default_index]};
    parameter.default_index = 0;
  }
  std::erase_if(fixed.constraints, [&](const Constraint& constraint) {
    return reads_parameters(*kernel.space, constraint.expression);
  });
  const Space space(std::make_shared<const SpaceDefinition>(std::move(fixed)), device, size);
  const auto violation = space.violation(space.default_config());
  return violation ? std::optional(violation->message) : std::nullopt;
}

std::string check_sizes_caution(const Family& family, const Kernel& kernel, const Space& space,
                                const Size& size) {
  const AwkwardSizes awkward = awkward_sizes(family, kernel, space, space.default_config(), size);
  const std::size_t left_out = awkward.of_other_code + awkward.refused;
  if (!awkward.sizes.empty() || left_out == 0) return "";
  return fmt::format(
      "caution: kernel {} at {}: the default configuration is checked at no other size: of {} that "
      "the file states {} need other code and {} are refused by a constraint; add a check size of "
      "this kind",
      kernel.name, display(size, family.problem.dims), quantity::count(left_out),
      quantity::count(awkward.of_other_code), quantity::count(awkward.refused));
}

}  // namespace tuner::cli
