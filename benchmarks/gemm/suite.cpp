// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/shape_fields.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/family/document.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>

namespace tuner::gemm_benchmark {
namespace {

constexpr std::size_t kMostGroups = 100;
constexpr std::size_t kMostShapes = 1000;

Shape shape_of(const family::DocumentNode& node) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
  Fields fields;
  if (node.json().is_object()) {
    for (const auto& [name, member] : node.named_members()) {
      if (name == "TYPE") {
        fields.type = member.text();
      } else {
        fields.numbers.emplace(name, member.integer(0, kLargest));
      }
    }
  } else {
    const std::vector<family::DocumentNode> numbers = node.elements(3, 3);
    fields.numbers = {{"M", numbers[0].integer(1, kLargest)},
                      {"N", numbers[1].integer(1, kLargest)},
                      {"K", numbers[2].integer(1, kLargest)}};
  }
  return make_shape(fields, [&](const std::string& what) { node.fail(what); });
}

void add_group(std::vector<SuiteShape>& shapes, const family::DocumentNode& group) {
  group.expect_keys({"name", "doc", "sizes"});
  const std::string name = group.at("name").name();
  for (const family::DocumentNode& size : group.at("sizes").elements(1, kMostShapes)) {
    const Shape shape = shape_of(size);
    const auto same = std::ranges::find(shapes, shape, &SuiteShape::shape);
    if (same != shapes.end()) {
      size.fail(
          fmt::format("{} appears twice, the first time in '{}'", display(shape), same->group));
    }
    shapes.push_back({.group = name, .shape = shape});
  }
}

}  // namespace

std::vector<SuiteShape> parse_suite(std::string_view text, std::string_view origin,
                                    std::string_view group) {
  const Json json = parse_json(text, origin);
  const family::DocumentNode root(json, std::string(origin));
  root.expect_keys({"$schema", "format", "family", "doc", "groups"});
  if (root.at("format").text() != "suite/1") {
    root.at("format").fail("must be \"suite/1\": it is the only format this program reads");
  }
  if (!root.at("family").text().starts_with("gemm")) {
    root.at("family").fail("must be \"gemm\" or begin so: the benchmark multiplies matrices only");
  }
  std::vector<SuiteShape> shapes;
  std::vector<std::string> groups;
  for (const family::DocumentNode& each : root.at("groups").elements(1, kMostGroups)) {
    add_group(shapes, each);
    groups.push_back(shapes.back().group);
  }
  if (group.empty()) return shapes;
  if (std::ranges::count(groups, group) == 0) {
    throw Error(ErrorCode::usage, fmt::format("{}: there is no group '{}'{}", origin, group,
                                              did_you_mean(group, groups)));
  }
  std::erase_if(shapes, [&](const SuiteShape& each) { return each.group != group; });
  return shapes;
}

std::vector<SuiteShape> read_suite(std::string_view place) {
  constexpr std::size_t kLimit_bytes = std::size_t{1} << 20;
  const std::size_t colon = place.rfind(':');
  const std::string path(place.substr(0, colon));
  const std::string_view group =
      colon == std::string_view::npos ? std::string_view() : place.substr(colon + 1);
  return parse_suite(read_file(path, kLimit_bytes), path, group);
}

}  // namespace tuner::gemm_benchmark
