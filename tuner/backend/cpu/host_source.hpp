// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/candidate.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tuner::backend {

/// The compiler option of a kernel that includes the C++ library's mathematics, and so is for CPUs
/// only. It chooses the backend's own headers.
inline constexpr std::string_view kStandardMath = "-DTUNER_STANDARD_MATH";

/// CUDA C++ as the host's compiler takes it together with cuda_on_cpu.hpp: `extern __shared__`
/// arrays become pointers to the block's dynamic shared memory, and an alignment after
/// `__shared__` moves before it. Lines keep their numbers.
[[nodiscard]] std::string host_source(std::string_view cuda_source);

/// The names under which an image exports the job's entries, in their order.
[[nodiscard]] std::vector<std::string> exported_names(const family::CompileJob& job);

/// A header that defines the job's macros. It is included after the backend's own headers, where
/// every name is free to be one.
[[nodiscard]] std::string host_macros(const family::CompileJob& job);

/// The translation unit of a job: its source, and the exports of its entries.
[[nodiscard]] std::string host_unit(const family::CompileJob& job);

/// What g++ said about a unit of host_unit, without what only follows from an error of the kernel
/// in the code that exports it, and without naming that code. A log that has no other error is left
/// as it is.
[[nodiscard]] std::string without_export(std::string_view log);

}  // namespace tuner::backend
