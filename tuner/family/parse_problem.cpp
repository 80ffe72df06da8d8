// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/file_errors.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/family/fill_traits.hpp"
#include "tuner/family/law.hpp"
#include "tuner/family/parse.hpp"
#include "tuner/source/parameter_type.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

namespace tuner::family {
namespace {

constexpr std::size_t kMaximumSizes = 1000;
constexpr std::size_t kMaximumArguments = 64;

constexpr std::string_view kArraySuffix = "[]";

/// The type of a number or of an argument's elements.
ElementType parse_type(const DocumentNode& node, std::string_view name) {
  if (const auto type = element_type_from_name(name)) return *type;
  std::vector<std::string> known;
  for (const ElementType type : kElementTypes) {
    known.emplace_back(row(type).name);
    if (row(type).short_name != row(type).name) known.emplace_back(row(type).short_name);
  }
  if (const auto vector = source::vector_type(name)) {
    node.fail(fmt::format(
        "no type is {}: write \"{}*\", a \"count\" of {} for each, and \"align\": {}; by value "
        "\"{}[]\"",
        in_quotes(name), row(vector->element).name, vector->width, vector->align_bytes,
        row(vector->element).name));
  }
  node.fail(fmt::format("unknown type {}{}; a buffer's type ends in *, an array's in []",
                        in_quotes(name),
                        name == "bool" ? " (write u8)" : did_you_mean(name, known)));
}

BufferRole parse_role(const DocumentNode& node) {
  const std::string role = node.text();
  if (role == "input") return BufferRole::input;
  if (role == "output") return BufferRole::output;
  if (role == "inout") return BufferRole::inout;
  const std::vector<std::string> known = {"input", "output", "inout"};
  node.fail(fmt::format("unknown role {}{}", in_quotes(role), did_you_mean(role, known)));
}

InitialContent parse_initial(const DocumentNode& node, BufferRole role) {
  if (!node.json().is_string()) node.fail(R"(must be "poison", "zero" or "input")");
  const std::string initial = node.text();
  if (role == BufferRole::input) {
    node.fail(
        "is the content of an output before a launch; the content of an input is its \"fill\"");
  }
  if (initial == "input") return InitialContent::input;
  if (role == BufferRole::inout) {
    node.fail("must be \"input\" or left out: an inout buffer holds input before each launch");
  }
  if (initial == "zero") return InitialContent::zero;
  if (initial == "poison") return InitialContent::poison;
  const std::vector<std::string> known = {"poison", "zero", "input"};
  node.fail(fmt::format("unknown content {}{}", in_quotes(initial), did_you_mean(initial, known)));
}

InputFill parse_named_fill(const DocumentNode& node) {
  const std::string name = node.text();
  std::vector<std::string> known;
  InputFill fill;
  for (const FillTraits& each : kFills) {
    if (each.word.empty()) continue;
    if (each.word == name) fill.kind = each.kind;
    known.emplace_back(each.word);
  }
  if (std::ranges::count(known, name) > 0) return fill;
  node.fail(fmt::format(
      "unknown fill {}{}; others are objects: {{\"integers\": [LOW, HIGH]}}, {{\"uniform\": [LOW, "
      "HIGH]}}, {{\"constant\": "
      "NUMBER}}, {{\"values\": [NUMBER, …]}}, {{\"csr_offsets\": ENTRIES}}, {{\"copy\": "
      "ARGUMENT}}, {{\"npy\": FILE}}",
      in_quotes(name), did_you_mean(name, known)));
}

/// The type of elements, or a name of the problem's types: "${A}".
TypeOf parse_element_type(const DocumentNode& node, std::string_view text,
                          const space::Dimensions& dims) {
  if (!text.starts_with("${") || !text.ends_with('}')) return parse_type(node, text);
  const std::string_view name = text.substr(2, text.size() - 3);
  if (auto type = type_named(dims, name)) return *std::move(type);
  std::vector<std::string> known;
  for (const space::Dimension& dimension : dims) {
    for (const auto& [each, types] : dimension.types) known.push_back(each);
  }
  node.fail(known.empty()
                ? fmt::format("{}: the problem has no dimension of \"types\"", in_quotes(text))
                : fmt::format("no type of the problem is named {}{}", in_quotes(name),
                              did_you_mean(name, known)));
}

/// The number that a text such as "0.5" or "1e-5" is; none where it is an expression.
std::optional<double> decimal_fraction(const DocumentNode& node) {
  if (node.json().is_number_float()) return node.number();
  if (!node.json().is_string()) return std::nullopt;
  const auto& text = node.json().get_ref<const std::string&>();
  if (text.find_first_of(".eE") == std::string::npos) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole_text = error == std::errc() && end == text.data() + text.size();
  return whole_text && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// Fails where elements of one of the types cannot hold the number.
void check_held(const DocumentNode& node, const TypeOf& type, double number) {
  for (const ElementType each : type.all()) {
    if (is_floating(each)) continue;
    const auto [least, greatest] = integer_range(each);
    if (number != std::floor(number)) {
      node.fail(fmt::format("has a fraction; the elements are of type '{}'", name(each)));
    }
    if (number < static_cast<double>(least) || number > static_cast<double>(greatest)) {
      node.fail(fmt::format("is {}; elements of type '{}' are from {} to {}", number, name(each),
                            least, greatest));
    }
  }
}

/// A number of elements of the type, or an expression of the dimensions.
space::Expression parse_whole(const DocumentNode& node, const TypeOf& type,
                              const space::Scope& scope) {
  space::Expression whole = family_expression(node, scope);
  if (whole.slots().empty()) {
    if (const auto number = whole.evaluate({})) {
      check_held(node, type, static_cast<double>(*number));
    }
  }
  return whole;
}

InputFill parse_integers(const DocumentNode& node, const TypeOf& type, const space::Scope& scope) {
  const auto bounds = node.elements(2, 2);
  InputFill fill{.kind = FillKind::integers,
                 .low = parse_whole(bounds[0], type, scope),
                 .high = parse_whole(bounds[1], type, scope)};
  if (fill.low.slots().empty() && fill.high.slots().empty()) {
    const auto low = fill.low.evaluate({}), high = fill.high.evaluate({});
    if (low && high && *low > *high) node.fail("must be [LOW, HIGH], LOW not above HIGH");
  }
  return fill;
}

InputFill parse_values(const DocumentNode& node, const TypeOf& type, const space::Scope& scope) {
  constexpr std::size_t kMost = 4096;
  InputFill fill{.kind = FillKind::values};
  for (const DocumentNode& each : node.elements(1, kMost)) {
    const auto real = decimal_fraction(each);
    if (real) check_held(each, type, *real);
    fill.values.push_back(real ? FillValue{.real = real}
                               : FillValue{.whole = parse_whole(each, type, scope)});
  }
  return fill;
}

InputFill parse_between(const DocumentNode& node, const TypeOf& type) {
  const auto bounds = node.elements(2, 2);
  InputFill fill;
  fill.kind = FillKind::between;
  fill.least = bounds[0].number();
  fill.most = bounds[1].number();
  if (fill.least >= fill.most) node.fail("must be [LOW, HIGH], LOW below HIGH");
  for (const ElementType each : type.all()) {
    if (is_floating(each)) continue;
    node.fail(
        fmt::format("has no meaning for elements of type '{}': write \"integers\"", name(each)));
  }
  return fill;
}

InputFill parse_fill(const DocumentNode& node, const TypeOf& type, const space::Scope& scope) {
  if (node.json().is_string()) return parse_named_fill(node);
  for (const FillTraits& each : kFills) {
    if (each.word.empty() || each.kind == FillKind::uniform) continue;
    if (node.json().is_object() && node.json().contains(each.word)) {
      node.fail(fmt::format("must not be an object: write \"fill\": \"{}\"; it has no bounds",
                            each.word));
    }
  }
  node.expect_keys({"integers", "uniform", "constant", "values", "csr_offsets", "copy", "npy"});
  if (node.json().size() != 1) {
    node.fail(
        "must have exactly one key: integers, uniform, constant, values, csr_offsets, copy or npy");
  }
  InputFill fill;
  if (const auto integers = node.find("integers")) return parse_integers(*integers, type, scope);
  if (const auto bounds = node.find("uniform")) return parse_between(*bounds, type);
  if (const auto values = node.find("values")) return parse_values(*values, type, scope);
  if (const auto constant = node.find("constant")) {
    fill.kind = FillKind::constant;
    fill.value = constant->number();
    check_held(*constant, type, fill.value);
  } else if (const auto offsets = node.find("csr_offsets")) {
    fill.kind = FillKind::csr_offsets;
    fill.high = family_expression(*offsets, scope);
  } else if (const auto copy = node.find("copy")) {
    fill.kind = FillKind::copy;
    fill.source = copy->name();
  } else {
    fill.kind = FillKind::npy;
    fill.source = node.at("npy").text();
  }
  return fill;
}

/// Which laws no check draws the numbers by, and why.
void parse_laws(const DocumentNode& node, InputFill& fill) {
  node.expect_keys({"exclude", "reason"});
  fill.exclusion_reason = node.at("reason").text();
  if (fill.exclusion_reason.empty())
    node.at("reason").fail("is empty: say what the laws would break");
  std::vector<std::string> known;
  for (const Law law : all_laws()) known.emplace_back(name(law));
  for (const DocumentNode& excluded : node.at("exclude").elements(0, known.size())) {
    const std::string text = excluded.text();
    const auto found = law(text);
    if (!found) {
      excluded.fail(fmt::format("unknown law {}{}", in_quotes(text), did_you_mean(text, known)));
    }
    fill.excluded_laws.push_back(*found);
  }
}

BufferArgument parse_buffer(const DocumentNode& node, const space::Dimensions& dims,
                            const space::Scope& scope) {
  node.expect_keys({"name", "type", "count", "offset", "align", "role", "initial", "fill", "laws",
                    "order", "valid", "tolerance"});
  BufferArgument buffer{.type = parse_buffer_type(node.at("type"), dims),
                        .count = family_expression(node.at("count"), scope)};
  if (const auto offset = node.find("offset")) buffer.offset = family_expression(*offset, scope);
  if (const auto align = node.find("align")) buffer.align = family_expression(*align, scope);
  if (const auto role = node.find("role")) buffer.role = parse_role(*role);
  if (buffer.role == BufferRole::inout) buffer.initial = InitialContent::input;
  if (const auto initial = node.find("initial")) {
    buffer.initial = parse_initial(*initial, buffer.role);
  }
  if (const auto fill = node.find("fill")) {
    if (buffer.role == BufferRole::output && buffer.initial != InitialContent::input) {
      fill->fail(R"(is never used: an output holds its fill only with "initial": "input")");
    }
    buffer.fill = parse_fill(*fill, buffer.type, scope);
  }
  if (const auto laws = node.find("laws")) {
    if (buffer.is_written() && buffer.initial != InitialContent::input) {
      laws->fail("are of inputs: this output holds nothing that a launch reads");
    }
    parse_laws(*laws, buffer.fill);
  }
  if (const auto tolerance = node.find("tolerance")) {
    if (!buffer.is_written()) tolerance->fail("is of an output: nothing is written to an input");
    buffer.tolerance = parse_tolerance(*tolerance);
  }
  return buffer;
}

/// The name of a variable, with its namespaces.
std::string parse_symbol(const DocumentNode& node) {
  std::string text = node.text();
  std::string_view rest = text;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = rest.find("::");
    if (!space::is_word(rest.substr(0, end))) {
      node.fail(
          fmt::format("{} is not the name of a variable, such as \"weights\" or "
                      "\"detail::weights\"",
                      in_quotes(text)));
    }
    if (end != std::string_view::npos) rest.remove_prefix(end + 2);
  }
  return text;
}

ArrayArgument parse_array(const DocumentNode& node, const space::Dimensions& dims,
                          const space::Scope& scope) {
  const DocumentNode type = node.at("type");
  const std::string text = type.text();
  const std::string_view element = std::string_view(text).substr(0, text.rfind(kArraySuffix));
  ArrayArgument array{.type = parse_element_type(type, element, dims)};
  if (const auto role = node.find("role")) {
    role->fail(
        fmt::format("an array by value is always an input: remove the role, or make the argument a "
                    "buffer, \"{}*\"",
                    element));
  }
  if (const auto offset = node.find("offset")) {
    offset->fail(fmt::format(
        "an array by value has no offset: remove it, or make the argument a buffer, \"{}*\"",
        element));
  }
  if (const auto align = node.find("align")) {
    align->fail(
        fmt::format("an array by value is aligned by the compiler: remove the alignment, or make "
                    "the argument a buffer, \"{}*\"",
                    element));
  }
  node.expect_keys({"name", "type", "count", "fill", "laws", "symbol"});
  array.count = family_expression(node.at("count"), scope);
  if (const auto fill = node.find("fill")) array.fill = parse_fill(*fill, array.type, scope);
  if (const auto laws = node.find("laws")) parse_laws(*laws, array.fill);
  if (const auto symbol = node.find("symbol")) array.symbol = parse_symbol(*symbol);
  return array;
}

Argument parse_argument(const DocumentNode& node, const space::Dimensions& dims,
                        const space::Scope& scope) {
  const std::string type = node.at("type").text();
  const auto what = [&]() -> decltype(Argument::what) {
    if (type.ends_with('*')) return parse_buffer(node, dims, scope);
    if (type.ends_with(kArraySuffix)) return parse_array(node, dims, scope);
    return parse_scalar(node, dims,
                        [&](const DocumentNode& value) { return family_expression(value, scope); });
  };
  auto parsed = what();
  return {.name = node.at("name").name(), .what = std::move(parsed)};
}

bool is_output(const Argument& argument) {
  const auto* buffer = std::get_if<BufferArgument>(&argument.what);
  return buffer != nullptr && buffer->is_written();
}

const InputFill* fill_of(const Argument& argument) {
  if (const auto* buffer = std::get_if<BufferArgument>(&argument.what)) return &buffer->fill;
  if (const auto* array = std::get_if<ArrayArgument>(&argument.what)) return &array->fill;
  return nullptr;
}

/// Of a buffer's or an array's elements.
std::optional<TypeOf> element_type(const Argument& argument) {
  if (const auto* buffer = std::get_if<BufferArgument>(&argument.what)) return buffer->type;
  if (const auto* array = std::get_if<ArrayArgument>(&argument.what)) return array->type;
  return std::nullopt;
}

/// Fails unless the argument that is copied is a buffer or an array of such elements, before it.
void check_copy(const DocumentNode& node, const std::vector<Argument>& before,
                const Argument& argument) {
  const InputFill* const fill = fill_of(argument);
  if (fill == nullptr || fill->kind != FillKind::copy) return;
  const std::optional<TypeOf> type = element_type(argument);
  for (const Argument& each : before) {
    if (each.name == fill->source && element_type(each) == type) return;
  }
  node.at("fill").fail(fmt::format(
      "no buffer or array before this argument is named {} and has elements of type '{}'",
      in_quotes(fill->source), type->text()));
}

/// What of a launch at a size is divided by its time.
space::Expression parse_work(const DocumentNode& node, std::string_view key, std::string_view what,
                             const space::Scope& scope) {
  const auto found = node.find(key);
  if (!found) {
    node.fail(
        fmt::format("the key \"{0}\" is missing: write the {1} at a size, for the rate, such "
                    "as \"{0}\": \"2*N\", or 0",
                    key, what));
  }
  return family_expression(*found, scope);
}

void parse_bytes(const DocumentNode& node, const space::Scope& scope, Problem& problem) {
  const auto found = node.find("bytes");
  problem.moves_all_bytes = !found || !found->json().is_object();
  if (problem.moves_all_bytes) {
    problem.bytes = parse_work(node, "bytes", "bytes read and written", scope);
    return;
  }
  found->expect_keys({"at_most"});
  problem.bytes = family_expression(found->at("at_most"), scope);
}

}  // namespace

ScalarArgument parse_scalar(
    const DocumentNode& node, const space::Dimensions& dims,
    const std::function<space::Expression(const DocumentNode&)>& expression) {
  node.expect_keys({"name", "type", "value"});
  const DocumentNode type = node.at("type");
  ScalarArgument scalar{.type = parse_element_type(type, type.text(), dims)};
  for (const ElementType each : scalar.type.all()) {
    if (is_scalar_type(each)) continue;
    type.fail(
        fmt::format("numbers passed by value cannot be of type {}: let the kernel take a "
                    "float and convert it",
                    in_quotes(name(each))));
  }
  const DocumentNode value = node.at("value");
  if (const auto real = decimal_fraction(value)) {
    for (const ElementType each : scalar.type.all()) {
      if (is_floating(each)) continue;
      value.fail(
          fmt::format("has a fraction; an argument of type '{}' is a whole number", name(each)));
    }
    scalar.real = real;
  } else {
    scalar.value = expression(value);
  }
  return scalar;
}

TypeOf parse_floating_type(const DocumentNode& node, const space::Dimensions& dims) {
  const std::string text = node.text();
  TypeOf type = parse_element_type(node, text, dims);
  for (const ElementType each : type.all()) {
    if (!is_floating(each)) node.fail(fmt::format("{} is no floating-point type", in_quotes(text)));
  }
  return type;
}

TypeOf parse_buffer_type(const DocumentNode& node, const space::Dimensions& dims) {
  const std::string type = node.text();
  if (type.ends_with('*')) {
    return parse_element_type(node, std::string_view(type).substr(0, type.size() - 1), dims);
  }
  node.fail(fmt::format("{} must end in *: it is the type of a buffer", in_quotes(type)));
}

space::Expression family_expression(const DocumentNode& node, const space::Scope& scope) {
  space::Expression expression = node.expression(scope);
  if (!expression.slots().empty() &&
      expression.slots().front() < space::attribute_fields().size()) {
    node.fail(
        "uses a device attribute (dev.…): a family's expressions may use only its dimensions");
  }
  return expression;
}

std::vector<space::Size> parse_sizes(const DocumentNode& node, const space::Dimensions& dims) {
  std::vector<space::Size> sizes;
  for (const DocumentNode& element : node.elements(1, kMaximumSizes)) {
    sizes.push_back(space::size_from_json(element.json(), dims, element.where()));
  }
  return sizes;
}

Problem parse_problem(const DocumentNode& node) {
  Problem problem;
  ErrorCollector errors;
  errors.attempt([&] { node.expect_keys({"dims", "constraints", "flops", "bytes", "sizes"}); });
  errors.attempt([&] {
    problem.dims = space::parse_dimensions(node.json(), node.where());
    const space::Scope scope = space::family_scope(problem.dims);
    errors.attempt(
        [&] { problem.flops = parse_work(node, "flops", "floating-point operations", scope); });
    errors.attempt([&] { parse_bytes(node, scope, problem); });
    const auto sizes = node.find("sizes");
    if (!sizes) return;
    for (const auto& [name, list] : sizes->named_members()) {
      errors.attempt([&] { problem.sizes.emplace(name, parse_sizes(list, problem.dims)); });
    }
  });
  errors.throw_any();
  return problem;
}

std::vector<Argument> parse_arguments(const DocumentNode& node, const Problem& problem) {
  const space::Scope scope = space::family_scope(problem.dims);
  std::vector<Argument> arguments;
  std::set<std::string> names;
  const std::vector<DocumentNode> elements = node.elements(1, kMaximumArguments);
  ErrorCollector errors;
  for (const DocumentNode& element : elements) {
    errors.attempt([&] {
      Argument argument = parse_argument(element, problem.dims, scope);
      check_copy(element, arguments, argument);
      arguments.push_back(std::move(argument));
      const std::string& name = arguments.back().name;
      if (!names.insert(name).second) {
        element.fail(fmt::format("the argument '{}' appears twice", name));
      }
    });
  }
  errors.throw_any();
  parse_orders(elements, scope, arguments);
  if (std::none_of(arguments.begin(), arguments.end(), is_output)) {
    node.fail(
        "no argument is an output: give the buffer that the kernel writes \"role\": \"output\", or "
        "\"inout\" where it updates it in place, otherwise there is nothing to verify");
  }
  return arguments;
}

}  // namespace tuner::family
