// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/family/family.hpp"
#include "tuner/verify/check_kernels.hpp"
#include "tuner/verify/law_inputs.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::verify {

/// What the inputs of a check are, where the family does not say.
enum class Fill {
  normal,  ///< standard normal numbers: results have rounding errors
  whole,   ///< whole numbers: results of sums and products are exact
  few,     ///< whole numbers from −3 to 3: many are equal
};

/// What makes an instance: two with the same recipe hold the same numbers.
struct Recipe {
  space::Size size;
  Fill fill = Fill::normal;
  std::size_t check_case = 0;  ///< 0: the arguments as tuned; i: family.check.cases[i-1]
  std::uint64_t seed = 0;
  /// Whether results must equal a reference kernel's where all of these are whole numbers. Not so
  /// where at another size they are none: then they are whole by chance.
  bool equal_if_whole = true;
  /// Some elements of the inputs are others than without it.
  bool changed = false;
  std::optional<LawLevel> law = {};  ///< none: the ordinary one of each fill
  std::uint64_t draw = 0;            ///< of the numbers that the seed gives, other ones each time
  auto operator<=>(const Recipe&) const = default;
};

/// The law of inputs that have no fill of their own: "normal", "whole-number", "few-valued" or, of
/// inputs in files, "the file's".
[[nodiscard]] std::string_view inputs_name(const family::Family& family, Fill fill);

/// The values that a reference runs on.
struct InputValues {
  enum Kind {
    as_they_are,
    absolute,   ///< without their signs
    perturbed,  ///< floating-point numbers moved by 1 to 4 units in the last place
  };
  Kind kind = as_they_are;
  std::uint64_t seed = 0;  ///< of the perturbation
};

/// Throws Error(usage) where a problem of this size does not fit on the device, and so no kernel
/// be checked: the family's expressions have no value, the reference has no possible shape, an
/// array by value is too large, a file does not fit, or memory does not hold the buffers, their
/// right results and what else a check of normal inputs keeps.
void check_size(const family::Family& family, const space::DeviceAttributes& device,
                const space::Size& size);

/// Throws Error(usage) where files that the family names do not fit the size: results for another
/// one, or an array that cannot be read or has another type or number of elements.
void check_files(const family::Family& family, const space::Size& size);

/// A family's problem at the size, with the inputs and under the case of a recipe: its arguments,
/// its inputs and its right result. The backend and the family must outlive it.
class ProblemData {
 public:
  /// Throws Error(usage) when the family's expressions have no value at the size, or the reference
  /// has no possible shape there.
  ProblemData(backend::Backend& backend, const family::Family& family, Recipe recipe);

  [[nodiscard]] const family::Family& family() const { return family_; }
  [[nodiscard]] const Recipe& recipe() const { return recipe_; }

  /// The buffer arguments, with what of the reference memory their checks need.
  [[nodiscard]] std::vector<CheckedData> data() const;
  /// Fills a buffer with the numbers that belong to an argument. What lies between the rows of a
  /// library's operand is NaN. Throws Error(usage) where the family's fill has no value at the size
  /// or names a file that does not fit.
  void fill(CheckKernels& kernels, backend::Region region, const CheckedData& data) const;
  /// Whether its numbers can be moved a little without meaning something else: floating-point
  /// numbers, unless the family says that they are whole.
  [[nodiscard]] bool can_be_perturbed(const CheckedData& data) const;
  /// Whether some of the inputs are drawn, so that others can be drawn.
  [[nodiscard]] bool can_be_changed() const;
  /// Whether some input can be drawn by a law.
  [[nodiscard]] bool has_law(family::Law law) const;

  /// Makes the arrays that are passed by value, from the same numbers as a buffer's. Before the
  /// first launch. Throws as `fill`.
  void make_arrays(CheckKernels& kernels);

  /// The arguments of a launch; `buffers` holds one region for every argument of the family, of
  /// which those of buffers are used.
  [[nodiscard]] std::vector<backend::LaunchArgument> arguments(
      const std::vector<backend::Region>& buffers, const InputValues& values) const;
  /// Types of a library's operands and of its result where they are not those of the arguments, and
  /// what it does after the product.
  struct LibraryVariant {
    std::optional<family::ElementType> operands = {}, result = {};
    Epilogue epilogue = {};
  };
  /// The library's work, when the reference is the library's.
  [[nodiscard]] std::optional<backend::Work> library_call(
      const std::vector<backend::Region>& buffers, const InputValues& values,
      const LibraryVariant& variant) const;
  /// What a reference kernel is launched for: the family's scope at this size.
  [[nodiscard]] const space::ExpressionValues& values() const { return values_; }
  /// The type in which results of a type are computed, and whether they are then rounded to fewer
  /// bits, once.
  [[nodiscard]] family::ElementType compute_type(family::ElementType result) const {
    return family::compute_type(family_.check, result, values_);
  }
  /// The unit roundoff of their sums.
  [[nodiscard]] double computation_unit(family::ElementType result) const {
    return family::computation_unit(family_.check, result, values_);
  }
  /// What follows the library's product.
  [[nodiscard]] Epilogue epilogue() const { return family::epilogue(family_.check, values_); }
  /// Of the results in an argument; null where they have a computed bound or must be equal.
  [[nodiscard]] const family::Tolerance* tolerance_of(std::size_t argument) const;
  [[nodiscard]] bool is_rounded(family::ElementType result) const {
    return family::is_rounded(family_.check, result, values_);
  }
  /// The type in which a reference computes with the data of an argument: their own or one of more
  /// bits, from which its results are rounded once.
  [[nodiscard]] family::ElementType reference_type(family::ElementType type) const;
  /// How large the rounding errors of the computation are as a share of the perturbations of its
  /// inputs, at most 1.
  [[nodiscard]] double perturbation_share(family::ElementType result) const;
  /// check.accumulates, at least 1.
  [[nodiscard]] std::int64_t accumulated() const { return accumulated_; }
  /// By what factor rounding errors of a result grow with its terms: their square root where errors
  /// are independent, up to their number where a law makes terms alike.
  [[nodiscard]] double error_growth(family::ElementType result) const;
  /// Whether the numbers of all inputs have a mean of zero, so that sums of them grow with the
  /// square root of their length.
  [[nodiscard]] bool has_zero_mean() const;

  /// "C[13] (row 1, column 6)"; the row and column, as stored, when the argument is a matrix of the
  /// reference.
  [[nodiscard]] std::string element_name(std::size_t argument, std::uint64_t index) const;
  /// "size 6x7x5, whole-number inputs, seed 9, alpha=3": what shows a failure again.
  [[nodiscard]] std::string circumstances() const;
  /// Whether candidates are timed on such inputs: then buffers begin as allocations do.
  [[nodiscard]] bool is_timed() const;

 private:
  [[nodiscard]] const family::CheckCase* check_case() const;
  [[nodiscard]] std::int64_t evaluate(const space::Expression& expression,
                                      std::string_view what) const;
  /// An argument that is an operand of the library's; none for others.
  [[nodiscard]] std::optional<blas::Operand> operand(std::string_view argument) const;
  [[nodiscard]] family::Scalar scalar(std::size_t place, const InputValues& values) const;
  /// The bytes of the array at `place`.
  [[nodiscard]] backend::ArrayValue array(std::size_t place, const InputValues& values) const;
  /// Throws Error(usage) where elements of the type cannot hold a number of argument `name`.
  void require_held(std::int64_t number, family::ElementType type, const std::string& name) const;
  /// What a fill that gives each element by itself makes of the data of argument `name`.
  [[nodiscard]] std::vector<std::byte> bytes_of(const std::vector<family::FillValue>& values,
                                                const CheckKernels::Elements& data,
                                                const std::string& name) const;
  void fill_between(CheckKernels& kernels, const CheckKernels::Elements& data,
                    const family::InputFill& fill, std::uint64_t seed) const;
  void fill_numbers(CheckKernels& kernels, const CheckKernels::Elements& data, std::size_t argument,
                    const family::InputFill& fill, std::uint64_t draw) const;
  /// Whether the numbers of an argument are drawn and none that an array by value has: of one
  /// launch on both inputs a variable of the image holds one array.
  [[nodiscard]] bool may_change(std::size_t argument) const;
  /// The fill of an argument, or of the one whose numbers it takes.
  [[nodiscard]] const family::InputFill& numbers_of(std::size_t argument) const;
  /// Whether results that lie beyond an output's short integers become others, which a tolerance
  /// does not tell apart from wrong ones.
  [[nodiscard]] bool may_wrap(const family::BufferArgument& output) const;
  /// How many terms a result may have under a law: where inputs are places of others, all of these
  /// may be one.
  [[nodiscard]] std::int64_t most_terms() const;
  /// The largest number that a law gives an input.
  [[nodiscard]] double largest_input(family::ElementType type) const;
  /// Whether the recipe's law draws the numbers of an argument.
  [[nodiscard]] bool follows_law(std::size_t argument, family::ElementType type) const;
  void draw_by_law(CheckKernels& kernels, const CheckKernels::Elements& data,
                   std::size_t argument) const;
  [[nodiscard]] LawInputs law_inputs(const CheckKernels::Elements& data,
                                     std::size_t argument) const;
  /// An input whose numbers may stand among those of another one.
  [[nodiscard]] std::optional<CheckedData> lender(std::size_t argument,
                                                  family::ElementType type) const;
  /// Draws numbers anew: those of a part of the elements where each is drawn by itself, else all.
  void change(CheckKernels& kernels, const CheckKernels::Elements& data, std::size_t argument,
              const family::InputFill& fill) const;
  void fill_any(CheckKernels& kernels, const CheckKernels::Elements& data, family::FillKind kind,
                std::uint64_t seed) const;
  /// Whether the results of an output need not be equal to the reference's.
  [[nodiscard]] bool may_differ(const family::BufferArgument& output) const;
  /// Whether an input has all numbers of its type: nothing is summed that could overflow.
  [[nodiscard]] bool takes_all_integers(family::ElementType type) const;
  /// The largest whole number of an input that is filled with any.
  [[nodiscard]] std::int64_t whole_range(family::ElementType type) const;
  [[nodiscard]] std::int64_t rounded_range(family::ElementType type) const;

  backend::Backend& backend_;
  const family::Family& family_;
  Recipe recipe_;
  space::ExpressionValues values_;  // of the family's scope, at this size
  std::int64_t accumulated_ = 1;
  bool reference_divides_ = false;
  std::optional<blas::Operation> operation_;           // when the reference is the library's
  std::map<std::size_t, backend::ArrayValue> arrays_;  // by their places among the arguments
};

}  // namespace tuner::verify
