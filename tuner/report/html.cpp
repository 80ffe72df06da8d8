// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/html.hpp"

#include "tuner/report/format.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tuner::report {
namespace {

/// How a column is set: figures to the right, so that their digits stand under each other.
std::string_view css_class(std::string_view kind) {
  if (kind == "text") return "text";
  if (kind == "code") return "code";
  return "figure";
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string script_safe_json(const Json& document) {
  const std::string text = document.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string format_cell(const Json& value, std::string_view kind) {
  if (value.is_null()) return "–";
  if (value.is_string()) return value.get<std::string>();
  if (kind == "count") return format_count(value.get<std::uint64_t>());
  const double number = value.get<double>();
  if (kind == "time") return format_time(number);
  if (kind == "duration") return format_duration(number);
  if (kind == "bytes") return format_bytes(number);
  if (kind == "factor") return fmt::format("{:.3f}×", number);
  if (kind == "share") return format_percent(number);
  return format_number(number);
}

std::string render_table(const Json& table, std::string_view name) {
  const Json& columns = table.at("columns");
  std::string html = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">"
      "<table aria-label=\"{0}\"><thead><tr>",
      escape_html(name));
  for (const Json& column : columns) {
    html += fmt::format(R"(<th scope="col" class="{}">{}</th>)",
                        css_class(column.at("kind").get<std::string>()),
                        escape_html(column.at("label").get<std::string>()));
  }
  html += "</tr></thead><tbody>";
  for (const Json& row : table.at("rows")) {
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto kind = columns.at(i).at("kind").get<std::string>();
      const std::string_view element = i == 0 ? "th scope=\"row\"" : "td";
      html += fmt::format("<{} class=\"{}\">{}</{}>", element, css_class(kind),
                          escape_html(format_cell(row[i], kind)), element.substr(0, 2));
    }
    html += "</tr>";
  }
  return html + "</tbody></table></div>";
}

std::string fill_slots(std::string_view shell,
                       const std::map<std::string, std::string, std::less<>>& values) {
  std::string filled;
  while (true) {
    const std::size_t open = shell.find("{{");
    filled += shell.substr(0, open);
    if (open == std::string_view::npos) return filled;
    const std::size_t close = shell.find("}}", open);
    const std::string_view name = shell.substr(open + 2, close - open - 2);
    filled += values.at(std::string(name));
    shell.remove_prefix(close + 2);
  }
}

}  // namespace tuner::report
