// SPDX-License-Identifier: Apache-2.0
// What a kernel launches: one function, or several in a row.
#include "tuner/core/file_errors.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/family/entry.hpp"
#include "tuner/family/parse.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace tuner::family {
namespace {

constexpr std::size_t kMaximumSteps = 16;
constexpr std::size_t kMaximumParameters = 64;

std::string_view kind_name(space::ParameterKind kind) {
  switch (kind) {
    case space::ParameterKind::template_argument:
      return "template";
    case space::ParameterKind::define:
      return "define";
    case space::ParameterKind::launch:
      return "launch";
    case space::ParameterKind::option:
      return "option";
  }
  return "unknown";
}

/// What may stand as ${NAME}: template parameters, derived values, dimensions and types.
std::vector<std::string> entry_names(const space::SpaceDefinition& space) {
  std::vector<std::string> names = space.dims.names();
  for (const space::Dimension& dimension : space.dims) {
    for (const auto& [name, types] : dimension.types) names.push_back(name);
  }
  for (const space::Parameter& parameter : space.parameters) {
    if (parameter.kind == space::ParameterKind::template_argument) names.push_back(parameter.name);
  }
  for (const space::Derived& derived : space.derived) names.push_back(derived.name);
  return names;
}

void check_placeholder(const DocumentNode& node, std::string_view name,
                       const space::SpaceDefinition& space) {
  const std::vector<std::string> allowed = entry_names(space);
  if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) return;
  for (const space::Parameter& parameter : space.parameters) {
    if (parameter.name != name) continue;
    node.fail(
        fmt::format("${{{}}} is in the entry, but the parameter is of kind \"{}\"; only "
                    "parameters of kind \"template\" belong there",
                    name, kind_name(parameter.kind)));
  }
  node.fail(fmt::format("${{{}}}: unknown name {}{}", name, in_quotes(name),
                        did_you_mean(name, allowed)));
}

std::string parse_entry(const DocumentNode& node, const space::SpaceDefinition& space) {
  std::string entry = node.text();
  const std::vector<EntryPiece> pieces = split_entry(entry);
  if (entry.empty()) node.fail("is empty; it must name the kernel's function");
  if (pieces.empty()) node.fail(fmt::format("{}: a $ must begin ${{NAME}}", in_quotes(entry)));
  for (const EntryPiece& piece : pieces) {
    if (!piece.name.empty()) check_placeholder(node, piece.name, space);
  }
  return entry;
}

/// Fails, at the only entry or at the list of steps, when a template parameter stands nowhere.
void check_template_parameters(const DocumentNode& node, const space::SpaceDefinition& space,
                               const std::vector<KernelStep>& steps) {
  const auto stands_in = [](const KernelStep& step, const std::string& name) {
    const std::vector<EntryPiece> pieces = split_entry(step.entry);
    return std::ranges::count(pieces, name, &EntryPiece::name) > 0;
  };
  for (const space::Parameter& parameter : space.parameters) {
    if (parameter.kind != space::ParameterKind::template_argument) continue;
    const auto has_it = [&](const KernelStep& step) { return stands_in(step, parameter.name); };
    if (std::ranges::any_of(steps, has_it)) continue;
    node.fail(fmt::format(
        "the template parameter {0} is not in {1}: write ${{{0}}} "
        "where it belongs, or make it \"kind\": \"define\" or \"launch\"",
        parameter.name, node.json().is_array() ? "the entry of any step" : "the entry"));
  }
}

std::vector<space::Expression> parse_extents(const DocumentNode& node, const space::Scope& scope) {
  std::vector<space::Expression> extents;
  for (const DocumentNode& element : node.elements(1, 3)) {
    extents.push_back(element.expression(scope));
  }
  return extents;
}

/// Reads `entry` and `launch`, which a kernel of one step and each of several have alike.
KernelStep parse_step(const DocumentNode& node, const space::SpaceDefinition& space) {
  KernelStep step;
  ErrorCollector errors;
  errors.attempt([&] { step.entry = parse_entry(node.at("entry"), space); });
  errors.attempt([&] {
    const DocumentNode launch = node.at("launch");
    errors.attempt([&] {
      launch.expect_keys({"grid", "block", "dynamic_shared_bytes", "programmatic"});
    });
    errors.attempt([&] { step.grid = parse_extents(launch.at("grid"), space.scope); });
    errors.attempt([&] { step.block = parse_extents(launch.at("block"), space.scope); });
    errors.attempt([&] {
      if (const auto bytes = launch.find("dynamic_shared_bytes")) {
        step.dynamic_shared_bytes = bytes->expression(space.scope);
      }
    });
    errors.attempt([&] {
      if (const auto programmatic = launch.find("programmatic")) {
        step.programmatic = programmatic->expression(space.scope);
      }
    });
  });
  errors.throw_any();
  return step;
}

/// The names that a function may take, in the order of their places.
std::vector<std::string> argument_names(const Family& family, const Kernel& kernel) {
  std::vector<std::string> names;
  for (const Argument& argument : family.arguments) names.push_back(argument.name);
  for (const ScratchBuffer& scratch : kernel.scratch) names.push_back(scratch.name);
  for (const TensorMap& map : kernel.tensor_maps) names.push_back(map.name);
  return names;
}

/// A number by value of the kernel's own.
KernelNumber parse_kernel_number(const DocumentNode& node,
                                 const space::SpaceDefinition& definition) {
  return {.name = node.at("name").name(),
          .number = parse_scalar(node, definition.dims, [&](const DocumentNode& value) {
            return value.expression(definition.scope);
          })};
}

/// `names` are those of argument_names.
std::vector<KernelParameter> parse_parameters(const DocumentNode& node,
                                              const std::vector<std::string>& names,
                                              const space::SpaceDefinition& definition) {
  std::vector<KernelParameter> parameters;
  for (const DocumentNode& element : node.elements(0, kMaximumParameters)) {
    if (!element.json().is_string()) {
      KernelNumber number = parse_kernel_number(element, definition);
      if (std::ranges::find(names, number.name) != names.end()) {
        element.fail(
            fmt::format("the family has an argument '{}'; a number of the kernel's own "
                        "needs another name",
                        number.name));
      }
      parameters.emplace_back(std::move(number));
      continue;
    }
    const auto found = std::ranges::find(names, element.text());
    if (found == names.end()) {
      element.fail(
          fmt::format("unknown argument {}{}; a number of the kernel's own is written "
                      "{{\"name\": …, \"type\": …, \"value\": …}}",
                      in_quotes(element.text()), did_you_mean(element.text(), names)));
    }
    parameters.emplace_back(static_cast<std::size_t>(found - names.begin()));
  }
  return parameters;
}

/// Fails when no step takes a scratch buffer or a tensor map; these are the names from `first` on.
void check_taken(const DocumentNode& node, const std::vector<KernelStep>& steps,
                 const std::vector<std::string>& names, std::size_t first) {
  for (std::size_t place = first; place < names.size(); ++place) {
    const auto takes = [&](const KernelStep& step) {
      return !step.parameters || lists(step, place);
    };
    if (std::ranges::any_of(steps, takes)) continue;
    node.fail(
        fmt::format("no step takes '{0}': write it into the \"arguments\" of those that do, or "
                    "take it out of the kernel",
                    names[place]));
  }
}

std::vector<KernelStep> parse_several(const DocumentNode& list, const Kernel& kernel,
                                      const std::vector<std::string>& names,
                                      std::size_t family_arguments) {
  std::vector<KernelStep> steps;
  for (const DocumentNode& element : list.elements(1, kMaximumSteps)) {
    element.expect_keys({"entry", "launch", "arguments"});
    steps.push_back(parse_step(element, *kernel.space));
    if (const auto arguments = element.find("arguments")) {
      steps.back().parameters = parse_parameters(*arguments, names, *kernel.space);
    }
  }
  check_template_parameters(list, *kernel.space, steps);
  check_taken(list, steps, names, family_arguments);
  return steps;
}

}  // namespace

bool lists(const KernelStep& step, std::size_t place) {
  return step.parameters &&
         std::ranges::any_of(*step.parameters, [&](const KernelParameter& parameter) {
           const auto* listed = std::get_if<std::size_t>(&parameter);
           return listed != nullptr && *listed == place;
         });
}

void check_launch(const DocumentNode& node, const space::SpaceDefinition& space) {
  if (node.find("launch")) static_cast<void>(parse_step(node, space));
}

std::vector<KernelStep> parse_steps(const DocumentNode& node, const Family& family,
                                    const Kernel& kernel) {
  const std::vector<std::string> names = argument_names(family, kernel);
  const std::size_t family_arguments = family.arguments.size();
  if (const auto list = node.find("steps")) {
    for (const char* key : {"entry", "launch", "arguments"}) {
      const auto beside = node.find(key);
      if (beside) beside->fail("cannot be given together with \"steps\": each step has its own");
    }
    return parse_several(*list, kernel, names, family_arguments);
  }
  KernelStep step = parse_step(node, *kernel.space);
  if (const auto arguments = node.find("arguments")) {
    step.parameters = parse_parameters(*arguments, names, *kernel.space);
    for (std::size_t place = family_arguments; place < names.size(); ++place) {
      if (!lists(step, place)) step.parameters->emplace_back(place);
    }
  }
  std::vector<KernelStep> steps = {std::move(step)};
  check_template_parameters(node.at("entry"), *kernel.space, steps);
  return steps;
}

}  // namespace tuner::family
