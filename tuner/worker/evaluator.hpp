// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/family/family.hpp"
#include "tuner/measure/finals.hpp"
#include "tuner/measure/measurement.hpp"
#include "tuner/verify/verifier.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tuner {

/// A compiled configuration to be judged at a size.
struct Candidate {
  const Kernel& kernel;
  const Space& space;
  Config config;
  Binary binary;
};

/// How a candidate fared on the device.
struct Evaluation {
  Outcome outcome = Outcome::ok;
  std::string message;          ///< why it is not `ok`
  std::optional<Summary> time;  ///< nanoseconds; only when `ok`
  std::optional<double> worst_error;
  Resources resources;
  double verify_ms = 0, measure_ms = 0;
};

/// The samples of a final, in nanoseconds by round.
struct FinalSamples {
  std::vector<std::vector<double>> candidates;  ///< in the order given
  std::vector<double> library;                  ///< empty when the reference is no library
};

/// Judges candidates on one device: loads, verifies, then times. The stage that can later run in a
/// process of its own: what it takes and returns are values.
class Evaluator {
 public:
  /// The backend and the family must outlive it.
  Evaluator(Backend& backend, const Family& family, std::uint64_t seed)
      : backend_(backend), verifier_(backend, family, seed) {}

  /// Verifies, and if right times. `best_ns` is the best median so far at this size. After the last
  /// timed launch the output is checked once more. Throws Error only for what is no candidate's
  /// fault (device memory, the reference).
  [[nodiscard]] Evaluation evaluate(const Candidate& candidate, const Size& size,
                                    std::optional<double> best_ns);

  /// Times candidates, already verified at this size, and the library side by side.
  [[nodiscard]] Expected<FinalSamples, Failure> finals(std::span<const Candidate> candidates,
                                                       const Size& size, const FinalsPlan& plan,
                                                       const std::function<bool()>& stop);

 private:
  [[nodiscard]] Expected<Measurement, Failure> time(const LoadedCandidate& candidate,
                                                    const Size& size,
                                                    std::optional<double> best_ns);

  Backend& backend_;
  Verifier verifier_;
  ClockWatch clock_;
};

}  // namespace tuner
