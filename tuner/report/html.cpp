// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/html.hpp"

#include <nlohmann/json.hpp>

namespace tuner::report {
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
