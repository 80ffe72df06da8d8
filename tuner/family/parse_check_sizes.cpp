// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/suggest.hpp"
#include "tuner/family/parse.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tuner::family {
namespace {

constexpr std::size_t kMaximumCheckSizes = 64;

/// One number of a check size. One that depends on nothing must be possible.
space::Expression parse_extent(const DocumentNode& node, const space::Dimensions& dims,
                               std::size_t dimension, const space::Scope& scope) {
  space::Expression extent = node.expression(scope);
  if (extent.slots().empty()) {
    const auto value = extent.evaluate({});
    if (!value) node.fail(fmt::format("has no value ({})", space::name(value.error())));
    if (const auto why = dims.refusal(dimension, *value)) node.fail(*why);
  }
  return extent;
}

CheckSize parse_named(const DocumentNode& node, const space::Dimensions& dims,
                      const space::Scope& scope) {
  CheckSize size{.extents = std::vector<std::optional<space::Expression>>(dims.size())};
  for (const auto& [name, extent] : node.named_members()) {
    const auto dimension = dims.find(name);
    if (!dimension) {
      node.fail(fmt::format("no dimension is named {}{}", in_quotes(name),
                            did_you_mean(name, dims.names())));
    }
    size.extents[*dimension] = parse_extent(extent, dims, *dimension, scope);
  }
  for (std::size_t i = 0; i < dims.required(); ++i) {
    if (!size.extents[i] && !dims[i].is_kind()) {
      node.fail(fmt::format("{} is missing", dims[i].name));
    }
  }
  return size;
}

CheckSize parse_listed(const DocumentNode& node, const space::Dimensions& dims,
                       const space::Scope& scope) {
  CheckSize size{.extents = std::vector<std::optional<space::Expression>>(dims.size())};
  if (node.json().is_array()) space::check_listed(node.json(), dims, node.where());
  const std::vector<DocumentNode> extents = node.elements(dims.required(), dims.required());
  for (std::size_t i = 0; i < extents.size(); ++i) {
    size.extents[i] = parse_extent(extents[i], dims, i, scope);
  }
  return size;
}

}  // namespace

std::vector<CheckSize> parse_check_sizes(const DocumentNode& node, const space::Dimensions& dims,
                                         const space::Scope& scope) {
  std::vector<CheckSize> sizes;
  for (const DocumentNode& size : node.elements(0, kMaximumCheckSizes)) {
    sizes.push_back(size.json().is_object() ? parse_named(size, dims, scope)
                                            : parse_listed(size, dims, scope));
  }
  return sizes;
}

}  // namespace tuner::family
