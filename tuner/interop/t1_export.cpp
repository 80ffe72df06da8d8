// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/error.hpp"
#include "tuner/interop/python_expression.hpp"
#include "tuner/interop/python_value.hpp"
#include "tuner/interop/recording_formats.hpp"
#include "tuner/interop/t1.hpp"
#include "tuner/interop/t1_kernel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tuner::interop {
namespace {

/// An expression of a space file as its text; a number is one too.
std::string expression_text(const Json& expression) {
  return expression.is_string() ? expression.get<std::string>() : expression.dump();
}

/// As Python writes it: strings quoted.
std::string python_literal(const Json& value) {
  return value.is_string() ? fmt::format("'{}'", value.get<std::string>()) : python_text(value);
}

Json tuning_parameter(const space::Parameter& parameter) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < parameter.values.size(); ++i) {
    values.push_back(python_literal(json_value(parameter, i)));
  }
  const Json standard = json_value(parameter, parameter.default_index);
  return {{"Name", parameter.name},
          {"Type", standard.is_string()    ? "string"
                   : standard.is_boolean() ? "bool"
                                           : "int"},
          {"Values", fmt::format("[{}]", fmt::join(values, ", "))},
          {"Default", standard}};
}

class T1Writer {
 public:
  T1Writer(const space::SpaceDefinition& definition, const space::DeviceAttributes& device,
           std::span<const std::int64_t> size)
      : definition_(definition), size_(size), python_(definition, device, size) {}

  Json space() const {
    Json parameters = Json::array();
    Json conditions = Json::array();
    for (const space::Parameter& parameter : definition_.parameters) {
      if (parameter.kind == space::ParameterKind::option) {
        throw Error(ErrorCode::usage,
                    fmt::format("T1 has no compiler options to choose, as parameter {} is",
                                parameter.name));
      }
      parameters.push_back(tuning_parameter(parameter));
      if (parameter.when) conditions.push_back(condition(inactive(parameter)));
    }
    for (const space::Constraint& constraint : definition_.constraints) {
      conditions.push_back(condition(python_.write(constraint.expression.text())));
    }
    return {{"TuningParameters", parameters}, {"Conditions", conditions}};
  }

  Json kernel(const Json& kernel, const Json& arguments, const std::filesystem::path& file) const {
    check_expressible(kernel);
    Json specification = {{"Language", "CUDA"},
                          {"KernelName", entry(kernel.at("entry").get<std::string>())},
                          {"KernelFile", file.generic_string()},
                          {"GlobalSizeType", "CUDA"}};
    specification["GlobalSize"] = axes(kernel.at("launch").at("grid"));
    specification["LocalSize"] = axes(kernel.at("launch").at("block"));
    specification["ProblemSize"] = std::vector<std::int64_t>(size_.begin(), size_.end());
    const Json& shared = member(kernel.at("launch"), "dynamic_shared_bytes");
    if (!shared.is_null()) {
      specification["SharedMemory"] =
          shared.is_string() ? Json(python_.write(shared.get<std::string>())) : shared;
    }
    if (kernel.contains("options")) specification["CompilerOptions"] = kernel["options"];
    specification["Arguments"] = Json::array();
    for (const Json& argument : taken(kernel, arguments)) {
      specification["Arguments"].push_back(t1_argument(argument));
    }
    return specification;
  }

 private:
  /// Throws for what T1 has no words for.
  static void check_expressible(const Json& kernel) {
    for (const char* key : {"defines", "steps", "scratch", "tensor_maps"}) {
      if (!kernel.contains(key)) continue;
      throw Error(ErrorCode::usage, fmt::format("T1 has nothing for the kernel's {}", key));
    }
    if (kernel.at("launch").contains("programmatic")) {
      throw Error(ErrorCode::usage,
                  "T1 has nothing for programmatic launches: export a copy of the space file "
                  "without \"programmatic\"");
    }
  }

  /// The arguments in the order of the kernel's function. Throws as check_expressible.
  static std::vector<Json> taken(const Json& kernel, const Json& arguments) {
    if (!kernel.contains("arguments")) return arguments.get<std::vector<Json>>();
    std::vector<Json> result;
    for (const Json& name : kernel["arguments"]) {
      const auto found = std::ranges::find_if(
          arguments, [&](const Json& argument) { return argument.at("name") == name; });
      if (found == arguments.end()) {
        throw Error(ErrorCode::usage,
                    fmt::format("T1 has nothing for the kernel's own argument {}", name.dump()));
      }
      result.push_back(*found);
    }
    return result;
  }

  /// With the parameters that it mentions, which some readers want.
  Json condition(const std::string& text) const {
    Json names = Json::array();
    const auto compiled = space::Expression::compile(text, definition_.scope);
    for (const space::Parameter& parameter : definition_.parameters) {
      if (text.find(parameter.name) == std::string::npos) continue;
      if (!compiled || std::ranges::count(compiled->slots(), parameter.slot) > 0) {
        names.push_back(parameter.name);
      }
    }
    return {{"Expression", text}, {"Parameters", names}};
  }

  std::string inactive(const space::Parameter& parameter) const {
    return fmt::format("({}) or {} == {}", python_.write(parameter.when->text()), parameter.name,
                       python_literal(json_value(parameter, parameter.default_index)));
  }

  /// f<${A},${B}> as f<A,B>: the parameters are macros in the other tools. Types are those of the
  /// size.
  std::string entry(std::string text) const {
    for (std::size_t at = text.find("${"); at != std::string::npos; at = text.find("${")) {
      const std::size_t end = text.find('}', at);
      const std::string inner = text.substr(at + 2, end - at - 2);
      const auto type = type_called(inner);
      text.replace(at, end + 1 - at,
                   type ? std::string(row(*type).cpp_name) : python_.write(inner));
    }
    return text;
  }

  /// The element type that a dimension of types gives this name at the size; none when none does.
  std::optional<ElementType> type_called(const std::string& name) const {
    for (std::size_t i = 0; i < definition_.dims.size(); ++i) {
      const auto& types = definition_.dims[i].types;
      if (const auto found = types.find(name); found != types.end()) {
        return found->second.at(static_cast<std::size_t>(size_[i]));
      }
    }
    return std::nullopt;
  }

  Json axes(const Json& expressions) const {
    Json result = Json::object();
    for (std::size_t i = 0; i < kAxes.size(); ++i) {
      result[kAxes[i]] =
          i < expressions.size() ? python_.write(expression_text(expressions[i])) : "1";
    }
    return result;
  }

  Json t1_argument(const Json& argument) const {
    auto type = argument.at("type").get<std::string>();
    const std::string symbol = text_member(argument, "symbol");
    if (type.ends_with("[]") && symbol.empty()) {
      throw Error(ErrorCode::usage,
                  fmt::format("argument {}: T1 has no arrays by value; the kernel must take a "
                              "buffer there",
                              argument.at("name").get<std::string>()));
    }
    const bool is_buffer = type.ends_with('*') || type.ends_with("[]");
    type.erase(std::min(type.find_last_not_of("*[]") + 1, type.size()));
    const bool is_named = type.starts_with("${");
    const auto known =
        is_named ? type_called(type.substr(2, type.size() - 3)) : element_type_from_name(type);
    if (is_named && known) type = row(*known).name;
    if (!known || row(*known).t1.empty()) {
      throw Error(ErrorCode::usage, fmt::format("argument {}: T1 has no type for elements of '{}'",
                                                argument.at("name").get<std::string>(), type));
    }
    Json result = {{"Name", argument.at("name")},
                   {"Type", row(*known).t1},
                   {"MemoryType", is_buffer ? "Vector" : "Scalar"}};
    if (!is_buffer) {
      result["AccessType"] = "ReadOnly";
      const Json& value = argument.at("value");
      result["FillValue"] = value.is_number_float() ? value : number(value);
      return result;
    }
    const std::string role = text_member(argument, "role");
    const bool output = role == "output" || role == "inout";
    result["Size"] = number(argument.at("count"));
    result["AccessType"] = role == "output" ? "WriteOnly" : output ? "ReadWrite" : "ReadOnly";
    const Json& constant = member(member(argument, "fill"), "constant");
    const bool zeroed = text_member(argument, "initial") == "zero";
    result["FillType"] = zeroed || constant.is_number() ? "Constant" : "Random";
    result["FillValue"] = zeroed ? Json(0) : constant.is_number() ? constant : Json(1);
    if (output) result["Output"] = 1;
    if (!symbol.empty()) {
      result["Name"] = symbol;
      result["MemType"] = "Constant";
    }
    return result;
  }

  /// An expression of the dimensions at the size.
  Json number(const Json& expression) const {
    space::ExpressionValues values(definition_.scope.size(), 0);
    const std::size_t first = space::family_scope({}).size();
    std::ranges::copy(size_, values.begin() + static_cast<std::ptrdiff_t>(first));
    const auto compiled =
        space::Expression::compile(expression_text(expression), definition_.scope);
    if (!compiled) {
      throw Error(ErrorCode::usage, compiled.error().with_caret(expression_text(expression)));
    }
    const auto value = compiled->evaluate(values);
    return value ? Json(*value) : Json(expression);
  }

  const space::SpaceDefinition& definition_;
  std::span<const std::int64_t> size_;
  PythonWriter python_;
};

}  // namespace

std::string export_t1(std::string_view text, const std::string& kernel,
                      const space::SpaceDefinition& definition,
                      const space::DeviceAttributes& device, std::span<const std::int64_t> size,
                      const std::filesystem::path& folder) {
  const Json document = parse_json(text, "the space file");
  const Json& described = document.at("kernels").at(kernel);
  const T1Writer writer(definition, device, size);
  const auto file = (folder / described.at("source").get<std::string>()).lexically_normal();
  const Json t1 = {
      {"General", {{"FormatVersion", 1}, {"BenchmarkName", document.at("family")}}},
      {"ConfigurationSpace", writer.space()},
      {"KernelSpecification", writer.kernel(described, document.at("arguments"), file)}};
  return t1.dump(2) + "\n";
}

}  // namespace tuner::interop
