// SPDX-License-Identifier: Apache-2.0
// Internal to interop: the KernelSpecification of a T1 file, as far as a space file can say it.
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/space/definition.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::interop {

/// The axes of a grid and a block, in the names of T1's keys.
inline constexpr std::array<const char*, 3> kAxes = {"X", "Y", "Z"};

/// The problem size that a T1 file states, and what its dimensions are called in the space file.
struct T1Problem {
  std::vector<std::string> dims;
  std::vector<std::int64_t> size;
};

[[nodiscard]] T1Problem read_t1_problem(const Json& specification);

/// Parts of a space file, with a note for each thing that could not be said.
struct T1Part {
  Json json;
  std::vector<std::string> notes;
};

/// An expression over some names, with ProblemSize[i] as the dimensions and max(P) and min(P) as
/// the largest and smallest value of a parameter. Empty when it cannot be said.
[[nodiscard]] std::string t1_expression(const Json& given, const T1Problem& problem,
                                        const space::SpaceDefinition& definition,
                                        const space::Scope& scope);

/// `arguments`. At least one is an output.
[[nodiscard]] T1Part read_t1_arguments(const Json& specification, const T1Problem& problem,
                                       const space::SpaceDefinition& definition);
/// `launch`.
[[nodiscard]] T1Part read_t1_launch(const Json& specification, const T1Problem& problem,
                                    const space::SpaceDefinition& definition);
/// `options`.
[[nodiscard]] T1Part read_t1_options(const Json& specification);

}  // namespace tuner::interop
