// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/error.hpp"
#include "tuner/core/file_errors.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/family/parse.hpp"
#include "tuner/source/plain_updates.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace tuner::family {
namespace {

constexpr std::size_t kMaximumOptions = 64;
constexpr std::size_t kMaximumScratch = 16;
constexpr std::size_t kMaximumTensorMaps = 16;
constexpr std::size_t kMaximumTensorRank = 5;
constexpr std::size_t kMaximumTryFirst = 64;

bool is_definition(std::string_view option) {
  if (!option.starts_with("-D")) return false;
  option.remove_prefix(2);
  return space::is_word(option.substr(0, option.find('=')));
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
  static constexpr std::array<std::string_view, 6> kAllowed = {
      "-std=c++17", "-std=c++20",   "--use_fast_math",
      "-lineinfo",  "--fmad=false", "--extra-device-vectorization"};
  std::vector<std::string> options;
  for (const DocumentNode& element : node.elements(0, kMaximumOptions)) {
    std::string option = element.text();
    const bool allowed = std::find(kAllowed.begin(), kAllowed.end(), option) != kAllowed.end() ||
                         is_definition(option) || is_register_limit(option);
    if (option == source::kWithoutRaces) {
      element.fail(
          fmt::format("the compiler option {} is not allowed: it keeps races from being looked for",
                      in_quotes(option)));
    }
    if (!allowed) {
      element.fail(fmt::format(
          "the compiler option {} is not allowed, because a space file may be untrusted; allowed "
          "are "
          "-DNAME[=value], -std=c++17, -std=c++20, --use_fast_math, --fmad=false, -lineinfo, "
          "--maxrregcount=N and --extra-device-vectorization",
          in_quotes(option)));
    }
    options.push_back(std::move(option));
  }
  return options;
}

std::vector<std::string> parse_backends(const DocumentNode& node) {
  std::vector<std::string> known;
  for (const space::BackendTraits& each : space::kBackends) known.emplace_back(each.name);
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

std::vector<space::Expression> parse_expressions(const DocumentNode& node,
                                                 const space::Scope& scope, std::size_t minimum,
                                                 std::size_t maximum) {
  std::vector<space::Expression> expressions;
  for (const DocumentNode& element : node.elements(minimum, maximum)) {
    expressions.push_back(element.expression(scope));
  }
  return expressions;
}

std::vector<ScratchBuffer> parse_scratch(const DocumentNode& node,
                                         const std::vector<Argument>& arguments,
                                         const space::SpaceDefinition& space) {
  const space::Scope& scope = space.scope;
  std::set<std::string> names;
  for (const Argument& argument : arguments) names.insert(argument.name);
  std::vector<ScratchBuffer> scratch;
  for (const DocumentNode& element : node.elements(0, kMaximumScratch)) {
    element.expect_keys({"name", "type", "count"});
    scratch.push_back({.name = element.at("name").name(),
                       .type = parse_buffer_type(element.at("type"), space.dims),
                       .count = element.at("count").expression(scope)});
    const std::string& name = scratch.back().name;
    if (!names.insert(name).second) {
      element.fail(fmt::format("the argument '{}' appears twice", name));
    }
  }
  return scratch;
}

/// The place and the type of a buffer among the family's arguments and the kernel's scratch.
std::pair<std::size_t, TypeOf> find_buffer(const DocumentNode& node,
                                           const std::vector<Argument>& arguments,
                                           const std::vector<ScratchBuffer>& scratch) {
  const std::string name = node.text();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto* const buffer = std::get_if<BufferArgument>(&arguments[i].what);
    if (buffer != nullptr && arguments[i].name == name) return {i, buffer->type};
  }
  const auto own = std::ranges::find(scratch, name, &ScratchBuffer::name);
  if (own == scratch.end()) {
    node.fail(fmt::format("neither the family nor the kernel has a buffer {}", in_quotes(name)));
  }
  return {arguments.size() + static_cast<std::size_t>(own - scratch.begin()), own->type};
}

TensorMap parse_tensor_map(const DocumentNode& node, const std::vector<Argument>& arguments,
                           const Kernel& kernel) {
  const space::Scope& scope = kernel.space->scope;
  node.expect_keys({"name", "buffer", "offset", "extents", "strides", "box", "swizzle"});
  std::string name = node.at("name").name();
  const auto [argument, type] = find_buffer(node.at("buffer"), arguments, kernel.scratch);
  TensorMap map{.name = std::move(name), .argument = argument, .type = type};
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
  std::set<std::string> names;
  for (const Argument& argument : family.arguments) names.insert(argument.name);
  for (const ScratchBuffer& scratch : kernel.scratch) names.insert(scratch.name);
  std::vector<TensorMap> maps;
  for (const DocumentNode& element : node.elements(0, kMaximumTensorMaps)) {
    maps.push_back(parse_tensor_map(element, family.arguments, kernel));
    if (!names.insert(maps.back().name).second) {
      element.fail(fmt::format("the argument '{}' appears twice", maps.back().name));
    }
  }
  return maps;
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

/// Arrays that have a symbol are its content, unless a list of the kernel's takes them by value.
void add_symbols(Kernel& kernel, const Family& family) {
  std::vector<KernelParameter> others;
  for (std::size_t place = 0; place < family.arguments.size(); ++place) {
    const auto* array = std::get_if<ArrayArgument>(&family.arguments[place].what);
    const bool is_content =
        array != nullptr && !array->symbol.empty() &&
        std::ranges::none_of(kernel.steps, [&](const auto& step) { return lists(step, place); });
    if (!is_content) {
      others.emplace_back(place);
      continue;
    }
    kernel.symbols.push_back(
        {.name = array->symbol, .image_name = image_name(array->symbol), .argument = place});
  }
  if (kernel.symbols.empty()) return;
  const std::size_t own = kernel.scratch.size() + kernel.tensor_maps.size();
  for (std::size_t i = 0; i < own; ++i) others.emplace_back(family.arguments.size() + i);
  for (KernelStep& step : kernel.steps) {
    if (!step.parameters) step.parameters = others;
  }
}

std::vector<MacroDefinition> parse_defines(const DocumentNode& node, const space::Scope& scope) {
  std::vector<MacroDefinition> defines;
  for (const auto& [name, value] : node.named_members()) {
    defines.push_back({.name = name, .value = value.expression(scope)});
  }
  if (defines.size() > kMaximumOptions) {
    node.fail(fmt::format("has more than {} macros", kMaximumOptions));
  }
  return defines;
}

std::vector<space::Config> parse_try_first(const DocumentNode& node,
                                           const space::SpaceDefinition& space) {
  std::vector<space::Config> configs;
  for (const DocumentNode& config : node.elements(0, kMaximumTryFirst)) {
    try {
      configs.push_back(space::config_from_json(space, config.json().dump()));
    } catch (const Error& error) {
      config.fail(error.what());
    }
  }
  return configs;
}

}  // namespace

Kernel parse_kernel_space(const DocumentNode& node, const std::string& name, const Family& family) {
  const space::Dimensions& dims = family.problem.dims;
  Kernel kernel;
  kernel.name = name;
  ErrorCollector errors;
  errors.attempt([&] {
    node.expect_keys({"doc", "unproven", "source", "entry", "options", "defines", "backends",
                      "parameters", "derived", "constraints", "launch", "arguments", "steps",
                      "scratch", "tensor_maps", "check_sizes", "try_first"});
  });
  errors.attempt([&] {
    if (const auto doc = node.find("doc")) kernel.doc = doc->text();
    if (const auto why = node.find("unproven")) kernel.unproven = why->text();
  });
  errors.attempt([&] {
    if (const auto options = node.find("options")) kernel.options = parse_options(*options);
  });
  errors.attempt([&] {
    if (const auto backends = node.find("backends")) kernel.backends = parse_backends(*backends);
  });
  errors.attempt([&] {
    kernel.space = std::make_shared<const space::SpaceDefinition>(
        space::parse_space_definition(node.json(), dims, node.where()));
    if (const auto defines = node.find("defines")) {
      kernel.defines = parse_defines(*defines, kernel.space->scope);
    }
  });
  errors.throw_any();
  return kernel;
}

Kernel parse_kernel(const DocumentNode& node, const std::string& name, const Family& family) {
  const space::Dimensions& dims = family.problem.dims;
  Kernel kernel = parse_kernel_space(node, name, family);
  if (const auto scratch = node.find("scratch")) {
    kernel.scratch = parse_scratch(*scratch, family.arguments, *kernel.space);
  }
  if (const auto maps = node.find("tensor_maps")) {
    kernel.tensor_maps = parse_tensor_maps(*maps, family, kernel);
  }
  if (node.find("steps") || node.find("launch")) kernel.steps = parse_steps(node, family, kernel);
  add_symbols(kernel, family);
  if (const auto sizes = node.find("check_sizes")) {
    kernel.check_sizes = parse_check_sizes(*sizes, dims, kernel.space->scope);
  }
  if (const auto configs = node.find("try_first")) {
    kernel.try_first = parse_try_first(*configs, *kernel.space);
  }
  return kernel;
}

}  // namespace tuner::family
