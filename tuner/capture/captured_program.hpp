// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tuner::capture {

/// What a user says of a launch to capture.
struct ProgramOptions {
  std::string kernel;                 ///< the function, without namespaces
  std::filesystem::path source = {};  ///< empty: what the program gave to NVRTC
  std::map<std::string, std::int64_t> elements =
      {};  ///< of buffers that are longer than their data
};

/// What was captured of a program.
struct CapturedProgram {
  std::filesystem::path space;
  std::vector<std::string> warnings;  ///< what a user must know of the capture
};

/// Makes the folder from what libtuner_capture.so (tuner/preload) left in a folder below `record`
/// and returns what it made. The kernel's source says what its parameters are. Throws
/// Error(nothing_found) where nothing was captured, with the reason, and Error(usage) where the
/// launch is none that a space file can state, where the source is not known, and as
/// CaptureFolder.
[[nodiscard]] CapturedProgram write_program_capture(const std::filesystem::path& folder,
                                                    const std::filesystem::path& record,
                                                    const ProgramOptions& options);

}  // namespace tuner::capture
