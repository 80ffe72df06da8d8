// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/suggest.hpp"
#include "tuner/family/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace tuner {
namespace {

constexpr std::size_t kMaximumCases = 64;

/// Looks arguments up by name for whoever refers to them.
class ArgumentFinder {
 public:
  explicit ArgumentFinder(const std::vector<Argument>& arguments) : arguments_(arguments) {}

  [[nodiscard]] const Argument& find(const DocumentNode& node, std::string_view name) const {
    const auto found = std::find_if(arguments_.begin(), arguments_.end(),
                                    [&](const Argument& each) { return each.name == name; });
    if (found != arguments_.end()) return *found;
    std::vector<std::string> known;
    for (const Argument& each : arguments_) known.push_back(each.name);
    node.fail(fmt::format("no argument is named {}{}", in_quotes(name), did_you_mean(name, known)));
  }

  [[nodiscard]] const BufferArgument& buffer(const DocumentNode& node, BufferRole role) const {
    const Argument& argument = find(node, node.text());
    const auto* buffer = std::get_if<BufferArgument>(&argument.what);
    if (buffer == nullptr || buffer->role != role) {
      node.fail(fmt::format("must name an {} buffer; '{}' is none",
                            role == BufferRole::output ? "output" : "input", argument.name));
    }
    return *buffer;
  }

  [[nodiscard]] const ScalarArgument& scalar(const DocumentNode& node,
                                             std::string_view name) const {
    const Argument& argument = find(node, name);
    const auto* scalar = std::get_if<ScalarArgument>(&argument.what);
    if (scalar == nullptr) {
      node.fail(fmt::format("must name a by-value argument; '{}' is a buffer", argument.name));
    }
    return *scalar;
  }

 private:
  const std::vector<Argument>& arguments_;
};

std::string parse_factor(const DocumentNode& reference, std::string_view key,
                         const ArgumentFinder& finder) {
  const auto node = reference.find(key);
  if (!node) return "";
  std::string name = node->text();
  static_cast<void>(finder.scalar(*node, name));
  return name;
}

GemmReference parse_gemm(const DocumentNode& node, const Scope& scope,
                         const ArgumentFinder& finder) {
  node.expect_keys({"op", "m", "n", "k", "a", "b", "c", "alpha", "beta"});
  const ElementType a = finder.buffer(node.at("a"), BufferRole::input).type;
  const ElementType b = finder.buffer(node.at("b"), BufferRole::input).type;
  const ElementType c = finder.buffer(node.at("c"), BufferRole::output).type;
  if (a != b || b != c || (a != ElementType::f32 && a != ElementType::f64)) {
    node.fail("the buffers a, b and c of \"gemm\" must be all float* or all double*");
  }
  GemmReference gemm;
  gemm.m = family_expression(node.at("m"), scope);
  gemm.n = family_expression(node.at("n"), scope);
  gemm.k = family_expression(node.at("k"), scope);
  gemm.a = node.at("a").text();
  gemm.b = node.at("b").text();
  gemm.c = node.at("c").text();
  gemm.alpha = parse_factor(node, "alpha", finder);
  gemm.beta = parse_factor(node, "beta", finder);
  return gemm;
}

std::variant<GemmReference, KernelReference> parse_reference(const DocumentNode& node,
                                                             const Scope& scope,
                                                             const ArgumentFinder& finder) {
  if (const auto kernel = node.find("kernel")) {
    node.expect_keys({"kernel"});
    return KernelReference{kernel->name()};
  }
  const DocumentNode op = node.at("op");
  const std::string name = op.text();
  if (name == "gemm") return parse_gemm(node, scope, finder);
  const std::vector<std::string> known = {"gemm"};
  op.fail(
      fmt::format("unknown operation {}{}; for another computation name a kernel of this "
                  "family that is known to be right: {{\"kernel\": NAME}}",
                  in_quotes(name), did_you_mean(name, known)));
}

template <class T>
std::pair<std::int64_t, std::int64_t> limits_of() {
  return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
}

/// The least and the greatest integer that an argument can be set to.
std::pair<std::int64_t, std::int64_t> limits(ElementType type) {
  switch (type) {
    case ElementType::i32:
      return limits_of<std::int32_t>();
    case ElementType::u32:
      return limits_of<std::uint32_t>();
    case ElementType::i64:
    case ElementType::f32:
    case ElementType::f64:
      break;
  }
  return limits_of<std::int64_t>();
}

CheckCase parse_case(const DocumentNode& node, const ArgumentFinder& finder) {
  node.expect_keys({"set", "reads", "why"});
  CheckCase result;
  for (const auto& [name, value] : node.at("set").named_members()) {
    const ElementType type = finder.scalar(value, name).type;
    const auto [least, greatest] = limits(type);
    result.set.emplace(name, value.integer(least, greatest));
  }
  if (const auto reads = node.find("reads")) {
    for (const DocumentNode& output : reads->elements(0, kMaximumCases)) {
      static_cast<void>(finder.buffer(output, BufferRole::output));
      result.reads.push_back(output.text());
    }
  }
  if (const auto why = node.find("why")) result.why = why->text();
  return result;
}

}  // namespace

Check parse_check(const DocumentNode& node, const Problem& problem,
                  const std::vector<Argument>& arguments) {
  node.expect_keys({"reference", "accumulates", "sizes", "cases"});
  const Scope scope = family_scope(problem.dims);
  const ArgumentFinder finder(arguments);
  Check check;
  check.reference = parse_reference(node.at("reference"), scope, finder);
  if (const auto accumulates = node.find("accumulates")) {
    check.accumulates = family_expression(*accumulates, scope);
  }
  if (const auto sizes = node.find("sizes")) {
    check.sizes = parse_check_sizes(*sizes, problem.dims, scope);
  }
  if (const auto cases = node.find("cases")) {
    for (const DocumentNode& each : cases->elements(0, kMaximumCases)) {
      check.cases.push_back(parse_case(each, finder));
    }
  }
  return check;
}

}  // namespace tuner
