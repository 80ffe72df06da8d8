// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/settings.hpp"

#include "tuner/capture/capture_folder.hpp"
#include "tuner/core/environment.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace tuner::dispatch {

DispatchSettings dispatch_settings() {
  DispatchSettings settings;
  if (environment_variable("TUNER_LOG") == "off") settings.log = LogLevel::off;
  if (environment_variable("TUNER_LOG") == "info") settings.log = LogLevel::info;
  settings.record = environment_variable("TUNER_RECORD");
  settings.capture = environment_variable("TUNER_CAPTURE");
  settings.capture_folder = environment_variable("TUNER_CAPTURE_FOLDER");
  if (settings.capture_folder.empty()) settings.capture_folder = "captured_" + settings.capture;
  const std::string limit = environment_variable("TUNER_CAPTURE_LIMIT");
  const std::uint64_t mib = std::strtoull(limit.c_str(), nullptr, 10);
  settings.capture_limit_bytes = mib == 0 ? capture::kDefaultLimitBytes : mib << 20U;
  if (environment_variable("TUNER_DISABLE") == "1") settings.tuned = TunedKernels::ignored;
  if (environment_variable("TUNER_EXACT") == "1") settings.mode = DispatchMode::exact;
  settings.pins = environment_variable("TUNER_PINS");
  if (!settings.pins.empty()) settings.mode = DispatchMode::pinned;
  return settings;
}

void log(const DispatchSettings& settings, LogLevel level, std::string_view line) {
  if (level > settings.log) return;
  // One call, so that lines of several threads do not mix.
  const std::string text = fmt::format("tuner: {}\n", line);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace tuner::dispatch
