// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/interop/recording.hpp"

#include <string>

namespace tuner::interop {

/// A Kernel Tuner cache file: its head, one entry on each line, closed. A trial that did not end
/// `ok` has in place of its time CompilationFailedConfig when it did not compile, else
/// RuntimeFailedConfig. What a trial cost stands as a whole in `benchmark_time`: a recording does
/// not keep its parts.
[[nodiscard]] std::string cache_text(const Recording& recording);

/// T4 results of results-schema 1.0.0, the cost likewise in `times.benchmark`. Kernel, device and
/// problem size are in `metadata` under the names of a cache file.
[[nodiscard]] std::string t4_text(const Recording& recording);

}  // namespace tuner::interop
