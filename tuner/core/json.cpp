// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/json.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/json_reason.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace tuner {
namespace {

constexpr int kMaximumNesting = 32;

std::string position(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 == 0 on the first line
  return fmt::format("line {}, column {}", line, before.size() - line_start + 1);
}

}  // namespace

/// nlohmann reports "[json.exception…] parse error at line 1, column 2: <why>": keep the why.
std::string json_reason(const std::string& what) {
  constexpr std::size_t kLongest = 200;
  const std::size_t start =
      what.starts_with("[json.exception.parse_error") ? what.find(": ") + 2 : what.find("] ") + 2;
  std::string why = what.substr(start, kLongest);
  std::ranges::replace_if(
      why, [](char c) { return (static_cast<unsigned char>(c) & 0x80) != 0; }, '?');
  if (what.size() > start + kLongest) why += " …";
  return why;
}

Json parse_json(std::string_view text, std::string_view origin) {
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorCode::usage, fmt::format("{}: {}", origin, why));
  };
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) fail("the file is empty");
  std::vector<std::set<std::string>> keys;  // of every object that is open
  const auto check = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth >= kMaximumNesting)
      fail(fmt::format("nested deeper than {} levels", kMaximumNesting));
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key &&
        !keys.back().insert(parsed.get<std::string>()).second) {
      fail(fmt::format("the key {} stands twice in one object", parsed.dump()));
    }
    return true;
  };
  try {
    return Json::parse(text, check, /*allow_exceptions=*/true, /*ignore_comments=*/true);
  } catch (const Json::parse_error& error) {
    fail(fmt::format("not valid JSON at {}: {}",
                     position(text, error.byte == 0 ? 0 : error.byte - 1),
                     json_reason(error.what())));
  } catch (const Json::out_of_range& error) {
    fail(fmt::format("not valid JSON: {}", json_reason(error.what())));
  }
  return {};
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  const bool cut = text.size() > kLongest;
  // `replace` covers a multi-byte character that the cut divides.
  const std::string shown = Json(std::string(text.substr(0, kLongest)))
                                .dump(-1, ' ', false, Json::error_handler_t::replace);
  return cut ? shown + "…" : shown;
}

}  // namespace tuner
