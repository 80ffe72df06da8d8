// SPDX-License-Identifier: Apache-2.0
// Enumeration against brute force.
#include "support.hpp"
#include "tuner/space/enumeration.hpp"
#include "tuner/space/rules.hpp"
#include "tuner/space/shared_diagrams.hpp"
#include "tuner/space/space.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <random>

namespace tuner::space {
namespace {

/// Builds small spaces of random parameters, derived values, `when` and constraints.
class RandomSpace {
 public:
  explicit RandomSpace(unsigned seed, std::vector<std::string> dims = {})
      : random_(seed), dims_(std::move(dims)) {}

  Json make() {
    Json kernel = Json::object();
    for (int i = 0; i < 5; ++i) kernel["parameters"][fmt::format("P{}", i)] = parameter(i);
    kernel["derived"]["D"] = fmt::format("{} {} {}", operand(5), pick(kArithmetic), operand(5));
    kernel["derived"]["E"] = fmt::format("D * {} - {}", operand(5), operand(5));
    for (int i = pick(5); i > 0; --i) {
      kernel["constraints"].push_back({{"expr", condition()}, {"why", "random"}});
    }
    return kernel;
  }

 private:
  static constexpr std::array kArithmetic = {"+", "-", "*", "//", "%", "/"};
  static constexpr std::array kComparison = {"<", "<=", "!=", "==", ">"};
  static constexpr std::array kFunctions = {"min", "max", "ceil_div", "align_up"};
  static constexpr std::array kLogic = {"and", "or", "&&", "||"};

  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  template <std::size_t N>
  const char* pick(const std::array<const char*, N>& list) {
    return list[random_() % N];
  }
  std::string operand(int parameters) {
    if (!dims_.empty() && pick(6) == 0) return dims_[random_() % dims_.size()];
    return pick(4) == 0 ? std::to_string(pick(5)) : fmt::format("P{}", pick(parameters));
  }
  /// Of many operands, for sums and products are computed in another order than they are written.
  std::string series(const char* operation) {
    std::string text = operand(5);
    for (int i = 2 + pick(3); i > 0; --i) text += fmt::format(" {} {}", operation, operand(5));
    return text;
  }
  std::string term() {
    switch (pick(12)) {
      case 0:
        return "D";
      case 1:
        return "E";
      case 2:
        return fmt::format("({})", series("*"));
      case 3:
        return fmt::format("({})", series(pick(2) == 0 ? "+" : "-"));
      case 4:
        return fmt::format("({} - {} * {})", operand(5), operand(5), series("*"));
      case 5:
        return fmt::format("{}({}, {})", pick(kFunctions), operand(5), series("+"));
      case 6:
        return fmt::format("({} ? {} : {})", comparison(), operand(5), operand(5));
      case 7:
        return fmt::format("(-abs({} - {}))", operand(5), operand(5));
      default:
        break;
    }
    return fmt::format("({} {} {})", operand(5), pick(kArithmetic), operand(5));
  }
  std::string comparison() {
    const std::string chain = pick(3) == 0 ? fmt::format(" {} {}", pick(kComparison), term()) : "";
    return fmt::format("{} {} {}{}", term(), pick(kComparison), term(), chain);
  }
  std::string condition() {
    if (pick(2) == 0) return comparison();
    if (pick(8) == 0) return fmt::format("not ({})", comparison());
    if (pick(8) == 0) return fmt::format("{} in [{}, 2, {}]", series("+"), operand(5), operand(5));
    return fmt::format("{} {} {}", comparison(), pick(kLogic), comparison());
  }
  Json parameter(int index) {
    const int first = -pick(3);
    Json json = {{"range", {first, first + pick(4), 1}}, {"default", first}};
    if (index > 0 && pick(3) == 0) {
      json["when"] = fmt::format("{} {} {}", operand(index), pick(kComparison), operand(index));
    }
    return json;
  }

  std::mt19937 random_;
  std::vector<std::string> dims_;
};

/// How the components of a space are enumerated when no rule is tabulated, as those with very many
/// combinations are not.
class Untabulated {
 public:
  explicit Untabulated(const SpaceDefinition& definition)
      : rules_(definition, attributes(), 1),
        impossible_(std::ranges::any_of(rules_.all(),
                                        [](const Rule& rule) { return rule.parameters == 0; })) {
    EnumerationLimits limits;
    for (const Component& component : components(rules_, definition.constraints.size())) {
      diagrams_.push_back(enumerate(rules_, component, limits));
    }
  }

  bool contains(const Config& config) const {
    return !impossible_ && std::ranges::all_of(diagrams_, [&](const Diagram& diagram) {
      return diagram.find(config).has_value();
    });
  }

 private:
  static ExpressionValues attributes() {
    ExpressionValues result;
    const DeviceAttributes device = h200();
    for (const AttributeField& field : attribute_fields()) result.push_back(device.*field.member);
    return result;
  }

  Rules rules_;
  bool impossible_;
  std::vector<Diagram> diagrams_;
};

TEST(Space, OfSeveralSizesShareWhatNoExtentInfluences) {
  const std::vector<Size> sizes = {{1, 0}, {3, 0}, {3, 1}, {7, 1}, {2, 0}, {3, 0}};
  const Dimensions dims({{.name = "N"}, {.name = "LAYOUT", .values = {0, 1}}}, {});
  std::uint64_t total = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const std::string kernel = RandomSpace(seed, {"N", "LAYOUT"}).make().dump();
    SCOPED_TRACE(kernel);
    const auto definition = parse(kernel, dims);
    SharedDiagrams shared;
    for (const Size& size : sizes) {
      const Space space(definition, h200(), size, shared);
      const Space alone(definition, h200(), size);
      std::uint64_t valid = 0;
      for (const Config& config : all_configs(*definition)) {
        const bool expected = space.canonical(config) == config && !space.violation(config);
        ASSERT_EQ(space.position(config).has_value(), expected)
            << canonical_json(*definition, config);
        if (!expected) continue;
        ++valid;
        ASSERT_EQ(space.position(config), alone.position(config)) << "it depends on other sizes";
      }
      ASSERT_EQ(space.size(), valid);
      total += valid;
    }
  }
  EXPECT_GT(total, 1000U) << "the random spaces are nearly all empty and show nothing";
}

TEST(Space, EqualsBruteForceOnRandomSpaces) {
  std::uint64_t total = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    const std::string kernel = RandomSpace(seed).make().dump();
    SCOPED_TRACE(kernel);
    const Space space = make_space(kernel);
    const Untabulated untabulated(space.definition());
    const std::vector<Config> all = all_configs(space.definition());
    std::vector<std::uint64_t> removed(space.definition().constraints.size());
    std::uint64_t collapsed = 0;
    std::uint64_t valid = 0;
    for (const Config& config : all) {
      const auto violation = space.violation(config);
      const bool duplicate = space.canonical(config) != config;
      if (duplicate) ++collapsed;
      if (!duplicate && violation) ++removed[violation->constraint];
      const bool expected = !duplicate && !violation;
      if (expected) ++valid;
      const auto position = space.position(config);
      ASSERT_EQ(position.has_value(), expected) << canonical_json(space.definition(), config);
      if (position) {
        ASSERT_EQ(space.at(*position), config);
      }
      ASSERT_EQ(untabulated.contains(config), expected)
          << canonical_json(space.definition(), config);
    }
    ASSERT_EQ(space.size(), valid);
    const Waterfall waterfall = space.waterfall();
    ASSERT_EQ(waterfall.cartesian, all.size());
    ASSERT_EQ(waterfall.collapsed, collapsed);
    for (std::size_t i = 0; i < removed.size(); ++i) {
      ASSERT_EQ(waterfall.steps[i].removed, removed[i]) << i;
    }
    total += valid;
  }
  EXPECT_GT(total, 1000U) << "the random spaces are nearly all empty and show nothing";
}

}  // namespace
}  // namespace tuner::space
