// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/evaluator.hpp"

#include "tuner/backend/owned.hpp"

#include <chrono>

namespace tuner {
namespace {

/// Milliseconds since it was made.
class Stopwatch {
 public:
  [[nodiscard]] double elapsed_ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

Evaluation failed(Evaluation evaluation, Failure failure) {
  evaluation.outcome = failure.outcome;
  evaluation.message = std::move(failure.message);
  evaluation.time.reset();
  return evaluation;
}

}  // namespace

Evaluation Evaluator::evaluate(const Candidate& candidate, const Size& size,
                               std::optional<double> best_ns) {
  Evaluation evaluation;
  const auto kernel = backend_.load(candidate.binary);
  if (!kernel) return failed(std::move(evaluation), kernel.error());
  const LoadedKernel owner(backend_, *kernel);
  evaluation.resources = backend_.resources(*kernel);
  const LoadedCandidate loaded{.kernel = candidate.kernel,
                               .space = candidate.space,
                               .config = candidate.config,
                               .loaded = *kernel};

  const Stopwatch verifying;
  auto verdict = verifier_.verify(loaded, size);
  evaluation.verify_ms = verifying.elapsed_ms();
  if (!verdict) return failed(std::move(evaluation), std::move(verdict.error()));
  evaluation.worst_error = verdict->worst_error;

  const Stopwatch measuring;
  auto measurement = time(loaded, size, best_ns);
  evaluation.measure_ms = measuring.elapsed_ms();
  if (!measurement) return failed(std::move(evaluation), std::move(measurement.error()));
  evaluation.time = measurement->summary;
  return evaluation;
}

Expected<Measurement, Failure> Evaluator::time(const LoadedCandidate& candidate, const Size& size,
                                               std::optional<double> best_ns) {
  Instance& instance = verifier_.timing_instance(size);
  const auto launch = launch_on(candidate, instance);
  if (!launch) return Unexpected(launch.error());
  instance.prepare_launch();
  auto measurement = screen(backend_, *launch, ScreenPlan{}, best_ns);
  if (!measurement) return measurement;
  if (auto right = verifier_.verify_timed(candidate, size); !right) {
    return Unexpected(std::move(right.error()));
  }
  return measurement;
}

Expected<FinalSamples, Failure> Evaluator::finals(std::span<const Candidate> candidates,
                                                  const Size& size, const FinalsPlan& plan,
                                                  const std::function<bool()>& stop) {
  const Instance& instance = verifier_.timing_instance(size);
  std::vector<LoadedKernel> owners;
  std::vector<Work> contenders;
  for (const Candidate& candidate : candidates) {
    const auto kernel = backend_.load(candidate.binary);
    if (!kernel) return Unexpected(kernel.error());
    owners.emplace_back(backend_, *kernel);
    const auto launch = launch_on({.kernel = candidate.kernel,
                                   .space = candidate.space,
                                   .config = candidate.config,
                                   .loaded = *kernel},
                                  instance);
    if (!launch) return Unexpected(launch.error());
    contenders.emplace_back(*launch);
  }
  const std::optional<Work> library = instance.library_work();
  if (library) contenders.push_back(*library);
  auto samples = run_finals(backend_, contenders, plan, stop);
  if (!samples) return Unexpected(std::move(samples.error()));
  FinalSamples result{.candidates = std::move(*samples), .library = {}};
  if (library) {
    result.library = std::move(result.candidates.back());
    result.candidates.pop_back();
  }
  return result;
}

}  // namespace tuner
