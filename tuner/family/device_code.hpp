// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"

#include <span>
#include <string>

namespace tuner::family {

/// A source and its headers without what only a host program needs: main, functions that launch
/// kernels, and every other declaration without __global__, __device__, __constant__ or the like
/// that nothing mentions which a kernel can reach. `roots` are texts that name further things in
/// use, such as the entry. What is left out becomes blanks, so that lines keep their numbers;
/// directives stay. A source without an unused host function comes back as it is, and so does one
/// whose braces do not match.
[[nodiscard]] KernelSource device_code(const KernelSource& source,
                                       std::span<const std::string> roots);

}  // namespace tuner::family
