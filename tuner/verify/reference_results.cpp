// SPDX-License-Identifier: Apache-2.0
// The part of ReferenceRunner that takes results which another program computed.
#include "tuner/core/error.hpp"
#include "tuner/core/hash.hpp"
#include "tuner/verify/reference_runner.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <utility>

namespace tuner::verify {
namespace {

std::vector<std::byte> bytes_of(family::ElementType type, const family::Scalar& scalar) {
  std::vector<std::byte> bytes(family::element_bytes(type));
  std::visit([&](auto number) { std::memcpy(bytes.data(), &number, bytes.size()); }, scalar);
  return bytes;
}

/// Whether the reference reads what an argument holds.
bool is_read(const CheckedData& data) {
  return data.role == family::BufferRole::input || data.initial.has_value();
}

/// Beside the inputs: all on which spreads depend.
std::string key_of(const ProblemData& problem, const Safetensors& inputs) {
  std::vector<std::string> texts = {"results/1", problem.recipe().changed ? "changed" : "as drawn"};
  for (const CheckedData& data : problem.data()) {
    if (data.role == family::BufferRole::input) continue;
    texts.push_back(fmt::format("{} {}", data.name, problem.is_rounded(data.type)));
  }
  std::vector<std::string_view> parts(texts.begin(), texts.end());
  for (const NamedArray& array : inputs.arrays) {
    parts.insert(parts.end(),
                 {array.name,
                  array.type,
                  {reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size()}});
  }
  return content_hash(parts);
}

}  // namespace

Safetensors ReferenceRunner::inputs(const std::vector<backend::Region>& buffers,
                                    const InputValues& values) const {
  const family::Family& family = problem_.family();
  const std::vector<backend::LaunchArgument> launched = problem_.arguments(buffers, values);
  const bool in_double = arithmetic_ == Arithmetic::in_double;
  Safetensors inputs;
  for (std::size_t i = 0; i < launched.size(); ++i) {
    const family::Argument& argument = family.arguments[i];
    if (const auto* scalar = std::get_if<family::Scalar>(&launched[i])) {
      auto type = std::get<family::ScalarArgument>(argument.what).type.at(problem_.values());
      family::Scalar passed = *scalar;
      if (in_double && std::holds_alternative<float>(passed)) {
        passed = static_cast<double>(std::get<float>(passed));
        type = family::ElementType::f64;
      }
      inputs.arrays.push_back({.name = argument.name,
                               .type = safetensors_name(type),
                               .count = 1,
                               .is_scalar = true,
                               .bytes = bytes_of(type, passed)});
    } else if (const auto* array = std::get_if<backend::ArrayValue>(&launched[i])) {
      const auto type = std::get<family::ArrayArgument>(argument.what).type.at(problem_.values());
      const std::size_t count = family::elements_in(type, array->bytes.size());
      inputs.arrays.push_back({.name = argument.name,
                               .type = safetensors_name(type),
                               .count = static_cast<std::int64_t>(count),
                               .bytes = array->bytes});
    }
  }
  for (const CheckedData& data : problem_.data()) {
    if (!is_read(data)) continue;
    const family::ElementType type = passed_type(data);
    const std::size_t bytes = family::bytes_of(type, data.used);
    NamedArray read{.name = data.name,
                    .type = safetensors_name(type),
                    .count = data.used,
                    .bytes = std::vector<std::byte>(bytes)};
    backend_.read(buffers[data.argument], read.bytes);
    inputs.arrays.push_back(std::move(read));
  }
  const Recipe& recipe = problem_.recipe();
  Json size = Json::object();
  for (std::size_t i = 0; i < recipe.size.size(); ++i) {
    size[family.problem.dims[i].name] = recipe.size[i];
  }
  inputs.metadata = {{"format", "results/1"},
                     {"family", family.name},
                     {"inputs", problem_.circumstances()},
                     {"size", size.dump()},
                     {"law", recipe.law ? std::string(family::name(recipe.law->law)) : ""},
                     {"precision", in_double ? "double" : "own"}};
  return inputs;
}

std::vector<NamedArray> ReferenceRunner::outputs() const {
  std::vector<NamedArray> outputs;
  for (const CheckedData& data : problem_.data()) {
    if (data.role == family::BufferRole::input) continue;
    outputs.push_back({.name = data.name,
                       .type = safetensors_name(passed_type(data)),
                       .count = data.used,
                       .bytes = {}});
  }
  return outputs;
}

void ReferenceRunner::write_results(const std::vector<backend::Region>& buffers,
                                    const InputValues& values) {
  Safetensors given = inputs(buffers, values);
  const std::vector<NamedArray> wanted = outputs();
  Json described = Json::object();
  for (const NamedArray& output : wanted) {
    described[output.name] = {{"dtype", output.type}, {"count", output.count}};
  }
  given.metadata.emplace("outputs", described.dump());
  std::vector<NamedArray> results;
  if (arithmetic_ == Arithmetic::in_double) {
    results = results_->compute({}, given, wanted);
  } else if (values.kind == InputValues::perturbed) {
    results = results_->compute(entry_.key, given, wanted);
  } else {
    const std::string key = key_of(problem_, given);
    if (entry_.key != key) entry_ = results_->find(key, given, wanted);
    results = entry_.results;
  }
  std::size_t next = 0;
  for (const CheckedData& data : problem_.data()) {
    if (data.role == family::BufferRole::input) continue;
    backend_.write(buffers[data.argument], results[next++].bytes);
  }
}

const std::vector<NamedArray>* ReferenceRunner::stored_spreads() const {
  return entry_.spreads.empty() ? nullptr : &entry_.spreads;
}

void ReferenceRunner::store_spreads(std::vector<NamedArray> spreads) {
  if (results_ == nullptr) return;
  entry_.spreads = std::move(spreads);
  results_->keep(entry_);
}

}  // namespace tuner::verify
