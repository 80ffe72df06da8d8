// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/source/source.hpp"

#include <span>
#include <string>

namespace tuner::source {

/// A source and its headers without what its kernels do not need: main, functions that launch
/// kernels, every other declaration that nothing mentions which a kernel can reach, and functions
/// and types for the device that the entries cannot reach. `roots` are texts that name what is in
/// use: the entries and the options. What is left out becomes blanks, so that lines keep their
/// numbers; directives stay. A source without an unused function comes back as it is, and so does
/// one whose braces match in no choice of branches of #if.
[[nodiscard]] KernelSource device_code(const KernelSource& source,
                                       std::span<const std::string> roots);

/// What to say behind a compiler's errors where host code stayed because braces do not match; empty
/// where they do.
[[nodiscard]] std::string host_code_hint(const KernelSource& source);

}  // namespace tuner::source
