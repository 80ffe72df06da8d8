// SPDX-License-Identifier: Apache-2.0
// Internal to interop: the ConfigurationSpace of a T1 file.
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/space/device.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tuner::interop {

/// The keys `parameters` and `constraints` of a kernel of a space file, and how many values of the
/// default had to change.
struct T1Space {
  Json parameters;
  Json constraints;
  std::vector<std::string> changed_defaults;
};

/// Translates ConfigurationSpace. Throws Error(usage), and Error(no_valid_config) when the
/// conditions leave nothing.
[[nodiscard]] T1Space read_t1_space(const Json& t1, std::string_view origin,
                                    const space::DeviceAttributes& device);

}  // namespace tuner::interop
