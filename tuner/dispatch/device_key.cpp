// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/device_key.hpp"

#include "tuner/core/hash.hpp"

#include <fmt/format.h>

namespace tuner::dispatch {

std::string device_key(const space::DeviceInfo& device, const space::EnvironmentInfo& environment) {
  std::string attributes;
  for (const space::AttributeField& field : space::attribute_fields()) {
    attributes += fmt::format("{},", device.attributes.*field.member);
  }
  return content_hash({device.backend, device.name, device.architecture, attributes,
                       environment.driver, environment.compiler, environment.library,
                       environment.tool});
}

}  // namespace tuner::dispatch
