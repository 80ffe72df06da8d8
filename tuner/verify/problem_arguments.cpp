// SPDX-License-Identifier: Apache-2.0
// The part of ProblemData that makes the arguments of a launch, as they are or for a bound.
#include "tuner/backend/owned.hpp"
#include "tuner/verify/problem_data.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tuner::verify {
namespace {

family::Scalar magnitude_of(const family::Scalar& scalar) {
  return std::visit(
      [](auto value) -> family::Scalar {
        return value < decltype(value){0} ? static_cast<decltype(value)>(decltype(value){0} - value)
                                          : value;
      },
      scalar);
}

/// 1 to 4 units in the last place, up or down.
std::int64_t units_moved(std::uint64_t random) {
  const auto units = static_cast<std::int64_t>(random % 4 + 1);
  return (random & 4) != 0 ? units : -units;
}

/// The number 1 to 4 units in the last place larger or smaller; 0 and integers as they are.
family::Scalar perturbed(const family::Scalar& scalar, std::uint64_t random) {
  const auto moved = [&](family::ElementType type, double value) {
    const std::uint64_t bits = family::bits_of(type, value);
    return family::make_real_scalar(
        type, family::number_of(type, family::moved_bits(type, bits, units_moved(random))));
  };
  if (const auto* single = std::get_if<float>(&scalar)) {
    return moved(family::ElementType::f32, static_cast<double>(*single));
  }
  if (const auto* real = std::get_if<double>(&scalar)) {
    return moved(family::ElementType::f64, *real);
  }
  return scalar;
}

/// The next state of a generator of perturbations (Knuth, The Art of Computer Programming 2,
/// §3.3.4: MMIX).
std::uint64_t mixed(std::uint64_t seed, std::uint64_t place) {
  const std::uint64_t state = (seed * 1'000'003 + place + 1) * 6364136223846793005U;
  return (state ^ (state >> 29)) * 6364136223846793005U >> 33;
}

double as_double(const family::Scalar& scalar) {
  return std::visit([](auto value) { return static_cast<double>(value); }, scalar);
}

}  // namespace

void ProblemData::make_arrays(CheckKernels& kernels) {
  for (std::size_t i = 0; i < family_.arguments.size(); ++i) {
    const auto* const array = std::get_if<family::ArrayArgument>(&family_.arguments[i].what);
    if (array == nullptr) continue;
    const std::string& name = family_.arguments[i].name;
    backend::ArrayValue made{
        .bytes = std::vector<std::byte>(family::array_bytes(*array, name, values_))};
    CheckedData data{.name = name, .argument = i, .type = array->type.at(values_)};
    data.used = static_cast<std::int64_t>(family::elements_in(data.type, made.bytes.size()));
    data.count = in_whole_words(data.type, data.used);
    const backend::Buffer buffer(backend_, data.size_bytes());
    fill(kernels, buffer.id(), data);
    backend_.read(buffer.id(), made.bytes);
    arrays_.emplace(i, std::move(made));
  }
}

backend::ArrayValue ProblemData::array(std::size_t place, const InputValues& values) const {
  backend::ArrayValue made = arrays_.at(place);
  const family::ElementType type =
      std::get<family::ArrayArgument>(family_.arguments[place].what).type.at(values_);
  const CheckedData data{.argument = place, .type = type};
  if (values.kind == InputValues::as_they_are || !family::is_floating(type) ||
      (values.kind == InputValues::perturbed && !can_be_perturbed(data))) {
    return made;
  }
  const std::size_t size_bytes = family::element_bytes(type);
  for (std::size_t at = 0; at < made.bytes.size(); at += size_bytes) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, made.bytes.data() + at, size_bytes);
    if (values.kind == InputValues::absolute) {
      bits = family::bits_of(type, std::abs(family::number_of(type, bits)));
    } else {
      bits = family::moved_bits(type, bits, units_moved(mixed(values.seed, 64 * place + at)));
    }
    std::memcpy(made.bytes.data() + at, &bits, size_bytes);
  }
  return made;
}

family::Scalar ProblemData::scalar(std::size_t place, const InputValues& values) const {
  const family::Argument& argument = family_.arguments[place];
  const auto& what = std::get<family::ScalarArgument>(argument.what);
  family::Scalar made = family::scalar_value(what, argument.name, values_);
  if (check_case() != nullptr) {
    if (const auto set = check_case()->set.find(argument.name); set != check_case()->set.end()) {
      made = family::scalar_value(set->second, argument.name, values_);
    }
  }
  if (values.kind == InputValues::absolute) return magnitude_of(made);
  if (values.kind == InputValues::perturbed) return perturbed(made, mixed(values.seed, place));
  return made;
}

std::vector<backend::LaunchArgument> ProblemData::arguments(
    const std::vector<backend::Region>& buffers, const InputValues& values) const {
  std::vector<backend::LaunchArgument> launch;
  for (std::size_t i = 0; i < family_.arguments.size(); ++i) {
    const family::Argument& argument = family_.arguments[i];
    if (std::holds_alternative<family::BufferArgument>(argument.what)) {
      launch.emplace_back(buffers[i]);
    } else if (std::holds_alternative<family::ArrayArgument>(argument.what)) {
      launch.emplace_back(array(i, values));
    } else {
      launch.emplace_back(scalar(i, values));
    }
  }
  return launch;
}

std::optional<backend::Work> ProblemData::library_call(const std::vector<backend::Region>& buffers,
                                                       const InputValues& values,
                                                       const LibraryVariant& variant) const {
  if (!operation_) return std::nullopt;
  const family::MatrixArguments& names = *family::library_arguments(family_.check);
  const auto index = [&](const std::string& argument) {
    const auto found = std::ranges::find(family_.arguments, argument, &family::Argument::name);
    return static_cast<std::size_t>(found - family_.arguments.begin());
  };
  const auto factor = [&](const std::string& argument, double otherwise) {
    return argument.empty() ? otherwise : as_double(scalar(index(argument), values));
  };
  backend::LibraryCall call{
      .operation = *operation_,
      .operands = {.alpha = factor(names.alpha, 1),
                   .beta = factor(names.beta, family::default_beta(family_.check))}};
  if (variant.operands) call.operation.type = *variant.operands;
  if (variant.result) call.operation.result = variant.result;
  call.operation.epilogue = variant.epilogue;
  const auto operands = family::operand_names(family_.check, variant.epilogue);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].empty()) call.operands[i] = buffers[index(operands[i])];
  }
  return call;
}

}  // namespace tuner::verify
