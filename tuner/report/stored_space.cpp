// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/stored_space.hpp"

#include "tuner/core/element_type.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace tuner::report {
namespace {

std::string text_at(const Json& object, const std::string& key) {
  const Json* text = member(object, key);
  return text != nullptr && text->is_string() ? text->get<std::string>() : "";
}

/// "float*" → "f32"; empty for what is no buffer of a known type.
std::string type_of_buffer(const Json& argument) {
  const std::string written = text_at(argument, "type");
  const std::string role = text_at(argument, "role");
  if (!written.ends_with('*') || (role != "output" && role != "inout")) return "";
  const auto type = element_type_from_name(written.substr(0, written.find_last_not_of("* ") + 1));
  return type ? std::string(row(*type).short_name) : "";
}

}  // namespace

Json tolerant_object(std::string_view text) {
  try {
    const Json parsed = parse_json(text, "a stored text");
    return parsed.is_object() ? parsed : Json::object();
  } catch (const Error&) {
    return Json::object();
  }
}

const Json* member(const Json& object, const std::string& key) {
  const auto found = object.find(key);  // the end when it is no object
  return found == object.end() ? nullptr : &*found;
}

std::string ResultTypes::at(std::string_view problem) const {
  if (dimension.empty() && known()) return usual;
  const std::string name = fmt::format(",{}=", known() ? dimension : "TYPE");
  const std::size_t at = problem.find(name);
  if (at == std::string_view::npos) return usual;
  const std::string_view value = problem.substr(at + name.size());
  return std::string(value.substr(0, value.find(',')));
}

ResultTypes result_types(std::string_view space_text) {
  const Json space = tolerant_object(space_text);
  const Json* problem = member(space, "problem");
  const Json* dims = problem == nullptr ? nullptr : member(*problem, "dims");
  if (dims != nullptr && dims->is_array()) {
    for (const Json& dim : *dims) {
      if (member(dim, "types") != nullptr) {
        return {.dimension = text_at(dim, "name"), .usual = text_at(dim, "default")};
      }
    }
  }
  const Json* arguments = member(space, "arguments");
  if (arguments == nullptr || !arguments->is_array()) return {};
  for (const Json& argument : *arguments) {
    if (std::string type = type_of_buffer(argument); !type.empty()) {
      return {.usual = std::move(type)};
    }
  }
  return {};
}

std::vector<std::string> parameters_of_space(std::string_view space_text,
                                             const std::string& kernel) {
  std::vector<std::string> names;
  const Json space = tolerant_object(space_text);
  const Json* node = member(space, "kernels");
  if (node != nullptr) node = member(*node, kernel);
  if (node != nullptr) node = member(*node, "parameters");
  if (node == nullptr || !node->is_object()) return names;
  for (const auto& [name, definition] : node->items()) names.push_back(name);
  return names;
}

}  // namespace tuner::report
