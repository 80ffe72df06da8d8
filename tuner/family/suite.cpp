// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/suite.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/family/document.hpp"
#include "tuner/family/parse.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace tuner::family {
namespace {

constexpr std::size_t kSuiteLimitBytes = std::size_t{1024} * 1024;
constexpr std::size_t kMaximumGroups = 100;
constexpr std::string_view kFormat = "suite/1";

SuiteGroup parse_group(const DocumentNode& node, const space::Dimensions& dims) {
  node.expect_keys({"name", "family", "doc", "sizes"});
  SuiteGroup group;
  group.name = node.at("name").name();
  if (const auto doc = node.find("doc")) group.doc = doc->text();
  group.sizes = parse_sizes(node.at("sizes"), dims);
  return group;
}

struct PathAndGroup {
  std::string path, group;
};

PathAndGroup path_and_group(std::string_view file_and_group) {
  std::string path(file_and_group);
  std::string group;
  const std::size_t colon = path.rfind(':');
  if (colon != std::string::npos && !std::filesystem::exists(path)) {
    group = path.substr(colon + 1);
    path.resize(colon);
    if (group.empty()) {
      throw Error(ErrorCode::usage,
                  fmt::format("{}: no group is named after the colon", in_quotes(file_and_group)));
    }
  }
  return {std::move(path), std::move(group)};
}

void check_head(const DocumentNode& root) {
  const DocumentNode format = root.at("format");
  if (format.text() != kFormat) {
    format.fail(
        fmt::format("is {}, but a suite is of format \"{}\"", in_quotes(format.text()), kFormat));
  }
  root.expect_keys({"$schema", "format", "family", "doc", "groups", "recorded"});
  if (const auto doc = root.find("doc")) static_cast<void>(doc->text());
}

/// The groups of one family: those that name it, and where the suite does, those that name none.
std::vector<DocumentNode> groups_of(const DocumentNode& root, const Family& family) {
  const DocumentNode suites = root.at("family");
  std::vector<DocumentNode> groups;
  for (const DocumentNode& node : root.at("groups").elements(1, kMaximumGroups)) {
    const auto own = node.find("family");
    if ((own ? *own : suites).name() == family.name) groups.push_back(node);
  }
  if (groups.empty()) {
    suites.fail(fmt::format("these are sizes of '{}', but {} is the family '{}'", suites.name(),
                            family.path, family.name));
  }
  return groups;
}

}  // namespace

std::vector<space::Size> Suite::sizes(std::string_view group) const {
  std::vector<space::Size> result;
  std::vector<std::string> known;
  for (const SuiteGroup& each : groups) {
    known.push_back(each.name);
    if (!group.empty() && each.name != group) continue;
    for (const space::Size& size : each.sizes) {
      if (std::ranges::find(result, size) == result.end()) result.push_back(size);
    }
  }
  if (!result.empty()) return result;
  throw Error(ErrorCode::usage, fmt::format("{}: no group is named {}{}", path, in_quotes(group),
                                            did_you_mean(group, known)));
}

Suite parse_suite(std::string_view text, std::string_view origin, const Family& family) {
  const Json json = parse_json(text, origin);
  const DocumentNode root(json, std::string(origin));
  check_head(root);
  Suite suite{.path = std::string(origin), .groups = {}};
  for (const DocumentNode& node : groups_of(root, family)) {
    SuiteGroup group = parse_group(node, family.problem.dims);
    if (std::ranges::find(suite.groups, group.name, &SuiteGroup::name) != suite.groups.end()) {
      node.fail(fmt::format("the group '{}' appears twice", group.name));
    }
    suite.groups.push_back(std::move(group));
  }
  return suite;
}

std::vector<space::Size> suite_sizes(std::string_view file_and_group, const Family& family) {
  const auto [path, group] = path_and_group(file_and_group);
  return parse_suite(read_file(path, kSuiteLimitBytes), path, family).sizes(group);
}

std::vector<std::string> suite_families(std::string_view file_and_group) {
  const auto [path, group] = path_and_group(file_and_group);
  const Json json = parse_json(read_file(path, kSuiteLimitBytes), path);
  const DocumentNode root(json, path);
  check_head(root);
  std::vector<std::string> families, groups;
  for (const DocumentNode& node : root.at("groups").elements(1, kMaximumGroups)) {
    groups.push_back(node.at("name").name());
    if (!group.empty() && groups.back() != group) continue;
    const auto own = node.find("family");
    std::string family = (own ? *own : root.at("family")).name();
    if (std::ranges::count(families, family) == 0) families.push_back(std::move(family));
  }
  if (!families.empty()) return families;
  throw Error(ErrorCode::usage, fmt::format("{}: no group is named {}{}", path, in_quotes(group),
                                            did_you_mean(group, groups)));
}

Json suite_recording(std::string_view file_and_group) {
  const auto [path, group] = path_and_group(file_and_group);
  const Json json = parse_json(read_file(path, kSuiteLimitBytes), path);
  const auto found = json.find("recorded");
  return found == json.end() ? Json() : *found;
}

std::string suite_family(std::string_view file_and_group) {
  const auto [path, group] = path_and_group(file_and_group);
  const Json json = parse_json(read_file(path, kSuiteLimitBytes), path);
  return DocumentNode(json, path).at("family").name();
}

}  // namespace tuner::family
