// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/kernel_values.hpp"

#include "tuner/core/error.hpp"
#include "tuner/space/required_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tuner::dispatch {
namespace {

constexpr std::int64_t kMostScratchElements = std::int64_t{1} << 40;

std::uint64_t bits_of(const family::Scalar& scalar) {
  std::uint64_t bits = 0;
  std::visit([&](auto number) { std::memcpy(&bits, &number, sizeof number); }, scalar);
  return bits;
}

/// Adds the family's arguments, and to `bytes` their sizes. What no step takes has no value, which
/// may be one that its type cannot hold.
void add_arguments(KernelValues& result, std::vector<std::size_t>& bytes, const FamilyTable& family,
                   const std::vector<std::vector<family::TakenArgument>>& steps,
                   const space::ExpressionValues& values) {
  const std::vector<family::Argument>& arguments = family.family().arguments;
  for (std::size_t place = 0; place < arguments.size(); ++place) {
    const auto& [name, what] = arguments[place];
    const auto takes = [&](const std::vector<family::TakenArgument>& step) {
      return std::ranges::count(step, family::TakenArgument(place)) > 0;
    };
    bytes.push_back(sizeof(void*));
    result.values.push_back(0);
    if (std::ranges::none_of(steps, takes)) continue;
    if (const auto* const scalar = std::get_if<family::ScalarArgument>(&what)) {
      bytes.back() = family::element_bytes(scalar->type.at(values));
      result.values.back() = bits_of(family::scalar_value(*scalar, name, values));
    } else if (const auto* const array = std::get_if<family::ArrayArgument>(&what)) {
      bytes.back() = family::array_bytes(*array, name, values);
    }
  }
}

/// Adds the scratch buffers, and to `bytes` the size of each as an argument.
void add_scratch(KernelValues& result, std::vector<std::size_t>& bytes,
                 const family::Kernel& kernel, const space::ExpressionValues& values) {
  bool needs_any = false;
  for (const family::ScratchBuffer& buffer : kernel.scratch) {
    const std::int64_t count =
        space::required_value(buffer.count, values, kernel.name + ": scratch");
    if (count < 0 || count > kMostScratchElements) {
      throw Error(ErrorCode::usage, fmt::format("{}: scratch '{}' would have {} elements",
                                                kernel.name, buffer.name, count));
    }
    needs_any = needs_any || count > 0;
    // At least one element, as when the kernel was verified.
    result.scratch_bytes.push_back(
        family::bytes_of(buffer.type.at(values), std::max<std::int64_t>(count, 1)));
    result.values.push_back(0);
    bytes.push_back(sizeof(void*));
  }
  if (!needs_any) result.scratch_bytes.clear();
}

/// Adds the numbers of the kernel's own, the tensor maps and what each function takes; `bytes` are
/// the sizes of what was added before.
void add_steps(KernelValues& result, const std::vector<std::size_t>& bytes,
               const std::vector<std::vector<family::TakenArgument>>& steps) {
  const std::size_t first_map = result.values.size();  // among what a function may take
  std::size_t numbers = 0;
  for (const std::vector<family::TakenArgument>& arguments : steps) {
    numbers += static_cast<std::size_t>(std::ranges::count_if(
        arguments, std::holds_alternative<family::Scalar, std::size_t, family::Scalar>));
  }
  for (const std::vector<family::TakenArgument>& arguments : steps) {
    KernelValues::Taken& taken = result.steps.emplace_back();
    for (const family::TakenArgument& argument : arguments) {
      if (const auto* const number = std::get_if<family::Scalar>(&argument)) {
        taken.places.push_back(result.values.size());
        taken.bytes.push_back(std::visit([](auto value) { return sizeof value; }, *number));
        result.values.push_back(bits_of(*number));
        continue;
      }
      const std::size_t place = std::get<std::size_t>(argument);
      const bool is_map = place >= first_map;
      taken.places.push_back(is_map ? place + numbers : place);
      taken.bytes.push_back(is_map ? sizeof(backend::TensorMapValue) : bytes[place]);
    }
  }
  result.values.resize(result.values.size() + result.tensors.size());
}

/// The place of an argument among those that a launch gives.
std::optional<std::size_t> given_place(const FamilyTable& family, const std::string& name) {
  const auto& given = family.given();
  const auto found = std::ranges::find(given, name, &GivenArgument::name);
  if (found == given.end()) return std::nullopt;
  return static_cast<std::size_t>(found - given.begin());
}

/// Fixed where the reference names no argument, or one whose value follows from the size.
Factor factor(const FamilyTable& family, const std::string& name,
              const space::ExpressionValues& values, double absent) {
  Factor result{.given = given_place(family, name), .fixed = absent};
  for (const family::Argument& argument : family.family().arguments) {
    const auto* const scalar = std::get_if<family::ScalarArgument>(&argument.what);
    if (argument.name != name || scalar == nullptr || result.given) continue;
    result.fixed = std::visit([](auto number) { return static_cast<double>(number); },
                              family::scalar_value(*scalar, name, values));
  }
  return result;
}

}  // namespace

KernelValues kernel_values(const FamilyTable& family, const family::Kernel& kernel,
                           const space::ExpressionValues& values) {
  if (!kernel.symbols.empty()) {
    throw Error(
        ErrorCode::usage,
        fmt::format("{} reads the array '{}' from the variable {} of its source, which the "
                    "dispatcher does not fill; let the kernel take it by value",
                    kernel.name, family.family().arguments[kernel.symbols.front().argument].name,
                    kernel.symbols.front().name));
  }
  KernelValues result;
  std::vector<std::vector<family::TakenArgument>> steps;
  for (std::size_t step = 0; step < kernel.steps.size(); ++step) {
    steps.push_back(
        family::taken_arguments(kernel, step, family.family().arguments.size(), values));
  }
  std::vector<std::size_t> all_bytes;
  add_arguments(result, all_bytes, family, steps, values);
  for (const GivenArgument& it : family.given()) result.given.push_back(it.place);
  add_scratch(result, all_bytes, kernel, values);
  result.tensors = family::tensor_layouts(kernel, values);
  add_steps(result, all_bytes, steps);
  std::size_t most = result.values.size();
  for (const KernelValues::Taken& taken : result.steps) most = std::max(most, taken.places.size());
  if (most <= kMostKernelArguments) return result;
  throw Error(ErrorCode::usage,
              fmt::format("{} takes {} arguments; the dispatcher passes at most {}", kernel.name,
                          most, kMostKernelArguments));
}

std::optional<LibraryLaunch> library_launch(const FamilyTable& family, const space::Size& size) {
  const family::Check& check = family.family().check;
  const family::MatrixArguments* const reference = family::library_arguments(check);
  if (reference == nullptr) return std::nullopt;
  const space::ExpressionValues values = family.expression_values(size);
  const Epilogue epilogue = family::epilogue(check, values);
  LibraryLaunch launch{
      .operation = *family::library_operation(family.family(), values),
      .alpha = factor(family, reference->alpha, values, 1),
      .beta = factor(family, reference->beta, values, family::default_beta(check))};
  launch.operation.epilogue = epilogue;
  const auto names = family::operand_names(check, epilogue);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) continue;
    launch.operands[i] = given_place(family, names[i]);
    if (!launch.operands[i]) return std::nullopt;
  }
  return launch;
}

}  // namespace tuner::dispatch
