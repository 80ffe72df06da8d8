// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/candidate.hpp"
#include "tuner/verify/coverage.hpp"
#include "tuner/verify/instance.hpp"
#include "tuner/verify/performed_check.hpp"
#include "tuner/verify/reference_coverage.hpp"
#include "tuner/verify/scratch.hpp"
#include "tuner/verify/stored_results.hpp"

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tuner::verify {

/// That a candidate computed the right results.
struct Verdict {
  double worst_error = 0;  ///< the largest error seen, as a share of its bound
};

/// A configuration of a kernel, compiled and loaded. The kernel, the space and the verifier must
/// outlive it.
struct LoadedCandidate {
  const family::Kernel& kernel;
  const space::BoundDefinition& space;
  space::Config config;
  backend::KernelId loaded;
  std::map<space::Size, Scratch> scratch = {};  ///< of the sizes at which it was launched
};

/// The launch of a candidate on an instance, with the candidate's own scratch, which the first
/// launch at a size makes. launch_error when the configuration has no legal launch at the
/// instance's size or memory is short of its scratch.
[[nodiscard]] Expected<backend::Launch, Failure> launch_on(LoadedCandidate& candidate,
                                                           Instance& instance);

/// What a verifier is about to do: to make the inputs and the right result at a size, or to launch
/// the candidate at it.
struct VerifyStep {
  enum class Kind { prepare, launch };
  Kind kind;
  const space::Size& size;
};
/// Called before each step, so that the parent can set a deadline for it.
using VerifyObserver = std::function<void(const VerifyStep&)>;

/// Whether launches of the candidate, which has run, leave something for the next one: a variable
/// of its image has changed, or it has scratch memory.
[[nodiscard]] bool has_state(const backend::Backend& backend, const LoadedCandidate& candidate);

/// Proves candidates of one family right on one device: at awkward sizes (the family's and those
/// derived from the configuration) on whole numbers, few and many, and on normal numbers, and at
/// the tuned size on whole numbers and twice on normal ones, which must give the same bits; at all
/// sizes on normal numbers under every case of the space file, at awkward ones on whole numbers
/// too. Launches differ in the poison that they find in memory they must not use. After every
/// launch the guard zones around all buffers and the inputs must be as they were. Instances are
/// kept and shared by all candidates as far as memory allows. docs/reference/verification.md says
/// what this finds and what it does not.
class Verifier {
 public:
  /// `seed` makes the inputs. The backend and the family must outlive the verifier. `program`
  /// computes the results of a ResultsReference; without one they are read from the folder. Throws
  /// as StoredResults.
  Verifier(backend::Backend& backend, const family::Family& family, std::uint64_t seed,
           VerifyObserver observer = {}, std::optional<ResultsProgram> program = std::nullopt);

  /// The verdict, or the first check that failed, with the size, the case and the seed that show
  /// it: launch_error or crashed as the launch ended, out_of_bounds, wrong_result or
  /// nondeterministic. What was right at awkward sizes is remembered and not checked again for
  /// another tuned size.
  [[nodiscard]] Expected<Verdict, Failure> verify(LoadedCandidate& candidate,
                                                  const space::Size& size);

  /// The checks of the candidate that was verified last, in their order; of a failure, the last
  /// one.
  [[nodiscard]] const std::vector<PerformedCheck>& performed() const { return performed_; }

  /// The laws that were left out in the checks of that candidate. What the file excludes and what
  /// no input can follow are not among them.
  [[nodiscard]] const std::vector<LawLeftOut>& laws_left_out() const { return laws_left_out_; }

  /// Content hash of the right result at a size on whole-number inputs, on which it is exact: other
  /// devices have the same.
  [[nodiscard]] std::string exact_result(const space::Size& size);

  /// The instance that candidates are timed on: normal inputs at the tuned size. Valid until the
  /// next call of a method.
  [[nodiscard]] Instance& timing_instance(const space::Size& size);

  /// Of some algorithms of the library those by which it is right at a size, on whole numbers and
  /// on normal ones; crashed when one faulted. For a family whose reference is of a library.
  [[nodiscard]] Expected<std::vector<std::string>, Failure> right_algorithms(
      const space::Size& size, std::vector<std::string> algorithms);

  /// For a candidate just verified at `size` and then timed: what one more launch on fresh poison
  /// gives must be right and the bits that it gave before. Fails as `verify` does.
  [[nodiscard]] Expected<void, Failure> verify_timed(LoadedCandidate& candidate,
                                                     const space::Size& size);

  /// What all checks so far reached of the reference kernel; from then on none is looked at. None
  /// when it was taken before, and for another reference.
  [[nodiscard]] std::optional<Coverage> take_coverage();
  /// What the checks of every kernel's default configuration at a size reach of the reference
  /// kernel, without such a candidate; empty for another reference. Throws as Instance.
  [[nodiscard]] Coverage cover(const space::Size& size);
  /// Has the reference compute all that checks at a size need, whatever the candidate, for a family
  /// with a ResultsReference.
  void make_results(const space::Size& size);

 private:
  [[nodiscard]] Instance& instance(const Recipe& recipe);
  /// Memory that kept instances may take.
  [[nodiscard]] std::size_t instance_bytes() const;
  [[nodiscard]] Recipe recipe(const space::Size& size, Fill fill, std::size_t check_case = 0) const;
  /// What is checked at an awkward size, in this order.
  [[nodiscard]] std::vector<Recipe> awkward_recipes(const space::Size& size,
                                                    bool equal_if_whole) const;
  /// All that is checked at one of the check sizes: at the largest also inputs of all laws.
  [[nodiscard]] std::vector<Recipe> check_recipes(const space::Size& size,
                                                  const std::vector<space::Size>& sizes,
                                                  bool equal_if_whole);
  /// The recipes at a size by which inputs are drawn by laws.
  [[nodiscard]] std::vector<Recipe> law_recipes(const space::Size& size);
  /// The ordinary inputs of a size drawn several times more.
  [[nodiscard]] std::vector<Recipe> further_draws(const space::Size& size,
                                                  bool equal_if_whole) const;
  struct FoundLevel {
    std::optional<LawLevel> level;
    std::string reason;  ///< why there is none; empty where no input follows the law
  };
  /// How far a law goes at a size so that the reference's results mean something.
  [[nodiscard]] const FoundLevel& level_of(const space::Size& size, family::Law law);
  /// The tuned size under one law, which the seed chooses; none where no law has inputs there or
  /// memory does not hold them beside the others.
  [[nodiscard]] std::optional<Recipe> law_at_tuned_size(const space::Size& size);
  /// What is checked at the tuned size, the timing instance's last.
  [[nodiscard]] std::vector<Recipe> tuned_recipes(const space::Size& size) const;
  /// Whether results that are whole numbers must equal those of the reference: what it gives for
  /// whole numbers at the tuned size is whole, too, and not all 0, which says nothing.
  [[nodiscard]] bool equal_if_whole(const space::Size& tuned);
  /// What a checked launch finds.
  struct Conditions {
    /// Of guard zones, outputs and shared memory. None: outputs and guard zones are as the launch
    /// before left them.
    std::optional<PoisonKind> poison = nan_poison;
    enum class Inputs { writable, read_only } inputs = Inputs::writable;
    /// Whether variables and scratch memory are as at first, or as the launch before left them.
    enum class State { kept, restored } state = State::kept;
  };
  [[nodiscard]] Expected<double, Failure> launch_and_inspect(LoadedCandidate& candidate,
                                                             Instance& instance,
                                                             const Conditions& conditions);
  [[nodiscard]] Expected<double, Failure> check(LoadedCandidate& candidate, const Recipe& recipe,
                                                const Conditions& conditions);
  /// Without a record of it.
  [[nodiscard]] Expected<double, Failure> launch_until_certain(LoadedCandidate& candidate,
                                                               const Recipe& recipe,
                                                               const Conditions& conditions);
  /// Adds a check on these inputs to `performed` and returns what it found.
  Expected<double, Failure> recorded(const Recipe& recipe, std::string_view launch,
                                     Expected<double, Failure> found);
  /// Launches at the tuned size whose inputs, outputs and state differ in what they hold from
  /// before: results of other inputs must not be taken for those of these.
  [[nodiscard]] Expected<double, Failure> check_dependence_on_launches(LoadedCandidate& candidate,
                                                                       Instance& instance);
  [[nodiscard]] Expected<void, Failure> check_awkward_sizes(LoadedCandidate& candidate,
                                                            const space::Size& tuned);
  /// In a launch in which a write to an input or a guard zone is seen, though it is taken back.
  [[nodiscard]] Expected<void, Failure> check_read_only(LoadedCandidate& candidate,
                                                        const Recipe& recipe);
  [[nodiscard]] Expected<double, Failure> check_tuned_size(LoadedCandidate& candidate,
                                                           const space::Size& size);
  void announce(const VerifyStep& step) const;
  /// Once for each recipe, while something may be missing.
  void look_at_reference(const Recipe& recipe);

  backend::Backend& backend_;
  const family::Family& family_;
  std::uint64_t seed_;
  VerifyObserver observer_;
  CheckKernels kernels_;
  std::mt19937_64 random_{seed_};         // draws what a kernel cannot foresee
  std::optional<StoredResults> results_;  // of a ResultsReference
  ReferenceCoverage coverage_;
  std::set<Recipe> looked_at_;  // for the coverage
  bool coverage_taken_ = false;
  std::list<Instance> instances_;         // most recently used first
  std::map<space::Size, bool> whole_at_;  // what equal_if_whole found
  std::map<std::pair<space::Size, family::Law>, FoundLevel> levels_;
  std::map<space::Size, std::optional<Recipe>> laws_at_tuned_;
  Recipe timed_;                                  // of the instance that candidates are timed on
  std::set<std::string> right_at_awkward_sizes_;  // hashes of code, configuration and size
  std::vector<PerformedCheck> performed_;         // of the candidate verified last
  std::vector<LawLeftOut> laws_left_out_;         // of the same candidate
};

}  // namespace tuner::verify
