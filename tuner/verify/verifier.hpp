// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/candidate.hpp"
#include "tuner/verify/instance.hpp"

#include <cstdint>
#include <list>
#include <set>
#include <string>
#include <vector>

namespace tuner {

/// That a candidate computed the right results.
struct Verdict {
  double worst_error = 0;  ///< the largest error seen, as a share of its bound
};

/// A configuration of a kernel, compiled and loaded. The kernel and the space must outlive it.
struct LoadedCandidate {
  const Kernel& kernel;
  const Space& space;
  Config config;
  KernelId loaded;
};

/// The launch of a candidate on an instance; launch_error when the configuration has no legal
/// launch at the instance's size.
[[nodiscard]] Expected<Launch, Failure> launch_on(const LoadedCandidate& candidate,
                                                  const Instance& instance);

/// Proves candidates of one family right on one device before they are timed: at awkward sizes
/// (the family's and those derived from the configuration) on whole-number inputs, whose result is
/// exact, under every case of the space file; then at the tuned size on whole-number and on normal
/// inputs. Instances are kept and shared by all candidates as far as memory allows.
class Verifier {
 public:
  /// `seed` makes the inputs. The backend and the family must outlive the verifier.
  Verifier(Backend& backend, const Family& family, std::uint64_t seed);

  /// The verdict, or the first check that failed: wrong_result, launch_error or crashed, with the
  /// size, the case and the seed that show it. What was right at awkward sizes is remembered and
  /// not checked again for another tuned size.
  [[nodiscard]] Expected<Verdict, Failure> verify(const LoadedCandidate& candidate,
                                                  const Size& size);

  /// The instance that candidates are timed on: normal inputs at the tuned size.
  [[nodiscard]] Instance& timing_instance(const Size& size);

 private:
  [[nodiscard]] Instance& instance(const Instance::Recipe& recipe);
  [[nodiscard]] Expected<double, Failure> check(const LoadedCandidate& candidate,
                                                Instance& instance);
  [[nodiscard]] Expected<void, Failure> check_awkward_sizes(const LoadedCandidate& candidate);

  Backend& backend_;
  const Family& family_;
  std::uint64_t seed_;
  CheckKernels kernels_;
  std::list<Instance> instances_;                 // most recently used first
  std::set<std::string> right_at_awkward_sizes_;  // kernel hash and configuration
};

}  // namespace tuner
