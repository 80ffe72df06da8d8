// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/launch_error.hpp"
#include "tuner/core/expected.hpp"
#include "tuner/core/outcome.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <ranges>
#include <span>

namespace tuner::backend {

/// A launch_error unless arguments of these sizes are those of a kernel with parameters of these
/// sizes, in bytes.
template <std::ranges::random_access_range Sizes>
[[nodiscard]] Expected<void, Failure> match_arguments(std::span<const std::size_t> argument_bytes,
                                                      const Sizes& parameter_bytes) {
  if (parameter_bytes.size() != argument_bytes.size()) {
    return launch_error(fmt::format("the kernel takes {} arguments, the launch gives {}",
                                    parameter_bytes.size(), argument_bytes.size()));
  }
  for (std::size_t i = 0; i < argument_bytes.size(); ++i) {
    if (parameter_bytes[i] == argument_bytes[i]) continue;
    return launch_error(fmt::format(
        "argument {}: the kernel takes {} bytes, the launch gives {}; the types in the space file "
        "must be those of the kernel",
        i + 1, parameter_bytes[i], argument_bytes[i]));
  }
  return {};
}

}  // namespace tuner::backend
