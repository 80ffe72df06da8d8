// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/trial_record.hpp"

#include "tuner/core/file.hpp"
#include "tuner/core/json.hpp"
#include "tuner/source/source.hpp"

#include <nlohmann/json.hpp>

namespace tuner::session {

store::KernelRecord kernel_record(const family::Family& family, const family::Kernel& kernel) {
  Json headers = Json::array();
  for (const source::Header& header : kernel.source.headers) {
    headers.push_back({{"name", header.name}, {"text", header.text}});
  }
  return {.family = family.name,
          .kernel = kernel.name,
          .hash = kernel.hash,
          .space_text = family.text,
          .source_name = kernel.source.name,
          .source_text = kernel.source.text,
          .headers_json = headers.dump()};
}

std::string new_uuid() {
  return random_word() + random_word();
}

store::TrialRecord with_evaluation(store::TrialRecord trial,
                                   const worker::EvaluatedCandidate& evaluation,
                                   const family::Kernel& kernel,
                                   const space::ExpressionValues& values) {
  TrialResult& result = trial;
  result = evaluation;
  for (std::size_t step = 0; step < evaluation.resources.size(); ++step) {
    const auto& [registers, static_shared_bytes, local_bytes] = evaluation.resources[step];
    // Only what was timed is known to have a legal launch.
    const std::uint64_t dynamic_shared_bytes =
        evaluation.time ? family::geometry(kernel, step, values).dynamic_shared_bytes : 0;
    trial.registers = std::max(trial.registers, registers);
    trial.shared_bytes = std::max(trial.shared_bytes, static_shared_bytes + dynamic_shared_bytes);
    trial.local_bytes = std::max<std::uint64_t>(trial.local_bytes, local_bytes);
  }
  return trial;
}

store::TrialRecord with_failure(store::TrialRecord trial, const Failure& failure) {
  trial.outcome = failure.outcome;
  trial.message = failure.message;
  return trial;
}

}  // namespace tuner::session
