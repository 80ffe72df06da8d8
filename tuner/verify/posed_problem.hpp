// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/family/family.hpp"
#include "tuner/verify/check_kernels.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tuner {

/// What the inputs of a check are.
enum class Fill {
  normal,  ///< standard normal numbers: results have rounding errors
  whole,   ///< small whole numbers: results are exact
};

/// What makes an instance: two with the same recipe hold the same numbers.
struct Recipe {
  Size size;
  Fill fill = Fill::normal;
  std::size_t check_case = 0;  ///< 0: the arguments as tuned; i: family.check.cases[i-1]
  std::uint64_t seed = 0;
  auto operator<=>(const Recipe&) const = default;
};

/// Whose values the reference is computed on.
enum class Values { as_they_are, absolute };

/// Throws Error(usage) where a problem of this size cannot be posed on the device, and so no kernel
/// be checked: the family's expressions have no value, the reference has no possible shape, an
/// array by value is too large, or memory does not hold the buffers, their right results and what
/// else a check of normal inputs keeps.
void check_size(const Family& family, const DeviceAttributes& device, const Size& size);

/// A family's problem at the size, with the inputs and under the case of a recipe: its arguments,
/// its inputs and its right result. The backend and the family must outlive it.
class PosedProblem {
 public:
  /// Throws Error(usage) when the family's expressions have no value at the size, or the reference
  /// has no possible shape there.
  PosedProblem(Backend& backend, const Family& family, Recipe recipe);

  [[nodiscard]] const Family& family() const { return family_; }
  [[nodiscard]] const Recipe& recipe() const { return recipe_; }

  /// The buffer arguments, with what of the reference memory their checks need.
  [[nodiscard]] std::vector<CheckedData> data() const;
  /// Fills a buffer with the numbers that belong to an argument. What lies between the rows of a
  /// library's operand is NaN.
  void fill(CheckKernels& kernels, Region region, const CheckedData& data) const;

  /// Makes the arrays that are passed by value, from the same numbers as a buffer's. Before the
  /// first launch. Throws Error(failure) as `fill`.
  void make_arrays(CheckKernels& kernels);

  /// The arguments of a launch; `buffers` holds one region for every argument of the family, of
  /// which those of buffers are used.
  [[nodiscard]] std::vector<LaunchArgument> arguments(const std::vector<Region>& buffers,
                                                      Values values) const;
  /// Runs the reference. Throws Error(failure) when it cannot run.
  void run_reference(const std::vector<Region>& buffers, Values values) const;
  /// The library's work, when the reference is the library's.
  [[nodiscard]] std::optional<Work> library_call(const std::vector<Region>& buffers,
                                                 Values values) const;

  /// "C[13] (row 1, column 6)"; the row and column, as stored, when the argument is a matrix of the
  /// reference.
  [[nodiscard]] std::string element_name(std::size_t argument, std::uint64_t index) const;
  /// "size 6x7x5, whole-number inputs, seed 9, alpha=3": what shows a failure again.
  [[nodiscard]] std::string circumstances() const;

 private:
  [[nodiscard]] const CheckCase* check_case() const;
  [[nodiscard]] std::int64_t evaluate(const Expression& expression, std::string_view what) const;
  /// How an argument lies that is a matrix of the library's.
  struct Operand {
    MatrixLayout layout;
    std::int64_t batch = 1;
  };
  /// None for other arguments.
  [[nodiscard]] std::optional<Operand> operand(std::string_view argument) const;
  [[nodiscard]] Scalar scalar(const Argument& argument, Values values) const;
  /// An array of the family at `place`, and its absolute values.
  struct MadeArray {
    ArrayValue as_they_are, absolute;
  };
  [[nodiscard]] MadeArray make_array(CheckKernels& kernels, std::size_t place) const;
  void run_kernel_reference(const KernelReference& reference, const std::vector<Region>& buffers,
                            Values values) const;

  Backend& backend_;
  const Family& family_;
  Recipe recipe_;
  Slots slots_;  // of the family's scope, at this size
  std::int64_t accumulated_ = 1;
  std::optional<LibraryShape> shape_;        // when the reference is the library's
  std::map<std::size_t, MadeArray> arrays_;  // by their places among the arguments
};

}  // namespace tuner
