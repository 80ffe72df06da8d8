// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/result_types.hpp"

#include <fmt/format.h>

#include <variant>

namespace tuner::report {

std::string ResultTypes::at(std::string_view problem) const {
  if (dimension.empty() && known()) return usual;
  const std::string name = fmt::format(",{}=", known() ? dimension : "TYPE");
  const std::size_t at = problem.find(name);
  if (at == std::string_view::npos) return usual;
  const std::string_view value = problem.substr(at + name.size());
  return std::string(value.substr(0, value.find(',')));
}

ResultTypes result_types(const family::Family& family) {
  for (const space::Dimension& dimension : family.problem.dims) {
    if (dimension.types.empty()) continue;
    const auto usual = dimension.default_value->evaluate({});
    return {.dimension = dimension.name, .usual = usual ? dimension.text_of(*usual) : ""};
  }
  for (const family::Argument& argument : family.arguments) {
    const auto* const buffer = std::get_if<family::BufferArgument>(&argument.what);
    if (buffer == nullptr || !buffer->is_written()) continue;
    return {.usual = std::string(row(buffer->type.all().front()).short_name)};
  }
  return {};
}

}  // namespace tuner::report
