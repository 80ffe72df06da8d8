// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/kernel_values.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tuner {
namespace {

constexpr std::int64_t kMostScratchElements = std::int64_t{1} << 40;

std::int64_t value_of(const Expression& expression, const Slots& slots, const std::string& what) {
  const auto value = expression.evaluate(slots);
  if (value) return *value;
  throw Error(ErrorCode::usage, fmt::format("{}: \"{}\" has no value: {}", what, expression.text(),
                                            name(value.error())));
}

std::uint64_t bits_of(const Scalar& scalar) {
  std::uint64_t bits = 0;
  std::visit([&](auto number) { std::memcpy(&bits, &number, sizeof number); }, scalar);
  return bits;
}

void add_scratch(KernelValues& result, const Kernel& kernel, const Slots& slots) {
  bool needs_any = false;
  for (const ScratchBuffer& buffer : kernel.scratch) {
    const std::int64_t count = value_of(buffer.count, slots, kernel.name + ": scratch");
    if (count < 0 || count > kMostScratchElements) {
      throw Error(ErrorCode::usage, fmt::format("{}: scratch '{}' would have {} elements",
                                                kernel.name, buffer.name, count));
    }
    needs_any = needs_any || count > 0;
    // At least one element, as when the kernel was verified.
    result.scratch_bytes.push_back(static_cast<std::size_t>(std::max<std::int64_t>(count, 1)) *
                                   size_bytes(buffer.type));
    result.values.push_back(0);
    result.bytes.push_back(sizeof(void*));
  }
  if (!needs_any) result.scratch_bytes.clear();
}

/// Adds the numbers of the kernel's own and the tensor maps, and puts `bytes` into the order of the
/// kernel's parameters.
void add_taken(KernelValues& result, const std::vector<TakenArgument>& arguments) {
  const std::size_t first_map = result.values.size();
  for (const TakenArgument& argument : arguments) {
    if (const auto* const number = std::get_if<Scalar>(&argument)) {
      result.values.push_back(bits_of(*number));
      result.bytes.push_back(std::visit([](auto value) { return sizeof value; }, *number));
    }
  }
  const std::size_t numbers = result.values.size() - first_map;
  result.values.resize(result.values.size() + result.tensors.size());
  result.bytes.resize(result.values.size(), sizeof(TensorMapValue));
  std::size_t next_number = first_map;
  std::vector<std::size_t> bytes;
  for (const TakenArgument& argument : arguments) {
    const auto* const place = std::get_if<std::size_t>(&argument);
    const std::size_t at = place == nullptr      ? next_number++
                           : *place >= first_map ? *place + numbers
                                                 : *place;
    result.taken.push_back(at);
    bytes.push_back(result.bytes[at]);
  }
  result.bytes = std::move(bytes);
}

/// The place of an argument among those that a launch gives.
std::optional<std::size_t> given_place(const FamilyTable& family, const std::string& name) {
  const auto& given = family.given();
  const auto found = std::ranges::find(given, name, &GivenArgument::name);
  if (found == given.end()) return std::nullopt;
  return static_cast<std::size_t>(found - given.begin());
}

/// Fixed where the reference names no argument, or one whose value follows from the size.
Factor factor(const FamilyTable& family, const std::string& name, const Slots& slots,
              double absent) {
  Factor result{.given = given_place(family, name), .fixed = absent};
  for (const Argument& argument : family.family().arguments) {
    const auto* const scalar = std::get_if<ScalarArgument>(&argument.what);
    if (argument.name != name || scalar == nullptr || result.given) continue;
    result.fixed = std::visit([](auto number) { return static_cast<double>(number); },
                              scalar_value(*scalar, name, slots));
  }
  return result;
}

}  // namespace

KernelValues kernel_values(const FamilyTable& family, const Kernel& kernel, const Slots& slots) {
  if (!kernel.symbols.empty()) {
    throw Error(
        ErrorCode::usage,
        fmt::format("{} reads the array '{}' from the variable {} of its source, which the "
                    "dispatcher does not fill; let the kernel take it by value",
                    kernel.name, family.family().arguments[kernel.symbols.front().argument].name,
                    kernel.symbols.front().name));
  }
  KernelValues result;
  for (const Argument& argument : family.family().arguments) {
    std::size_t bytes = sizeof(void*);
    std::uint64_t value = 0;
    if (const auto* const scalar = std::get_if<ScalarArgument>(&argument.what)) {
      bytes = size_bytes(scalar->type);
      value = bits_of(scalar_value(*scalar, argument.name, slots));
    } else if (const auto* const array = std::get_if<ArrayArgument>(&argument.what)) {
      bytes = array_bytes(*array, argument.name, slots);
    }
    result.bytes.push_back(bytes);
    result.values.push_back(value);
  }
  for (const GivenArgument& it : family.given()) result.given.push_back(it.place);
  add_scratch(result, kernel, slots);
  result.tensors = tensor_layouts(kernel, slots);
  add_taken(result, taken_arguments(kernel, family.family().arguments.size(), slots));
  if (std::max(result.values.size(), result.taken.size()) <= kMostKernelArguments) return result;
  throw Error(
      ErrorCode::usage,
      fmt::format("{} takes {} arguments; the dispatcher passes at most {}", kernel.name,
                  std::max(result.values.size(), result.taken.size()), kMostKernelArguments));
}

std::optional<LibraryOperation> library_operation(const FamilyTable& family, const Size& size) {
  const Check& check = family.family().check;
  const MatrixArguments* const reference = library_arguments(check);
  if (reference == nullptr) return std::nullopt;
  const auto a = given_place(family, reference->a);
  const auto b = given_place(family, reference->b);
  const auto c = given_place(family, reference->c);
  if (!a || !b || !c) return std::nullopt;
  const Slots slots = family.slots(size);
  const auto& matrix = family.family().arguments[family.given()[*a].place].what;
  return LibraryOperation{.type = std::get<BufferArgument>(matrix).type,
                          .shape = *library_shape(check, slots),
                          .a = *a,
                          .b = *b,
                          .c = *c,
                          .alpha = factor(family, reference->alpha, slots, 1),
                          .beta = factor(family, reference->beta, slots, default_beta(check))};
}

}  // namespace tuner
