// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/posed_problem.hpp"

#include "tuner/backend/owned.hpp"
#include "tuner/core/error.hpp"
#include "tuner/verify/scratch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tuner {
namespace {

Slots family_slots(const Family& family, const DeviceAttributes& device, const Size& size) {
  Slots slots;
  for (const AttributeField& field : attribute_fields()) slots.push_back(device.*field.member);
  slots.insert(slots.end(), size.begin(), size.end());
  if (slots.size() != family_scope(family.problem.dims).size()) {
    throw Error(ErrorCode::usage, fmt::format("{}: a size needs {} numbers, {} has {}", family.name,
                                              family.problem.dims.size(),
                                              display(size, family.problem.dims), size.size()));
  }
  return slots;
}

Scalar magnitude_of(const Scalar& scalar) {
  return std::visit(
      [](auto value) -> Scalar {
        return value < decltype(value){0} ? static_cast<decltype(value)>(decltype(value){0} - value)
                                          : value;
      },
      scalar);
}

double as_double(const Scalar& scalar) {
  return std::visit([](auto value) { return static_cast<double>(value); }, scalar);
}

/// Throws unless memory could hold this many elements.
void check_count(std::string_view argument, ElementType type, std::int64_t count) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 56;  // so that sums of these do not overflow
  if (static_cast<std::size_t>(count) > kMostBytes / size_bytes(type)) {
    throw Error(ErrorCode::failure,
                fmt::format("argument {}: no memory holds {} elements; take a smaller size",
                            argument, count));
  }
}

/// Throws unless the reference can be shaped to the size.
std::optional<LibraryShape> shape_at(const Family& family, const Slots& slots, const Size& size) {
  try {
    return library_shape(family.check, slots);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {} (at the size {})", family.name, error.what(),
                                          display(size, family.problem.dims)));
  }
}

std::int64_t value_of(const Expression& expression, std::string_view what, const Slots& slots) {
  const auto value = expression.evaluate(slots);
  if (!value) {
    throw Error(ErrorCode::usage, fmt::format("{}: '{}' has no value at this size: {}", what,
                                              expression.text(), name(value.error())));
  }
  return *value;
}

std::int64_t buffer_count(const BufferArgument& buffer, std::string_view name, const Slots& slots) {
  const std::int64_t count = std::max<std::int64_t>(1, value_of(buffer.count, name, slots));
  check_count(name, buffer.type, count);
  return in_whole_words(buffer.type, count);
}

/// Throws unless data begin with a word of 32 bits, by which memory is looked at.
void check_offset(const CheckedData& data) {
  if (data.offset_bytes() % 4 != 0) {
    throw Error(ErrorCode::usage, fmt::format("argument {}: its offset is {}; 16-bit elements need "
                                              "an even one",
                                              data.name, data.offset));
  }
}

}  // namespace

void check_size(const Family& family, const DeviceAttributes& device, const Size& size) {
  const Slots slots = family_slots(family, device, size);
  static_cast<void>(shape_at(family, slots, size));
  double bytes = 0;
  for (const Argument& argument : family.arguments) {
    if (const auto* array = std::get_if<ArrayArgument>(&argument.what)) {
      static_cast<void>(array_bytes(*array, argument.name, slots));
    } else if (const auto* buffer = std::get_if<BufferArgument>(&argument.what)) {
      // An input and its absolute values; an output, its right result, that of absolute inputs, and
      // what a launch before wrote.
      const double copies = buffer->role == BufferRole::input ? 2 : 4;
      const auto count = static_cast<double>(buffer_count(*buffer, argument.name, slots));
      bytes += copies * count * static_cast<double>(size_bytes(buffer->type));
    }
  }
  if (bytes > static_cast<double>(device.memory_bytes)) {
    constexpr double kGibibyte = 1 << 30;
    throw Error(
        ErrorCode::usage,
        fmt::format("{}: to check a kernel at the size {} takes {:.1f} GiB of memory, of which "
                    "the device has {:.1f}; take a smaller size",
                    family.name, display(size, family.problem.dims), bytes / kGibibyte,
                    static_cast<double>(device.memory_bytes) / kGibibyte));
  }
}

PosedProblem::PosedProblem(Backend& backend, const Family& family, Recipe recipe)
    : backend_(backend),
      family_(family),
      recipe_(std::move(recipe)),
      slots_(family_slots(family, backend.device().attributes, recipe_.size)),
      accumulated_(
          std::max<std::int64_t>(1, evaluate(family.check.accumulates, "check.accumulates"))),
      shape_(shape_at(family, slots_, recipe_.size)) {}

const CheckCase* PosedProblem::check_case() const {
  return recipe_.check_case == 0 ? nullptr : &family_.check.cases.at(recipe_.check_case - 1);
}

std::int64_t PosedProblem::evaluate(const Expression& expression, std::string_view what) const {
  return value_of(expression, what, slots_);
}

std::vector<CheckedData> PosedProblem::data() const {
  std::vector<CheckedData> all;
  for (std::size_t i = 0; i < family_.arguments.size(); ++i) {
    const Argument& argument = family_.arguments[i];
    const auto* buffer = std::get_if<BufferArgument>(&argument.what);
    if (buffer == nullptr) continue;
    CheckedData data{.name = argument.name,
                     .argument = i,
                     .type = buffer->type,
                     .count = buffer_count(*buffer, argument.name, slots_),
                     .offset = std::max<std::int64_t>(0, evaluate(buffer->offset, argument.name)),
                     .role = buffer->role};
    check_count(argument.name, data.type, data.offset);
    check_offset(data);
    if (data.role == BufferRole::output) {
      data.expected = 0;
      if (check_case() != nullptr && std::ranges::count(check_case()->reads, argument.name) > 0) {
        data.initial = 0;
      }
      if (recipe_.fill == Fill::normal) {
        data.factor = 4.0 * unit_roundoff(data.type) * std::sqrt(static_cast<double>(accumulated_));
        data.magnitude = 0;
        data.repeat = 0;
      }
    }
    all.push_back(data);
  }
  return all;
}

void PosedProblem::fill(CheckKernels& kernels, Region region, const CheckedData& data) const {
  const std::uint64_t seed = recipe_.seed * 1'000'003 + data.argument;
  if (recipe_.fill == Fill::normal) {
    kernels.fill_normal(region, data.type, data.count, seed);
  } else {
    // Sums of products of numbers up to 3 stay below 2^24 for 400,000 terms, scaled by small
    // factors.
    constexpr std::int64_t kTermsForRange3 = 400'000;
    kernels.fill_whole(region, data.type, data.count, seed,
                       accumulated_ <= kTermsForRange3 ? 3 : 1);
  }
  const auto matrix = operand(data.name);
  if (!matrix || data.role == BufferRole::output) return;
  const auto used = matrix_elements(matrix->layout, matrix->batch);
  if (!used || used->outer_count * used->inner_count * used->columns >= data.count) return;
  kernels.poison_padding(region, data.type, data.count, seed, *used);
}

PosedProblem::MadeArray PosedProblem::make_array(CheckKernels& kernels, std::size_t place) const {
  const Argument& argument = family_.arguments[place];
  const auto& array = std::get<ArrayArgument>(argument.what);
  const std::size_t bytes = array_bytes(array, argument.name, slots_);
  CheckedData data{.name = argument.name, .argument = place, .type = array.type};
  data.count = static_cast<std::int64_t>(bytes / size_bytes(array.type));
  const Buffer buffer(backend_, data.size_bytes());
  MadeArray made{.as_they_are = {.bytes = std::vector<std::byte>(bytes)},
                 .absolute = {.bytes = std::vector<std::byte>(bytes)}};
  fill(kernels, buffer.id(), data);
  backend_.read(buffer.id(), made.as_they_are.bytes);
  kernels.absolute(buffer.id(), buffer.id(), data.type, data.count);
  backend_.read(buffer.id(), made.absolute.bytes);
  return made;
}

void PosedProblem::make_arrays(CheckKernels& kernels) {
  for (std::size_t i = 0; i < family_.arguments.size(); ++i) {
    if (!std::holds_alternative<ArrayArgument>(family_.arguments[i].what)) continue;
    arrays_.emplace(i, make_array(kernels, i));
  }
}

std::optional<PosedProblem::Operand> PosedProblem::operand(std::string_view argument) const {
  if (!shape_) return std::nullopt;
  const MatrixArguments& names = *library_arguments(family_.check);
  return std::visit(
      [&](const auto& shape) -> std::optional<Operand> {
        if (argument == names.a) return Operand{shape.a, shape.batch};
        if (argument == names.c) return Operand{shape.c, shape.batch};
        if (argument == names.b) return Operand{shape.b, shape.batch};
        return std::nullopt;
      },
      *shape_);
}

Scalar PosedProblem::scalar(const Argument& argument, Values values) const {
  const auto& what = std::get<ScalarArgument>(argument.what);
  std::optional<std::int64_t> value;
  if (check_case() != nullptr) {
    if (const auto set = check_case()->set.find(argument.name); set != check_case()->set.end()) {
      value = set->second;
    }
  }
  if (!value) value = evaluate(what.value, argument.name);
  const Scalar made = make_scalar(what.type, *value);
  return values == Values::absolute ? magnitude_of(made) : made;
}

std::vector<LaunchArgument> PosedProblem::arguments(const std::vector<Region>& buffers,
                                                    Values values) const {
  std::vector<LaunchArgument> launch;
  for (std::size_t i = 0; i < family_.arguments.size(); ++i) {
    const Argument& argument = family_.arguments[i];
    if (std::holds_alternative<BufferArgument>(argument.what)) {
      launch.emplace_back(buffers[i]);
    } else if (std::holds_alternative<ArrayArgument>(argument.what)) {
      const MadeArray& made = arrays_.at(i);
      launch.emplace_back(values == Values::absolute ? made.absolute : made.as_they_are);
    } else {
      launch.emplace_back(scalar(argument, values));
    }
  }
  return launch;
}

std::optional<Work> PosedProblem::library_call(const std::vector<Region>& buffers,
                                               Values values) const {
  if (!shape_) return std::nullopt;
  const MatrixArguments& names = *library_arguments(family_.check);
  const auto index = [&](const std::string& argument) {
    const auto found = std::ranges::find(family_.arguments, argument, &Argument::name);
    return static_cast<std::size_t>(found - family_.arguments.begin());
  };
  const auto factor = [&](const std::string& argument, double otherwise) {
    return argument.empty() ? otherwise
                            : as_double(scalar(family_.arguments[index(argument)], values));
  };
  const auto call = [&](auto made, const auto& shape) -> Work {
    made.type = std::get<BufferArgument>(family_.arguments[index(names.c)].what).type;
    made.shape = shape;
    made.alpha = factor(names.alpha, 1);
    made.beta = factor(names.beta, default_beta(family_.check));
    made.a = buffers[index(names.a)];
    made.b = buffers[index(names.b)];
    made.c = buffers[index(names.c)];
    return made;
  };
  if (const auto* gemm = std::get_if<GemmShape>(&*shape_)) return call(GemmCall(), *gemm);
  return call(GeamCall(), std::get<GeamShape>(*shape_));
}

void PosedProblem::run_kernel_reference(const KernelReference& reference,
                                        const std::vector<Region>& buffers, Values values) const {
  const Kernel& kernel = family_.kernel(reference.kernel);
  const Space space(kernel.space, backend_.device().attributes, recipe_.size);
  const Config config = space.default_config();
  const auto fail = [&](const Failure& failure) {
    throw Error(ErrorCode::failure,
                fmt::format("the reference kernel {} cannot run at {}: {}: {}", kernel.name,
                            display(recipe_.size, family_.problem.dims), name(failure.outcome),
                            failure.message));
  };
  const auto binary = backend_.compiler().compile(compile_job(kernel, space, config));
  if (!binary) fail(binary.error());
  const auto loaded = backend_.load(*binary);
  if (!loaded) fail(loaded.error());
  const LoadedKernel owner(backend_, *loaded);
  const Slots slots = space.slots(config);
  std::vector<LaunchArgument> all = arguments(buffers, values);
  std::vector<Buffer> scratch;
  for (const CheckedData& data : scratch_data(kernel, slots)) {
    scratch.emplace_back(backend_, data.size_bytes());
    backend_.fill(scratch.back().id(), 0, data.size_bytes());
    all.emplace_back(Region(scratch.back().id()));
  }
  all = with_tensors(std::move(all), tensor_layouts(kernel, slots));
  const Launch launch = launch_of(kernel, slots, owner.id(), all);
  if (const auto done = backend_.run(launch); !done) fail(done.error());
}

void PosedProblem::run_reference(const std::vector<Region>& buffers, Values values) const {
  if (const auto* kernel = std::get_if<KernelReference>(&family_.check.reference)) {
    run_kernel_reference(*kernel, buffers, values);
    return;
  }
  const auto done = backend_.run(*library_call(buffers, values));
  if (!done) {
    throw Error(
        ErrorCode::failure,
        fmt::format("{} cannot compute the reference at {}: {}", backend_.environment().library,
                    display(recipe_.size, family_.problem.dims), done.error().message));
  }
}

std::string PosedProblem::element_name(std::size_t argument, std::uint64_t index) const {
  const std::string& buffer = family_.arguments[argument].name;
  std::string text = fmt::format("{}[{}]", buffer, index);
  const auto matrix = operand(buffer);
  if (!matrix) return text;
  const std::string place =
      place_name(matrix->layout, matrix->batch, static_cast<std::int64_t>(index));
  return place.empty() ? text : fmt::format("{} ({})", text, place);
}

std::string PosedProblem::circumstances() const {
  std::string text =
      fmt::format("size {}, {} inputs, seed {}", display(recipe_.size, family_.problem.dims),
                  recipe_.fill == Fill::normal ? "normal" : "whole-number", recipe_.seed);
  if (check_case() != nullptr) {
    for (const auto& [argument, value] : check_case()->set) {
      text += fmt::format(", {}={}", argument, value);
    }
  }
  return text;
}

}  // namespace tuner
