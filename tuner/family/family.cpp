// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/family.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/family/document.hpp"

#include <fmt/format.h>

namespace tuner::family {

const Kernel& Family::kernel(std::string_view wanted) const {
  std::vector<std::string> known;
  for (const Kernel& each : kernels) {
    if (each.name == wanted) return each;
    known.push_back(each.name);
  }
  throw Error(ErrorCode::usage, fmt::format("{}: no kernel is named {}{}", path, in_quotes(wanted),
                                            did_you_mean(wanted, known)));
}

const std::vector<space::Size>& Family::sizes(std::string_view wanted) const {
  std::vector<std::string> known;
  for (const auto& [list_name, list] : problem.sizes) {
    if (list_name == wanted) return list;
    known.push_back(list_name);
  }
  throw Error(ErrorCode::usage,
              fmt::format("{}: no list of sizes is named {}{}; give a size with --size, or add "
                          "\"sizes\": {{{}: […]}} to \"problem\"",
                          path, in_quotes(wanted), did_you_mean(wanted, known), in_quotes(wanted)));
}

bool has_measured_bound(const Check& check) {
  return std::holds_alternative<KernelReference>(check.reference) ||
         std::holds_alternative<ResultsReference>(check.reference);
}

void check_default(const Kernel& kernel, const space::DeviceAttributes& device,
                   const space::Size& size) {
  const space::BoundDefinition space(kernel.space, device, size);
  const auto violation = space.violation(space.default_config());
  if (!violation) return;
  throw Error(
      ErrorCode::usage,
      fmt::format("kernel {}: the default configuration is not valid at the size {}: {}",
                  kernel.name, space::display(size, kernel.space->dims), violation->message));
}

}  // namespace tuner::family
