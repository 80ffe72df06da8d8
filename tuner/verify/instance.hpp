// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/verify/problem_data.hpp"
#include "tuner/verify/record_checker.hpp"
#include "tuner/verify/reference_runner.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tuner::verify {

/// One problem to solve, on a device: inputs, the right result, and room for a candidate's, all
/// between guard zones. All memory goes with it.
class Instance {
 public:
  using Recipe = tuner::verify::Recipe;

  /// Runs the reference on the device to learn the right result. The backend, the check kernels,
  /// the family and the results, which only a ResultsReference needs, must outlive the instance.
  /// Throws Error(failure) when memory is short or the reference cannot run, and as
  /// StoredResults::find.
  Instance(backend::Backend& backend, CheckKernels& kernels, const family::Family& family,
           Recipe recipe, StoredResults* results = nullptr);
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  [[nodiscard]] const Recipe& recipe() const { return problem_.recipe(); }
  [[nodiscard]] std::size_t size_bytes() const;
  /// What shows a failure on this instance again, for its message.
  [[nodiscard]] std::string circumstances() const { return problem_.circumstances(); }
  /// Where the instance lies, and what looks at it.
  [[nodiscard]] backend::Backend& backend() { return backend_; }
  [[nodiscard]] CheckKernels& check_kernels() { return kernels_; }

  /// A buffer argument and where a candidate finds it.
  struct Operand {
    std::string name;
    backend::Region region;
    std::size_t size_bytes = 0;
    family::BufferRole role = family::BufferRole::input;
  };
  /// In the family's order.
  [[nodiscard]] std::vector<Operand> operands() const;
  /// The inputs, which no launch may write.
  [[nodiscard]] std::vector<backend::ReadOnlyData> inputs() const;
  /// The guard zones around the data.
  [[nodiscard]] std::vector<backend::ReadOnlyData> guards() const;
  /// Content hash of the right result: equal wherever the reference is exact on the recipe.
  [[nodiscard]] std::string result_hash() const;

  /// The arguments of a launch: this instance's buffers, arrays and scalars, in the family's order.
  [[nodiscard]] std::vector<backend::LaunchArgument> arguments() const;

  /// That the reference leaves part of an output unwritten, which its launch may not mean; empty:
  /// it writes all of them.
  [[nodiscard]] const std::string& caution() const { return caution_; }

  /// Whether all results of the reference are whole numbers that their types hold exactly.
  [[nodiscard]] bool is_whole() const { return is_whole_; }
  /// Whether all of them are 0; reads them until one is not.
  [[nodiscard]] bool is_zero() const;

  /// This problem with some elements of its inputs changed, in the same memory: a kernel that
  /// keeps results of an earlier launch gives wrong ones. Null where no input can be changed or
  /// memory is short of a second reference. Made at the first call.
  [[nodiscard]] Instance* changed();

  /// Why the reference's results on these inputs mean nothing: NaN is among them, or infinity where
  /// there is none on ordinary inputs, or rounding errors decide what they are. Empty: they mean
  /// something.
  enum class Infinities { none, usual };
  [[nodiscard]] std::string want_of_meaning(Infinities on_ordinary_inputs) const;
  /// Whether some of the reference's results are infinite and none is NaN.
  [[nodiscard]] Infinities infinities() const;

  /// Gives the outputs their content from before a launch, initial content or poison, other each
  /// time, lays the guard zones with poison of this kind, and writes the inputs where others lie.
  void prepare_launch(PoisonKind kind = nan_poison);
  /// Writes the inputs alone: the outputs keep what the launch before left.
  void prepare_inputs();
  /// Prepares as prepare_launch, but that outputs and guard zones are prepared by the work
  /// returned.
  [[nodiscard]] backend::Launch preparation(PoisonKind kind);
  /// What the last prepare_launch or preparation did with outputs and guard zones.
  [[nodiscard]] Poison poison() const { return shared_->poison; }
  /// What the launches since then left. The value is the largest error as a share of its bound; a
  /// failure says what is wrong, where, and by how much: out_of_bounds when a guard zone, an input
  /// or the reference changed (the instance is then of no more use), wrong_result, or
  /// nondeterministic when the outputs are not the kept ones.
  [[nodiscard]] Expected<double, Failure> inspect();
  /// What launches elsewhere left in outputs, which are copied here: one region for each operand
  /// that is no input, in their order. Only outputs are looked at, on the poison that they had.
  [[nodiscard]] Expected<double, Failure> inspect_copied(std::span<const backend::Region> outputs,
                                                         const Poison& poison);
  /// Whether the last inspection found memory changed that no candidate is given.
  [[nodiscard]] bool reference_changed() const { return reference_changed_; }

  /// Whether the reference writes every element of all outputs, so that a launch may run over the
  /// results of another one.
  [[nodiscard]] bool writes_all();
  /// Whether a launch changes what the next one reads, unless all is prepared in between.
  [[nodiscard]] bool updates_in_place() const;

  /// Keeps the outputs as they are: on normal inputs, `inspect` compares bit for bit with them
  /// until they are forgotten, unless the family is not deterministic.
  void keep_outputs();
  void forget_outputs() { outputs_kept_ = false; }

  /// The reference as a piece of work on this instance's own buffers, to be timed beside
  /// candidates; none when the reference is a kernel of the family.
  [[nodiscard]] std::optional<backend::Work> library_work() const;

  /// Adds what the family's reference kernel reaches on the inputs.
  void cover(ReferenceCoverage& coverage);

 private:
  /// What instances in the same memory share.
  struct Shared {
    const Instance* inputs_of = nullptr;           ///< whose inputs lie there
    Poison poison{.kind = nan_poison, .seed = 0};  ///< of the last preparation
  };
  enum class Scope { all, outputs };
  /// In the memory of another one.
  Instance(Instance& original, Recipe recipe);
  void make();
  /// Copies the inputs to memory of their own, from which write_inputs takes them.
  void keep_inputs();
  void write_inputs();
  [[nodiscard]] Expected<double, Failure> inspect(Scope scope);
  /// Finds outputs whose tolerance takes what no kernel computed: all zeros, what they held before,
  /// a copy of an input. Makes a caution of it.
  void try_nothing();
  /// Of an output in which nothing is taken for a result: that a launch left the same number in all
  /// its elements where the reference has several.
  [[nodiscard]] std::optional<Failure> nothing_computed() const;
  void make_data();
  void learn_records();
  void make_bounds();
  /// The error that a library allows: what it gives for absolute inputs, scaled.
  void allow_magnitudes();
  /// The error that a reference kernel allows: how far its results move when its inputs move by
  /// rounding errors, scaled.
  void allow_spreads();
  void measure_spreads();
  /// Takes spreads that are stored beside the reference's results; false where there are none.
  [[nodiscard]] bool take_stored_spreads();
  void store_spreads();
  [[nodiscard]] bool has_computed_bound(const CheckedData& data) const;
  void allow_tolerances();
  /// Runs the reference once more, on outputs that held something else, with something else beside
  /// the inputs.
  void check_reference();
  /// Throws where the reference wrote beside the output in this room, whose data were `filled` with
  /// a word before.
  void require_bounds(const CheckedData& data, backend::Region region,
                      std::optional<std::uint32_t> filled) const;
  /// Throws where the results of the reference depend on chance, on what lies beside its buffers or
  /// on what an output held. Chance is allowed where a tolerance is given or numbers with fractions
  /// may be added up in place.
  void require_dependence_on_inputs(const CheckedData& data, const CheckKernels::Dependence& found);
  /// Of another run of the reference on outputs that hold `unwritten`: how many results of `data`
  /// differ from `first`.
  [[nodiscard]] std::uint64_t different_results(const CheckedData& data, backend::Region first,
                                                std::uint32_t unwritten);
  /// Throws where the reference writes nothing to an output; makes the caution where it writes a
  /// part.
  void require_results(const CheckedData& data, const CheckKernels::Dependence& found);
  /// On the inputs of timing: throws where all that the reference gives is NaN, makes the caution
  /// where a part is. Others, such as whole numbers, may be outside the domain of a function.
  void require_numbers(const CheckedData& data, const CheckKernels::Dependence& found);
  /// Runs the reference on the inputs as `values` says; outputs that begin as poison are filled
  /// with `unwritten` before. The results by their places among the arguments.
  struct Outputs {
    std::vector<backend::Buffer> owned;
    std::vector<backend::Region> regions;
  };
  [[nodiscard]] Outputs run_reference(const InputValues& values, std::uint32_t unwritten) {
    return run_reference(*reference_, values, unwritten);
  }
  [[nodiscard]] Outputs run_reference(ReferenceRunner& reference, const InputValues& values,
                                      std::uint32_t unwritten);
  /// Widens the spreads to the rounding errors of the reference itself, which perturbed inputs do
  /// not show where it computes with numbers that are no inputs.
  void add_own_errors();

  backend::Backend& backend_;
  CheckKernels& kernels_;
  ProblemData problem_;
  CheckedMemory memory_;
  RecordChecker records_;
  StoredResults* results_;
  std::optional<ReferenceRunner> reference_;  // while the instance is made
  std::vector<PartReport> intact_;            // what an inspection found before any candidate ran
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::unique_ptr<Instance> changed_;
  std::vector<backend::Buffer> kept_inputs_;  // in the order of the data
  bool is_changed_tried_ = false;
  std::optional<bool> writes_all_;
  double largest_mean_ = 1;  // of the errors: their root mean square as a share of the bound
  std::string caution_;
  std::vector<std::size_t> loose_;  // the data, by place, whose tolerance takes all zeros
  bool is_whole_ = false;
  bool is_equality_ = false;  // all results must equal the reference
  bool outputs_kept_ = false;
  bool reference_changed_ = false;
};

}  // namespace tuner::verify
