// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace tuner::measure {

/// How the host keeps data that a device works on.
enum class HostPlace {
  pageable,  ///< as malloc gives memory: copied by way of the driver's own pinned memory
  pinned,    ///< cannot be paged out: copied by the device itself
  mapped,    ///< pinned, and not copied at all: the device reads and writes it where it is
};
[[nodiscard]] std::string_view name(HostPlace place);
[[nodiscard]] std::optional<HostPlace> host_place(std::string_view name);

}  // namespace tuner::measure
