// SPDX-License-Identifier: Apache-2.0
// What a user tells every dispatcher of a process through its environment.
#pragma once

#include "tuner/dispatch/dispatcher.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tuner::dispatch {

enum class LogLevel { off, warn, info };
enum class TunedKernels { used, ignored };

struct DispatchSettings {
  LogLevel log = LogLevel::warn;      ///< TUNER_LOG=off|warn|info
  std::filesystem::path record = {};  ///< TUNER_RECORD: where sizes are noted; empty: nowhere
  std::string capture = {};  ///< TUNER_CAPTURE: of which family or kernel a launch is captured
  std::filesystem::path capture_folder = {};  ///< TUNER_CAPTURE_FOLDER; empty: captured_NAME
  std::uint64_t capture_limit_bytes = 0;      ///< TUNER_CAPTURE_LIMIT, in MiB; of all its buffers
  TunedKernels tuned = TunedKernels::used;    ///< TUNER_DISABLE=1 ignores them
  /// TUNER_EXACT=1: exact; TUNER_PINS=FILE: pinned.
  DispatchMode mode = DispatchMode::any;
  std::filesystem::path pins = {};  ///< of the mode pinned
};

/// Of this process's environment, which a privileged program ignores. An unknown TUNER_LOG counts
/// as `warn`.
[[nodiscard]] DispatchSettings dispatch_settings();

/// A line on the standard error, "tuner: …", when the settings want lines of this level.
void log(const DispatchSettings& settings, LogLevel level, std::string_view line);

}  // namespace tuner::dispatch
