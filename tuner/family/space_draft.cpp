// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/space_draft.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/family/element_type.hpp"
#include "tuner/family/source_token.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace tuner::family {
namespace {

using Kind = SourceToken::Kind;
using Tokens = std::span<const SourceToken>;

constexpr int kMostThreads = 1024;
constexpr std::size_t kMostDimensions = 3;  // further integers are more often strides

/// A parameter of the kernel's template or of the kernel.
struct Declared {
  std::vector<std::string> type;  // its words
  std::string name;
  bool is_const = false;
  int pointers = 0;
};

struct Signature {
  std::string name;
  std::vector<Declared> of_template;
  std::vector<Declared> parameters;
  int most_threads = kMostThreads;  // __launch_bounds__
  std::size_t grid_axes = 1;        // of blockIdx that the body reads: x, up to y, up to z
};

/// A macro that -D may replace.
struct Macro {
  std::string name;
  int value = 0;
};

bool has_text(const SourceToken& token, std::string_view text) {
  return token.text == text;
}

/// The position behind the bracket that closes the one at `open`. Within parentheses < and >
/// compare.
std::size_t behind_bracket(Tokens tokens, std::size_t open) {
  const std::string_view opening = tokens[open].text;
  const std::string_view closing = opening == "(" ? ")" : opening == "<" ? ">" : "}";
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (opening == "<" && has_text(tokens[i], "(")) {
      i = behind_bracket(tokens, i) - 1;
      continue;
    }
    if (has_text(tokens[i], opening)) ++depth;
    if (has_text(tokens[i], closing) && --depth == 0) return i + 1;
  }
  return tokens.size();
}

/// The parts of a list between brackets, without default values.
std::vector<Tokens> parts(Tokens tokens) {
  std::vector<Tokens> all;
  int depth = 0;
  std::size_t begin = 0, end = 0;
  bool is_default = false;
  for (std::size_t i = 0; i <= tokens.size(); ++i) {
    if (i == tokens.size() || (depth == 0 && has_text(tokens[i], ","))) {
      if (end > begin) all.push_back(tokens.subspan(begin, end - begin));
      begin = end = i + 1;
      is_default = false;
      continue;
    }
    if (has_text(tokens[i], "(")) {
      i = behind_bracket(tokens, i) - 1;
      continue;
    }
    if (has_text(tokens[i], "<")) ++depth;
    if (has_text(tokens[i], ">")) --depth;
    if (depth == 0 && has_text(tokens[i], "=")) is_default = true;
    if (!is_default) end = i + 1;
  }
  return all;
}

Declared declared(Tokens tokens) {
  constexpr std::array<std::string_view, 6> kQualifiers = {
      "__restrict__", "__restrict", "restrict", "volatile", "__grid_constant__", "std"};
  Declared found;
  for (const SourceToken& token : tokens) {
    if (has_text(token, "*")) ++found.pointers;
    if (has_text(token, "const")) found.is_const = found.is_const || found.pointers == 0;
    if (has_text(token, "[")) ++found.pointers;
    if (token.kind != Kind::word || has_text(token, "const") ||
        std::ranges::find(kQualifiers, token.text) != kQualifiers.end()) {
      continue;
    }
    if (std::isdigit(static_cast<unsigned char>(token.text[0])) == 0) {
      found.type.emplace_back(token.text);
    }
  }
  if (found.type.size() > 1) {
    found.name = found.type.back();
    found.type.pop_back();
  }
  return found;
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && after == end ? std::optional(value) : std::nullopt;
}

/// How many axes of the grid the body behind a parameter list reads; 1 for a declaration alone.
std::size_t grid_axes(Tokens tokens, std::size_t behind_parameters) {
  if (behind_parameters >= tokens.size() || !has_text(tokens[behind_parameters], "{")) return 1;
  std::size_t axes = 1;
  const std::size_t end = behind_bracket(tokens, behind_parameters);
  for (std::size_t i = behind_parameters; i + 2 < end; ++i) {
    if (!has_text(tokens[i], "blockIdx")) continue;
    if (has_text(tokens[i + 2], "y")) axes = std::max<std::size_t>(axes, 2);
    if (has_text(tokens[i + 2], "z")) axes = 3;
  }
  return axes;
}

/// Where a kernel is declared.
struct Place {
  std::size_t global = 0;      ///< the token __global__
  std::size_t parameters = 0;  ///< the parenthesis that opens them
};

/// Finds the kernels in time that does not grow with the square of the text's length.
class Kernels {
 public:
  explicit Kernels(Tokens tokens) : tokens_(tokens), behind_(tokens.size()) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (has_text(tokens[i], "(")) open.push_back(i);
      if (!has_text(tokens[i], ")") || open.empty()) continue;
      behind_[open.back()] = i + 1;
      open.pop_back();
    }
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (has_text(tokens[i], "__global__")) find(i);
    }
  }

  /// In the order of the text, each once.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// Of the first declaration of a name that is known.
  [[nodiscard]] Place place(const std::string& name) const { return places_.at(name); }

 private:
  /// What stands in no declaration between __global__ and the kernel's name.
  static bool is_end(const SourceToken& token) {
    constexpr std::array<std::string_view, 5> kEnds = {"__global__", ")", ";", "{", "}"};
    return std::ranges::find(kEnds, token.text) != kEnds.end();
  }

  void find(std::size_t global) {
    std::size_t i = global + 1;
    for (; i + 1 < tokens_.size() && !is_end(tokens_[i]); ++i) {
      if (!has_text(tokens_[i + 1], "(")) continue;
      if (!tokens_[i].text.starts_with("__")) break;  // an attribute such as __launch_bounds__(256)
      if (behind_[i + 1] == 0) return;
      i = behind_[i + 1] - 1;
    }
    if (i + 1 >= tokens_.size() || tokens_[i].kind != Kind::word || behind_[i + 1] == 0) return;
    const std::string name(tokens_[i].text);
    if (places_.emplace(name, Place{global, i + 1}).second) names_.push_back(name);
  }

  Tokens tokens_;
  std::vector<std::size_t> behind_;  // the partner of a parenthesis; 0 where it has none
  std::vector<std::string> names_;
  std::map<std::string, Place> places_;
};

/// The least of the bounds that attributes between the place's tokens state.
int most_threads(Tokens tokens, const Place& place) {
  int most = kMostThreads;
  for (std::size_t i = place.global; i + 2 < place.parameters; ++i) {
    if (!has_text(tokens[i + 1], "(")) continue;
    const int bound = number(tokens[i + 2].text).value_or(0);
    if (has_text(tokens[i], "__launch_bounds__") && bound >= 32) most = std::min(bound, most);
    i = behind_bracket(tokens, i + 1) - 1;
  }
  return most;
}

/// The parameters of the template before a kernel, with nothing between but words as `static`.
std::vector<Declared> template_parameters(Tokens tokens, std::size_t global) {
  std::vector<Declared> found;
  std::size_t before = global;
  while (before > 0 && tokens[before - 1].kind == Kind::word) --before;
  if (before == 0 || !has_text(tokens[before - 1], ">")) return found;
  for (std::size_t open = before - 1; open-- > 1;) {
    if (!has_text(tokens[open], "<") || !has_text(tokens[open - 1], "template")) continue;
    if (behind_bracket(tokens, open) != before) break;
    for (const Tokens part : parts(tokens.subspan(open + 1, before - open - 2))) {
      found.push_back(declared(part));
    }
    break;
  }
  return found;
}

Signature signature_at(Tokens tokens, const Place& place) {
  const std::size_t open = place.parameters;
  Signature found;
  found.name = tokens[open - 1].text;
  found.of_template = template_parameters(tokens, place.global);
  found.most_threads = most_threads(tokens, place);
  const std::size_t end = behind_bracket(tokens, open);
  for (const Tokens part : parts(tokens.subspan(open + 1, end - open - 2))) {
    Declared parameter = declared(part);
    if (parameter.type != std::vector<std::string>{"void"} || parameter.pointers > 0) {
      found.parameters.push_back(std::move(parameter));
    }
  }
  found.grid_axes = grid_axes(tokens, end);
  return found;
}

/// #ifndef NAME, #define NAME NUMBER.
std::vector<Macro> macros(Tokens tokens) {
  std::vector<Macro> all;
  std::string guarded;
  for (const SourceToken& token : tokens) {
    if (token.kind != Kind::directive) continue;
    const std::vector<SourceToken> words = source_tokens(token.text.substr(1));
    if (words.size() == 2 && has_text(words[0], "ifndef")) guarded = words[1].text;
    if (words.size() != 3 || !has_text(words[0], "define") || words[1].text != guarded) continue;
    if (const auto value = number(words[2].text); value && *value > 0) {
      all.push_back({guarded, *value});
    }
  }
  return all;
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
      // TODO: the values to try. A search tries combinations of them.
      "parameters": {{
{parameters}
      }},
      // TODO: what a launch needs of its parameters and the device.
      "constraints": [
        {{"expr": "{block} <= dev.max_threads_per_block", "why": "device limit of threads per block"}}
      ],
      // TODO: blocks, and threads of a block: up to three numbers each.
      "launch": {{"grid": [{grid}], "block": ["{block}"]}}
    }},
    "{kernel}_reference": {{
      "source": "{source}",
      "entry": "{default_entry}",
      "launch": {{"grid": [{default_grid}], "block": [{threads}]}}
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

bool is_type_parameter(const Declared& one) {
  return one.type == std::vector<std::string>{"typename"} ||
         one.type == std::vector<std::string>{"class"};
}

bool names_a_block(const std::string& name) {
  constexpr std::array<std::string_view, 8> kNames = {"BLOCK",     "BLOCK_SIZE",   "BLOCKSIZE",
                                                      "BLOCK_DIM", "THREADS",      "NUM_THREADS",
                                                      "NTHREADS",  "BLOCK_THREADS"};
  return std::ranges::find(kNames, upper_case(name)) != kNames.end();
}

/// The type of an element, and of how many of them the declared type is: float4 is four.
struct Element {
  ElementType type = ElementType::f32;
  int width = 1;
};

/// Writes the file for one kernel.
class Draft {
 public:
  Draft(Signature signature, std::vector<Macro> macros, std::string source)
      : kernel_(std::move(signature)), macros_(std::move(macros)), source_(std::move(source)) {
    for (const Declared& one : kernel_.of_template) {
      if (is_type_parameter(one)) types_.insert(one.name);
    }
    for (const Declared& one : kernel_.parameters) {
      const bool is_integer = one.pointers == 0 && !is_floating(element(one).type);
      if (is_integer && dims_.size() < kMostDimensions) {
        dims_.push_back(dimension(one.name));
      }
    }
    if (dims_.empty()) dims_.emplace_back("N");
    for (const Declared& one : kernel_.of_template) {
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
        fmt::arg("parameters", parameters()), fmt::arg("block", block()),
        fmt::arg("grid", grid(block())),
        fmt::arg("default_grid", grid(std::to_string(default_threads()))),
        fmt::arg("threads", default_threads()));
  }

 private:
  [[nodiscard]] Element element(const Declared& one) const {
    std::string type = fmt::format("{}", fmt::join(one.type, " "));
    if (types_.contains(type)) type = "float";
    constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kOtherNames = {
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
         {"char", "signed char"}}};
    if (const auto known = element_type_from_name(type)) {
      if (one.pointers > 0 || is_scalar_type(*known)) return {*known, 1};
    }
    const auto* other =
        std::ranges::find(kOtherNames, type, &decltype(kOtherNames)::value_type::first);
    if (other != kOtherNames.end()) return {*element_type_from_name(other->second), 1};
    const int width = type.empty() ? 0 : type.back() - '0';
    const auto base = element_type_from_name(
        std::string_view(type).substr(0, type.size() - (type.empty() ? 0 : 1)));
    if (base && (width == 2 || width == 4)) return {*base, width};
    throw Error(ErrorCode::usage,
                fmt::format("{}: the parameter '{}' of {} is of type '{}', which a space file does "
                            "not have; write a kernel with a parameter of another type around it",
                            source_, one.name, kernel_.name, type));
  }

  [[nodiscard]] std::string dimension(const std::string& name) const {
    std::string upper = upper_case(name);
    const auto is_taken = [&](const std::string& other) { return other == upper; };
    const bool is_parameter = std::ranges::any_of(kernel_.of_template, is_taken, &Declared::name) ||
                              std::ranges::any_of(macros_, is_taken, &Macro::name) ||
                              upper == "THREADS" || std::ranges::any_of(dims_, is_taken);
    return is_parameter ? upper + "_SIZE" : upper;
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

  [[nodiscard]] std::string bytes() const {
    std::size_t bytes = 0;
    for (const Declared& one : kernel_.parameters) {
      if (one.pointers == 0) continue;
      const Element of = element(one);
      bytes += size_bytes(of.type) * static_cast<std::size_t>(of.width) * (one.is_const ? 1 : 2);
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

  [[nodiscard]] std::string argument(const Declared& one, std::size_t& dimension) const {
    const Element of = element(one);
    if (one.pointers > 1) {
      throw Error(ErrorCode::usage,
                  fmt::format("{}: the parameter '{}' of {} points to pointers, which a space file "
                              "does not have",
                              source_, one.name, kernel_.name));
    }
    if (one.pointers == 0) {
      const bool is_dimension = !is_floating(of.type) && dimension < dims_.size();
      return fmt::format(R"(    {{"name": "{}", "type": "{}", "value": {}}})", one.name,
                         name(of.type),
                         is_dimension ? fmt::format("\"{}\"", dims_[dimension++]) : "1");
    }
    return fmt::format(R"(    {{"name": "{}", "type": "{}*", "count": "{}{}"{}}})", one.name,
                       name(of.type), of.width > 1 ? fmt::format("{}*", of.width) : "", elements(),
                       one.is_const ? "" : R"(, "role": "inout")");
  }

  [[nodiscard]] std::string arguments() const {
    std::vector<std::string> lines;
    std::size_t dimension = 0;
    for (const Declared& one : kernel_.parameters) lines.push_back(argument(one, dimension));
    return fmt::format("{}", fmt::join(lines, ",\n"));
  }

  /// The function with its template parameters: `pattern` of each name, or its default value.
  [[nodiscard]] std::string entry(std::string_view pattern) const {
    std::vector<std::string> values;
    const std::string threads = std::to_string(default_threads());
    for (const Declared& one : kernel_.of_template) {
      if (is_type_parameter(one)) {
        values.emplace_back("float");
      } else if (!pattern.empty()) {
        values.push_back(fmt::format(fmt::runtime(pattern), one.name));
      } else {
        values.push_back(one.name == block_ ? threads : is_flag(one) ? "false" : "1");
      }
    }
    if (values.empty()) return kernel_.name;
    return fmt::format("{}<{}>", kernel_.name, fmt::join(values, ","));
  }

  [[nodiscard]] static bool is_flag(const Declared& one) {
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
    for (const Declared& one : kernel_.of_template) {
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

  Signature kernel_;
  std::vector<Macro> macros_;
  std::string source_;
  std::set<std::string> types_;  // the parameters of the template that are types
  std::vector<std::string> dims_;
  std::string block_;  // the parameter that is the number of threads of a block; empty: our own
};

}  // namespace

std::string space_draft(std::string_view source, const std::string& source_name,
                        const std::string& kernel) {
  const std::vector<SourceToken> tokens = source_tokens(source);
  const Kernels found(tokens);
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
  return Draft(signature_at(tokens, found.place(*chosen)), macros(tokens), source_name).text();
}

}  // namespace tuner::family
