// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/interop/recording.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace tuner::interop {

/// Reads the measured configurations that another tool wrote: a Kernel Tuner cache file (an
/// unclosed one too), T4 results or KTT's JSON results; which of them, the content tells.
///
/// Values of parameters keep Python's text ("16", "0.5", "True", "xor"); a parameter of whole
/// numbers or booleans has numbers, any other has words. The values are in the order of the file's
/// list or, where it has none, of size. A trial is `ok` when its time is a number below 1e20.
/// Kernel Tuner's CompilationFailedConfig and InvalidConfig are `compile_error`, other errors
/// `launch_error`; so are T4's compile and constraints, its runtime, timeout and correctness being
/// `launch_error`, `timeout` and `wrong_result`; and KTT's CompilationFailed and
/// DeviceLimitsExceeded, ComputationFailed and ValidationFailed likewise. The cost is the sum of
/// the times that the file gives for compiling, running, verifying, searching and the tool itself;
/// none when it gives none.
///
/// Throws Error(usage) with the path and the place for what is no such file.
[[nodiscard]] Recording read_recording(const std::filesystem::path& path);

/// Reads the text of such a file; `origin` is what messages begin with.
[[nodiscard]] Recording parse_recording(std::string_view text, std::string_view origin);

/// The key of a configuration in a Kernel Tuner cache, which traces use too: "16,0.5,True", the
/// values in the order of the parameters.
[[nodiscard]] std::string cache_key(const space::SpaceDefinition& definition,
                                    const space::Config& config);

}  // namespace tuner::interop
