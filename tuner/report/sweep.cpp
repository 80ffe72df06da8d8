// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/sweep.hpp"

#include "tuner/core/error.hpp"
#include "tuner/report/table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace tuner::report {
namespace {

/// What the page reads of a sweep, as a pattern. A text or a number stands for any text or number,
/// true for the place of a size, null for any value. The first element of an array is the pattern
/// of all elements; an array of several elements also states the least number of elements. Members
/// whose names end in "?" may be absent.
constexpr std::string_view kRead = R"({
  "family": "", "measured_at?": "", "vector_bits": 0, "agree": null,
  "sizes": [{"size": "", "flops": 0}],
  "placements": [{"name": ""}],
  "comparisons": [{"of": "", "between": ["", ""],
                   "leads": [{"faster": "", "first": true, "last": true}]}],
  "sides": [{
    "name": "", "device": "", "backend": "", "cores": 0,
    "driver": "", "compiler": "", "library": "",
    "start_up": {"device_ms": 0, "library_ms": 0},
    "times": [{"contender": "", "size": true, "compile_ms": 0, "median_ns?": 0, "cycles?": 0}],
    "transfers": [{"contender": "", "size": true, "placement": "", "allocate_ns?": 0,
                   "to_device_ns?": 0, "kernel_ns?": 0, "to_host_ns?": 0, "free_ns?": 0,
                   "total_ns?": 0, "pin_ns?": 0}],
    "skipped?": [{"contender": "", "placement": "", "size": true}]}]})";

/// The part of a value that `read` describes; none where the value does not match.
std::optional<Json> what_is_read(const Json& value, const Json& read, std::size_t sizes) {
  if (read.is_object()) {
    Json found = Json::object();
    for (const auto& [name, part] : read.items()) {
      const bool is_optional = name.ends_with('?');
      const std::string key = name.substr(0, name.size() - (is_optional ? 1 : 0));
      if (!value.contains(key)) {
        if (!is_optional) return std::nullopt;
        continue;
      }
      std::optional<Json> member = what_is_read(value.at(key), part, sizes);
      if (!member) return std::nullopt;
      found[key] = std::move(*member);
    }
    return found;
  }
  if (read.is_array()) {
    if (!value.is_array() || (read.size() > 1 && value.size() < read.size())) return std::nullopt;
    Json found = Json::array();
    for (const Json& each : value) {
      std::optional<Json> element = what_is_read(each, read.at(0), sizes);
      if (!element) return std::nullopt;
      found.push_back(std::move(*element));
    }
    return found;
  }
  const bool is_place = value.is_number_unsigned() && value.get<std::size_t>() < sizes;
  const bool is_as_read = read.is_null() || (read.is_string() && value.is_string()) ||
                          (read.is_number() && value.is_number()) ||
                          (read.is_boolean() && is_place);
  if (!is_as_read) return std::nullopt;
  return value.is_number_float() ? Json(rounded(value.get<double>())) : value;
}

}  // namespace

Json parse_sweep(std::string_view text, std::string_view origin) {
  const Json sweep = parse_json(text, origin);
  if (sweep.is_object() && sweep.value("schema", Json()) == "tune.sweep/2") {
    const Json sizes = sweep.value("sizes", Json());
    std::optional<Json> read = what_is_read(sweep, Json::parse(kRead), sizes.size());
    if (read && !read->at("sides").empty()) return std::move(*read);
  }
  throw Error(ErrorCode::usage,
              fmt::format("{}: is not what `tune bench --range … --json` writes", origin));
}

std::string sweep_device(const Json& sweep) {
  return sweep.at("sides").back().at("device").get<std::string>();
}

Json sweep_document(const std::string& device_name, std::span<const Json> sweeps) {
  Json document = {
      {"format", "tune.report/3"}, {"device", device_name},   {"backend", ""},
      {"families", Json::array()}, {"facts", Json::array()},  {"period", ""},
      {"kernels", Json::array()},  {"sweeps", Json::array()}, {"comparisons", Json::array()}};
  for (const Json& sweep : sweeps) {
    if (sweep_device(sweep) != device_name) continue;
    const Json& side = sweep.at("sides").back();
    document["backend"] = side.at("backend");
    document["period"] = sweep.value("measured_at", "");
    document["facts"] = Json::array();
    for (const auto& [label, key] :
         {std::pair{"Driver", "driver"}, {"Compiler", "compiler"}, {"Library", "library"}}) {
      if (side.at(key) != "") document["facts"].push_back({label, side.at(key)});
    }
    document["sweeps"].push_back(sweep);
  }
  return document;
}

}  // namespace tuner::report
