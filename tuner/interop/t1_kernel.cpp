// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/t1_kernel.hpp"

#include "tuner/core/element_type.hpp"
#include "tuner/interop/recording_formats.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace tuner::interop {
namespace {

constexpr std::array<std::string_view, 3> kDims = {"problem_size_x", "problem_size_y",
                                                   "problem_size_z"};
constexpr std::int64_t kLargestSize = INT32_MAX;

bool is_size(const Json& json) {
  return json.is_number_integer() && json.get<double>() >= 1 &&
         json.get<double>() <= static_cast<double>(kLargestSize);
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

/// Of T1's names, and of those that its implementations write instead.
std::optional<ElementType> element_type(std::string_view t1) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kOthers = {
      {{"int", "int32"},
       {"uint", "uint32"},
       {"long", "int64"},
       {"float32", "float"},
       {"float64", "double"}}};
  const auto* const other =
      std::ranges::find(kOthers, t1, &std::pair<std::string_view, std::string_view>::first);
  if (other != kOthers.end()) t1 = other->second;
  const auto found = std::ranges::find_if(
      kElementTypes, [&](ElementType type) { return !row(type).t1.empty() && row(type).t1 == t1; });
  return found == kElementTypes.end() ? std::nullopt : std::optional(*found);
}

/// The role of a buffer; empty: an input.
std::string role_of(const Json& argument) {
  const std::string access = text_member(argument, "AccessType");
  if (access == "ReadWrite") return "inout";
  return access == "WriteOnly" || member(argument, "Output") == 1 ? "output" : "";
}

/// The dimension that a number is the size of, when it is of one alone; else empty.
std::string dimension_of(std::int64_t number, const T1Problem& problem) {
  if (std::ranges::count(problem.size, number) != 1 || number == 1) return "";
  const auto found = std::ranges::find(problem.size, number);
  return problem.dims[static_cast<std::size_t>(found - problem.size.begin())];
}

/// A by-value argument.
T1Part scalar(const std::string& name, const std::string& type, const Json& argument,
              const T1Problem& problem) {
  constexpr double kExact = 9e15;
  const Json& fill = member(argument, "FillValue");
  T1Part part{.json = {{"name", name}, {"type", type}, {"value", 1}}, .notes = {}};
  const double number = fill.is_number() ? fill.get<double>() : 0.5;
  const bool is_whole = std::trunc(number) == number && std::abs(number) <= kExact;
  if (fill.is_number() && !is_whole && (type == "float" || type == "double")) {
    part.json["value"] = fill;
    return part;
  }
  if (!is_whole) {
    part.notes.push_back(
        fmt::format("argument {}: the value {} is no {}; 1 is used: write the number", name,
                    fill.dump(), type));
    return part;
  }
  const auto whole = static_cast<std::int64_t>(number);
  const std::string dimension = dimension_of(whole, problem);
  part.json["value"] = whole;
  if (!dimension.empty()) {
    part.json["value"] = dimension;
    part.notes.push_back(
        fmt::format("argument {}: {} is assumed to be {}; if it is not, write the number", name,
                    whole, dimension));
  }
  return part;
}

/// Whether it is a variable of the source.
bool is_symbol(const Json& argument) {
  return text_member(argument, "MemType") == "Constant" ||
         text_member(argument, "MemoryType") == "Symbol";
}

T1Part vector(const std::string& name, const std::string& type, const Json& argument,
              const T1Problem& problem, const space::SpaceDefinition& definition) {
  T1Part part;
  std::string count = t1_expression(member(argument, "Size"), problem, definition,
                                    space::family_scope(space::Dimensions(problem.dims)));
  if (count.empty()) {
    part.notes.push_back(
        fmt::format("argument {}: its Size {} cannot be expressed; 1 is used: state the number of "
                    "elements in `count`",
                    name, member(argument, "Size").dump()));
    count = "1";
  }
  part.json = {{"name", name}, {"type", type + "*"}, {"count", count}};
  if (is_symbol(argument)) {
    part.json["type"] = type + "[]";
    part.json["symbol"] = text_member(argument, "Name");
    return part;
  }
  const std::string role = role_of(argument);
  if (!role.empty()) part.json["role"] = role;
  const std::string fill = text_member(argument, "FillType");
  const Json& value = member(argument, "FillValue");
  if (fill == "Constant" && value.is_number() && role != "output") {
    part.json["fill"] = {{"constant", value}};
  } else if (fill == "Constant" && value == 0) {
    part.json["initial"] = "zero";
  } else if (role != "output" && !fill.empty() && fill != "Random") {
    part.notes.push_back(
        fmt::format("argument {}: FillType {} is ignored; its elements are random", name, fill));
  }
  return part;
}

T1Part read_argument(const Json& argument, const std::string& name, const T1Problem& problem,
                     const space::SpaceDefinition& definition) {
  const auto known = element_type(text_member(argument, "Type"));
  const std::string memory = text_member(argument, "MemoryType");
  if (!known) {
    return {
        .json = {},
        .notes = {fmt::format("argument {}: the type '{}' is not supported; the argument is left "
                              "out, the kernel must do without it",
                              name, name_member(argument, "Type"))}};
  }
  const std::string type(row(*known).name);
  if (memory == "Scalar" && !is_scalar_type(*known)) {
    return {
        .json = {},
        .notes = {fmt::format("argument {}: a number of type '{}' cannot be passed by value; the "
                              "argument is left out, the kernel must do without it",
                              name, text_member(argument, "Type"))}};
  }
  if (memory == "Scalar") return scalar(name, type, argument, problem);
  if (memory == "Vector" || memory == "Symbol")
    return vector(name, type, argument, problem, definition);
  return {.json = {},
          .notes = {fmt::format("argument {}: MemoryType '{}' is not supported; it is left out",
                                name, name_member(argument, "MemoryType"))}};
}

/// Marks the last buffer as an output, or adds one, where the file names none.
void ensure_output(T1Part& arguments) {
  Json* last = nullptr;
  for (Json& argument : arguments.json) {
    if (argument.contains("role")) return;
    if (argument.contains("count")) last = &argument;
  }
  if (last == nullptr) {
    arguments.json.push_back({{"name", "output"}, {"type", "float*"}, {"count", "1"}});
    last = &arguments.json.back();
  }
  (*last)["role"] = "output";
  arguments.notes.push_back(
      fmt::format("no argument is an output in T1: '{}' is assumed to be one; correct `arguments` "
                  "to the kernel's",
                  (*last)["name"].get<std::string>()));
}

/// Grid and block of one axis after the other; what cannot be said is 1 and noted.
class LaunchReader {
 public:
  LaunchReader(const Json& specification, const T1Problem& problem,
               const space::SpaceDefinition& definition)
      : specification_(specification), problem_(problem), definition_(definition) {}

  std::string block(std::size_t axis) { return size("LocalSize", axis); }

  /// Blocks: the problem over the divisors, as Kernel Tuner does, else what the file says, in
  /// blocks or in threads.
  std::string grid(std::size_t axis, const std::string& block) {
    const std::string key = fmt::format("GridDiv{}", kAxes[axis]);
    const Json& divisors = member(specification_, key.c_str());
    if (divisors.is_array() && !divisors.empty() && axis < problem_.dims.size()) {
      std::vector<std::string> factors;
      for (const Json& divisor : divisors) {
        factors.push_back(fmt::format("({})", expression(divisor, key)));
      }
      return fmt::format("ceil_div({}, {})", problem_.dims[axis], fmt::join(factors, " * "));
    }
    const std::string global = size("GlobalSize", axis);
    const bool in_blocks = text_member(specification_, "GlobalSizeType") == "CUDA";
    return in_blocks || block == "1" ? global : fmt::format("ceil_div({}, {})", global, block);
  }

  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  /// A component of LocalSize or GlobalSize; 1 when it is missing.
  std::string size(const char* key, std::size_t axis) {
    const Json& given = member(member(specification_, key), kAxes[axis]);
    return given.is_null() ? "1" : expression(given, fmt::format("{}.{}", key, kAxes[axis]));
  }

  std::string expression(const Json& given, const std::string& what) {
    std::string text = t1_expression(given, problem_, definition_, definition_.scope);
    if (!text.empty()) return text;
    notes_.push_back(
        fmt::format("{}: {} cannot be expressed; 1 is used in `launch`", what, given.dump()));
    return "1";
  }

  const Json& specification_;
  const T1Problem& problem_;
  const space::SpaceDefinition& definition_;
  std::vector<std::string> notes_;
};

}  // namespace

T1Problem read_t1_problem(const Json& specification) {
  T1Problem problem;
  const Json& stated = member(specification, "ProblemSize");
  const Json sizes = stated.is_array() ? stated : Json::array({stated});
  for (const Json& size : sizes) {
    if (problem.dims.size() == kDims.size() || !is_size(size)) break;
    problem.dims.emplace_back(kDims[problem.dims.size()]);
    problem.size.push_back(size.get<std::int64_t>());
  }
  if (problem.dims.empty()) return {.dims = {std::string(kDims[0])}, .size = {1}};
  return problem;
}

std::string t1_expression(const Json& given, const T1Problem& problem,
                          const space::SpaceDefinition& definition, const space::Scope& scope) {
  if (given.is_number_integer()) return given.dump();
  if (!given.is_string()) return "";
  auto text = given.get<std::string>();
  for (std::size_t i = 0; i < problem.dims.size(); ++i) {
    replace_all(text, fmt::format("ProblemSize[{}]", i), problem.dims[i]);
  }
  for (const space::Parameter& parameter : definition.parameters) {
    if (parameter.value_kind != space::ValueKind::number) continue;
    const auto [least, most] = std::ranges::minmax(
        parameter.values, {}, [](const space::ParameterValue& value) { return value.number; });
    replace_all(text, fmt::format("max({})", parameter.name), std::to_string(most.number));
    replace_all(text, fmt::format("min({})", parameter.name), std::to_string(least.number));
  }
  return space::Expression::compile(text, scope) ? text : "";
}

T1Part read_t1_arguments(const Json& specification, const T1Problem& problem,
                         const space::SpaceDefinition& definition) {
  T1Part arguments{.json = Json::array(), .notes = {}};
  std::size_t index = 0;
  for (const Json& argument : member(specification, "Arguments")) {
    std::string name = text_member(argument, "Name");
    if (!space::is_name(name)) name = fmt::format("argument_{}", index);
    ++index;
    T1Part part = read_argument(argument, name, problem, definition);
    if (!part.json.is_null()) arguments.json.push_back(std::move(part.json));
    arguments.notes.insert(arguments.notes.end(), part.notes.begin(), part.notes.end());
  }
  ensure_output(arguments);
  return arguments;
}

T1Part read_t1_launch(const Json& specification, const T1Problem& problem,
                      const space::SpaceDefinition& definition) {
  LaunchReader reader(specification, problem, definition);
  T1Part launch{.json = {{"grid", Json::array()}, {"block", Json::array()}}, .notes = {}};
  for (std::size_t axis = 0; axis < kAxes.size(); ++axis) {
    const std::string block = reader.block(axis);
    launch.json["grid"].push_back(reader.grid(axis, block));
    launch.json["block"].push_back(block);
  }
  launch.notes = reader.notes();
  const Json& shared = member(specification, "SharedMemory");
  if (shared.is_number_integer() && shared != 0) launch.json["dynamic_shared_bytes"] = shared;
  return launch;
}

T1Part read_t1_options(const Json& specification) {
  T1Part options{.json = Json::array(), .notes = {}};
  for (const Json& option : member(specification, "CompilerOptions")) {
    std::string text = option.is_string() ? option.get<std::string>() : option.dump();
    if (text == "-use_fast_math") text = "--use_fast_math";
    const bool known = text == "-std=c++17" || text == "-std=c++20" || text == "--use_fast_math" ||
                       text == "--fmad=false" || (text.starts_with("-D") && text.size() > 2);
    if (known) {
      options.json.push_back(text);
    } else {
      options.notes.push_back(fmt::format("the compiler option {} is ignored", text));
    }
  }
  return options;
}

}  // namespace tuner::interop
