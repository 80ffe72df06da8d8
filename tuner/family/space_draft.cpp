// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/space_draft.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/family/element_type.hpp"
#include "tuner/source/parameter_type.hpp"
#include "tuner/source/signature.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace tuner::family {
namespace {

using Kind = source::Token::Kind;
constexpr std::size_t kMostDimensions = 3;  // further integers are more often strides

struct Macro {
  std::string name;
  int value = 0;
};

/// The macros of a source that are numbers.
struct Macros {
  std::vector<Macro> replaceable;  ///< by -D: #ifndef NAME, #define NAME NUMBER
  std::vector<Macro> fixed;        ///< #define NAME NUMBER alone
};

Macros macros(source::Tokens tokens) {
  Macros all;
  std::string guarded;
  for (const source::Token& token : tokens) {
    if (token.kind != Kind::directive) continue;
    const std::vector<source::Token> words = source::tokens_of(token.text.substr(1));
    if (words.size() == 2 && source::has_text(words[0], "ifndef")) guarded = words[1].text;
    if (words.size() != 3 || !source::has_text(words[0], "define")) continue;
    const auto value = source::number(words[2].text);
    if (!value || *value <= 0) continue;
    const std::string name(words[1].text);
    (name == guarded ? all.replaceable : all.fixed).push_back({name, *value});
  }
  return all;
}

/// The type of an element, and of how many of them the declared type is: float4 is four.
struct Element {
  ElementType type = ElementType::f32;
  int width = 1;
  int align_bytes = 1;  ///< beyond what the element needs
};

using Structs = std::map<std::string, Element, std::less<>>;

/// How many numbers `[4], y, z[2]` behind a member's first name make with it; none for what else
/// may stand there.
std::optional<int> numbers_declared(source::Tokens tokens) {
  constexpr int kMostExtent = 4096;
  int count = 1;
  for (std::size_t i = 0; i < tokens.size();) {
    if (source::has_text(tokens[i], ",") && i + 1 < tokens.size() &&
        tokens[i + 1].kind == Kind::word) {
      ++count;
      i += 2;
      continue;
    }
    const bool is_extent = source::has_text(tokens[i], "[") && i + 2 < tokens.size() &&
                           source::has_text(tokens[i + 2], "]");
    const int extent = is_extent ? source::number(tokens[i + 1].text).value_or(0) : 0;
    const bool is_last = i + 3 >= tokens.size() || source::has_text(tokens[i + 3], ",");
    if (extent < 1 || extent > kMostExtent || !is_last) return std::nullopt;
    count += extent - 1;
    i += 3;
  }
  return count;
}

/// The members between the braces of a struct, if they are numbers of one type; otherwise none.
std::optional<Element> members_of(source::Tokens tokens) {
  std::optional<Element> all;
  while (!tokens.empty()) {
    const auto place = [](auto found, source::Tokens of) {
      return static_cast<std::size_t>(found - of.begin());
    };
    const std::size_t end = place(std::ranges::find(tokens, ";", &source::Token::text), tokens);
    if (end == tokens.size()) return std::nullopt;
    const source::Tokens member = tokens.first(end);
    tokens = tokens.subspan(end + 1);
    const auto ends_name = [](const source::Token& it) {
      return source::has_text(it, ",") || source::has_text(it, "[");
    };
    const std::size_t first = place(std::ranges::find_if(member, ends_name), member);
    const auto type = source::parameter_type(member.first(first), {}, {});
    const auto count = numbers_declared(member.subspan(first));
    if (!type || type->is_pointer || first < 2 || !count) return std::nullopt;
    if (all && all->type != type->element) return std::nullopt;
    all = Element{.type = type->element, .width = (all ? all->width : 0) + *count};
  }
  return all;
}

/// The structs of numbers of one type that the source defines.
Structs structs(source::Tokens tokens) {
  Structs found;
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!source::has_text(tokens[i], "struct") || !source::has_text(tokens[i + 2], "{")) continue;
    std::size_t end = i + 3;  // their members have no braces
    while (end < tokens.size() && !source::has_text(tokens[end], "}") &&
           !source::has_text(tokens[end], "{"))
      ++end;
    if (end == tokens.size() || source::has_text(tokens[end], "{")) continue;
    if (const auto element = members_of(tokens.subspan(i + 3, end - i - 3))) {
      found.emplace(tokens[i + 1].text, *element);
    }
  }
  return found;
}

/// The draft, with a word for each part that the signature gives.
constexpr std::string_view kDraft =
    R"json(// A draft of `tune space init`, from the signature of {kernel} alone. It passes
// `tune space check`; lines below `TODO` are guesses. Every key: docs/reference/space-file.md.
{{
  "format": "space/1",
  "family": "{kernel}",
  "problem": {{
    // TODO: the numbers that a size consists of, in the order of --size.
    "dims": [{dims}],
    // TODO: floating-point operations of a launch, and bytes that must move.
    "flops": "{elements}",
    "bytes": "{bytes}",
    // TODO: sizes to tune. `cpu` is for machines without a GPU.
    "sizes": {{"default": [{large}], "cpu": [{small}]}}
  }},
  // In the order of the kernel's parameters. TODO: values of numbers; elements of buffers; roles:
  // input; output, if all of it is written and none of it read; inout, if it is updated in place.
  "arguments": [
{arguments}
  ],
  "check": {{
    // TODO: a plain kernel that is known to be right, or {{"op": "gemm", …}}. Until then results are
    // compared with those of the kernel itself with its default parameters.
    "reference": {{"kernel": "{kernel}_reference"}},
    // Awkward sizes: 1, primes, what is no multiple of a block.
    "sizes": [{awkward}]
  }},
  "kernels": {{
    "{kernel}": {{
      "source": "{source}",
      "entry": "{entry}",
      // TODO: the values to try. A search tries combinations of them.{fixed_todo}
      "parameters": {{
{parameters}
      }},
      // TODO: what a launch needs of its parameters and the device.
      "constraints": [
        {{"expr": "{block} <= dev.max_threads_per_block", "why": "device limit of threads per block"}}
      ],
      // TODO: blocks, and threads of a block: up to three numbers each{shared_todo}.
      "launch": {{"grid": [{grid}], "block": ["{block}"]{shared}}}
    }},
    "{kernel}_reference": {{
      "source": "{source}",
      "entry": "{default_entry}",
      "launch": {{"grid": [{default_grid}], "block": [{threads}]{default_shared}}}
    }}
  }}
}}
)json";

std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  });
  return text;
}

bool is_type_parameter(const source::Declared& one) {
  return one.type == std::vector<std::string>{"typename"} ||
         one.type == std::vector<std::string>{"class"};
}

bool names_a_block(const std::string& name) {
  constexpr std::array<std::string_view, 8> kNames = {"BLOCK",     "BLOCK_SIZE",   "BLOCKSIZE",
                                                      "BLOCK_DIM", "THREADS",      "NUM_THREADS",
                                                      "NTHREADS",  "BLOCK_THREADS"};
  return std::ranges::find(kNames, upper_case(name)) != kNames.end();
}

/// Without the branches that no compiler reads: of `#if 0`, and of `#ifdef NAME` where the source
/// defines no such macro and the compiler has none.
std::vector<source::Token> live_tokens(const std::vector<source::Token>& tokens) {
  std::set<std::string, std::less<>> defined;
  std::vector<bool> dead;  // of each open #if, whether its present branch is
  std::vector<source::Token> live;
  for (const source::Token& token : tokens) {
    if (token.kind != Kind::directive) {
      if (std::ranges::find(dead, true) == dead.end()) live.push_back(token);
      continue;
    }
    const std::vector<source::Token> words = source::tokens_of(token.text.substr(1));
    const std::string_view word = words.empty() ? "" : words[0].text;
    const std::string_view name = words.size() > 1 ? words[1].text : "";
    if (word == "ifdef") {
      dead.push_back(!name.starts_with("__") && !defined.contains(name));
    } else if (word == "if" || word == "ifndef") {
      dead.push_back(word == "if" && words.size() == 2 && name == "0");
    } else if (word == "endif" && !dead.empty()) {
      dead.pop_back();
    } else if ((word == "else" || word == "elif") && !dead.empty()) {
      dead.back() = false;
    } else if (word == "define") {
      defined.emplace(name);
    }
    live.push_back(token);
  }
  return live;
}

/// Writes the file for one kernel.
class Draft {
 public:
  Draft(source::Signature signature, Macros macros, Structs structs, std::string source)
      : kernel_(std::move(signature)),
        macros_(std::move(macros.replaceable)),
        fixed_(std::move(macros.fixed)),
        structs_(std::move(structs)),
        source_(std::move(source)) {
    for (const source::Declared& one : kernel_.of_template) {
      if (is_type_parameter(one)) types_.insert(one.name);
    }
    for (const source::Declared& one : kernel_.parameters) {
      const bool is_integer =
          one.pointers == 0 && !is_flag(one) && !struct_of(one) && !is_floating(element(one).type);
      if (is_integer && dims_.size() < kMostDimensions) {
        dims_.push_back(dimension(one.name));
      }
    }
    if (dims_.empty()) dims_.emplace_back("N");
    const bool is_parameter =
        std::ranges::any_of(kernel_.of_template,
                            [&](const source::Declared& one) {
                              return one.name == kernel_.bound && !is_type_parameter(one);
                            }) ||
        std::ranges::any_of(macros_, [&](const Macro& one) { return one.name == kernel_.bound; });
    if (is_parameter) block_ = kernel_.bound;
    for (const source::Declared& one : kernel_.of_template) {
      if (!is_type_parameter(one) && names_a_block(one.name) && block_.empty()) block_ = one.name;
    }
    for (const Macro& one : macros_) {
      if (names_a_block(one.name) && block_.empty()) block_ = one.name;
    }
  }

  [[nodiscard]] std::string text() const {
    return fmt::format(
        kDraft, fmt::arg("kernel", kernel_.name), fmt::arg("source", source_),
        fmt::arg("dims", fmt::format("\"{}\"", fmt::join(dims_, "\", \""))),
        fmt::arg("elements", elements()), fmt::arg("bytes", bytes()),
        fmt::arg("large", size_of(large_extent())), fmt::arg("small", size_of(small_extent())),
        fmt::arg("arguments", arguments()),
        fmt::arg("awkward", fmt::format("{}, {}", size_of(1), size_of(dims_.size() > 2 ? 7 : 37))),
        fmt::arg("entry", entry("${{{}}}")), fmt::arg("default_entry", entry("")),
        fmt::arg("parameters", parameters()), fmt::arg("fixed_todo", fixed_todo()),
        fmt::arg("block", block()), fmt::arg("grid", grid(block())),
        fmt::arg("default_grid", grid(std::to_string(default_threads()))),
        fmt::arg("threads", default_threads()), fmt::arg("shared", shared(block())),
        fmt::arg("default_shared", shared(std::to_string(default_threads()))),
        fmt::arg("shared_todo",
                 kernel_.dynamic_shared.empty() ? "" : "; bytes of extern __shared__ memory"));
  }

 private:
  [[nodiscard]] Element element(const source::Declared& one) const {
    std::string type = type_text(one);
    if (types_.contains(type)) type = "float";
    if (const auto record = struct_of(one)) return *record;
    constexpr std::array<std::pair<std::string_view, std::string_view>, 17> kOtherNames = {
        {{"unsigned int", "unsigned"},
         {"uint", "unsigned"},
         {"signed", "int"},
         {"int32_t", "int"},
         {"uint32_t", "unsigned"},
         {"long", "long long"},
         {"ptrdiff_t", "long long"},
         {"int64_t", "long long"},
         {"size_t", "unsigned long long"},
         {"unsigned long", "unsigned long long"},
         {"uint64_t", "unsigned long long"},
         {"uint8_t", "unsigned char"},
         {"int8_t", "signed char"},
         {"int16_t", "short"},
         {"uint16_t", "unsigned short"},
         {"bool", "unsigned char"},
         {"char", "signed char"}}};
    if (const auto known = element_type_from_name(type)) {
      if (one.pointers > 0 || is_scalar_type(*known)) return {*known, 1};
    }
    const auto* other =
        std::ranges::find(kOtherNames, type, &decltype(kOtherNames)::value_type::first);
    if (other != kOtherNames.end()) return {*element_type_from_name(other->second), 1};
    if (const auto vector = source::vector_type(type)) {
      return {vector->element, vector->width, vector->align_bytes};
    }
    throw Error(
        ErrorCode::usage,
        fmt::format(
            "{}: the parameter '{}' of {} is of type '{}', neither a type of a space file nor a "
            "struct of numbers of one type that this file defines. Draft with {} in its place; "
            "what a space file has for other structs is in docs/reference/types.md",
            source_, one.name, kernel_.name, type, one.pointers > 0 ? "float*" : "float"));
  }

  [[nodiscard]] static std::string type_text(const source::Declared& one) {
    std::string text = fmt::format("{}", fmt::join(one.type, " "));
    constexpr std::string_view kKey = "struct ";
    return text.starts_with(kKey) ? text.substr(kKey.size()) : text;
  }

  [[nodiscard]] std::optional<Element> struct_of(const source::Declared& one) const {
    const auto found = structs_.find(type_text(one));
    return found == structs_.end() ? std::nullopt : std::optional(found->second);
  }

  [[nodiscard]] std::string dimension(const std::string& name) const {
    std::string upper = upper_case(name);
    const auto is_taken = [&](const std::string& other) { return other == upper; };
    const bool is_parameter =
        std::ranges::any_of(kernel_.of_template, is_taken, &source::Declared::name) ||
        std::ranges::any_of(macros_, is_taken, &Macro::name) || upper == "THREADS" ||
        std::ranges::any_of(dims_, is_taken);
    return is_parameter ? upper + "_SIZE" : upper;
  }

  /// How macros that are numbers would become parameters.
  [[nodiscard]] std::string fixed_todo() const {
    if (fixed_.empty()) return "";
    std::vector<std::string> names;
    for (const Macro& one : fixed_) {
      const std::string name = fmt::format("{} = {}", one.name, one.value);
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    return fmt::format(
        R"(
      // Fixed in the source: {}. To make one a parameter, put `#ifndef {}` before
      // its #define and `#endif` after it, and draft again.)",
        fmt::join(names, ", "), fixed_.front().name);
  }

  [[nodiscard]] std::string block() const { return block_.empty() ? "THREADS" : block_; }

  [[nodiscard]] int default_threads() const {
    for (const Macro& one : macros_) {
      if (one.name == block_) return one.value;
    }
    return std::min(256, kernel_.most_threads);
  }

  [[nodiscard]] std::string elements() const { return fmt::format("{}", fmt::join(dims_, "*")); }

  /// Blocks for all elements: x runs over the last dimensions, y and z, where the kernel reads
  /// them, over those before. Too few blocks would leave out elements of the reference, too.
  [[nodiscard]] std::string grid(const std::string& threads) const {
    const std::size_t outer = std::min(kernel_.grid_axes, dims_.size()) - 1;
    const auto first_of_x = dims_.begin() + static_cast<std::ptrdiff_t>(outer);
    std::vector<std::string> axes = {
        fmt::format("\"ceil_div({}, {})\"", fmt::join(first_of_x, dims_.end(), "*"), threads)};
    for (std::size_t i = outer; i-- > 0;) axes.push_back(fmt::format("\"{}\"", dims_[i]));
    return fmt::format("{}", fmt::join(axes, ", "));
  }

  /// One element of extern __shared__ memory for each thread.
  [[nodiscard]] std::string shared(const std::string& threads) const {
    if (kernel_.dynamic_shared.empty()) return "";
    const auto type =
        element_type_from_name(fmt::format("{}", fmt::join(kernel_.dynamic_shared, " ")));
    return fmt::format(R"(, "dynamic_shared_bytes": "{}*{}")",
                       type ? element_bytes(*type) : sizeof(double), threads);
  }

  [[nodiscard]] std::string bytes() const {
    std::size_t bytes = 0;
    for (const source::Declared& one : kernel_.parameters) {
      if (one.pointers == 0) continue;
      const Element of = element(one);
      bytes += bytes_of(of.type, of.width) * (one.is_const ? 1 : 2);
    }
    return fmt::format("{}*{}", bytes, elements());
  }

  [[nodiscard]] int large_extent() const {
    return dims_.size() == 1 ? 1 << 24 : dims_.size() == 2 ? 4096 : 256;
  }
  [[nodiscard]] int small_extent() const {
    return dims_.size() == 1 ? 1 << 16 : dims_.size() == 2 ? 256 : 32;
  }
  [[nodiscard]] std::string size_of(int extent) const {
    return fmt::format("[{}]", fmt::join(std::vector(dims_.size(), extent), ", "));
  }

  [[nodiscard]] std::string argument(const source::Declared& one, std::size_t& dimension) const {
    const Element of = element(one);
    if (one.to_arrays) {
      throw Error(ErrorCode::usage,
                  fmt::format("{}: the parameter '{}' of {} points to arrays, which a space file "
                              "does not have: declare it as {}* and compute the places in it",
                              source_, one.name, kernel_.name, type_text(one)));
    }
    if (one.pointers > 1) {
      throw Error(ErrorCode::usage,
                  fmt::format("{}: the parameter '{}' of {} points to pointers, which a space file "
                              "does not have",
                              source_, one.name, kernel_.name));
    }
    if (one.pointers == 0 && (struct_of(one) || of.width > 1)) {
      // At random, sizes and offsets would lead the kernel anywhere.
      const std::vector<int> ones(static_cast<std::size_t>(of.width), 1);
      return fmt::format(R"(    {{"name": "{}", "type": "{}[]", "count": {}{}}})", one.name,
                         name(of.type), of.width,
                         is_floating(of.type) ? ""
                                              : fmt::format(R"(, "fill": {{"values": [{}]}})",
                                                            fmt::join(ones, ", ")));
    }
    if (one.pointers == 0) {
      const bool is_dimension = !is_floating(of.type) && !is_flag(one) && dimension < dims_.size();
      return fmt::format(R"(    {{"name": "{}", "type": "{}", "value": {}}})", one.name,
                         name(of.type),
                         is_dimension ? fmt::format("\"{}\"", dims_[dimension++]) : "1");
    }
    return fmt::format(R"(    {{"name": "{}", "type": "{}*", "count": "{}{}"{}{}{}}})", one.name,
                       name(of.type), of.width > 1 ? fmt::format("{}*", of.width) : "", elements(),
                       of.align_bytes > static_cast<int>(element_bytes(of.type))
                           ? fmt::format(R"(, "align": {})", of.align_bytes)
                           : "",
                       one.is_const ? "" : R"(, "role": "inout")",
                       is_flag(one) ? R"(, "fill": {"integers": [0, 1]})" : "");
  }

  [[nodiscard]] std::string arguments() const {
    std::vector<std::string> lines;
    std::size_t dimension = 0;
    for (const source::Declared& one : kernel_.parameters)
      lines.push_back(argument(one, dimension));
    return fmt::format("{}", fmt::join(lines, ",\n"));
  }

  /// The function with its template parameters: `pattern` of each name, or its default value.
  [[nodiscard]] std::string entry(std::string_view pattern) const {
    std::vector<std::string> values;
    const std::string threads = std::to_string(default_threads());
    for (const source::Declared& one : kernel_.of_template) {
      if (is_type_parameter(one)) {
        values.emplace_back("float");
      } else if (!pattern.empty()) {
        values.push_back(fmt::format(fmt::runtime(pattern), one.name));
      } else {
        values.push_back(one.name == block_ ? threads : is_flag(one) ? "false" : "1");
      }
    }
    const std::string path = kernel_.qualifier + kernel_.name;
    if (values.empty()) return path;
    return fmt::format("{}<{}>", path, fmt::join(values, ","));
  }

  [[nodiscard]] static bool is_flag(const source::Declared& one) {
    return one.type == std::vector<std::string>{"bool"};
  }

  [[nodiscard]] std::string block_parameter(std::string_view kind) const {
    return fmt::format(
        R"(        "{}": {{"pow2": [32, {}], "default": {}{}, "doc": "threads of a block"}})",
        block(), kernel_.most_threads, default_threads(), kind);
  }

  [[nodiscard]] std::string parameters() const {
    std::vector<std::string> lines;
    const std::string of_block = block_parameter("");
    if (block_.empty()) lines.push_back(block_parameter(R"(, "kind": "launch")"));
    for (const source::Declared& one : kernel_.of_template) {
      if (is_type_parameter(one)) continue;
      lines.push_back(
          one.name == block_ ? of_block
          : is_flag(one)
              ? fmt::format(R"(        "{}": {{"values": [false, true], "default": false}})",
                            one.name)
              : fmt::format(R"(        "{}": {{"values": [1, 2, 4, 8], "default": 1}})", one.name));
    }
    for (const Macro& one : macros_) {
      lines.push_back(fmt::format(
          R"(        "{}": {{"values": [{}], "default": {}, "kind": "define"}})", one.name,
          one.value == 1 ? "1, 2, 4" : fmt::format("{}, {}", one.value, 2 * one.value), one.value));
    }
    return fmt::format("{}", fmt::join(lines, ",\n"));
  }

  source::Signature kernel_;
  std::vector<Macro> macros_;
  std::vector<Macro> fixed_;
  Structs structs_;
  std::string source_;
  std::set<std::string> types_;  // the parameters of the template that are types
  std::vector<std::string> dims_;
  std::string block_;  // the parameter that is the number of threads of a block; empty: our own
};

}  // namespace

std::string space_draft(std::string_view source, const std::string& source_name,
                        const std::string& kernel) {
  const std::vector<source::Token> tokens = live_tokens(source::tokens_of(source));
  const source::DeclaredKernels found(tokens);
  const std::vector<std::string>& names = found.names();
  if (names.empty()) {
    throw Error(ErrorCode::usage, fmt::format("{}: has no __global__ function", source_name));
  }
  if (kernel.empty() && names.size() > 1) {
    throw Error(ErrorCode::usage, fmt::format("{}: has {} kernels; name one with --kernel: {}",
                                              source_name, names.size(), fmt::join(names, ", ")));
  }
  const auto chosen = kernel.empty() ? names.begin() : std::ranges::find(names, kernel);
  if (chosen == names.end()) {
    throw Error(ErrorCode::usage, fmt::format("{}: there is no kernel '{}'{}", source_name, kernel,
                                              did_you_mean(kernel, names)));
  }
  return Draft(source::signature_at(tokens, found.places(*chosen).front()), macros(tokens),
               structs(tokens), source_name)
      .text();
}

}  // namespace tuner::family
