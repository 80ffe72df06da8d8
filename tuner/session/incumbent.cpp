// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/incumbent.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tuner {

std::optional<Config> incumbent(const Store& store, const Family& family, const Kernel& kernel,
                                const DeviceInfo& device, const Size& size) {
  const auto bests = store.bests({.device = device.name,
                                  .family = family.name,
                                  .kernel = kernel.name,
                                  .problem = fmt::format("{}", fmt::join(size, ","))});
  for (const StoredBest& stored : bests) {
    if (stored.subject.device.backend != device.backend) continue;
    try {
      return config_from_json(*kernel.space, stored.best.config_json);
    } catch (const Error&) {
      continue;  // the space has changed since and no longer has this value
    }
  }
  return std::nullopt;
}

}  // namespace tuner
