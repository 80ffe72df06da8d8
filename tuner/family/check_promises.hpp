// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"

#include <span>
#include <string>
#include <vector>

namespace tuner::family {

/// Whether an output of the family holds floating-point numbers: then integers among its inputs are
/// indices or counts rather than terms of sums.
[[nodiscard]] bool has_floating_results(std::span<const Argument> arguments);
/// Whether an output holds floating-point numbers at the size that `values` hold.
[[nodiscard]] bool has_floating_results(std::span<const Argument> arguments,
                                        const space::ExpressionValues& values);

/// How the results of a family's kernels are checked, one sentence a line: by which reference,
/// when they must be equal to it and how far they may be from it else, and whether launches may
/// differ.
[[nodiscard]] std::vector<std::string> check_promises(const Family& family);

/// What of a family's check lets mistakes pass at a size: a kernel that is judged by itself, no
/// sizes but the tuned one, errors allowed that are as large as results, integers that may be
/// indices, a case that sets what the size decides, types that are seldom meant. Empty when there
/// is nothing to say.
[[nodiscard]] std::vector<std::string> check_cautions(const Family& family,
                                                      const space::Size& size);

}  // namespace tuner::family
