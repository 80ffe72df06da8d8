// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/error.hpp"
#include "tuner/core/json.hpp"
#include "tuner/worker/device_worker.hpp"

namespace tuner::worker {

struct CandidateMessage;
template <class Arguments, class Result>
struct Call;

/// A device in another process. Each method is a call of the table in calls.hpp: a request, whose
/// answer is its result. How requests are sent, and what a lost process or an invalid answer means,
/// is defined by the subclass.
class RemoteDevice : public DeviceWorker {
 public:
  EvaluatedCandidate evaluate(const Candidate& candidate, const space::Size& size,
                              std::optional<double> best_ns) override;
  void begin_side_by_side(const space::Size& size) override;
  Expected<void, Failure> add_contender(const Candidate& candidate) override;
  Expected<std::string, Failure> fastest_library_algorithm(const space::Size& size) override;
  Expected<bool, Failure> add_library(const std::string& algorithm) override;
  Expected<backend::Sample, Failure> time_contender(std::size_t contender) override;
  Expected<double, Failure> time_contender_hot(std::size_t contender) override;
  Expected<std::optional<double>, Failure> time_contender_series(std::size_t contender,
                                                                 backend::Lead lead) override;
  Expected<std::optional<backend::RegimeTimes>, Failure> time_contender_regimes(
      std::size_t contender) override;
  Expected<std::optional<backend::EnergySample>, Failure> measure_contender_energy(
      std::size_t contender, double window_s) override;
  std::optional<double> idle_watts() override;
  Expected<counters::CounterReading, Failure> count_contender(std::size_t contender) override;
  Expected<measure::TransferTimes, Failure> time_transfers(
      std::size_t contender, std::span<const measure::HostPlace> places) override;
  verify::Coverage reference_coverage(const space::Size& size) override;
  Expected<std::vector<OutputPlace>, Failure> launch_once(const Candidate& candidate,
                                                          const space::Size& size) override;
  Expected<std::vector<std::byte>, Failure> read_output(const OutputPart& part) override;
  std::string exact_result(const space::Size& size) override;
  backend::Conditions conditions() override;
  void replace_process() override;

 protected:
  /// The answer to a request about a contender at a size, or why the contender failed.
  [[nodiscard]] virtual Expected<Json, Failure> ask_about_contender(const Json& request,
                                                                    const space::Size& size) = 0;
  /// Likewise to a request to evaluate a candidate.
  [[nodiscard]] virtual Expected<Json, Failure> ask_about_candidate(const Json& request,
                                                                    const space::Size& size);
  /// The answer to a request that involves no candidate. Throws Error when there is none.
  [[nodiscard]] virtual Json ask_device(const Json& request, const space::Size& size) = 0;
  /// The binary to send with a candidate; empty if the other process has it.
  [[nodiscard]] virtual backend::Binary sent_binary(const Candidate& candidate) const = 0;
  /// A contender failed with this answer.
  virtual void contender_failed(const Failure& failure) = 0;
  /// A candidate was evaluated at a size.
  virtual void candidate_evaluated(const EvaluatedCandidate& /*result*/,
                                   const space::Size& /*size*/) {}
  /// The failure of a contender whose answer is invalid; or throws.
  [[nodiscard]] virtual Failure invalid_answer(const Error& error) = 0;
  /// What is thrown for an answer without a contender that is invalid or a failure; or throws.
  [[nodiscard]] virtual Error refusal(const Error& error) = 0;

  [[nodiscard]] CandidateMessage message_of(const Candidate& candidate) const;

 private:
  template <class Arguments, class Result>
  [[nodiscard]] Expected<Result, Failure> of_contender(const Call<Arguments, Result>& call,
                                                       const Arguments& arguments);
  template <class Arguments, class Result>
  [[nodiscard]] Result of_device(const Call<Arguments, Result>& call, const Arguments& arguments,
                                 const space::Size& size);

  space::Size contenders_size_;
};

}  // namespace tuner::worker
