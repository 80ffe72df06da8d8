// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/blas/operation.hpp"
#include "tuner/core/json.hpp"
#include "tuner/family/element_type.hpp"
#include "tuner/family/fill.hpp"
#include "tuner/family/record_order.hpp"
#include "tuner/source/source.hpp"
#include "tuner/space/definition.hpp"
#include "tuner/space/size.hpp"
#include "tuner/space/space.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tuner::family {

/// What a family computes, whichever of its kernels does it.
struct Problem {
  space::Dimensions dims;
  /// Floating-point operations, of the dimensions.
  space::Expression flops = space::Expression::constant(0);
  /// Bytes that move: each input read once, each output written once.
  space::Expression bytes = space::Expression::constant(0);
  /// Whether a right kernel moves all of them; otherwise it may leave parts of its buffers alone.
  bool moves_all_bytes = true;
  std::map<std::string, std::vector<space::Size>> sizes;  ///< named lists for `--sizes`
};

/// The floating-point operations, and the bytes that must move, at a size; 0 when the expression
/// has no value there.
[[nodiscard]] double flops_at(const Problem& problem, const space::Size& size);
[[nodiscard]] double bytes_at(const Problem& problem, const space::Size& size);

enum class BufferRole {
  input,   ///< read
  output,  ///< written
  inout,   ///< read and written: updated in place
};

/// What an output holds before a launch.
enum class InitialContent {
  poison,  ///< nothing that a kernel may use
  zero,
  input,  ///< numbers like an input's, as its fill says
};

/// The type of elements: one, or as the problem's dimension of types says at a size.
class TypeOf {
 public:
  TypeOf(ElementType type) : all_{type} {}
  /// `name` is that of the dimension's types, one for each of its values, which are at `slot`.
  TypeOf(std::string name, std::size_t slot, std::vector<ElementType> by_value,
         std::size_t by_default)
      : name_(std::move(name)), slot_(slot), all_(std::move(by_value)), default_(by_default) {}

  /// `values` are of the family's scope, or of a kernel's.
  [[nodiscard]] ElementType at(const space::ExpressionValues& values) const {
    return name_.empty() ? all_.front() : all_.at(static_cast<std::size_t>(values.at(slot_)));
  }
  /// All that it can be.
  [[nodiscard]] const std::vector<ElementType>& all() const { return all_; }
  /// What it is where a size does not name the dimension.
  [[nodiscard]] ElementType by_default() const { return all_[default_]; }
  /// As in a space file: "float", "${A}".
  [[nodiscard]] std::string text() const;

  bool operator==(const TypeOf&) const = default;

 private:
  std::string name_;  // empty: one type
  std::size_t slot_ = 0;
  std::vector<ElementType> all_;
  std::size_t default_ = 0;
};

/// The type of this name in the problem's dimension of types; none when there is none.
[[nodiscard]] std::optional<TypeOf> type_named(const space::Dimensions& dims,
                                               std::string_view name);

/// How far an element c may be from its reference r: |c − r| ≤ max(relative·|r|, absolute,
/// ulp·(distance from |r| to the next number of the type)).
struct Tolerance {
  double relative = 0, absolute = 0, ulp = 0;
};

/// A pointer argument.
struct BufferArgument {
  [[nodiscard]] bool is_written() const { return role != BufferRole::input; }

  TypeOf type;
  space::Expression count = space::Expression::constant(1);  ///< elements, of the dimensions
  /// Elements from an address that allocations have (a multiple of 256 bytes) to where data begins.
  space::Expression offset = space::Expression::constant(0);
  /// Bytes of whose multiple data begin, of the dimensions; none: see alignment_bytes.
  std::optional<space::Expression> align = std::nullopt;
  BufferRole role = BufferRole::input;
  InitialContent initial = InitialContent::poison;  ///< of what is written; of an inout: input
  InputFill fill = {};                              ///< of inputs and initial content
  std::optional<RecordOrder> order = {};            ///< none: elements are compared in place
  std::optional<RecordCount> valid = {};            ///< of each row; none: all records count
  std::optional<Tolerance> tolerance = {};          ///< of an output; none: as the check says
};

/// The most that a buffer can claim of its alignment: what every allocation has.
inline constexpr std::size_t kMostAlignmentBytes = 256;

/// The bytes of whose multiple a buffer, the argument `name`, begins at the size that `values`
/// hold: what `align` says. Without it, where there is an offset, the largest power of two up to 16
/// that divides the offset; else one element. Throws Error(usage) when an expression has no value
/// there, when `align` is no power of two from the element's size to kMostAlignmentBytes, and when
/// the offset is no multiple of it.
[[nodiscard]] std::size_t alignment_bytes(const BufferArgument& buffer, std::string_view name,
                                          const space::ExpressionValues& values);

/// A number passed by value.
struct ScalarArgument {
  TypeOf type;
  space::Expression value = space::Expression::constant(0);  ///< of the dimensions
  std::optional<double> real = {};  ///< instead of `value`: a number with a fraction
};

/// The number that is passed at the size that `values` hold. Throws Error(usage), with the
/// argument's `name`, when its expression has no value there or its type cannot hold it.
[[nodiscard]] Scalar scalar_value(const ScalarArgument& scalar, std::string_view name,
                                  const space::ExpressionValues& values);
/// The number or the expression, as a space file has it.
[[nodiscard]] std::string value_text(const ScalarArgument& scalar);

/// A small array passed by value: the kernel takes a struct of its elements. Or the content of a
/// variable of the source, which no parameter names.
struct ArrayArgument {
  TypeOf type;
  space::Expression count = space::Expression::constant(1);  ///< elements, of the dimensions
  InputFill fill = {};
  std::string symbol = {};  ///< the __constant__ or __device__ variable; empty: passed by value
};

struct Argument {
  std::string name;
  std::variant<ScalarArgument, BufferArgument, ArrayArgument> what;
};

/// How the records of an output are compared at the size that `values` hold; none where all
/// elements are, in place. Throws Error(usage) when its expressions make no sense there.
[[nodiscard]] std::optional<RecordLayout> record_layout(const std::vector<Argument>& arguments,
                                                        const Argument& argument,
                                                        const space::ExpressionValues& values);

/// Whether launches may append to lists whose lengths they update: one after another, they would
/// write beyond them.
[[nodiscard]] bool extends_lists(const std::vector<Argument>& arguments);
/// Whether a buffer says how many records of an output count, or where its rows begin.
[[nodiscard]] bool counts_records(const std::vector<Argument>& arguments, std::string_view name);

/// The most bytes of an array passed by value: the limit of all parameters of a kernel on every
/// device.
inline constexpr std::size_t kMostArrayBytes = 4096;

/// The most bytes of an array that is the content of a variable: the constant memory of a GPU.
inline constexpr std::size_t kMostSymbolBytes = 65536;

/// The bytes of an array, the argument `name`, at the size that `values` hold. Throws Error(usage)
/// when its count has no value there or is less than 1, or when it has more than kMostArrayBytes,
/// one with a symbol more than kMostSymbolBytes.
[[nodiscard]] std::size_t array_bytes(const ArrayArgument& array, std::string_view name,
                                      const space::ExpressionValues& values);

/// The arguments of the family that an operation of the platform's BLAS works on. What is not named
/// is as the operation has it.
struct MatrixArguments {
  std::string a, b, c;
  std::string alpha, beta;  ///< empty: 1 and default_beta
};

/// What follows the product, and the arguments that it reads.
struct EpilogueReference {
  std::string bias, residual;  ///< empty: there is none at any size
  /// Bias and Activation by their numbers; 0 or 1.
  space::Expression bias_kind = space::Expression::constant(0),
                    activation = space::Expression::constant(0),
                    has_residual = space::Expression::constant(0);
};

/// A batch of row-major C = alpha·op(A)·op(B) + beta·C by the platform's BLAS. What is absent is as
/// packed_gemm makes it.
struct GemmReference : MatrixArguments {
  space::Expression m = space::Expression::constant(1);
  space::Expression n = space::Expression::constant(1);
  space::Expression k = space::Expression::constant(1);
  space::Expression trans_a = space::Expression::constant(0),
                    trans_b = space::Expression::constant(0);  ///< 0 or 1
  space::Expression batch = space::Expression::constant(1);
  std::optional<space::Expression> lda, ldb, ldc;  ///< elements from a row to the next
  std::optional<space::Expression> stride_a, stride_b,
      stride_c;  ///< elements from a matrix to the next
  std::optional<EpilogueReference> epilogue;
};

/// A row-major C = alpha·op(A) + beta·op(B) by the platform's BLAS. Where there is no B it is C.
/// What is absent is as packed_geam makes it.
struct GeamReference : MatrixArguments {
  space::Expression m = space::Expression::constant(1);
  space::Expression n = space::Expression::constant(1);
  space::Expression trans_a = space::Expression::constant(0),
                    trans_b = space::Expression::constant(0);  ///< 0 or 1
  std::optional<space::Expression> lda, ldb, ldc;              ///< elements from a row to the next
};

/// A reference's shape at the size that `values` hold. Throws Error(usage) when an expression has
/// no value there, or what check_shape throws.
[[nodiscard]] blas::GemmShape gemm_shape(const GemmReference& reference,
                                         const space::ExpressionValues& values);
[[nodiscard]] blas::GeamShape geam_shape(const GeamReference& reference,
                                         const space::ExpressionValues& values);

/// Another kernel of the same family at its default configuration.
struct KernelReference {
  std::string kernel;
  /// The type that its buffers have instead of a floating-point type of fewer bits: their numbers
  /// are converted, results rounded once.
  std::optional<TypeOf> type = {};
};

/// Right results at one size that NumPy saved. The family's inputs are then the same whenever they
/// are made, and it has no check sizes and no cases.
struct NpyReference {
  std::map<std::string, std::string> files;  ///< of each output, relative to the space file
  space::Size size;
};

/// Results that another program computed before (`tune space results`), in a folder, each for
/// inputs that are known by their content.
struct ResultsReference {
  std::string folder;  ///< relative to the space file
};

/// Scalar arguments other than the tuned ones under which the result must be right too.
struct CheckCase {
  std::map<std::string, ScalarArgument> set;  ///< argument name → value, a constant
  std::vector<std::string> reads;             ///< outputs whose previous content the kernel reads
  std::string why;
};

/// A size at which results are checked too, of the tuned size and, where a kernel states it, of the
/// configuration.
struct CheckSize {
  /// For each dimension; where there is none, a kind is that of the tuned size, any other dimension
  /// has its default.
  std::vector<std::optional<space::Expression>> extents;
};

/// The size that it means beside a tuned one, `values` being what its expressions read; none when
/// it means no size there: an expression faults, or the problem forbids the result.
[[nodiscard]] std::optional<space::Size> size_at(const CheckSize& check,
                                                 const space::Dimensions& dims,
                                                 const space::Size& tuned,
                                                 const space::ExpressionValues& values);

/// Sums that kernels add in parts of lower precision: numbers of so many bits for so many terms,
/// whose sums are added in the type that the check says.
struct PartialSums {
  space::Expression bits = space::Expression::constant(0);
  space::Expression terms = space::Expression::constant(0);
};

/// How a result is checked. Where all that the reference gives are whole numbers that the type
/// holds exactly, a result must be equal to it; elsewhere it must be within a bound
/// (docs/reference/verification.md), or within the tolerance if there is one.
struct Check {
  std::variant<GemmReference, GeamReference, KernelReference, NpyReference, ResultsReference>
      reference;
  /// The number of terms that one result sums: the bound grows with its square root.
  space::Expression accumulates = space::Expression::constant(1);
  bool exact = false;         ///< results must be equal to the reference on all inputs
  bool continuous = false;    ///< results mean nothing for numbers that are whole or often equal
  bool deterministic = true;  ///< launches on the same inputs must give the same bits
  std::optional<Tolerance> tolerance = {};
  /// The floating-point type that kernels compute in; none: family::accumulator of their results'.
  std::optional<TypeOf> compute = {};
  std::optional<PartialSums> partial_sums = {};
  std::vector<CheckSize> sizes;  ///< awkward sizes every kernel must get right
  std::vector<CheckCase> cases;
};

/// Whether the reference takes any inputs and is no operation of a library: its errors are
/// measured.
[[nodiscard]] bool has_measured_bound(const Check& check);
/// The arguments of the reference; null when it is no operation of a library.
[[nodiscard]] const MatrixArguments* library_arguments(const Check& check);
/// The arguments that are the operands of the reference's operation, at their places; empty where
/// the operation with this epilogue has none. The check's reference is such an operation.
[[nodiscard]] std::array<std::string, blas::kMostOperands> operand_names(const Check& check,
                                                                         const Epilogue& epilogue);
/// What follows the reference's product at the size that `values` hold. Throws Error(usage) where
/// there is no such bias or activation.
[[nodiscard]] Epilogue epilogue(const Check& check, const space::ExpressionValues& values);
/// The factor beta of a reference that names none: 1 for the sum with a B of its own, else 0.
[[nodiscard]] double default_beta(const Check& check);

/// The reference's at the size that `values` hold; none when it is no operation of a library.
/// Throws as gemm_shape.
[[nodiscard]] std::optional<blas::Shape> library_shape(const Check& check,
                                                       const space::ExpressionValues& values);

/// A buffer of a kernel's own, passed after the family's arguments: zero before a configuration's
/// first launch at a size, then as its launches leave it.
struct ScratchBuffer {
  std::string name;
  TypeOf type;
  space::Expression count =
      space::Expression::constant(1);  ///< elements, of the configuration and the size
};

/// A tensor map of a kernel's own (the driver's CUtensorMap, by which the tensor memory accelerator
/// copies boxes of a tensor into shared memory): passed by value, 128 bytes aligned to 64, after
/// the scratch buffers. Expressions are of the configuration and the size.
struct TensorMap {
  std::string name;
  std::size_t argument = 0;  ///< its buffer among the arguments, then scratch buffers
  TypeOf type;
  space::Expression offset = space::Expression::constant(0);  ///< elements before it in the buffer
  std::vector<space::Expression> extents = {};                ///< elements, innermost first; 1 to 5
  /// Elements between neighbours along each extent but the first.
  std::vector<space::Expression> strides = {};
  std::vector<space::Expression> box = {};                           ///< elements along each extent
  space::Expression swizzle_bytes = space::Expression::constant(0);  ///< 0, 32, 64 or 128
};

/// A number that one kernel takes by value, of the configuration and the size.
struct KernelNumber {
  std::string name;
  ScalarArgument number;
};

/// A parameter of a kernel's function: a place among the family's arguments, the kernel's scratch
/// buffers and its tensor maps, one after the other; or a number of the kernel's own.
using KernelParameter = std::variant<std::size_t, KernelNumber>;

/// A macro that a kernel is compiled with, -DNAME=value.
struct MacroDefinition {
  std::string name;
  space::Expression value = space::Expression::constant(0);  ///< of the configuration and the size
};

/// A variable of a kernel's source that holds an array of the family.
struct SymbolArgument {
  std::string name;          ///< in C++: "weights", "detail::weights"
  std::string image_name;    ///< in a compiled image, by the C++ ABI
  std::size_t argument = 0;  ///< the array
};

/// A launch of a function of a kernel's source.
struct KernelStep {
  std::string entry;                     ///< with ${NAME} for parameters and derived values
  std::vector<space::Expression> grid;   ///< blocks in x, y, z; 1 to 3
  std::vector<space::Expression> block;  ///< threads in x, y, z; 1 to 3
  space::Expression dynamic_shared_bytes = space::Expression::constant(0);
  std::optional<space::Expression> programmatic;  ///< of 0 or 1: Geometry::programmatic; none: 0
  /// What the function takes, in its order; none: the family's arguments, the scratch buffers and
  /// the tensor maps.
  std::optional<std::vector<KernelParameter>> parameters;
};

/// One kernel of a family: what computes its results, in one launch or several.
struct Kernel {
  std::string name;
  std::string doc;
  std::string unproven;  ///< why it runs only where it is named; empty: as any other
  source::KernelSource source;
  std::vector<KernelStep> steps;     ///< launched in this order; at least one
  std::vector<std::string> options;  ///< to the compiler: those that the format allows
  std::vector<MacroDefinition> defines;
  std::vector<std::string> backends;  ///< the backends it can run on; empty: all
  std::shared_ptr<const space::SpaceDefinition> space;
  std::vector<ScratchBuffer> scratch;
  std::vector<TensorMap> tensor_maps;
  std::vector<SymbolArgument> symbols;
  std::vector<CheckSize> check_sizes;    ///< further sizes, of the configuration
  std::vector<space::Config> try_first;  ///< what its author expects to be good somewhere
  std::string hash;  ///< of all that a result depends on but the configuration: source, headers,
                     ///< steps, options, defines, arguments, scratch, tensor maps; not of
                     ///< documentation or constraints

  [[nodiscard]] bool runs_on(std::string_view backend) const {
    return backends.empty() || std::ranges::count(backends, backend) > 0;
  }
  /// Whether it is among the kernels of the family where none is named.
  [[nodiscard]] bool competes_on(std::string_view backend) const {
    return unproven.empty() && runs_on(backend);
  }
};

/// A space file.
struct Family {
  std::string name;
  std::string path;                  ///< where it was loaded from
  std::vector<std::string> include;  ///< folders of headers, relative to the file's
  Problem problem;
  std::vector<Argument> arguments;
  Check check;
  std::vector<Kernel> kernels;
  std::string text;  ///< the file itself

  /// A kernel by name. Throws Error(usage) with a suggestion.
  [[nodiscard]] const Kernel& kernel(std::string_view wanted) const;
  /// A named list of sizes. Throws Error(usage) with a suggestion.
  [[nodiscard]] const std::vector<space::Size>& sizes(std::string_view wanted) const;
};

/// The size of the product alone, where a bias, an activation or a residual follows a product at
/// `size`: the dimensions that say so are 0. None where nothing follows, or where other expressions
/// than such dimensions say so.
[[nodiscard]] std::optional<space::Size> without_epilogue(const Family& family,
                                                          const space::Size& size);

/// Loads and validates a space file (format space/1, docs/reference/space-file.md) and the sources
/// it names. Throws Error(usage): file, path in the document, what is wrong, and a suggestion.
[[nodiscard]] Family load_family(const std::filesystem::path& path);

/// A family from text, as kept in a database: the sources are given instead of read.
[[nodiscard]] Family parse_family(std::string_view text, std::string_view origin,
                                  const std::map<std::string, source::KernelSource>& sources);

/// The type that results of a type are computed in at the size that `values` hold.
[[nodiscard]] ElementType compute_type(const Check& check, ElementType result,
                                       const space::ExpressionValues& values);
/// The unit roundoff u of sums in it, by which errors of `accumulates` terms n are 4·u·√n times the
/// sum of magnitudes at most. Sums of m terms in b bits add 2^−b·m/n, since errors of n/m of them
/// are independent.
[[nodiscard]] double computation_unit(const Check& check, ElementType result,
                                      const space::ExpressionValues& values);
/// The greatest number up to which its sums hold every whole number exactly.
[[nodiscard]] double largest_exact_sum(const Check& check, ElementType result,
                                       const space::ExpressionValues& values);
/// Whether all terms may be added in sums of lower precision: no part of them is added in another.
[[nodiscard]] bool has_fast_sums(const Check& check, ElementType result,
                                 const space::ExpressionValues& values);
/// The operation of the library that is the reference, at the size that `values` hold, without what
/// follows it; none when the reference is no such operation. Throws as gemm_shape.
[[nodiscard]] std::optional<blas::Operation> library_operation(
    const Family& family, const space::ExpressionValues& values);
/// Whether they are then rounded to one of fewer bits, once.
[[nodiscard]] bool is_rounded(const Check& check, ElementType result,
                              const space::ExpressionValues& values);

/// A hash of all that decides whether a result of a kernel is right, as far as it is in the family:
/// `check` and `arguments` of the space file without its texts for people, the kernel's own check
/// sizes, the reference kernel at its default configuration or the identity of the results of
/// another program, and the .npy files that these name.
[[nodiscard]] std::string check_hash(const Family& family, const Kernel& kernel);

/// Throws Error(usage) naming the constraint that a kernel's default configuration breaks on a
/// device at a size; returns when it breaks none.
void check_default(const Kernel& kernel, const space::DeviceAttributes& device,
                   const space::Size& size);

}  // namespace tuner::family
