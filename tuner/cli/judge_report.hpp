// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/family/family.hpp"
#include "tuner/session/bench.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::cli {

/// How a judgement ended.
enum class JudgeVerdict {
  ok,           ///< right in all checks
  refused,      ///< the outcome says why
  timeout,      ///< the time for the whole was up
  interrupted,  ///< by a signal
  error,        ///< nothing could be judged: a wrong file or command line, no device
};
[[nodiscard]] std::string_view name(JudgeVerdict verdict);

/// What was found of one configuration of one kernel; at a time limit as far as it was found.
struct JudgeReport {
  JudgeVerdict verdict = JudgeVerdict::error;
  std::string stage = "read";  ///< the last that began: read, open, compile, verify, time, done
  std::string message;         ///< why the verdict is not `ok`
  std::uint64_t seed = 0;
  double limit_s = 0, elapsed_s = 0;
  std::shared_ptr<const family::Family> family;
  const family::Kernel* kernel = nullptr;  ///< of the family
  std::optional<space::Size> size;
  std::optional<space::Config> config;
  std::optional<space::DeviceInfo> device;
  std::optional<space::EnvironmentInfo> environment;
  std::optional<session::BenchContender> judged;  ///< before the others were timed beside it
  std::optional<session::BenchResult> result;
  std::vector<std::string> warnings;
  bool stored = false;
};

/// The document "judge/1" (spaces/schema/judge-1.schema.json).
[[nodiscard]] Json judge_json(const JudgeReport& report);
/// For people. Ends with a newline; not wrapped.
[[nodiscard]] std::string judge_text(const JudgeReport& report);

}  // namespace tuner::cli
