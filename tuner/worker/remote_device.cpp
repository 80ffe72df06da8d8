// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/remote_device.hpp"

#include "tuner/worker/calls.hpp"
#include "tuner/worker/channel.hpp"

#include <nlohmann/json.hpp>

#include <chrono>

namespace tuner::worker {
namespace {

EvaluatedCandidate evaluation_of(const Failure& failure, std::chrono::duration<double> spent = {}) {
  EvaluatedCandidate evaluation;
  evaluation.outcome = failure.outcome;
  evaluation.message = failure.message;
  evaluation.verify_ms = 1e3 * spent.count();
  return evaluation;
}

}  // namespace

template <class Arguments, class Result>
Expected<Result, Failure> RemoteDevice::of_contender(const Call<Arguments, Result>& call,
                                                     const Arguments& arguments) {
  const auto answer = ask_about_contender(request(call, arguments), contenders_size_);
  if (!answer) return Unexpected(answer.error());
  try {
    auto result = result_in<Result>(*answer);
    if (!result) contender_failed(result.error());
    return result;
  } catch (const Error& error) {
    return Unexpected(invalid_answer(error));
  }
}

template <class Arguments, class Result>
Result RemoteDevice::of_device(const Call<Arguments, Result>& call, const Arguments& arguments,
                               const space::Size& size) {
  const Json answer = ask_device(request(call, arguments), size);
  std::string objection;
  try {
    auto result = result_in<Result>(answer);
    if (result) return *std::move(result);
    objection = result.error().message;
  } catch (const Error& error) {
    objection = error.what();
  }
  throw refusal(Error(ErrorCode::failure, objection));
}

CandidateMessage RemoteDevice::message_of(const Candidate& candidate) const {
  return {.kernel = candidate.kernel.name,
          .config = space::canonical_json(candidate.space.definition(), candidate.config),
          .binary = sent_binary(candidate)};
}

Expected<Json, Failure> RemoteDevice::ask_about_candidate(const Json& request,
                                                          const space::Size& size) {
  return ask_about_contender(request, size);
}

EvaluatedCandidate RemoteDevice::evaluate(const Candidate& candidate, const space::Size& size,
                                          std::optional<double> best_ns) {
  const auto begin = Channel::Clock::now();
  const auto answer = ask_about_candidate(
      request(
          kEvaluate,
          EvaluateArguments{.candidate = message_of(candidate), .size = size, .best_ns = best_ns}),
      size);
  if (!answer) return evaluation_of(answer.error(), Channel::Clock::now() - begin);
  try {
    const auto result = result_in<EvaluatedCandidate>(*answer);
    if (!result) contender_failed(result.error());
    if (!result) return evaluation_of(result.error());
    candidate_evaluated(*result, size);
    return *result;
  } catch (const Error& error) {
    return evaluation_of(invalid_answer(error));
  }
}

void RemoteDevice::begin_side_by_side(const space::Size& size) {
  contenders_size_ = size;
  static_cast<void>(of_device(kBeginSideBySide, size, size));
}

Expected<void, Failure> RemoteDevice::add_contender(const Candidate& candidate) {
  const auto added = of_contender(kAddContender, message_of(candidate));
  if (!added) return Unexpected(added.error());
  return {};
}

Expected<std::string, Failure> RemoteDevice::fastest_library_algorithm(const space::Size& size) {
  contenders_size_ = size;
  return of_contender(kFastestLibraryAlgorithm, size);
}

Expected<bool, Failure> RemoteDevice::add_library(const std::string& algorithm) {
  return of_contender(kAddLibrary, algorithm);
}

Expected<backend::Sample, Failure> RemoteDevice::time_contender(std::size_t contender) {
  return of_contender(kTimeContender, std::uint64_t{contender});
}

Expected<double, Failure> RemoteDevice::time_contender_hot(std::size_t contender) {
  return of_contender(kTimeContenderHot, std::uint64_t{contender});
}

Expected<std::optional<double>, Failure> RemoteDevice::time_contender_series(std::size_t contender,
                                                                             backend::Lead lead) {
  return of_contender(kTimeContenderSeries,
                      {.contender = contender, .is_loaded = lead == backend::Lead::load});
}

Expected<std::optional<backend::RegimeTimes>, Failure> RemoteDevice::time_contender_regimes(
    std::size_t contender) {
  return of_contender(kTimeContenderRegimes, std::uint64_t{contender});
}

Expected<std::optional<backend::EnergySample>, Failure> RemoteDevice::measure_contender_energy(
    std::size_t contender, double window_s) {
  return of_contender(kMeasureContenderEnergy, {.contender = contender, .window_s = window_s});
}

std::optional<double> RemoteDevice::idle_watts() {
  return of_device(kIdleWatts, Nothing{}, {});
}

Expected<counters::CounterReading, Failure> RemoteDevice::count_contender(std::size_t contender) {
  return of_contender(kCountContender, std::uint64_t{contender});
}

Expected<measure::TransferTimes, Failure> RemoteDevice::time_transfers(
    std::size_t contender, std::span<const measure::HostPlace> places) {
  return of_contender(kTimeTransfers,
                      {.contender = contender, .places = {places.begin(), places.end()}});
}

verify::Coverage RemoteDevice::reference_coverage(const space::Size& size) {
  return of_device(kReferenceCoverage, size, size);
}

Expected<std::vector<OutputPlace>, Failure> RemoteDevice::launch_once(const Candidate& candidate,
                                                                      const space::Size& size) {
  contenders_size_ = size;
  return of_contender(
      kLaunchOnce,
      EvaluateArguments{.candidate = message_of(candidate), .size = size, .best_ns = std::nullopt});
}

Expected<std::vector<std::byte>, Failure> RemoteDevice::read_output(const OutputPart& part) {
  return of_contender(kReadOutput, part);
}

std::string RemoteDevice::exact_result(const space::Size& size) {
  return of_device(kExactResult, size, size);
}

void RemoteDevice::replace_process() {
  static_cast<void>(of_device(kReplaceProcess, Nothing{}, {}));
}

backend::Conditions RemoteDevice::conditions() {
  return of_device(kConditions, Nothing{}, {});
}

}  // namespace tuner::worker
