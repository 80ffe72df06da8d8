// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tuner::family {

/// A space file for a kernel of a source, made of its signature alone and valid as it stands, with
/// comments on what a person has to decide: dimensions, counts, the grid, the reference. Template
/// parameters that are numbers and macros inside of #ifndef become parameters. `source_name` is the
/// source relative to the space file; `kernel` may be empty where the source has one. Throws
/// Error(usage), naming `source_name`, for a source without that kernel and for a type that a space
/// file does not have.
[[nodiscard]] std::string space_draft(std::string_view source, const std::string& source_name,
                                      const std::string& kernel);

}  // namespace tuner::family
