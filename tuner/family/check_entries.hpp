// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tuner::family {

/// Compares the entries of a kernel, and of a reference kernel, with their sources before anything
/// is compiled. Throws Error(usage) where a source certainly has no such __global__ function, and
/// where it certainly takes more or fewer arguments than are passed, or one of another type.
/// Sources are not preprocessed: what macros, templates or typedefs may change is never certain.
/// Throws too where a launch is programmatic and no source contains what would wait.
void check_entries(const Family& family, const Kernel& kernel);

/// How what a kernel gets at a size does not fit the parameters of its entries as the compiler
/// resolved them (compiled_signature.hpp); empty where it fits and where the image does not say.
/// `values` are the family's at the size.
[[nodiscard]] std::string signature_mismatch(const Family& family, const Kernel& kernel,
                                             const space::ExpressionValues& values,
                                             std::span<const std::byte> image);

/// Parameters whose types are seldom meant for their arguments, such as unsigned char* for float*,
/// in any kernel of the family; one sentence each.
[[nodiscard]] std::vector<std::string> entry_cautions(const Family& family);

}  // namespace tuner::family
