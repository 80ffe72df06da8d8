// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/error.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/family/entry.hpp"
#include "tuner/family/parse.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace tuner {
namespace {

constexpr std::size_t kMaximumOptions = 64;
constexpr std::size_t kMaximumScratch = 16;
constexpr std::size_t kMaximumTensorMaps = 16;
constexpr std::size_t kMaximumTensorRank = 5;
constexpr std::size_t kMaximumTryFirst = 64;
constexpr std::size_t kMaximumParameters = 64;

std::string_view kind_name(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::template_argument:
      return "template";
    case ParameterKind::define:
      return "define";
    case ParameterKind::launch:
      return "launch";
    case ParameterKind::option:
      return "option";
  }
  return "unknown";
}

/// What may stand as ${NAME}: template parameters, derived values and dimensions.
std::vector<std::string> entry_names(const SpaceDefinition& space) {
  std::vector<std::string> names = space.dims.names();
  for (const Parameter& parameter : space.parameters) {
    if (parameter.kind == ParameterKind::template_argument) names.push_back(parameter.name);
  }
  for (const Derived& derived : space.derived) names.push_back(derived.name);
  return names;
}

void check_placeholder(const DocumentNode& node, std::string_view name,
                       const SpaceDefinition& space) {
  const std::vector<std::string> allowed = entry_names(space);
  if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) return;
  for (const Parameter& parameter : space.parameters) {
    if (parameter.name != name) continue;
    node.fail(
        fmt::format("${{{}}} stands in the entry, but the parameter is of kind \"{}\"; only "
                    "parameters of kind \"template\" belong there",
                    name, kind_name(parameter.kind)));
  }
  node.fail(fmt::format("${{{}}}: unknown name {}{}", name, in_quotes(name),
                        did_you_mean(name, allowed)));
}

std::string parse_entry(const DocumentNode& node, const SpaceDefinition& space) {
  std::string entry = node.text();
  const std::vector<EntryPiece> pieces = split_entry(entry);
  if (entry.empty()) node.fail("is empty; it must name the kernel's function");
  if (pieces.empty()) node.fail(fmt::format("{}: a $ must begin ${{NAME}}", in_quotes(entry)));
  std::set<std::string_view> used;
  for (const EntryPiece& piece : pieces) {
    if (piece.name.empty()) continue;
    check_placeholder(node, piece.name, space);
    used.insert(piece.name);
  }
  for (const Parameter& parameter : space.parameters) {
    if (parameter.kind != ParameterKind::template_argument || used.contains(parameter.name)) {
      continue;
    }
    node.fail(
        fmt::format("the template parameter {0} does not stand in the entry: write ${{{0}}} "
                    "where it belongs, or make it \"kind\": \"define\" or \"launch\"",
                    parameter.name));
  }
  return entry;
}

bool is_definition(std::string_view option) {
  if (!option.starts_with("-D")) return false;
  option.remove_prefix(2);
  return is_word(option.substr(0, option.find('=')));
}

bool is_register_limit(std::string_view option) {
  constexpr std::string_view kName = "--maxrregcount=";
  constexpr std::size_t kMostDigits = 3;
  if (!option.starts_with(kName)) return false;
  option.remove_prefix(kName.size());
  return !option.empty() && option.size() <= kMostDigits &&
         std::ranges::all_of(option, [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<std::string> parse_options(const DocumentNode& node) {
  static constexpr std::array<std::string_view, 5> kAllowed = {
      "-std=c++17", "-std=c++20", "--use_fast_math", "-lineinfo", "--extra-device-vectorization"};
  std::vector<std::string> options;
  for (const DocumentNode& element : node.elements(0, kMaximumOptions)) {
    std::string option = element.text();
    const bool allowed = std::find(kAllowed.begin(), kAllowed.end(), option) != kAllowed.end();
    if (!allowed && !is_definition(option) && !is_register_limit(option)) {
      element.fail(fmt::format(
          "the compiler option {} is not allowed: a space file may come from anywhere, so it may "
          "not reach into the machine or break the choice of architecture; allowed are "
          "-DNAME[=value], -std=c++17, -std=c++20, --use_fast_math, -lineinfo, --maxrregcount=N "
          "and "
          "--extra-device-vectorization",
          in_quotes(option)));
    }
    options.push_back(std::move(option));
  }
  return options;
}

std::vector<std::string> parse_backends(const DocumentNode& node) {
  const std::vector<std::string> known = {"cuda", "cpu"};
  std::vector<std::string> backends;
  for (const DocumentNode& element : node.elements(1, known.size())) {
    std::string backend = element.text();
    if (std::find(known.begin(), known.end(), backend) == known.end()) {
      element.fail(
          fmt::format("unknown backend {}{}", in_quotes(backend), did_you_mean(backend, known)));
    }
    backends.push_back(std::move(backend));
  }
  return backends;
}

std::vector<Expression> parse_expressions(const DocumentNode& node, const Scope& scope,
                                          std::size_t minimum, std::size_t maximum) {
  std::vector<Expression> expressions;
  for (const DocumentNode& element : node.elements(minimum, maximum)) {
    expressions.push_back(element.expression(scope));
  }
  return expressions;
}

void parse_launch(const DocumentNode& node, Kernel& kernel) {
  node.expect_keys({"grid", "block", "dynamic_shared_bytes"});
  const Scope& scope = kernel.space->scope;
  kernel.grid = parse_expressions(node.at("grid"), scope, 1, 3);
  kernel.block = parse_expressions(node.at("block"), scope, 1, 3);
  if (const auto bytes = node.find("dynamic_shared_bytes")) {
    kernel.dynamic_shared_bytes = bytes->expression(scope);
  }
}

std::vector<ScratchBuffer> parse_scratch(const DocumentNode& node,
                                         const std::vector<Argument>& arguments,
                                         const Scope& scope) {
  std::set<std::string> names;
  for (const Argument& argument : arguments) names.insert(argument.name);
  std::vector<ScratchBuffer> scratch;
  for (const DocumentNode& element : node.elements(0, kMaximumScratch)) {
    element.expect_keys({"name", "type", "count"});
    scratch.push_back({.name = element.at("name").name(),
                       .type = parse_buffer_type(element.at("type")),
                       .count = element.at("count").expression(scope)});
    const std::string& name = scratch.back().name;
    if (!names.insert(name).second) {
      element.fail(fmt::format("the argument '{}' stands twice", name));
    }
  }
  return scratch;
}

TensorMap parse_tensor_map(const DocumentNode& node, const std::vector<Argument>& arguments,
                           const Scope& scope) {
  node.expect_keys({"name", "buffer", "offset", "extents", "strides", "box", "swizzle"});
  TensorMap map;
  map.name = node.at("name").name();
  const std::string buffer = node.at("buffer").text();
  const auto described = std::ranges::find_if(arguments, [&](const Argument& argument) {
    return argument.name == buffer && std::holds_alternative<BufferArgument>(argument.what);
  });
  if (described == arguments.end()) {
    node.at("buffer").fail(fmt::format("the family has no buffer {}", in_quotes(buffer)));
  }
  map.argument = static_cast<std::size_t>(described - arguments.begin());
  map.type = std::get<BufferArgument>(described->what).type;
  if (const auto offset = node.find("offset")) map.offset = offset->expression(scope);
  map.extents = parse_expressions(node.at("extents"), scope, 1, kMaximumTensorRank);
  const std::size_t rank = map.extents.size();
  map.strides = parse_expressions(node.at("strides"), scope, rank - 1, rank - 1);
  map.box = parse_expressions(node.at("box"), scope, rank, rank);
  if (const auto swizzle = node.find("swizzle")) map.swizzle_bytes = swizzle->expression(scope);
  return map;
}

std::vector<TensorMap> parse_tensor_maps(const DocumentNode& node, const Family& family,
                                         const Kernel& kernel) {
  if (kernel.backends != std::vector<std::string>{"cuda"}) {
    node.fail("only GPUs have tensor maps: add \"backends\": [\"cuda\"] to the kernel");
  }
  std::set<std::string> names;
  for (const Argument& argument : family.arguments) names.insert(argument.name);
  for (const ScratchBuffer& scratch : kernel.scratch) names.insert(scratch.name);
  std::vector<TensorMap> maps;
  for (const DocumentNode& element : node.elements(0, kMaximumTensorMaps)) {
    maps.push_back(parse_tensor_map(element, family.arguments, kernel.space->scope));
    if (!names.insert(maps.back().name).second) {
      element.fail(fmt::format("the argument '{}' stands twice", maps.back().name));
    }
  }
  return maps;
}

/// A number by value of the kernel's own.
KernelNumber parse_kernel_number(const DocumentNode& node, const Scope& scope) {
  return {.name = node.at("name").name(),
          .number = parse_scalar(
              node, [&](const DocumentNode& value) { return value.expression(scope); })};
}

/// The names that a kernel's function may take, in the order of their places.
std::vector<std::string> argument_names(const Family& family, const Kernel& kernel) {
  std::vector<std::string> names;
  for (const Argument& argument : family.arguments) names.push_back(argument.name);
  for (const ScratchBuffer& scratch : kernel.scratch) names.push_back(scratch.name);
  for (const TensorMap& map : kernel.tensor_maps) names.push_back(map.name);
  return names;
}

/// Scratch buffers and tensor maps that the list does not name follow it.
std::vector<KernelParameter> parse_parameters(const DocumentNode& node, const Family& family,
                                              const Kernel& kernel) {
  const std::vector<std::string> names = argument_names(family, kernel);
  std::vector<bool> is_named(names.size());
  std::vector<KernelParameter> parameters;
  for (const DocumentNode& element : node.elements(0, kMaximumParameters)) {
    if (!element.json().is_string()) {
      KernelNumber number = parse_kernel_number(element, kernel.space->scope);
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
    const auto place = static_cast<std::size_t>(found - names.begin());
    is_named[place] = true;
    parameters.emplace_back(place);
  }
  for (std::size_t place = family.arguments.size(); place < names.size(); ++place) {
    if (!is_named[place]) parameters.emplace_back(place);
  }
  return parameters;
}

/// The name of a variable in a compiled image by the Itanium C++ ABI: "weights" is itself,
/// "detail::weights" is "_ZN6detail7weightsE".
std::string image_name(std::string_view variable) {
  if (variable.find("::") == std::string_view::npos) return std::string(variable);
  std::string name = "_ZN";
  while (!variable.empty()) {
    const std::size_t end = std::min(variable.find("::"), variable.size());
    name += fmt::format("{}{}", end, variable.substr(0, end));
    variable.remove_prefix(std::min(end + 2, variable.size()));
  }
  return name + "E";
}

/// Arrays that have a symbol are its content, unless the kernel's list takes them by value.
void add_symbols(Kernel& kernel, const Family& family) {
  std::vector<KernelParameter> others;
  for (std::size_t place = 0; place < argument_names(family, kernel).size(); ++place) {
    const auto* array = place < family.arguments.size()
                            ? std::get_if<ArrayArgument>(&family.arguments[place].what)
                            : nullptr;
    if (array == nullptr || array->symbol.empty()) {
      others.emplace_back(place);
      continue;
    }
    const auto is_this = [&](const KernelParameter& parameter) {
      const auto* taken = std::get_if<std::size_t>(&parameter);
      return taken != nullptr && *taken == place;
    };
    if (kernel.parameters && std::ranges::any_of(*kernel.parameters, is_this)) continue;
    kernel.symbols.push_back(
        {.name = array->symbol, .image_name = image_name(array->symbol), .argument = place});
  }
  if (!kernel.symbols.empty() && !kernel.parameters) kernel.parameters = std::move(others);
}

std::vector<MacroDefinition> parse_defines(const DocumentNode& node, const Scope& scope) {
  std::vector<MacroDefinition> defines;
  for (const auto& [name, value] : node.named_members()) {
    defines.push_back({.name = name, .value = value.expression(scope)});
  }
  if (defines.size() > kMaximumOptions) {
    node.fail(fmt::format("has more than {} macros", kMaximumOptions));
  }
  return defines;
}

std::vector<Config> parse_try_first(const DocumentNode& node, const SpaceDefinition& space) {
  std::vector<Config> configs;
  for (const DocumentNode& config : node.elements(0, kMaximumTryFirst)) {
    try {
      configs.push_back(config_from_json(space, config.json().dump()));
    } catch (const Error& error) {
      config.fail(error.what());
    }
  }
  return configs;
}

}  // namespace

Kernel parse_kernel(const DocumentNode& node, const std::string& name, const Family& family,
                    const SourceProvider& source_of) {
  node.expect_keys({"doc", "source", "entry", "options", "defines", "backends", "parameters",
                    "derived", "constraints", "launch", "arguments", "scratch", "tensor_maps",
                    "check_sizes", "try_first"});
  const Dimensions& dims = family.problem.dims;
  Kernel kernel;
  kernel.name = name;
  if (const auto doc = node.find("doc")) kernel.doc = doc->text();
  kernel.space = std::make_shared<const SpaceDefinition>(
      parse_space_definition(node.json(), dims, node.where()));
  kernel.entry = parse_entry(node.at("entry"), *kernel.space);
  if (const auto options = node.find("options")) kernel.options = parse_options(*options);
  if (const auto defines = node.find("defines")) {
    kernel.defines = parse_defines(*defines, kernel.space->scope);
  }
  if (const auto backends = node.find("backends")) kernel.backends = parse_backends(*backends);
  parse_launch(node.at("launch"), kernel);
  if (const auto scratch = node.find("scratch")) {
    kernel.scratch = parse_scratch(*scratch, family.arguments, kernel.space->scope);
  }
  if (const auto maps = node.find("tensor_maps")) {
    kernel.tensor_maps = parse_tensor_maps(*maps, family, kernel);
  }
  if (const auto parameters = node.find("arguments")) {
    kernel.parameters = parse_parameters(*parameters, family, kernel);
  }
  add_symbols(kernel, family);
  if (const auto sizes = node.find("check_sizes")) {
    kernel.check_sizes = parse_check_sizes(*sizes, dims, kernel.space->scope);
  }
  if (const auto configs = node.find("try_first")) {
    kernel.try_first = parse_try_first(*configs, *kernel.space);
  }
  kernel.source = source_of(name, node.at("source"));
  kernel.hash = kernel_hash(kernel, family.arguments);
  return kernel;
}

}  // namespace tuner
