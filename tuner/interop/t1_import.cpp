// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/element_type.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/trust.hpp"
#include "tuner/interop/python_list.hpp"
#include "tuner/interop/python_value.hpp"
#include "tuner/interop/recording_formats.hpp"
#include "tuner/interop/t1.hpp"
#include "tuner/interop/t1_kernel.hpp"
#include "tuner/space/space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <set>

namespace tuner::interop {
namespace {

/// The ConfigurationSpace of a T1 file as the keys `parameters` and `constraints` of a kernel of a
/// space file, and how many values of the default had to change.
struct T1Space {
  Json parameters;
  Json constraints;
  std::vector<std::string> changed_defaults;
};

[[noreturn]] void refuse(std::string_view where, std::string_view why) {
  throw Error(ErrorCode::usage, fmt::format("{}: {}", where, why));
}

/// A value as a space file has it. Strings stay, whether they are words the parser says.
Json space_value(const Json& value, std::string_view where) {
  if (value.is_number_integer() || value.is_boolean() || value.is_string()) return value;
  if (value.is_number_float()) {
    refuse(where,
           fmt::format("{} is not a whole number; a parameter of a space file has whole "
                       "numbers, booleans or words: list numerators and divide in the kernel",
                       python_text(value)));
  }
  refuse(where, "a value must be a number, a boolean or a string");
}

Json values_of(const Json& parameter, std::string_view where) {
  const Json& given = member(parameter, "Values");
  if (!given.is_string() && !given.is_array()) {
    refuse(where, "'Values' must be a string with a Python list, such as \"[1, 2, 4]\"");
  }
  const std::string place = fmt::format("{}.Values", where);
  const std::vector<Json> list = given.is_array() ? given.get<std::vector<Json>>()
                                                  : python_list(given.get<std::string>(), place);
  Json values = Json::array();
  std::set<std::string> seen;
  for (const Json& value : list) {
    Json taken = space_value(value, place);
    if (seen.insert(taken.dump()).second) values.push_back(std::move(taken));
  }
  if (values.empty()) refuse(place, "has no value");
  return values;
}

/// The stated default where it is one of the values, else the first of them.
Json default_of(const Json& parameter, const Json& values) {
  Json stated = member(parameter, "Default");
  if (stated.is_array() && stated.size() == 1) stated = Json(stated.front());
  return std::ranges::find(values, stated) == values.end() ? Json(values.front()) : stated;
}

Json read_parameters(const Json& list, std::string_view origin) {
  Json parameters = Json::object();
  for (const Json& parameter : list) {
    const std::string name = text_member(parameter, "Name");
    const std::string where =
        fmt::format("{}: TuningParameters[{}] ({})", origin, parameters.size(), name);
    if (name.empty()) refuse(where, "'Name' is missing");
    if (parameters.contains(name)) refuse(where, "the name appears twice");
    const Json values = values_of(parameter, where);
    parameters[name] = {
        {"values", values}, {"default", default_of(parameter, values)}, {"kind", "define"}};
  }
  if (parameters.empty()) refuse(origin, "ConfigurationSpace.TuningParameters is missing or empty");
  return parameters;
}

/// The condition as a constraint. What the two languages do not share is refused by name.
Json read_condition(const Json& condition, std::size_t index,
                    const space::SpaceDefinition& definition, std::string_view origin) {
  const std::string where = fmt::format("{}: Conditions[{}]", origin, index);
  const std::string text = text_member(condition, "Expression");
  if (text.empty()) refuse(where, "'Expression' is missing");
  const auto compiled = space::Expression::compile(text, definition.scope);
  if (!compiled) {
    refuse(where, fmt::format("cannot be expressed in a space file: {}",
                              compiled.error().with_caret(text)));
  }
  return {{"expr", text}, {"why", fmt::format("condition {} of the T1 file", index + 1)}};
}

/// Told without listing the space, which may be larger than can be listed.
bool is_default_valid(const space::SpaceDefinition& definition) {
  space::ExpressionValues values(definition.scope.size(), 0);
  for (const space::Parameter& parameter : definition.parameters) {
    values[parameter.slot] = parameter.values[parameter.default_index].number;
  }
  return std::ranges::all_of(definition.constraints, [&](const space::Constraint& constraint) {
    const auto holds = constraint.expression.evaluate(values);
    return holds && *holds != 0;
  });
}

std::size_t differing(const space::Config& a, const space::Config& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.choice.size(); ++i) {
    if (a.choice[i] != b.choice[i]) ++count;
  }
  return count;
}

/// Of the valid configurations, or an even sample of very many, that with the fewest changes.
space::Config nearest_valid(const space::Space& space) {
  constexpr std::uint64_t kMostLookedAt = std::uint64_t{1} << 18;
  const space::Config wanted = space.default_config();
  const std::uint64_t stride = space.size() / kMostLookedAt + 1;
  space::Config nearest = space.at(0);
  for (std::uint64_t at = 0; at < space.size(); at += stride) {
    space::Config candidate = space.at(at);
    if (differing(candidate, wanted) < differing(nearest, wanted)) nearest = std::move(candidate);
  }
  return nearest;
}

/// Translates ConfigurationSpace. Throws Error(usage), and Error(no_valid_config) when the
/// conditions leave nothing.
T1Space read_t1_space(const Json& t1, std::string_view origin,
                      const space::DeviceAttributes& device) {
  const Json& space = member(t1, "ConfigurationSpace");
  T1Space result;
  result.parameters = read_parameters(member(space, "TuningParameters"), origin);
  result.constraints = Json::array();
  const std::string where = fmt::format("{}: ConfigurationSpace", origin);
  const space::SpaceDefinition unconstrained =
      space::parse_space_definition({{"parameters", result.parameters}}, {}, where);
  for (const Json& condition : member(space, "Conditions")) {
    result.constraints.push_back(
        read_condition(condition, result.constraints.size(), unconstrained, origin));
  }
  const auto definition =
      std::make_shared<const space::SpaceDefinition>(space::parse_space_definition(
          {{"parameters", result.parameters}, {"constraints", result.constraints}}, {}, where));
  if (is_default_valid(*definition)) return result;
  const space::Space bound(definition, device, {});
  if (bound.size() == 0) {
    throw Error(ErrorCode::no_valid_config,
                fmt::format("{}: the conditions leave no configuration", origin));
  }
  const space::Config valid = nearest_valid(bound);
  for (std::size_t i = 0; i < valid.choice.size(); ++i) {
    const space::Parameter& parameter = definition->parameters[i];
    if (valid.choice[i] == parameter.default_index) continue;
    result.parameters[parameter.name]["default"] =
        result.parameters[parameter.name]["values"][valid.choice[i]];
    result.changed_defaults.push_back(
        fmt::format("{}={}", parameter.name, parameter.values[valid.choice[i]].text));
  }
  return result;
}

/// The letters, digits and underscores at the beginning of a text, as a name.
std::string name_from(const std::string& text, const std::string& otherwise) {
  constexpr std::size_t kLongest = 64;
  const std::size_t end =
      text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
  const std::string name = text.substr(0, std::min(end, kLongest));
  return space::is_name(name) ? name : otherwise;
}

/// What a kernel moves at least: its buffers, each once.
std::string bytes_of(const Json& arguments) {
  std::vector<std::string> sums;
  for (const Json& argument : arguments) {
    if (!argument.contains("count")) continue;
    std::string type = argument["type"].get<std::string>();
    type.erase(type.find_last_not_of("*[]") + 1);
    sums.push_back(fmt::format("{}*({})", element_bytes(*element_type_from_name(type)),
                               argument["count"].get<std::string>()));
  }
  return fmt::format("{}", fmt::join(sums, " + "));
}

Json space_file(const std::string& family, const T1Problem& problem, const Json& arguments,
                const std::string& kernel_name, Json kernel) {
  return {{"format", "space/1"},
          {"family", family},
          {"problem",
           {{"dims", problem.dims},
            {"flops", 0},
            {"bytes", bytes_of(arguments)},
            {"sizes", {{"default", Json::array({problem.size})}}}}},
          {"arguments", arguments},
          {"check", {{"reference", {{"kernel", kernel_name}}}}},
          {"kernels", {{kernel_name, std::move(kernel)}}}};
}

std::vector<std::string> general_notes(const Json& specification, const T1Space& space,
                                       const std::string& kernel) {
  std::vector<std::string> notes;
  const std::string language = name_member(specification, "Language");
  if (language != "CUDA") {
    notes.push_back(fmt::format("the kernel's language is {}; the source must be CUDA C++",
                                language.empty() ? "not stated" : language));
  }
  if (!member(specification, "ProblemSize").is_array()) {
    notes.emplace_back(
        "T1 states no ProblemSize: sizes are constants here; write them with the dimensions of "
        "`problem.dims` to tune more than one");
  }
  if (!space.changed_defaults.empty()) {
    notes.push_back(
        fmt::format("the stated default breaks a condition; the default is changed to {}",
                    fmt::join(space.changed_defaults, " ")));
  }
  notes.emplace_back(
      "T1 does not say how many floating-point operations a size takes: state them in "
      "`problem.flops` to see rates");
  notes.push_back(fmt::format(
      "T1's reference data is ignored: `check.reference` is {} at its default, so configurations "
      "are compared only with each other; name a correct reference kernel, or an operation",
      kernel));
  return notes;
}

std::string source_of(const Json& specification, const std::filesystem::path& folder,
                      std::string_view origin) {
  const std::string file = text_member(specification, "KernelFile");
  if (file.empty()) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: KernelSpecification.KernelFile is missing", origin));
  }
  const auto normal = std::filesystem::path(file).lexically_normal();
  std::error_code missing;
  const auto real = std::filesystem::canonical(folder / normal, missing);
  const bool is_outside =
      missing ? normal.is_absolute() || *normal.begin() == ".." : !lies_below(real, folder);
  if (is_outside && !names_code(missing ? normal : real)) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: KernelSpecification.KernelFile {} is outside of the file's folder "
                            "and does not have the suffix of a source (.cu, .cuh, .cpp, .h, …): "
                            "move the kernel into that folder",
                            origin, in_quotes(missing ? file : real.string())));
  }
  return (folder / normal).lexically_normal().generic_string();
}

}  // namespace

ImportedSpace import_t1(std::string_view text, std::string_view origin,
                        const std::filesystem::path& folder,
                        const space::DeviceAttributes& device) {
  const Json t1 = parse_json(text, origin);
  if (!member(t1, "ConfigurationSpace").is_object()) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: is not a T1 file: 'ConfigurationSpace' is missing", origin));
  }
  const Json& specification = member(t1, "KernelSpecification");
  const T1Space space = read_t1_space(t1, origin, device);
  const T1Problem problem = read_t1_problem(specification);
  const space::SpaceDefinition definition = space::parse_space_definition(
      {{"parameters", space.parameters}}, space::Dimensions(problem.dims), origin);
  const T1Part arguments = read_t1_arguments(specification, problem, definition);
  const T1Part launch = read_t1_launch(specification, problem, definition);
  const T1Part options = read_t1_options(specification);
  const std::string entry = text_member(specification, "KernelName");
  const std::string name = name_from(entry, "kernel");
  Json kernel = {{"source", source_of(specification, folder, origin)},
                 {"entry", entry.empty() ? name : entry}};
  if (!options.json.empty()) kernel["options"] = options.json;
  kernel["parameters"] = space.parameters;
  kernel["constraints"] = space.constraints;
  kernel["launch"] = launch.json;
  const std::string family = name_from(text_member(member(t1, "General"), "BenchmarkName"), name);
  const Json document = space_file(family, problem, arguments.json, name, std::move(kernel));
  ImportedSpace imported{.text = document.dump(2) + "\n",
                         .notes = general_notes(specification, space, name)};
  for (const T1Part* part : {&options, &arguments, &launch}) {
    std::ranges::copy(part->notes, std::back_inserter(imported.notes));
  }
  return imported;
}

}  // namespace tuner::interop
