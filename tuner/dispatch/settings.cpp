// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/settings.hpp"

#include "tuner/core/environment.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace tuner::dispatch {

DispatchSettings dispatch_settings() {
  DispatchSettings settings;
  if (environment_variable("TUNER_LOG") == "off") settings.log = LogLevel::off;
  if (environment_variable("TUNER_LOG") == "info") settings.log = LogLevel::info;
  settings.record = environment_variable("TUNER_RECORD");
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
