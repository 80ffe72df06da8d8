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

/// The type that a text such as "float*", "int[]" or "${C}" names; none for one that this build
/// does not know.
std::optional<family::TypeOf> read_type(std::string_view text, const space::Dimensions& dims) {
  text = text.substr(0, text.find_first_of("*["));
  if (text.starts_with("${") && text.ends_with('}')) {
    return family::type_named(dims, text.substr(2, text.size() - 3));
  }
  const auto type = family::element_type_from_name(text);
  return type ? std::optional(family::TypeOf(*type)) : std::nullopt;
}

/// A number that can be too large for its type: of numbers with a fraction none is.
std::optional<family::ScalarArgument> read_number(const Json& argument, const space::Scope& scope,
                                                  const space::Dimensions& dims) {
  auto type = read_type(argument.value("type", ""), dims);
  const auto value = argument.find("value");
  if (!type || value == argument.end() || value->is_number_float()) return std::nullopt;
  if (std::ranges::all_of(type->all(), family::is_floating)) return std::nullopt;
  return family::ScalarArgument{.type = *std::move(type), .value = expression(*value, scope)};
}

/// Placeholder of the type of what is not checked.
constexpr family::ElementType kAnyType = family::ElementType::u8;

family::Argument read_argument(const Json& argument, const space::Scope& scope,
                               const space::Dimensions& dims) {
  family::Argument result{.name = argument.at("name").get<std::string>(),
                          .what = family::BufferArgument{.type = kAnyType}};
  const auto text = argument.value("type", std::string());
  const auto type = read_type(text, dims);
  if (!type) return result;
  if (text.ends_with("[]")) {
    result.what = family::ArrayArgument{.type = *type,
                                        .count = expression(argument.at("count"), scope),
                                        .symbol = argument.value("symbol", "")};
  } else if (text.ends_with('*')) {
    result.what = family::BufferArgument{.type = *type};
  } else if (auto number = read_number(argument, scope, dims)) {
    result.what = *std::move(number);
  }
  return result;
}

/// What a step lists; what is no argument of the family has a place behind them.
std::vector<family::KernelParameter> read_parameters(const Json& list, const StoredKernel& kernel) {
  std::vector<family::KernelParameter> parameters;
  for (const Json& listed : list) {
    if (!listed.is_object()) {
      const auto found =
          std::ranges::find(kernel.arguments, listed.get<std::string>(), &family::Argument::name);
      parameters.emplace_back(static_cast<std::size_t>(found - kernel.arguments.begin()));
    } else if (auto number = read_number(listed, kernel.definition->scope, kernel.dims())) {
      parameters.emplace_back(family::KernelNumber{.name = listed.at("name").get<std::string>(),
                                                   .number = *std::move(number)});
    }
  }
  return parameters;
}

/// Of a buffer of the family or the kernel; none where its type is not known.
std::optional<family::TensorMap> read_tensor_map(const Json& map, const Json& object,
                                                 const StoredKernel& kernel) {
  const auto buffer = map.at("buffer").get<std::string>();
  std::optional<family::TypeOf> type;
  for (const family::Argument& argument : kernel.arguments) {
    const auto* const of = std::get_if<family::BufferArgument>(&argument.what);
    if (argument.name == buffer && of != nullptr) type = of->type;
  }
  for (const Json& scratch : object.value("scratch", Json::array())) {
    if (scratch.at("name") == buffer) type = read_type(scratch.value("type", ""), kernel.dims());
  }
  if (!type) return std::nullopt;
  const space::Scope& scope = kernel.definition->scope;
  const auto value = [&](const char* key) {
    return map.contains(key) ? expression(map.at(key), scope) : space::Expression::constant(0);
  };
  return family::TensorMap{.name = map.at("name").get<std::string>(),
                           .type = *type,
                           .offset = value("offset"),
                           .extents = expressions(map.at("extents"), scope),
                           .strides = expressions(map.at("strides"), scope),
                           .box = expressions(map.at("box"), scope),
                           .swizzle_bytes = value("swizzle")};
}

/// What a kernel's launches take.
void read_taken(const Json& document, const Json& object, const space::Scope& family_scope,
                StoredKernel& kernel) {
  for (const Json& argument : document.value("arguments", Json::array())) {
    kernel.arguments.push_back(read_argument(argument, family_scope, kernel.dims()));
  }
  const Json steps = object.value("steps", Json::array({object}));
  for (std::size_t i = 0; i < kernel.launched.steps.size(); ++i) {
    if (const auto list = steps[i].find("arguments"); list != steps[i].end()) {
      kernel.launched.steps[i].parameters = read_parameters(*list, kernel);
    }
  }
  for (const Json& map : object.value("tensor_maps", Json::array())) {
    if (auto read = read_tensor_map(map, object, kernel)) {
      kernel.launched.tensor_maps.push_back(*std::move(read));
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
    read_taken(document, object, family, kernel);
    return kernel;
  });
}

std::optional<std::string> why_invalid(const StoredKernel& kernel, const space::BoundDefinition& at,
                                       const space::Config& config) {
  if (auto violation = at.violation(config)) return std::move(violation->message);
  try {
    return family::why_no_launch(kernel.arguments, kernel.launched, at.expression_values(config));
  } catch (const Error& error) {  // a derived value has none
    return error.what();
  }
}

}  // namespace tuner::select
