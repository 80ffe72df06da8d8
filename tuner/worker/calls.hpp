// SPDX-License-Identifier: Apache-2.0
// Module worker: the child processes that compile kernels and drive devices, and the messages to
// them. A candidate that crashes or hangs takes only its child along.
//
// The calls from `tune` to the process that drives a device. A request is {"call", "arguments"};
// its answer {"result"}, {"failure"} of the candidate, or {"error"}. Before the answer the process
// announces what the device is about to do: {"step"}.
#pragma once

#include "tuner/worker/message.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::worker {

struct Nothing {};
template <>
inline constexpr auto kFields<Nothing> = std::tuple();

/// A Candidate as a message.
struct CandidateMessage {
  std::string kernel;
  std::string config;  ///< canonical JSON
  backend::Binary binary;
};
template <>
inline constexpr auto kFields<CandidateMessage> = std::tuple(
    Field("kernel", &CandidateMessage::kernel), Field("config", &CandidateMessage::config),
    Field("binary", &CandidateMessage::binary));

struct EvaluateArguments {
  CandidateMessage candidate;
  space::Size size;
  std::optional<double> best_ns;
};
template <>
inline constexpr auto kFields<EvaluateArguments> = std::tuple(
    Field("candidate", &EvaluateArguments::candidate), Field("size", &EvaluateArguments::size),
    Field("best_ns", &EvaluateArguments::best_ns));

template <>
inline constexpr auto kFields<OutputPlace> =
    std::tuple(Field("name", &OutputPlace::name), Field("size_bytes", &OutputPlace::size_bytes));

template <>
inline constexpr auto kFields<OutputPart> = std::tuple(
    Field("output", &OutputPart::output), Field("offset_bytes", &OutputPart::offset_bytes),
    Field("size_bytes", &OutputPart::size_bytes));

struct TransferArguments {
  std::uint64_t contender = 0;
  std::vector<measure::HostPlace> places;
};
template <>
inline constexpr auto kFields<TransferArguments> = std::tuple(
    Field("contender", &TransferArguments::contender), Field("places", &TransferArguments::places));

struct EnergyArguments {
  std::uint64_t contender = 0;
  double window_s = 0;
};
template <>
inline constexpr auto kFields<EnergyArguments> = std::tuple(
    Field("contender", &EnergyArguments::contender), Field("window_s", &EnergyArguments::window_s));

/// What a process that makes results asks for: results for inputs, or, with a key, that a file of
/// results is kept. Its member in a message is {"results"}.
struct ResultsMessage {
  std::string inputs, results;  ///< files
  std::string key;
  std::string file;  ///< empty: what is stored under the key is right
};
template <>
inline constexpr auto kFields<ResultsMessage> =
    std::tuple(Field("inputs", &ResultsMessage::inputs), Field("results", &ResultsMessage::results),
               Field("key", &ResultsMessage::key), Field("file", &ResultsMessage::file));

struct ResultsReply {
  int kind = 0;  ///< verify::ResultsAnswer::Kind
  std::string reason;
};
template <>
inline constexpr auto kFields<ResultsReply> =
    std::tuple(Field("kind", &ResultsReply::kind), Field("reason", &ResultsReply::reason));

struct SeriesArguments {
  std::uint64_t contender = 0;
  bool is_loaded = false;
};
template <>
inline constexpr auto kFields<SeriesArguments> = std::tuple(
    Field("contender", &SeriesArguments::contender), Field("load", &SeriesArguments::is_loaded));

template <class Arguments, class Result>
struct Call {
  std::string_view name;
};

// As the methods of DeviceWorker.
inline constexpr Call<EvaluateArguments, EvaluatedCandidate> kEvaluate{"evaluate"};
inline constexpr Call<space::Size, Nothing> kBeginSideBySide{"begin_side_by_side"};
inline constexpr Call<CandidateMessage, Nothing> kAddContender{"add_contender"};
inline constexpr Call<space::Size, std::string> kFastestLibraryAlgorithm{
    "fastest_library_algorithm"};
inline constexpr Call<std::string, bool> kAddLibrary{"add_library"};
inline constexpr Call<std::uint64_t, backend::Sample> kTimeContender{"time_contender"};
inline constexpr Call<std::uint64_t, double> kTimeContenderHot{"time_contender_hot"};
inline constexpr Call<SeriesArguments, std::optional<double>> kTimeContenderSeries{
    "time_contender_series"};
inline constexpr Call<std::uint64_t, std::optional<backend::RegimeTimes>> kTimeContenderRegimes{
    "time_contender_regimes"};
inline constexpr Call<EnergyArguments, std::optional<backend::EnergySample>>
    kMeasureContenderEnergy{"measure_contender_energy"};
inline constexpr Call<Nothing, std::optional<double>> kIdleWatts{"idle_watts"};
inline constexpr Call<std::uint64_t, counters::CounterReading> kCountContender{"count_contender"};
inline constexpr Call<TransferArguments, measure::TransferTimes> kTimeTransfers{"time_transfers"};
inline constexpr Call<space::Size, verify::Coverage> kReferenceCoverage{"reference_coverage"};
inline constexpr Call<EvaluateArguments, std::vector<OutputPlace>> kLaunchOnce{"launch_once"};
inline constexpr Call<OutputPart, std::vector<std::byte>> kReadOutput{"read_output"};
inline constexpr Call<space::Size, std::string> kExactResult{"exact_result"};
inline constexpr Call<space::Size, Nothing> kMakeResults{"make_results"};
inline constexpr Call<Nothing, backend::Conditions> kConditions{"conditions"};
inline constexpr Call<Nothing, Nothing> kReplaceProcess{"replace_process"};
inline constexpr Call<Nothing, StartUp> kStartUp{"start_up"};

template <class Arguments, class Result>
[[nodiscard]] Json request(const Call<Arguments, Result>& call, const Arguments& arguments) {
  return {{"call", call.name}, {"arguments", to_message(arguments)}};
}

template <class Result>
[[nodiscard]] Json answer(const Expected<Result, Failure>& result) {
  if (!result) return {{"failure", to_message(result.error())}};
  return {{"result", to_message(*result)}};
}
/// The result or the failure in an answer. Throws Error(failure) when it has neither.
template <class Result>
[[nodiscard]] Expected<Result, Failure> result_in(const Json& answer) {
  if (const auto failure = answer.find("failure"); failure != answer.end()) {
    return Unexpected(from_message<Failure>(*failure, "failure"));
  }
  return from_message<Result>(member(answer, "result"), "result");
}

}  // namespace tuner::worker
