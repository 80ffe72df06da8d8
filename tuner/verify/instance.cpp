// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/instance.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tuner {
namespace {

/// A quiet NaN in float (and, twice, in double) that no arithmetic makes by itself.
constexpr std::uint32_t kPoison = 0x7FF8DEADu;

std::int64_t evaluate(const Expression& expression, const Slots& slots, std::string_view what) {
  const auto value = expression.evaluate(slots);
  if (!value) {
    throw Error(ErrorCode::usage, fmt::format("{}: '{}' has no value at this size: {}", what,
                                              expression.text(), name(value.error())));
  }
  return *value;
}

/// Room for the elements, up to the next multiple of 4 bytes, which Backend::fill writes in.
std::size_t buffer_bytes(std::string_view argument, ElementType type, std::int64_t count) {
  constexpr std::size_t kMost = std::size_t{1} << 62;
  const auto elements = static_cast<std::size_t>(count);
  if (elements > kMost / size_bytes(type)) {
    throw Error(ErrorCode::failure,
                fmt::format("argument {}: no memory holds {} elements; take a smaller size",
                            argument, count));
  }
  return (elements * size_bytes(type) + 3) / 4 * 4;
}

Slots family_slots(const Family& family, const DeviceAttributes& device, const Size& size) {
  Slots slots;
  for (const AttributeField& field : attribute_fields()) slots.push_back(device.*field.member);
  slots.insert(slots.end(), size.begin(), size.end());
  if (slots.size() != family_scope(family.problem.dims).size()) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: a size needs {} numbers, {} has {}", family.name,
                            family.problem.dims.size(), display(size), size.size()));
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

}  // namespace

Instance::Instance(Backend& backend, CheckKernels& kernels, const Family& family, Recipe recipe)
    : backend_(backend),
      kernels_(kernels),
      family_(family),
      recipe_(std::move(recipe)),
      slots_(family_slots(family, backend.device().attributes, recipe_.size)) {
  accumulated_ =
      std::max<std::int64_t>(1, evaluate(family.check.accumulates, slots_, "check.accumulates"));
  make_inputs();
  make_expected();
  // Whole numbers are compared exactly, as integer results are: no magnitudes needed.
  if (recipe_.fill == Fill::normal) make_magnitude();
}

const CheckCase* Instance::check_case() const {
  return recipe_.check_case == 0 ? nullptr : &family_.check.cases.at(recipe_.check_case - 1);
}

std::size_t Instance::size_bytes() const {
  std::size_t total = 0;
  for (const Data& data : data_) {
    total += data.candidate.size_bytes();
    for (const auto* buffer : {&data.initial, &data.expected, &data.magnitude}) {
      if (*buffer) total += (*buffer)->size_bytes();
    }
  }
  return total;
}

void Instance::fill(BufferId buffer, const Data& data, std::uint64_t stream) {
  const std::uint64_t seed = recipe_.seed * 1'000'003 + stream;
  if (recipe_.fill == Fill::normal) {
    kernels_.fill_normal(buffer, data.type, data.count, seed);
    return;
  }
  // Sums of products of numbers up to 3 stay below 2^24 for 400,000 terms, scaled by small factors.
  constexpr std::int64_t kTermsForRange3 = 400'000;
  kernels_.fill_whole(buffer, data.type, data.count, seed, accumulated_ <= kTermsForRange3 ? 3 : 1);
}

void Instance::make_inputs() {
  const auto reads = [&](const std::string& argument) {
    return check_case() != nullptr && std::ranges::count(check_case()->reads, argument) > 0;
  };
  for (std::size_t i = 0; i < family_.arguments.size(); ++i) {
    const Argument& argument = family_.arguments[i];
    const auto* buffer = std::get_if<BufferArgument>(&argument.what);
    if (buffer == nullptr) continue;
    const std::int64_t count =
        std::max<std::int64_t>(1, evaluate(buffer->count, slots_, argument.name));
    const std::size_t bytes = buffer_bytes(argument.name, buffer->type, count);
    Data data{.argument = i,
              .type = buffer->type,
              .count = count,
              .role = buffer->role,
              .candidate = Buffer(backend_, bytes),
              .initial = {},
              .expected = {},
              .magnitude = {}};
    if (buffer->role == BufferRole::input) {
      fill(data.candidate.id(), data, i);
    } else if (reads(argument.name)) {
      data.initial.emplace(backend_, bytes);
      fill(data.initial->id(), data, i);
    }
    data_.push_back(std::move(data));
  }
}

void Instance::make_expected() {
  std::vector<BufferId> buffers = candidate_buffers();
  for (Data& data : data_) {
    if (data.role == BufferRole::input) continue;
    data.expected.emplace(backend_, data.candidate.size_bytes());
    if (data.initial)
      backend_.copy(data.expected->id(), data.initial->id(), data.candidate.size_bytes());
    buffers[data.argument] = data.expected->id();
  }
  run_reference(buffers, Values::as_they_are);
}

void Instance::make_magnitude() {
  std::vector<BufferId> buffers(family_.arguments.size());
  std::vector<Buffer> absolutes;
  for (Data& data : data_) {
    if (data.role == BufferRole::input) {
      absolutes.emplace_back(backend_, data.candidate.size_bytes());
      kernels_.absolute(absolutes.back().id(), data.candidate.id(), data.type, data.count);
      buffers[data.argument] = absolutes.back().id();
    } else {
      data.magnitude.emplace(backend_, data.candidate.size_bytes());
      if (data.initial)
        kernels_.absolute(data.magnitude->id(), data.initial->id(), data.type, data.count);
      buffers[data.argument] = data.magnitude->id();
    }
  }
  run_reference(buffers, Values::absolute);
}

Scalar Instance::scalar(const Argument& argument, Values values) const {
  const auto& what = std::get<ScalarArgument>(argument.what);
  std::optional<std::int64_t> value;
  if (check_case() != nullptr) {
    if (const auto set = check_case()->set.find(argument.name); set != check_case()->set.end()) {
      value = set->second;
    }
  }
  if (!value) value = evaluate(what.value, slots_, argument.name);
  const Scalar made = make_scalar(what.type, *value);
  return values == Values::absolute ? magnitude_of(made) : made;
}

std::vector<BufferId> Instance::candidate_buffers() const {
  std::vector<BufferId> buffers(family_.arguments.size());
  for (const Data& data : data_) buffers[data.argument] = data.candidate.id();
  return buffers;
}

std::vector<LaunchArgument> Instance::launch_arguments(const std::vector<BufferId>& buffers,
                                                       Values values) const {
  std::vector<LaunchArgument> launch;
  for (std::size_t i = 0; i < family_.arguments.size(); ++i) {
    const Argument& argument = family_.arguments[i];
    if (std::holds_alternative<BufferArgument>(argument.what)) {
      launch.emplace_back(buffers[i]);
    } else {
      launch.emplace_back(scalar(argument, values));
    }
  }
  return launch;
}

std::vector<LaunchArgument> Instance::arguments() const {
  return launch_arguments(candidate_buffers(), Values::as_they_are);
}

GemmCall Instance::gemm_call(const GemmReference& reference, const std::vector<BufferId>& buffers,
                             Values values) const {
  const auto index = [&](const std::string& argument) {
    const auto found = std::ranges::find(family_.arguments, argument, &Argument::name);
    return static_cast<std::size_t>(found - family_.arguments.begin());
  };
  const auto factor = [&](const std::string& argument, double otherwise) {
    return argument.empty() ? otherwise
                            : as_double(scalar(family_.arguments[index(argument)], values));
  };
  return {.type = std::get<BufferArgument>(family_.arguments[index(reference.c)].what).type,
          .m = evaluate(reference.m, slots_, "check.reference.m"),
          .n = evaluate(reference.n, slots_, "check.reference.n"),
          .k = evaluate(reference.k, slots_, "check.reference.k"),
          .alpha = factor(reference.alpha, 1.0),
          .beta = factor(reference.beta, 0.0),
          .a = buffers[index(reference.a)],
          .b = buffers[index(reference.b)],
          .c = buffers[index(reference.c)]};
}

void Instance::run_kernel_reference(const KernelReference& reference,
                                    const std::vector<BufferId>& buffers, Values values) {
  const Kernel& kernel = family_.kernel(reference.kernel);
  const Space space(kernel.space, backend_.device().attributes, recipe_.size);
  const Config config = space.default_config();
  const auto fail = [&](const Failure& failure) {
    throw Error(ErrorCode::failure,
                fmt::format("the reference kernel {} cannot run at {}: {}: {}", kernel.name,
                            display(recipe_.size), name(failure.outcome), failure.message));
  };
  const auto binary = backend_.compiler().compile(compile_job(kernel, space, config));
  if (!binary) fail(binary.error());
  const auto loaded = backend_.load(*binary);
  if (!loaded) fail(loaded.error());
  const LoadedKernel owner(backend_, *loaded);
  const auto done = backend_.run(Launch{.kernel = owner.id(),
                                        .geometry = geometry(kernel, space.slots(config)),
                                        .arguments = launch_arguments(buffers, values)});
  if (!done) fail(done.error());
}

void Instance::run_reference(const std::vector<BufferId>& buffers, Values values) {
  if (const auto* kernel = std::get_if<KernelReference>(&family_.check.reference)) {
    run_kernel_reference(*kernel, buffers, values);
    return;
  }
  const auto done =
      backend_.run(gemm_call(std::get<GemmReference>(family_.check.reference), buffers, values));
  if (!done) {
    throw Error(ErrorCode::failure, fmt::format("{} cannot compute the reference at {}: {}",
                                                backend_.environment().library,
                                                display(recipe_.size), done.error().message));
  }
}

void Instance::reset_outputs() {
  for (const Data& data : data_) {
    if (data.role == BufferRole::input) continue;
    if (data.initial) {
      backend_.copy(data.candidate.id(), data.initial->id(), data.candidate.size_bytes());
    } else {
      backend_.fill(data.candidate.id(), kPoison, data.candidate.size_bytes());
    }
  }
}

Expected<double, Failure> Instance::compare_outputs() const {
  double worst = 0;
  for (const Data& data : data_) {
    if (data.role == BufferRole::input) continue;
    const double factor =
        4.0 * unit_roundoff(data.type) * std::sqrt(static_cast<double>(accumulated_));
    const Comparison comparison =
        data.magnitude && factor > 0
            ? kernels_.compare_bounded(data.candidate.id(), data.expected->id(),
                                       data.magnitude->id(), data.type, data.count, factor)
            : kernels_.compare_exact(data.candidate.id(), data.expected->id(), data.type,
                                     data.count);
    if (comparison.wrong > 0) {
      return Unexpected(Failure{Outcome::wrong_result, describe(data, comparison)});
    }
    worst = std::max(worst, comparison.worst_share);
  }
  return worst;
}

std::string Instance::describe(const Data& data, const Comparison& comparison) const {
  const auto [result, reference] =
      kernels_.pick(data.candidate.id(), data.expected->id(), data.type,
                    static_cast<std::int64_t>(comparison.first_wrong));
  std::string message = fmt::format(
      "{}[{}] is {:.9g}, should be {:.9g}; {} of {} elements are wrong (size {}, {} inputs, seed "
      "{}",
      family_.arguments[data.argument].name, comparison.first_wrong, result, reference,
      comparison.wrong, data.count, display(recipe_.size),
      recipe_.fill == Fill::normal ? "normal" : "whole-number", recipe_.seed);
  if (check_case() != nullptr) {
    for (const auto& [argument, value] : check_case()->set) {
      message += fmt::format(", {}={}", argument, value);
    }
  }
  return message + ")";
}

std::optional<Work> Instance::library_work() const {
  const auto* reference = std::get_if<GemmReference>(&family_.check.reference);
  if (reference == nullptr) return std::nullopt;
  return gemm_call(*reference, candidate_buffers(), Values::as_they_are);
}

}  // namespace tuner
