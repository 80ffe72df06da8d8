// SPDX-License-Identifier: Apache-2.0
// Module verify: whether a configuration computes what its reference does: inputs by laws, poison,
// guard zones, comparison, and a verdict with its reason.
#pragma once

#include "tuner/family/law.hpp"
#include "tuner/verify/checked_memory.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::verify {

/// What compiles kernels of check_kernels.cu, such as "fill_normal<bf16>".
[[nodiscard]] family::CompileJob check_kernels_job(std::vector<std::string> entries);

/// The kernels of check_kernels.cu on one device: they make inputs and error bounds, prepare memory
/// for a launch and look at all that the launch left, in device memory. Compiled on first use.
/// Every method throws Error(failure) when the device refuses: that is no candidate's fault.
class CheckKernels {
 public:
  explicit CheckKernels(backend::Backend& backend);

  /// Elements of a type in device memory.
  struct Elements {
    backend::Region region;
    family::ElementType type;
    std::int64_t count = 0;
  };

  /// Standard normal numbers; of a floating-point type, as the next two.
  void fill_normal(const Elements& data, std::uint64_t seed);
  /// |normal| + 0.5.
  void fill_positive(const Elements& data, std::uint64_t seed);
  /// In [low, high], high by rounding only.
  void fill_uniform(const Elements& data, std::uint64_t seed, double low = 0, double high = 1);
  /// Whole numbers in [low, high].
  void fill_integers(const Elements& data, std::uint64_t seed, std::int64_t low, std::int64_t high);
  /// Whole numbers in [-range, range] without 0; of unsigned types in [1, range].
  void fill_whole(const Elements& data, std::uint64_t seed, std::int64_t range);
  void fill_constant(const Elements& data, double value);
  /// Ascending numbers in [low, high].
  void fill_sorted(const Elements& data, std::uint64_t seed, double low, double high);
  /// Ascending numbers from 0 to `entries`: where the rows of a CSR matrix begin.
  void fill_offsets(const Elements& data, std::uint64_t seed, std::int64_t entries);
  /// The numbers from 0 to count − 1 in another order.
  void fill_permutation(const Elements& data, std::uint64_t seed);
  /// Gives one in 256 elements, at least one, what `others` hold in the same places.
  void replace_some(const Elements& data, backend::Region others, std::uint64_t seed);
  /// Elements as a law draws them from what a fill gave: numbers, whole numbers in [low, high]
  /// (`indices` where they are no terms of sums), offsets of rows, and ascending numbers that were
  /// in [−end, end]. check_laws.cuh says what each makes.
  void apply_law(const Elements& data, family::Law law, std::int32_t domain, std::uint64_t seed,
                 double strength, double low, double high);
  void apply_integer_law(const Elements& data, family::Law law, std::int32_t indices,
                         std::uint64_t seed, std::int64_t low, std::int64_t high);
  void apply_offsets_law(const Elements& data, family::Law law, std::uint64_t seed,
                         std::int64_t entries);
  void apply_sorted_law(const Elements& data, family::Law law, double end, double most,
                        double strength);
  /// Gives half of the elements those of `others`, some of them with one bit changed.
  enum class Flips { none, some };
  void borrow(const Elements& data, const Elements& others, Flips flips, std::uint64_t seed);
  /// Whether all of them have the same bits.
  [[nodiscard]] bool are_alike(const Elements& data);
  /// Whether a reference left none of them unwritten.
  [[nodiscard]] bool are_written(const Elements& results);
  /// How many results are not finite.
  struct NotFinite {
    std::uint64_t nans = 0, infinities = 0;
  };
  [[nodiscard]] NotFinite not_finite(const Elements& results);
  /// Fills with NaN what of the elements does not belong to a matrix.
  void poison_padding(const Elements& data, std::uint64_t seed, const blas::MatrixElements& used);

  /// The library's operation on matrices of integers, exactly.
  void compute(const backend::LibraryCall& call);

  /// What follows a product that the library has computed. Bias and residual have one type.
  void finish_product(const backend::LibraryCall& product, const Epilogue& epilogue,
                      const Elements& bias, const Elements& residual);

  /// result[i] = |data[i]|.
  void absolute(backend::Region result, const Elements& data);
  /// The numbers of `data`, of a floating-point type, each 1 to 4 units in the last place larger or
  /// smaller.
  void perturb(backend::Region result, const Elements& data, std::uint64_t seed);
  /// The numbers of `from` in another type, each rounded once; kUnwritten stays kUnwritten.
  void convert(const Elements& to, const Elements& from);

  enum class Rounding {
    of_operations,  ///< results are computed in their type
    of_results,     ///< in a finer type, and rounded once: a unit in the last place means nothing
  };
  /// spread[i] = the larger of it and |run[i] − reference[i]|. Spreads and errors are of the
  /// reference's family::error_type.
  void widen(backend::Region spread, backend::Region run, const Elements& reference,
             Rounding rounding = Rounding::of_operations);
  /// Numbers, none negative, as errors of their type; the largest number where one is infinite.
  void as_errors(backend::Region errors, const Elements& data);
  /// Two to the mean exponent of the spreads above 0; 0 when there are none.
  [[nodiscard]] double typical(const Elements& spread);

  /// How a spread becomes the error that is allowed:
  /// factor·max(spread, floor) + relative·|reference| + the least normal number.
  struct SpreadBound {
    double factor = 0, floor = 0;
    double share = 0;  ///< of a result other than 0 that the floor excuses at most
    double relative = 0;
  };
  void allow(backend::Region spread, const Elements& reference, const SpreadBound& bound);
  /// The error that a tolerance allows.
  void allow(backend::Region allowed, const Elements& reference,
             const family::Tolerance& tolerance);

  /// Whether all that a reference wrote are whole numbers that the type holds exactly, and so are
  /// the numbers between them and 0.
  [[nodiscard]] bool are_whole(const Elements& reference);
  /// Of two runs of a reference, the first on outputs that held kUnwritten, the second `other`: how
  /// many elements depend on that, how many neither run wrote, and how many are NaN.
  struct Dependence {
    std::uint64_t dependent = 0, unwritten = 0, nans = 0;
  };
  [[nodiscard]] Dependence compare_runs(const Elements& first, backend::Region second,
                                        std::uint32_t other);

  /// Gives every output its initial content or poison, and the guard zones poison.
  void prepare(const CheckedMemory& memory, const Poison& poison);
  /// What prepare() does, as work for a device. The memory must live as long as it.
  [[nodiscard]] backend::Launch preparation(const CheckedMemory& memory, const Poison& poison);

  enum class Repeats { ignored, compared };
  /// Whether records that may be in any order are: a fingerprint other than 0 shows a difference.
  enum class Records { in_any_order, in_place };
  /// What a launch on this poison left in each of the memory's parts, in their order: one launch
  /// and one read.
  [[nodiscard]] std::vector<PartReport> inspect(const CheckedMemory& memory, const Poison& poison,
                                                Repeats repeats,
                                                Records records = Records::in_any_order);

  /// One element of an output, for a message.
  struct Element {
    double result = 0, reference = 0, allowed = 0;
    bool untouched = false;  ///< it still holds the poison it was given
    bool left_out = false;   ///< the reference leaves it as it is
  };
  /// `part` is an output's; `other` is where in the reference memory its counterpart begins.
  [[nodiscard]] Element pick(const CheckedMemory& memory, std::size_t part, std::size_t other,
                             std::int64_t index, const Poison& poison);

 private:
  [[nodiscard]] backend::Launch launch_of(const std::string& entry, std::int64_t elements,
                                          std::vector<backend::LaunchArgument> arguments);
  void launch(const std::string& entry, std::int64_t elements,
              std::vector<backend::LaunchArgument> arguments);
  /// A kernel that takes the data, their number and `more`, in the version for their type.
  void over(std::string_view kernel, const Elements& data,
            std::vector<backend::LaunchArgument> more = {});
  void run(const std::string& entry, const backend::Launch& launch);
  [[nodiscard]] backend::KernelId kernel(const std::string& entry);
  void compile(const std::vector<std::string>& entries);
  [[nodiscard]] std::array<std::uint64_t, 3> sums(const std::string& entry, std::int64_t elements,
                                                  std::vector<backend::LaunchArgument> arguments);
  [[nodiscard]] std::array<std::uint64_t, 3> sums_over(
      std::string_view kernel, const Elements& data,
      std::vector<backend::LaunchArgument> more = {});

  backend::Backend& backend_;
  backend::Buffer values_;                                // what `pick` writes, or two sums
  std::map<std::string, backend::Binary> compiled_;       // by entry
  std::map<std::string, backend::LoadedKernel> kernels_;  // by entry
};

}  // namespace tuner::verify
