// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/problem_data.hpp"

#include "tuner/backend/owned.hpp"
#include "tuner/core/error.hpp"
#include "tuner/family/check_promises.hpp"
#include "tuner/family/fill_traits.hpp"
#include "tuner/source/token.hpp"
#include "tuner/space/required_value.hpp"
#include "tuner/verify/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tuner::verify {
namespace {

space::ExpressionValues family_values(const family::Family& family,
                                      const space::DeviceAttributes& device,
                                      const space::Size& size) {
  space::ExpressionValues values;
  for (const space::AttributeField& field : space::attribute_fields())
    values.push_back(device.*field.member);
  values.insert(values.end(), size.begin(), size.end());
  if (values.size() != space::family_scope(family.problem.dims).size()) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: a size needs {} numbers, {} has {}", family.name,
                            family.problem.dims.size(), space::display(size, family.problem.dims),
                            size.size()));
  }
  return values;
}

/// Throws unless memory could hold this many elements.
void check_count(std::string_view argument, family::ElementType type, std::int64_t count) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 56;  // so that sums of these do not overflow
  if (static_cast<std::size_t>(count) > family::elements_in(type, kMostBytes)) {
    throw Error(ErrorCode::failure,
                fmt::format("argument {}: {} elements do not fit in memory; take a smaller size",
                            argument, count));
  }
}

/// Throws unless the reference can be shaped to the size.
std::optional<blas::Operation> operation_at(const family::Family& family,
                                            const space::ExpressionValues& values,
                                            const space::Size& size) {
  try {
    return family::library_operation(family, values);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {} (at the size {})", family.name, error.what(),
                                          space::display(size, family.problem.dims)));
  }
}

std::int64_t count_of(const space::Expression& count, std::string_view name,
                      const space::ExpressionValues& values) {
  return std::max<std::int64_t>(1, space::required_value(count, values, [&] {
                                  return fmt::format("argument '{}': its count", name);
                                }));
}

std::int64_t buffer_count(const family::BufferArgument& buffer, std::string_view name,
                          const space::ExpressionValues& values) {
  const std::int64_t count = count_of(buffer.count, name, values);
  const family::ElementType type = buffer.type.at(values);
  check_count(name, type, count);
  return in_whole_words(type, count);
}

/// Throws unless data begin with a word of 32 bits, by which memory is looked at.
void check_offset(const CheckedData& data) {
  if (data.offset_bytes() % 4 != 0) {
    throw Error(ErrorCode::usage,
                fmt::format("argument {}: its offset is {} elements of {}; it must be a multiple "
                            "of 4 bytes",
                            data.name, data.offset, tuner::family::name(data.type)));
  }
}

/// Elements by which data begin later so that their address is a multiple of what the family claims
/// and of no more: a kernel that needs more shows.
std::int64_t misalignment(const CheckedData& data, std::size_t claimed_bytes) {
  constexpr std::size_t kWord = 4;  // by which memory is looked at
  const std::size_t bytes = std::max(claimed_bytes, kWord);
  const bool aligned_better = data.offset_bytes() % (2 * bytes) == 0;
  if (bytes >= family::kMostAlignmentBytes || !aligned_better) return 0;
  return static_cast<std::int64_t>(family::elements_in(data.type, bytes));
}

const family::InputFill& fill_of(const family::Argument& argument) {
  const auto* const buffer = std::get_if<family::BufferArgument>(&argument.what);
  return buffer != nullptr ? buffer->fill : std::get<family::ArrayArgument>(argument.what).fill;
}

/// The place of an argument whose numbers are those of another one, else its own.
std::size_t filled_like(const family::Family& family, std::size_t place) {
  const family::InputFill& fill = fill_of(family.arguments[place]);
  if (fill.kind != family::FillKind::copy) return place;
  const auto found = std::ranges::find(family.arguments, fill.source, &family::Argument::name);
  return filled_like(family, static_cast<std::size_t>(found - family.arguments.begin()));
}

/// Whether a reference may divide, where whole numbers of an input could be the divisor: then 0 and
/// −1 are none of these. Of results that another program computed there is no source to look at.
bool divides(const family::Family& family) {
  if (std::holds_alternative<family::ResultsReference>(family.check.reference)) return true;
  const auto* const reference = std::get_if<family::KernelReference>(&family.check.reference);
  if (reference == nullptr) return false;
  const std::string& text = family.kernel(reference->kernel).source.text;
  return std::ranges::any_of(source::tokens_of(text), [](const source::Token& token) {
    return token.text == "/" || token.text == "%" || token.text == "/=" || token.text == "%=";
  });
}

/// The bits that every integer result has, without its sign.
int result_bits(const family::Family& family, const space::ExpressionValues& values) {
  int bits = 62;
  for (const family::Argument& argument : family.arguments) {
    const auto* const buffer = std::get_if<family::BufferArgument>(&argument.what);
    if (buffer != nullptr && buffer->is_written() && family::bits(buffer->type.at(values)) <= 32) {
      bits = 30;
    }
  }
  return bits;
}

}  // namespace

void check_files(const family::Family& family, const space::Size& size) {
  const space::ExpressionValues values = family::family_values(size);
  const auto* const reference = std::get_if<family::NpyReference>(&family.check.reference);
  if (reference != nullptr && reference->size != size) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: the files of check.reference hold the results at the size {}; at "
                            "{} nothing can be checked",
                            family.name, space::display(reference->size, family.problem.dims),
                            space::display(size, family.problem.dims)));
  }
  for (std::size_t i = 0; i < family.arguments.size(); ++i) {
    const family::Argument& argument = family.arguments[i];
    const auto* const buffer = std::get_if<family::BufferArgument>(&argument.what);
    const auto* const array = std::get_if<family::ArrayArgument>(&argument.what);
    if (buffer == nullptr && array == nullptr) continue;
    const family::ElementType type = (buffer != nullptr ? buffer->type : array->type).at(values);
    const std::int64_t count =
        count_of(buffer != nullptr ? buffer->count : array->count, argument.name, values);
    const auto check = [&](const std::string& file) {
      static_cast<void>(NpyFile(family, file, argument.name, type, count, size));
    };
    const family::InputFill& fill = fill_of(family.arguments[filled_like(family, i)]);
    if (fill.kind == family::FillKind::npy) check(fill.source);
    if (reference == nullptr) continue;
    if (const auto file = reference->files.find(argument.name); file != reference->files.end()) {
      check(file->second);
    }
  }
}

void check_size(const family::Family& family, const space::DeviceAttributes& device,
                const space::Size& size) {
  const space::ExpressionValues values = family_values(family, device, size);
  static_cast<void>(operation_at(family, values, size));
  check_files(family, size);
  double bytes = 0;
  for (const family::Argument& argument : family.arguments) {
    if (const auto* array = std::get_if<family::ArrayArgument>(&argument.what)) {
      static_cast<void>(family::array_bytes(*array, argument.name, values));
    } else if (const auto* scalar = std::get_if<family::ScalarArgument>(&argument.what)) {
      static_cast<void>(family::scalar_value(*scalar, argument.name, values));
    } else if (const auto* buffer = std::get_if<family::BufferArgument>(&argument.what)) {
      // An input, and its values without their signs or perturbed; an output, its right result, the
      // error allowed, what a launch before wrote, and what a reference gives for other inputs; the
      // rows of its records.
      const double copies = !buffer->is_written() ? 2 : buffer->order || buffer->valid ? 6 : 5;
      const std::int64_t count = buffer_count(*buffer, argument.name, values);
      bytes += copies * static_cast<double>(family::bytes_of(buffer->type.at(values), count));
    }
  }
  if (bytes > static_cast<double>(device.memory_bytes)) {
    constexpr double kGibibyte = 1 << 30;
    throw Error(
        ErrorCode::usage,
        fmt::format("{}: to check a kernel at the size {} takes {:.1f} GiB of memory, of which "
                    "the device has {:.1f}; take a smaller size",
                    family.name, space::display(size, family.problem.dims), bytes / kGibibyte,
                    static_cast<double>(device.memory_bytes) / kGibibyte));
  }
}

ProblemData::ProblemData(backend::Backend& backend, const family::Family& family, Recipe recipe)
    : backend_(backend),
      family_(family),
      recipe_(std::move(recipe)),
      values_(family_values(family, backend.device().attributes, recipe_.size)),
      accumulated_(
          std::max<std::int64_t>(1, evaluate(family.check.accumulates, "check.accumulates"))),
      reference_divides_(divides(family)),
      operation_(operation_at(family, values_, recipe_.size)) {}

bool ProblemData::is_timed() const {
  return recipe_.fill == Fill::normal && recipe_.check_case == 0 && !recipe_.law;
}

const family::CheckCase* ProblemData::check_case() const {
  return recipe_.check_case == 0 ? nullptr : &family_.check.cases.at(recipe_.check_case - 1);
}

std::int64_t ProblemData::evaluate(const space::Expression& expression,
                                   std::string_view what) const {
  return space::required_value(expression, values_, what);
}

std::vector<CheckedData> ProblemData::data() const {
  std::vector<CheckedData> all;
  for (std::size_t i = 0; i < family_.arguments.size(); ++i) {
    const family::Argument& argument = family_.arguments[i];
    const auto* buffer = std::get_if<family::BufferArgument>(&argument.what);
    if (buffer == nullptr) continue;
    CheckedData data{.name = argument.name,
                     .argument = i,
                     .type = buffer->type.at(values_),
                     .used = std::max<std::int64_t>(1, evaluate(buffer->count, argument.name)),
                     .count = buffer_count(*buffer, argument.name, values_),
                     .offset = std::max<std::int64_t>(0, evaluate(buffer->offset, argument.name)),
                     .role = buffer->role};
    check_count(argument.name, data.type, data.offset);
    if (!is_timed()) {
      data.offset += misalignment(data, family::alignment_bytes(*buffer, argument.name, values_));
    }
    check_offset(data);
    if (buffer->is_written()) {
      data.expected = 0;
      const bool is_read =
          check_case() != nullptr && std::ranges::count(check_case()->reads, argument.name) > 0;
      if (is_read || buffer->initial == family::InitialContent::input) {
        data.initial = 0;
      } else {
        data.starts_zero = buffer->initial == family::InitialContent::zero;
      }
      if (may_differ(*buffer) && !family::counts_records(family_.arguments, argument.name))
        data.allowed = 0;
      if (recipe_.fill == Fill::normal && family_.check.deterministic) data.repeat = 0;
      data.records = family::record_layout(family_.arguments, argument, values_);
      if (data.records && data.records->as.empty()) data.rows = 0;
    }
    all.push_back(data);
  }
  return all;
}

const family::Tolerance* ProblemData::tolerance_of(std::size_t argument) const {
  const auto& what = family_.arguments[argument].what;
  const auto* const buffer = std::get_if<family::BufferArgument>(&what);
  if (buffer != nullptr && buffer->tolerance) return &*buffer->tolerance;
  return family_.check.tolerance ? &*family_.check.tolerance : nullptr;
}

bool ProblemData::may_differ(const family::BufferArgument& output) const {
  if (family_.check.exact) return false;
  if (family_.check.tolerance || output.tolerance) return true;
  if (!family::is_floating(output.type.at(values_))) return false;
  if (epilogue().activation == Activation::gelu) return true;
  // What a library gives for whole numbers is exact; of a kernel that is not known before it ran.
  return recipe_.fill == Fill::normal || !operation_;
}

bool ProblemData::takes_all_integers(family::ElementType type) const {
  return recipe_.fill == Fill::normal && !family::is_floating(type) && accumulated_ == 1 &&
         !family::has_floating_results(family_.arguments, values_);
}

std::int64_t ProblemData::whole_range(family::ElementType type) const {
  constexpr std::int64_t kFew = 3;
  if (recipe_.fill == Fill::few) return kFew;
  const std::int64_t most = family::integer_range(type).greatest;
  if (family::has_floating_results(family_.arguments, values_)) {
    // Sums of products of numbers up to 3 stay below 2^24 for 400,000 terms, scaled by small
    // factors.
    constexpr std::int64_t kTermsForRange3 = 400'000;
    constexpr std::int64_t kMostCounted = 1000;
    if (recipe_.fill == Fill::whole) {
      const std::int64_t least = accumulated_ <= kTermsForRange3 ? 3 : 1;
      return std::max(least, rounded_range(type));
    }
    return family::is_floating(type) || family::bits(type) >= 32 ? kMostCounted : most;
  }
  // So that a product of two (whole) or a number itself (normal), summed, just fits the result.
  const double terms =
      std::ldexp(1.0, result_bits(family_, values_)) / static_cast<double>(accumulated_);
  const double range = recipe_.fill == Fill::whole ? std::sqrt(terms) : terms;
  return static_cast<std::int64_t>(std::clamp(range, 1.0, static_cast<double>(most) * 0.999));
}

/// Where a library's sums of products are exact and then rounded to a type of fewer bits: numbers
/// as large as both allow, so that there is something to round. Elsewhere 0.
std::int64_t ProblemData::rounded_range(family::ElementType type) const {
  const auto* const names = family::library_arguments(family_.check);
  if (!operation_ || names == nullptr) return 0;
  const auto output = std::ranges::find(family_.arguments, names->c, &family::Argument::name);
  const family::ElementType result =
      std::get<family::BufferArgument>(output->what).type.at(values_);
  if (!family::is_rounded(family_.check, result, values_)) return 0;
  constexpr double kFactors = 4;  // that alpha and beta may be
  const auto terms = static_cast<double>(accumulated_);
  const double exact =
      family::largest_exact_sum(family_.check, result, values_) / (kFactors * terms);
  // A sum of n numbers is seldom larger than a few times the root of n.
  const double finite = family::largest_number(result) / (kFactors * std::sqrt(terms));
  return static_cast<std::int64_t>(
      std::min(std::sqrt(std::min(exact, finite)), family::largest_exact_integer(type)));
}

family::ElementType ProblemData::reference_type(family::ElementType type) const {
  const auto* const kernel = std::get_if<family::KernelReference>(&family_.check.reference);
  if (kernel == nullptr || !kernel->type || !family::is_floating(type)) return type;
  const family::ElementType its = kernel->type->at(values_);
  return family::unit_roundoff(its) < family::unit_roundoff(type) ? its : type;
}

double ProblemData::perturbation_share(family::ElementType result) const {
  double moved = 0;  // the largest perturbation of an input
  for (std::size_t i = 0; i < family_.arguments.size(); ++i) {
    const auto& what = family_.arguments[i].what;
    const auto* const buffer = std::get_if<family::BufferArgument>(&what);
    const auto* const array = std::get_if<family::ArrayArgument>(&what);
    if (buffer == nullptr && array == nullptr) continue;
    if (buffer != nullptr && buffer->is_written() &&
        buffer->initial != family::InitialContent::input) {
      continue;
    }
    const family::ElementType type = (buffer != nullptr ? buffer->type : array->type).at(values_);
    if (!can_be_perturbed({.argument = i, .type = type})) continue;
    moved = std::max(moved, family::unit_roundoff(type));
  }
  const double unit = family::unit_roundoff(family::compute_type(family_.check, result, values_));
  return moved > unit ? unit / moved : 1;
}

void ProblemData::fill_any(CheckKernels& kernels, const CheckKernels::Elements& data,
                           family::FillKind kind, std::uint64_t seed) const {
  const std::int64_t range = whole_range(data.type);
  const auto [least, greatest] = family::integer_range(data.type);
  if (takes_all_integers(data.type)) {
    const bool above_64 =
        data.type == family::ElementType::u64;  // −1 as 64 bits is its greatest number
    return kernels.fill_integers(data, seed, kind == family::FillKind::normal ? least : 1,
                                 above_64 ? -1 : greatest);
  }
  if (recipe_.fill != Fill::normal || !family::is_floating(data.type)) {
    if (kind == family::FillKind::normal) return kernels.fill_whole(data, seed, range);
    return kernels.fill_integers(data, seed, 1, range);
  }
  if (kind == family::FillKind::normal) return kernels.fill_normal(data, seed);
  if (kind == family::FillKind::uniform) return kernels.fill_uniform(data, seed);
  kernels.fill_positive(data, seed);
}

/// Whole numbers where the fill has two that are small enough for exact sums.
void ProblemData::fill_between(CheckKernels& kernels, const CheckKernels::Elements& data,
                               const family::InputFill& fill, std::uint64_t seed) const {
  const auto range = static_cast<double>(whole_range(data.type));
  const double first = std::max(std::ceil(fill.least), -range);
  const double last = std::min(std::ceil(fill.most) - 1, range);
  if (recipe_.fill != Fill::normal && first < last) {
    return kernels.fill_integers(data, seed, static_cast<std::int64_t>(first),
                                 static_cast<std::int64_t>(last));
  }
  // So far from both ends that neither rounding nor perturbing leaves the range.
  const double farther = std::max(std::abs(fill.least), std::abs(fill.most));
  const double margin =
      std::min(16 * family::unit_roundoff(data.type) * farther, (fill.most - fill.least) / 4);
  kernels.fill_uniform(data, seed, fill.least + margin, fill.most - margin);
}

void ProblemData::require_held(std::int64_t number, family::ElementType type,
                               const std::string& name) const {
  const auto [least, greatest] = family::integer_range(type);
  if (family::is_floating(type) || (number >= least && number <= greatest)) return;
  throw Error(
      ErrorCode::usage,
      fmt::format("argument {}: its fill asks for {} at the size {}; elements of type '{}' are "
                  "from {} to {}",
                  name, number, space::display(recipe_.size, family_.problem.dims),
                  family::name(type), least, greatest));
}

std::vector<std::byte> ProblemData::bytes_of(const std::vector<family::FillValue>& values,
                                             const CheckKernels::Elements& data,
                                             const std::string& name) const {
  if (static_cast<std::int64_t>(values.size()) != data.count) {
    throw Error(
        ErrorCode::usage,
        fmt::format("argument {}: its fill has {} values, its count is {} at the size {}", name,
                    values.size(), data.count, space::display(recipe_.size, family_.problem.dims)));
  }
  const std::size_t size_bytes = family::element_bytes(data.type);
  std::vector<std::byte> bytes(values.size() * size_bytes);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint64_t bits = 0;
    if (values[i].real) {
      bits = family::bits_of(data.type, *values[i].real);
    } else {
      const std::int64_t whole = evaluate(values[i].whole, name);
      require_held(whole, data.type, name);
      bits = family::is_floating(data.type) ? family::bits_of(data.type, static_cast<double>(whole))
                                            : static_cast<std::uint64_t>(whole);
    }
    std::memcpy(bytes.data() + i * size_bytes, &bits, size_bytes);
  }
  return bytes;
}

void ProblemData::fill_numbers(CheckKernels& kernels, const CheckKernels::Elements& data,
                               std::size_t argument, const family::InputFill& fill,
                               std::uint64_t draw) const {
  const std::string& name = family_.arguments[argument].name;
  const std::uint64_t seed =
      (3 * (recipe_.seed + recipe_.draw * 7919 + draw) + static_cast<std::uint64_t>(recipe_.fill)) *
          1'000'003 +
      argument;
  switch (fill.kind) {
    case family::FillKind::normal:
    case family::FillKind::uniform:
    case family::FillKind::positive:
      return fill_any(kernels, data, fill.kind, seed);
    case family::FillKind::between:
      return fill_between(kernels, data, fill, seed);
    case family::FillKind::permutation:
      return kernels.fill_permutation(data, seed);
    case family::FillKind::sorted: {
      const bool is_signed =
          family::is_floating(data.type) || family::integer_range(data.type).least < 0;
      const double end = sorted_end(data.type);
      return kernels.fill_sorted(data, seed, is_signed ? -end : 0, end);
    }
    case family::FillKind::integers: {
      const std::int64_t low = evaluate(fill.low, name), high = evaluate(fill.high, name);
      for (const std::int64_t bound : {low, high}) require_held(bound, data.type, name);
      if (low <= high) return kernels.fill_integers(data, seed, low, high);
      throw Error(
          ErrorCode::usage,
          fmt::format("argument {}: its fill asks for integers from {} to {} at the size {}", name,
                      low, high, space::display(recipe_.size, family_.problem.dims)));
    }
    case family::FillKind::values:
      return backend_.write(data.region, bytes_of(fill.values, data, name));
    case family::FillKind::constant:
      return kernels.fill_constant(data, fill.value);
    case family::FillKind::csr_offsets:
      return kernels.fill_offsets(data, seed, evaluate(fill.high, name));
    case family::FillKind::npy:
      return NpyFile(family_, fill.source, name, data.type, data.count, recipe_.size)
          .copy_to(backend_, data.region);
    case family::FillKind::copy:
      break;  // resolved by filled_like
  }
}

void ProblemData::fill(CheckKernels& kernels, backend::Region region,
                       const CheckedData& data) const {
  const std::size_t like = filled_like(family_, data.argument);
  const CheckKernels::Elements elements{region, data.type, data.used};
  const family::InputFill& numbers = fill_of(family_.arguments[like]);
  fill_numbers(kernels, elements, like, numbers, 0);
  if (recipe_.changed && data.role == family::BufferRole::input && may_change(like)) {
    change(kernels, elements, like, numbers);
  }
  if (follows_law(like, data.type)) draw_by_law(kernels, elements, like);
  if (data.used < data.count) {  // what a kernel must not read up to the next whole word
    const family::IntegerRange range = family::integer_range(data.type);
    backend::Region rest = region;
    rest.offset_bytes += family::bytes_of(data.type, data.used);
    auto value = static_cast<double>(recipe_.fill == Fill::normal ? range.least : range.greatest);
    if (family::is_floating(data.type)) {
      // Not in what is updated: there it would be a result that is no whole number.
      value = data.role == family::BufferRole::input ? std::numeric_limits<double>::quiet_NaN() : 0;
    }
    kernels.fill_constant({rest, data.type, data.count - data.used}, value);
  }
  const auto matrix = operand(data.name);
  if (!matrix || data.role != family::BufferRole::input) return;
  const auto used = blas::matrix_elements(matrix->layout, matrix->batch);
  if (!used || used->outer_count * used->inner_count * used->columns >= data.count) return;
  kernels.poison_padding({region, data.type, data.count}, recipe_.seed, *used);
}

void ProblemData::change(CheckKernels& kernels, const CheckKernels::Elements& data,
                         std::size_t argument, const family::InputFill& fill) const {
  constexpr std::uint64_t kOtherDraw = 1'000'000'007;
  const family::Drawing drawing = family::traits(fill.kind).drawing;
  if (drawing == family::Drawing::none) return;
  if (drawing == family::Drawing::together) {
    return fill_numbers(kernels, data, argument, fill, kOtherDraw);
  }
  const backend::Buffer others(backend_, family::bytes_of(data.type, data.count));
  fill_numbers(kernels, {others.id(), data.type, data.count}, argument, fill, kOtherDraw);
  kernels.replace_some(data, others.id(), recipe_.seed + argument);
}

const family::InputFill& ProblemData::numbers_of(std::size_t argument) const {
  return fill_of(family_.arguments[filled_like(family_, argument)]);
}

bool ProblemData::may_change(std::size_t argument) const {
  for (std::size_t i = 0; i < family_.arguments.size(); ++i) {
    const bool is_array = std::holds_alternative<family::ArrayArgument>(family_.arguments[i].what);
    if (is_array && filled_like(family_, i) == argument) return false;
  }
  return family::traits(numbers_of(argument).kind).drawing != family::Drawing::none;
}

bool ProblemData::can_be_changed() const {
  if (std::holds_alternative<family::NpyReference>(family_.check.reference)) return false;
  return std::ranges::any_of(data(), [&](const CheckedData& data) {
    return data.role == family::BufferRole::input &&
           may_change(filled_like(family_, data.argument));
  });
}

bool ProblemData::can_be_perturbed(const CheckedData& data) const {
  if (!family::is_floating(data.type)) return false;
  const family::InputFill& fill = fill_of(family_.arguments[filled_like(family_, data.argument)]);
  return family::traits(fill.kind).may_be_perturbed;
}

bool ProblemData::has_zero_mean() const {
  if (recipe_.law) return false;
  for (std::size_t i = 0; i < family_.arguments.size(); ++i) {
    if (std::holds_alternative<family::ScalarArgument>(family_.arguments[i].what)) continue;
    const family::FillKind kind = fill_of(family_.arguments[filled_like(family_, i)]).kind;
    if (kind != family::FillKind::normal) return false;
  }
  return true;
}

std::optional<blas::Operand> ProblemData::operand(std::string_view argument) const {
  if (!operation_) return std::nullopt;
  const auto names = family::operand_names(family_.check, {});
  const auto operands = blas::operands_of(*operation_);
  // Of a sum without B, C is also B.
  for (const std::size_t each : {blas::kA, blas::kC, blas::kB}) {
    if (argument == names[each]) return operands[each];
  }
  return std::nullopt;
}

std::string ProblemData::element_name(std::size_t argument, std::uint64_t index) const {
  const std::string& buffer = family_.arguments[argument].name;
  std::string text = fmt::format("{}[{}]", buffer, index);
  const auto matrix = operand(buffer);
  if (!matrix) return text;
  const std::string place =
      blas::place_name(matrix->layout, matrix->batch, static_cast<std::int64_t>(index));
  return place.empty() ? text : fmt::format("{} ({})", text, place);
}

std::string_view inputs_name(const family::Family& family, Fill fill) {
  if (std::holds_alternative<family::NpyReference>(family.check.reference)) return "the file's";
  return fill == Fill::normal ? "normal" : fill == Fill::whole ? "whole-number" : "few-valued";
}

std::string ProblemData::circumstances() const {
  std::string text =
      fmt::format("size {}, {} inputs, seed {}", space::display(recipe_.size, family_.problem.dims),
                  inputs_name(family_, recipe_.fill), recipe_.seed);
  if (recipe_.draw > 0) text += fmt::format(", draw {}", recipe_.draw);
  if (recipe_.law) text += fmt::format(", law \"{}\"", family::name(recipe_.law->law));
  if (recipe_.changed) text += ", some elements changed";
  if (check_case() != nullptr) {
    for (const auto& [argument, value] : check_case()->set) {
      text += fmt::format(", {}={}", argument, family::value_text(value));
    }
  }
  return text;
}

}  // namespace tuner::verify
