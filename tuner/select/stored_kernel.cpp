// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/stored_kernel.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/json_reason.hpp"
#include "tuner/family/candidate.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

namespace tuner::select {
namespace {

/// Runs `read(document, origin)` on the stored space file.
template <class Read>
auto read_space_file(const store::KernelRecord& kernel, Read read) {
  const std::string origin = fmt::format("the stored space file of {}", kernel.kernel);
  try {
    return read(parse_json(kernel.space_text, origin), origin);
  } catch (const Json::exception& exception) {
    throw Error(ErrorCode::failure,
                fmt::format("{}: is not a space file: {}: tune the kernel again", origin,
                            json_reason(exception.what())));
  } catch (const Error& error) {
    throw Error(ErrorCode::failure, fmt::format("{}: tune the kernel again", error.what()));
  }
}

space::Dimensions dims_of(const Json& document, const std::string& origin) {
  return space::parse_dimensions(document.at("problem"), origin + ": problem");
}

space::Expression expression(const Json& text, const space::Scope& scope) {
  if (text.is_number_integer()) return space::Expression::constant(text.get<std::int64_t>());
  auto compiled = space::Expression::compile(text.get<std::string>(), scope);
  if (!compiled) throw Error(ErrorCode::failure, compiled.error().message);
  return *std::move(compiled);
}

std::vector<space::Expression> expressions(const Json& list, const space::Scope& scope) {
  std::vector<space::Expression> result;
  for (const Json& text : list) result.push_back(expression(text, scope));
  return result;
}

/// The derived values that expressions need, in the order of the file, in which they can be
/// computed.
std::vector<std::size_t> derived_of(const std::vector<space::Expression>& expressions,
                                    const space::SpaceDefinition& definition) {
  std::vector<bool> needed(definition.scope.size());
  const auto need = [&](const space::Expression& expression) {
    for (const std::size_t slot : expression.slots()) needed[slot] = true;
  };
  for (const space::Expression& expression : expressions) need(expression);
  std::vector<std::size_t> result;
  for (std::size_t i = definition.derived.size(); i-- > 0;) {
    if (!needed[definition.derived[i].slot]) continue;
    need(definition.derived[i].expression);
    result.insert(result.begin(), i);
  }
  return result;
}

std::vector<std::size_t> slots_in_entry(const std::string& entry,
                                        const space::SpaceDefinition& definition) {
  std::vector<std::size_t> result;
  for (std::size_t at = entry.find("${"); at != std::string::npos; at = entry.find("${", at + 1)) {
    const std::string name = entry.substr(at + 2, entry.find('}', at) - at - 2);
    const space::Scope::Symbol* const symbol = definition.scope.find(name);
    const bool is_parameter = std::ranges::any_of(
        definition.parameters, [&](const space::Parameter& it) { return it.name == name; });
    if (symbol != nullptr && !is_parameter) result.push_back(symbol->slot);
  }
  return result;
}

family::KernelStep read_step(const Json& launch, const space::SpaceDefinition& definition) {
  family::KernelStep step;
  step.grid = expressions(launch.at("grid"), definition.scope);
  step.block = expressions(launch.at("block"), definition.scope);
  if (const auto bytes = launch.find("dynamic_shared_bytes"); bytes != launch.end()) {
    step.dynamic_shared_bytes = expression(*bytes, definition.scope);
  }
  return step;
}

/// What decides the shape of the launches. An imported kernel may have none.
void read_launches(const Json& object, StoredKernel& kernel) {
  const space::SpaceDefinition& definition = *kernel.definition;
  const auto several = object.find("steps");
  const Json steps = several == object.end() ? Json::array({object}) : *several;
  for (const Json& step : steps) {
    const auto launch = step.find("launch");
    if (launch == step.end()) return;
    kernel.launched.steps.push_back(read_step(*launch, definition));
    kernel.grid_derived.push_back(derived_of(kernel.launched.steps.back().grid, definition));
    if (const auto entry = step.find("entry"); entry != step.end()) {
      const auto values = slots_in_entry(entry->get<std::string>(), definition);
      kernel.entry_slots.insert(kernel.entry_slots.end(), values.begin(), values.end());
    }
  }
  if (const auto scratch = object.find("scratch"); scratch != object.end()) {
    for (const Json& buffer : *scratch) {
      kernel.scratch.push_back(expression(buffer.at("count"), definition.scope));
    }
  }
}

/// Adds an argument if it is a whole number of a type that does not depend on the size.
void read_number(const Json& argument, const space::Scope& scope, StoredKernel& kernel) {
  const auto value = argument.find("value");
  const auto type = family::element_type_from_name(argument.value("type", ""));
  if (!type || family::is_floating(*type) || value == argument.end()) return;
  kernel.numbers.push_back({.name = argument.at("name").get<std::string>(),
                            .value = {.type = *type, .value = expression(*value, scope)}});
}

/// What a kernel takes by value: what it lists, or all arguments of its family.
void read_numbers(const Json& document, const Json& object, const space::Scope& scope,
                  StoredKernel& kernel) {
  const auto of_family = document.find("arguments");
  if (of_family == document.end()) return;
  const Json steps = object.value("steps", Json::array({object}));
  for (const Json& argument : *of_family) {
    const bool is_taken = std::ranges::any_of(steps, [&](const Json& step) {
      const auto listed = step.find("arguments");
      return listed == step.end() || std::ranges::count(*listed, argument.at("name")) > 0;
    });
    if (is_taken) read_number(argument, scope, kernel);
  }
  for (const Json& step : steps) {
    for (const Json& listed : step.value("arguments", Json::array())) {
      if (listed.is_object()) read_number(listed, kernel.definition->scope, kernel);
    }
  }
}

/// What a family's results are compared with may be another of its kernels.
bool has_blas_reference(const Json& document) {
  const auto check = document.find("check");
  if (check == document.end()) return false;
  const auto reference = check->find("reference");
  return reference != check->end() && reference->contains("op");
}

}  // namespace

bool has_space(const store::KernelRecord& kernel) {
  return !kernel.space_text.empty();
}

space::Dimensions stored_dims(const store::KernelRecord& kernel) {
  return read_space_file(kernel, [](const Json& document, const std::string& origin) {
    return dims_of(document, origin);
  });
}

StoredKernel stored_kernel(const store::KernelRecord& record) {
  return read_space_file(record, [&](const Json& document, const std::string& origin) {
    const Json& problem = document.at("problem");
    const Json& object = document.at("kernels").at(record.kernel);
    const space::Dimensions dims = dims_of(document, origin);
    const space::Scope family = space::family_scope(dims);
    StoredKernel kernel;
    kernel.definition = std::make_shared<const space::SpaceDefinition>(
        space::parse_space_definition(object, dims, origin));
    for (const auto& item : document.at("kernels").items()) {
      kernel.family_kernels.push_back(item.key());
    }
    kernel.has_library = has_blas_reference(document);
    kernel.flops = expression(problem.at("flops"), family);
    kernel.bytes = expression(problem.at("bytes"), family);
    kernel.launched.name = record.kernel;
    read_launches(object, kernel);
    read_numbers(document, object, family, kernel);
    return kernel;
  });
}

std::optional<std::string> why_invalid(const StoredKernel& kernel, const space::BoundDefinition& at,
                                       const space::Config& config) {
  if (auto violation = at.violation(config)) return std::move(violation->message);
  try {
    const space::ExpressionValues values = at.expression_values(config);
    for (std::size_t step = 0; step < kernel.launched.steps.size(); ++step) {
      static_cast<void>(family::geometry(kernel.launched, step, values));
    }
    for (const auto& [name, number] : kernel.numbers) {
      static_cast<void>(family::scalar_value(number, name, values));
    }
  } catch (const Error& error) {
    return error.what();
  }
  return std::nullopt;
}

}  // namespace tuner::select
