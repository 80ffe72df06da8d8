// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/core/record.hpp"
#include "tuner/core/trial_result.hpp"
#include "tuner/family/family.hpp"
#include "tuner/measure/statistics.hpp"
#include "tuner/measure/transfer.hpp"
#include "tuner/verify/coverage.hpp"
#include "tuner/verify/performed_check.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tuner::worker {

/// A compiled configuration to be judged at a size.
struct Candidate {
  const family::Kernel& kernel;
  const space::BoundDefinition& space;
  space::Config config;
  backend::Binary binary;
};

/// What a device found of a candidate.
struct EvaluatedCandidate : TrialResult {
  std::string caution;                        ///< Instance::caution at the size; only when `ok`
  std::vector<backend::Resources> resources;  ///< of each step
  std::vector<verify::PerformedCheck>
      checks;  ///< none of a candidate that took its process with it
  std::vector<verify::LawLeftOut> laws_left_out;
  /// What the checks reached of a reference kernel; of a process's first candidate that was right.
  std::optional<verify::Coverage> coverage;

  static constexpr auto fields() {
    return std::tuple_cat(TrialResult::fields(),
                          std::tuple(Field("caution", &EvaluatedCandidate::caution),
                                     Field("resources", &EvaluatedCandidate::resources),
                                     Field("checks", &EvaluatedCandidate::checks),
                                     Field("laws_left_out", &EvaluatedCandidate::laws_left_out),
                                     Field("coverage", &EvaluatedCandidate::coverage)));
  }
};

/// What a program spends once on a device, in milliseconds, and what it gets for it.
struct StartUp {
  double device_ms = 0;   ///< to open it: the context, the library and the compiler to be loaded
  double library_ms = 0;  ///< what the library's first call takes longer than its second
  double peak_bytes_per_s = 0;  ///< between the device and its memory; 0: not known
};

/// An argument that a launch writes.
struct OutputPlace {
  std::string name;
  std::uint64_t size_bytes = 0;
};

/// Bytes of an output, at most kMostOutputBytes.
struct OutputPart {
  std::uint64_t output = 0;  ///< its place among the outputs
  std::uint64_t offset_bytes = 0;
  std::uint64_t size_bytes = 0;
};
inline constexpr std::uint64_t kMostOutputBytes = std::uint64_t{16} << 20;

/// What drives one device for a run: judges candidates, and times contenders side by side. Used
/// from one thread. Methods throw Error for what is no candidate's fault: too little device memory,
/// a reference that cannot run, a device that is lost.
class DeviceWorker {
 public:
  virtual ~DeviceWorker() = default;

  [[nodiscard]] virtual const space::DeviceInfo& device() const = 0;
  [[nodiscard]] virtual const space::EnvironmentInfo& environment() const = 0;

  /// Verifies, and if right times. `best_ns` is the best median so far at this size.
  [[nodiscard]] virtual EvaluatedCandidate evaluate(const Candidate& candidate,
                                                    const space::Size& size,
                                                    std::optional<double> best_ns) = 0;

  /// Of the algorithms that the library offers for a size, those that are right there are timed, in
  /// turn: the fastest by the median, as Backend::library_algorithms names it. Empty where it
  /// offers none or the family's reference is not of a library.
  [[nodiscard]] virtual Expected<std::string, Failure> fastest_library_algorithm(
      const space::Size& size) = 0;

  /// Begins timing side by side at a size, with no contenders yet. After a contender that ended
  /// `crashed` or `timeout`, the library too, this must be called again.
  virtual void begin_side_by_side(const space::Size& size) = 0;
  /// Adds a candidate that was verified at this size. Contenders are counted from 0 as added.
  [[nodiscard]] virtual Expected<void, Failure> add_contender(const Candidate& candidate) = 0;
  /// Adds the library as a contender, by one of its algorithms or, where that is empty, as it
  /// chooses itself; false when the family's reference is not of a library.
  [[nodiscard]] virtual Expected<bool, Failure> add_library(const std::string& algorithm) = 0;
  /// One sample of a contender from a cold cache.
  [[nodiscard]] virtual Expected<backend::Sample, Failure> time_contender(
      std::size_t contender) = 0;
  /// Nanoseconds of a run of a contender with its data in the cache; from a cold one where launches
  /// one after another would write out of bounds. Of these the next three give none.
  [[nodiscard]] virtual Expected<double, Failure> time_contender_hot(std::size_t contender) = 0;
  /// As Backend::time_series and Backend::time_regimes, on as many copies of the family's buffers
  /// as are three times the cache, at most 256.
  [[nodiscard]] virtual Expected<std::optional<double>, Failure> time_contender_series(
      std::size_t contender, backend::Lead lead) = 0;
  [[nodiscard]] virtual Expected<std::optional<backend::RegimeTimes>, Failure>
  time_contender_regimes(std::size_t contender) = 0;
  /// As Backend::measure_energy.
  [[nodiscard]] virtual Expected<std::optional<backend::EnergySample>, Failure>
  measure_contender_energy(std::size_t contender, double window_s) = 0;
  /// As Backend::idle_watts.
  [[nodiscard]] virtual std::optional<double> idle_watts() = 0;
  /// The hardware counters of a contender from a cold cache, or why the device tells none.
  [[nodiscard]] virtual Expected<counters::CounterReading, Failure> count_contender(
      std::size_t contender) = 0;
  /// The transfer times (time_transfers) of a contender; a place for each of the family's buffers,
  /// in their order. wrong_result and the like when what the host got is not right.
  [[nodiscard]] virtual Expected<measure::TransferTimes, Failure> time_transfers(
      std::size_t contender, std::span<const measure::HostPlace> places) = 0;
  /// What the checks of every kernel's default configuration at a size reach of the family's
  /// reference kernel; empty for another reference.
  [[nodiscard]] virtual verify::Coverage reference_coverage(const space::Size& size) = 0;
  /// Launches a candidate once, on the inputs of timing, and returns the family's outputs in their
  /// order. What they hold is compared with nothing; a write beside the buffers is a failure.
  [[nodiscard]] virtual Expected<std::vector<OutputPlace>, Failure> launch_once(
      const Candidate& candidate, const space::Size& size) = 0;
  /// What launch_once, the call before, left in a part of an output.
  [[nodiscard]] virtual Expected<std::vector<std::byte>, Failure> read_output(
      const OutputPart& part) = 0;
  /// Content hash of the right result at a size on whole-number inputs: that of other devices.
  [[nodiscard]] virtual std::string exact_result(const space::Size& size) = 0;
  /// What else acts on the device at this moment.
  [[nodiscard]] virtual backend::Conditions conditions() = 0;

  /// Continues with a new process, if there is one behind it, whose code, data and threads lie
  /// elsewhere. Contenders are to be added again.
  virtual void replace_process() {}
  /// How often the process behind it, if there is one, was lost and replaced.
  [[nodiscard]] virtual int respawns() const { return 0; }
};

/// Whether the results of one device answer for the other: both are of one model, with one
/// environment.
[[nodiscard]] inline bool are_of_one_subject(const DeviceWorker& one, const DeviceWorker& other) {
  const space::DeviceInfo& a = one.device();
  const space::DeviceInfo& b = other.device();
  return a.backend == b.backend && a.name == b.name && a.architecture == b.architecture &&
         a.attributes.sm_count == b.attributes.sm_count && one.environment() == other.environment();
}

}  // namespace tuner::worker
