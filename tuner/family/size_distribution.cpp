// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/size_distribution.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/family/document.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace tuner::family {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr std::size_t kMostShapes = 1000;
constexpr std::size_t kMostRows = 100'000;
constexpr std::string_view kDistributionFormat = "distribution/1";

using Scale = NumberRange::Scale;

std::int64_t number_of(const DocumentNode& node, const space::Dimensions& dims, std::size_t dim) {
  if (node.json().is_string() && !dims[dim].value_names.empty()) {
    const auto value = dims[dim].value_of(node.text());
    if (value) return *value;
    node.fail(fmt::format("is {}, which {} cannot be{}", in_quotes(node.text()), dims[dim].name,
                          did_you_mean(node.text(), dims[dim].value_names)));
  }
  const std::int64_t value = node.integer(0, space::kLargestDimension);
  if (const auto refusal = dims.refusal(dim, value)) node.fail(*refusal);
  return value;
}

NumberRange parse_range(const DocumentNode& node, const space::Dimensions& dims, std::size_t dim) {
  node.expect_keys({"uniform", "log_uniform", "multiple_of"});
  const auto uniform = node.find("uniform");
  const auto logarithmic = node.find("log_uniform");
  if (uniform.has_value() == logarithmic.has_value()) {
    node.fail(R"(needs one of "uniform" and "log_uniform": [smallest, largest])");
  }
  const DocumentNode limits = uniform ? *uniform : *logarithmic;
  const std::vector<DocumentNode> both = limits.elements(2, 2);
  NumberRange range{.scale = uniform ? Scale::uniform : Scale::logarithmic,
                    .low = both[0].integer(1, space::kLargestDimension),
                    .high = both[1].integer(1, space::kLargestDimension)};
  if (const auto multiple = node.find("multiple_of")) {
    range.multiple_of = multiple->integer(1, space::kLargestDimension);
  }
  if (dims[dim].is_kind()) node.fail(dims[dim].name + " has no range: write a list of its values");
  if (range.low > range.high) {
    limits.fail(fmt::format("is an impossible range: {} is more than {}; write [smallest, largest]",
                            range.low, range.high));
  }
  if (range.high / range.multiple_of < (range.low + range.multiple_of - 1) / range.multiple_of) {
    node.fail(fmt::format("is an impossible range: from {} to {} there is no multiple of {}",
                          range.low, range.high, range.multiple_of));
  }
  return range;
}

std::vector<std::size_t> dims_of(const DocumentNode& node, const std::string& key,
                                 const space::Dimensions& dims) {
  std::vector<std::size_t> places;
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t end = std::min(key.find(',', begin), key.size());
    const std::string name = key.substr(begin, end - begin);
    const auto place = dims.find(name);
    if (!place) {
      node.fail(
          fmt::format("has no dimension {}{}", in_quotes(name), did_you_mean(name, dims.names())));
    }
    places.push_back(*place);
    begin = end + 1;
  }
  return places;
}

NumberRows parse_rows(const DocumentNode& node, const space::Dimensions& dims,
                      const std::vector<std::size_t>& places) {
  NumberRows rows;
  for (const DocumentNode& row : node.elements(1, kMostRows)) {
    std::vector<std::int64_t>& numbers = rows.emplace_back();
    if (places.size() == 1 && !row.json().is_array()) {
      numbers.push_back(number_of(row, dims, places[0]));
      continue;
    }
    const std::vector<DocumentNode> each = row.elements(places.size(), places.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
      numbers.push_back(number_of(each[i], dims, places[i]));
    }
  }
  return rows;
}

ShapePart parse_part(const DocumentNode& node, const std::string& key,
                     const space::Dimensions& dims) {
  ShapePart part{.dims = dims_of(node, key, dims), .numbers = {}};
  const DocumentNode value = node.at(key);
  if (value.json().is_array()) {
    part.numbers = parse_rows(value, dims, part.dims);
  } else if (part.dims.size() > 1) {
    value.fail("is not a list of rows such as [[4096, 4096], [11008, 4096]]");
  } else if (value.json().is_object()) {
    part.numbers = parse_range(value, dims, part.dims[0]);
  } else {
    part.numbers = NumberRows{{number_of(value, dims, part.dims[0])}};
  }
  return part;
}

DrawnShape parse_shape(const DocumentNode& node, const space::Dimensions& dims) {
  node.expect_keys({"weight", "doc", "dims"});
  if (const auto doc = node.find("doc")) static_cast<void>(doc->text());
  DrawnShape shape;
  if (const auto weight = node.find("weight")) {
    shape.weight = weight->number();
    if (shape.weight <= 0) weight->fail("is not positive: leave out a shape that is not to count");
  }
  const DocumentNode drawn = node.at("dims");
  if (!drawn.json().is_object()) drawn.fail(R"(is not an object such as {"M": [1, 16]})");
  std::vector<bool> named(dims.size());
  for (const auto& item : drawn.json().items()) {
    ShapePart part = parse_part(drawn, item.key(), dims);
    for (const std::size_t place : part.dims) {
      if (named[place]) drawn.fail(fmt::format("names {} twice", dims[place].name));
      named[place] = true;
    }
    shape.parts.push_back(std::move(part));
  }
  for (std::size_t i = 0; i < dims.required(); ++i) {
    if (!named[i]) drawn.fail(fmt::format("does not say what {} is", dims[i].name));
  }
  return shape;
}

}  // namespace

/// The random numbers are not those of <random>'s distributions, which differ between libraries.
class SizeDistribution::Drawing {
 public:
  Drawing(const SizeDistribution& distribution, std::uint64_t seed)
      : distribution_(distribution), random_(seed) {
    for (const DrawnShape& shape : distribution.shapes_) weight_ += shape.weight;
  }

  space::Size size() {
    constexpr int kMostInARow = 1000;
    std::string why;
    for (int i = 0; i < kMostInARow; ++i) {
      auto size = distribution_.dims_.complete(numbers(shape()));
      if (size) return *std::move(size);
      why = std::move(size.error());
    }
    throw Error(ErrorCode::usage,
                fmt::format("{}: of {} sizes drawn one after the other none is allowed; the last: "
                            "{}",
                            distribution_.origin_, kMostInARow, why));
  }

 private:
  /// From 0 on, below 1.
  double fraction() { return static_cast<double>(random_() >> 11U) * 0x1p-53; }

  const DrawnShape& shape() {
    double at = fraction() * weight_;
    for (const DrawnShape& shape : distribution_.shapes_) {
      if (at < shape.weight) return shape;
      at -= shape.weight;
    }
    return distribution_.shapes_.back();
  }

  std::int64_t number(const NumberRange& range) {
    const auto low = static_cast<double>((range.low + range.multiple_of - 1) / range.multiple_of);
    const auto high = static_cast<double>(range.high / range.multiple_of);
    const double at = fraction();
    const double drawn = range.scale == Scale::uniform
                             ? low + at * (high - low + 1)
                             : std::exp(std::log(low) + at * std::log((high + 1) / low));
    return static_cast<std::int64_t>(std::clamp(std::floor(drawn), low, high)) * range.multiple_of;
  }

  std::vector<std::optional<std::int64_t>> numbers(const DrawnShape& shape) {
    std::vector<std::optional<std::int64_t>> drawn(distribution_.dims_.size());
    for (const ShapePart& part : shape.parts) {
      if (const auto* const range = std::get_if<NumberRange>(&part.numbers)) {
        drawn[part.dims[0]] = number(*range);
        continue;
      }
      const auto& rows = std::get<NumberRows>(part.numbers);
      const auto row = static_cast<std::size_t>(fraction() * static_cast<double>(rows.size()));
      for (std::size_t i = 0; i < part.dims.size(); ++i) drawn[part.dims[i]] = rows[row][i];
    }
    return drawn;
  }

  const SizeDistribution& distribution_;
  std::mt19937_64 random_;
  double weight_ = 0;
};

std::vector<WeightedSize> SizeDistribution::draw(std::size_t count, std::uint64_t seed) const {
  constexpr std::size_t kMostDraws = 20;  // for each size: a distribution may have few
  Drawing drawing(*this, seed);
  std::vector<WeightedSize> sizes;
  for (std::size_t draws = 0; draws < kMostDraws * count && sizes.size() < count; ++draws) {
    space::Size size = drawing.size();
    const auto known = std::ranges::find(sizes, size, &WeightedSize::size);
    if (known == sizes.end()) {
      sizes.push_back({.size = std::move(size)});
    } else {
      ++known->weight;
    }
  }
  return sizes;
}

SizeDistribution parse_distribution(std::string_view text, std::string_view origin,
                                    const Family& family) {
  const Json json = parse_json(text, origin);
  const DocumentNode root(json, std::string(origin));
  const DocumentNode format = root.at("format");
  if (format.text() != kDistributionFormat) {
    format.fail(fmt::format("is {}, but a distribution is of format \"{}\"",
                            in_quotes(format.text()), kDistributionFormat));
  }
  root.expect_keys({"$schema", "format", "family", "doc", "shapes"});
  if (const auto doc = root.find("doc")) static_cast<void>(doc->text());
  const DocumentNode of = root.at("family");
  if (of.name() != family.name) {
    of.fail(fmt::format("these are sizes of '{}', but {} is the family '{}'", of.name(),
                        family.path, family.name));
  }
  std::vector<DrawnShape> shapes;
  for (const DocumentNode& node : root.at("shapes").elements(1, kMostShapes)) {
    shapes.push_back(parse_shape(node, family.problem.dims));
  }
  return {std::string(origin), family.problem.dims, std::move(shapes)};
}

SizeDistribution load_distribution(const std::filesystem::path& path, const Family& family) {
  return parse_distribution(read_file(path, kMostBytes), path.string(), family);
}

}  // namespace tuner::family
