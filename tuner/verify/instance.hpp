// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/owned.hpp"
#include "tuner/family/family.hpp"
#include "tuner/verify/check_kernels.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tuner {

/// What the inputs of a check are.
enum class Fill {
  normal,  ///< standard normal numbers: results have rounding errors
  whole,   ///< small whole numbers: results are exact
};

/// One problem to solve, on a device: inputs, the right result, and room for a candidate's. All
/// buffers go with it.
class Instance {
 public:
  /// What makes an instance: two with the same recipe hold the same numbers.
  struct Recipe {
    Size size;
    Fill fill = Fill::normal;
    std::size_t check_case = 0;  ///< 0: the arguments as tuned; i: family.check.cases[i-1]
    std::uint64_t seed = 0;
    auto operator<=>(const Recipe&) const = default;
  };

  /// Runs the reference on the device to learn the right result. The backend, the check kernels and
  /// the family must outlive the instance. Throws Error(failure) when memory is short or the
  /// reference cannot run.
  Instance(Backend& backend, CheckKernels& kernels, const Family& family, Recipe recipe);

  [[nodiscard]] const Recipe& recipe() const { return recipe_; }
  [[nodiscard]] std::size_t size_bytes() const;

  /// The arguments of a launch: this instance's buffers and scalars, in the family's order.
  [[nodiscard]] std::vector<LaunchArgument> arguments() const;
  /// Gives the outputs their content from before a launch: NaN patterns, or the data that the case
  /// reads.
  void reset_outputs();
  /// Compares the outputs with the right ones; a wrong_result says which element of which output
  /// differs and by how much. The value is the largest error as a share of its bound.
  [[nodiscard]] Expected<double, Failure> compare_outputs() const;

  /// The reference as a piece of work on this instance's own buffers, to be timed beside
  /// candidates; none when the reference is a kernel of the family.
  [[nodiscard]] std::optional<Work> library_work() const;

 private:
  /// A buffer argument: what the candidate sees, and for an output what it starts from (when the
  /// case reads it), the right result, and the magnitudes that scale its bound (normal inputs).
  struct Data {
    std::size_t argument;
    ElementType type;
    std::int64_t count;
    BufferRole role;
    Buffer candidate;
    std::optional<Buffer> initial, expected, magnitude;
  };
  /// Whose values the reference is computed on.
  enum class Values { as_they_are, absolute };

  void make_inputs();
  void make_expected();
  void make_magnitude();
  /// `buffers` holds one buffer for every argument of the family; scalars' places are unused.
  void run_reference(const std::vector<BufferId>& buffers, Values values);
  void run_kernel_reference(const KernelReference& reference, const std::vector<BufferId>& buffers,
                            Values values);
  [[nodiscard]] GemmCall gemm_call(const GemmReference& reference,
                                   const std::vector<BufferId>& buffers, Values values) const;
  [[nodiscard]] Scalar scalar(const Argument& argument, Values values) const;
  [[nodiscard]] std::vector<BufferId> candidate_buffers() const;
  [[nodiscard]] std::vector<LaunchArgument> launch_arguments(const std::vector<BufferId>& buffers,
                                                             Values values) const;
  void fill(BufferId buffer, const Data& data, std::uint64_t stream);
  [[nodiscard]] std::string describe(const Data& data, const Comparison& comparison) const;
  [[nodiscard]] const CheckCase* check_case() const;

  Backend& backend_;
  CheckKernels& kernels_;
  const Family& family_;
  Recipe recipe_;
  Slots slots_;  // of the family's scope, at this size
  std::vector<Data> data_;
  std::int64_t accumulated_ = 1;
};

}  // namespace tuner
