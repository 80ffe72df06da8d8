// SPDX-License-Identifier: Apache-2.0
// Which kernels of a family go on at which sizes, once all have been searched for a short time.
#pragma once

#include "tuner/space/size.hpp"

#include <cstddef>
#include <map>
#include <span>
#include <vector>

namespace tuner::session {

/// The best time of a kernel by size, in ns; without the sizes at which it has none.
using KernelTimes = std::map<space::Size, double>;

/// How kernels stand at a size.
struct Standing {
  struct Place {
    std::size_t kernel = 0;  ///< among those compared
    double time_ns = 0;
  };
  space::Size size;
  std::vector<Place> places;  ///< the fastest first, at least one
  std::size_t going_on = 0;   ///< the first of them that are searched further
};

/// Of each size at which a kernel has a time. The faster half of the kernels goes on, less those
/// that take more than twice the time of the fastest: a search that has begun rarely makes up more.
[[nodiscard]] std::vector<Standing> kernel_standings(std::span<const KernelTimes> kernels);

}  // namespace tuner::session
