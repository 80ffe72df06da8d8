// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/measure/measurement.hpp"
#include "tuner/verify/verifier.hpp"
#include "tuner/worker/device_worker.hpp"
#include "tuner/worker/operand_copies.hpp"
#include "tuner/worker/timed_launches.hpp"
#include "tuner/worker/watched_backend.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <vector>

namespace tuner::worker {

/// Judges candidates on a device of this process: loads, verifies, then times.
class Evaluator : public DeviceWorker {
 public:
  /// The backend, the compiler of what candidates are checked with, and the family must outlive it.
  /// `announce` is called before the device gets work.
  Evaluator(
      backend::Backend& backend, const backend::Compiler& compiler, const family::Family& family,
      std::uint64_t seed, WatchedBackend::Announce announce = [](const DeviceStep&) {})
      : backend_(backend, compiler, std::move(announce)),
        family_(family),
        seed_(seed),
        random_(seed),
        verifier_(backend_, family, seed, [this](const verify::VerifyStep& step) {
          backend_.set_size(space::display(step.size, family_.problem.dims));
        }) {}

  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  const space::DeviceInfo& device() const override { return backend_.device(); }
  const space::EnvironmentInfo& environment() const override { return backend_.environment(); }

  /// After the last timed launch the output is checked once more.
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
  verify::Coverage reference_coverage(const space::Size& size) override {
    return verifier_.cover(size);
  }
  Expected<std::vector<OutputPlace>, Failure> launch_once(const Candidate& candidate,
                                                          const space::Size& size) override;
  Expected<std::vector<std::byte>, Failure> read_output(const OutputPart& part) override;
  std::string exact_result(const space::Size& size) override {
    return verifier_.exact_result(size);
  }
  backend::Conditions conditions() override { return backend_.conditions(); }
  /// Has `program` compute all that checks at a size need of a ResultsReference. The same program
  /// at each call.
  void make_results(const space::Size& size, const verify::ResultsProgram& program);

 private:
  /// Copies of the operands of an instance, made when first asked for, and kept until those of
  /// another instance are.
  [[nodiscard]] OperandCopies& copies(verify::Instance& instance);
  /// Whether a launch behind another one finds what no program gives it: a list that is full, or an
  /// output that does not begin with zeros.
  [[nodiscard]] bool is_timed_alone() const;
  /// The audit of a contender that is a candidate; of the library none.
  [[nodiscard]] std::optional<TimedLaunches> audit(std::size_t contender);
  /// The works of a series, prepared by the audit.
  [[nodiscard]] std::vector<backend::Work> works_of_series(std::size_t contender,
                                                           std::optional<TimedLaunches>& audit);
  [[nodiscard]] Expected<measure::Measurement, Failure> time(verify::LoadedCandidate& candidate,
                                                             const space::Size& size,
                                                             std::optional<double> best_ns);
  /// Times it, and again, loaded anew, while its times contradict one another.
  [[nodiscard]] Expected<measure::Measurement, Failure> time_plausibly(
      const Candidate& candidate, verify::LoadedCandidate& loaded, const space::Size& size,
      std::optional<double> best_ns);
  /// Refuses a kernel whose compiled parameters do not fit what it gets at the size.
  [[nodiscard]] Expected<backend::LoadedKernel, Failure> load(const Candidate& candidate,
                                                              const space::Size& size);
  /// The clock at a size, learned when it is first asked for.
  [[nodiscard]] Expected<measure::ClockWatch*, Failure> clock(verify::Instance& instance,
                                                              const backend::Work& work);
  [[nodiscard]] std::optional<Failure> implausible_at(const space::Size& size,
                                                      double time_ns) const;

  /// A candidate, or the library.
  struct Contender {
    backend::Work work;
    std::optional<backend::LoadedKernel> kernel = {};  ///< of a candidate
    std::map<space::Size, verify::Scratch> scratch = {};
    bool has_run = false;  ///< of the library: what its first run loads is loaded
  };

  WatchedBackend backend_;
  const family::Family& family_;
  std::uint64_t seed_;
  std::mt19937_64 random_;  // draws which timed launches are looked at
  verify::Verifier verifier_;
  std::optional<verify::Verifier> making_results_;
  std::map<space::Size, measure::ClockWatch> clocks_;
  space::Size contenders_size_;
  space::Size launched_size_;  // of the last launch_once
  std::vector<Contender> contenders_;
  std::optional<OperandCopies> copies_;
};

}  // namespace tuner::worker
