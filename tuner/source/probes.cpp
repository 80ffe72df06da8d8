// SPDX-License-Identifier: Apache-2.0
#include "tuner/source/probes.hpp"

#include "tuner/source/token.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <tuple>
#include <utility>

namespace tuner::source {
namespace {

using Kind = Token::Kind;
using Words = std::set<std::string_view>;

/// Longer conditions have no probe: reading a hostile source takes no longer than it is.
constexpr std::size_t kMostTokens = 512;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// Before the source. Compilers for the host and for GPUs take it. In a constant expression nothing
/// is noted. Names are such that no macro of a command line has them. NVRTC does not say what it
/// knows.
constexpr std::string_view kRuntime = R"cuda(
#ifdef __CUDACC_RTC__
#define TUNER_KNOWS(...) false
#else
#define TUNER_KNOWS(...) __builtin_constant_p(__VA_ARGS__)
#endif
namespace tuner_probes {{
__device__ unsigned char tuner_notes[{0}];
template <int tuner_place>
__device__ __forceinline__ void note() {{
  if (tuner_notes[tuner_place] == 0) tuner_notes[tuner_place] = 1;
}}
template <int tuner_probe>
__device__ __forceinline__ bool noted(bool tuner_value) {{
  if (TUNER_KNOWS(tuner_value)) {{
    if (tuner_value) note<{1} * tuner_probe + 2>(); else note<{1} * tuner_probe + 3>();
  }} else {{
    if (tuner_value) note<{1} * tuner_probe>(); else note<{1} * tuner_probe + 1>();
  }}
  return tuner_value;
}}
template <int tuner_probe>
__device__ __forceinline__ constexpr bool saw(bool tuner_value) {{
  return __builtin_is_constant_evaluated() ? tuner_value : noted<tuner_probe>(tuner_value);
}}
template <int tuner_probe, class tuner_type>
__device__ __forceinline__ constexpr tuner_type chose(tuner_type tuner_value) {{
  if (!__builtin_is_constant_evaluated()) {{
    if (TUNER_KNOWS(tuner_value)) note<{1} * tuner_probe + 2>();
    else note<{1} * tuner_probe>();
  }}
  return tuner_value;
}}
template <int tuner_probe>
__device__ __forceinline__ constexpr void reached() {{
  if (!__builtin_is_constant_evaluated()) note<{1} * tuner_probe>();
}}
}}
__global__ void {2}(unsigned char* tuner_to) {{
  for (unsigned tuner_i = threadIdx.x; tuner_i < {0}; tuner_i += blockDim.x)
    tuner_to[tuner_i] = tuner_probes::tuner_notes[tuner_i];
}}
#line 1 "{3}"
)cuda";

/// A text between two places of a source, or at one.
struct Insertion {
  enum Order { closing, point, opening };
  std::size_t at;
  Order order;
  std::size_t partner;  ///< of what opens at one place the longest is first, and closes last
  std::string text;
};

/// Macros that must stay as they are: those in `#if` and `#elif`, which are constants of the
/// preprocessor, and those defined several times by the same words, which must stay equal.
class FixedMacros {
 public:
  explicit FixedMacros(const KernelSource& source) {
    add(source.text);
    for (const Header& header : source.headers) add(header.text);
  }
  [[nodiscard]] bool contain(std::string_view name) const { return names_.count(name) > 0; }

 private:
  void add(std::string_view text) {
    for (const Token& token : tokens_of(text)) {
      if (token.kind != Kind::directive) continue;
      const std::vector<Token> line = tokens_of(token.text.substr(1));
      if (line.size() < 2) continue;
      if (line[0].text == "if" || line[0].text == "elif") {
        for (const Token& word : line) names_.insert(word.text);
      } else if (line[0].text == "define" && !definitions_.insert(token.text).second) {
        names_.insert(line[1].text);
      }
    }
  }

  Words names_, definitions_;
};

/// Names of values that no input changes: template parameters, macros without parameters, constexpr
/// variables.
class ConstantNames {
 public:
  ConstantNames(const KernelSource& source, std::span<const std::string> options) {
    for (const std::string_view option : options) {
      if (option.starts_with("-D")) names_.insert(option.substr(2, option.find('=') - 2));
    }
    add(tokens_of(source.text));
    for (const Header& header : source.headers) add(tokens_of(header.text));
  }
  [[nodiscard]] bool contain(std::string_view word) const {
    constexpr std::array<std::string_view, 4> kValues = {"true", "false", "sizeof", "nullptr"};
    const bool is_number = std::isdigit(static_cast<unsigned char>(word.front())) != 0;
    return is_number || std::ranges::count(kValues, word) > 0 || names_.count(word) > 0;
  }

 private:
  void add(const std::vector<Token>& tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].kind == Kind::directive) add_macro(tokens[i]);
      if (tokens[i].text == "template") add_parameters(tokens, i + 1);
      if (tokens[i].text == "constexpr") add_variable(tokens, i + 1);
    }
  }
  void add_macro(const Token& directive) {
    const std::vector<Token> line = tokens_of(directive.text.substr(1));
    if (line.size() < 3 || line[0].text != "define") return;
    const bool is_function =
        line[2].text == "(" && line[2].text.data() == line[1].text.data() + line[1].text.size();
    if (!is_function && line[2].kind == Kind::word) names_.insert(line[1].text);
  }
  /// The word before each comma, =, and the > at the end.
  void add_parameters(const std::vector<Token>& tokens, std::size_t begin) {
    std::size_t depth = 0;
    for (std::size_t i = begin; i < std::min(begin + kMostTokens, tokens.size()); ++i) {
      const std::string_view text = tokens[i].text;
      if (text == "<") ++depth;
      if (text == ";" || text == "{" || depth == 0) return;
      const bool ends = text == "," || text == "=" || text == ">";
      if (ends && tokens[i - 1].kind == Kind::word) names_.insert(tokens[i - 1].text);
      if (text == ">" && --depth == 0) return;
    }
  }
  /// constexpr int kSize = …, constexpr int kSizes[] = …
  void add_variable(const std::vector<Token>& tokens, std::size_t begin) {
    for (std::size_t i = begin; i < std::min(begin + kMostTokens, tokens.size()); ++i) {
      const std::string_view text = tokens[i].text;
      if (text == "(" || text == ";") return;
      if ((text == "=" || text == "{" || text == "[") && tokens[i - 1].kind == Kind::word) {
        names_.insert(tokens[i - 1].text);
        return;
      }
    }
  }

  Words names_;
};

/// What is known of all files of a source.
struct SourceNames {
  FixedMacros fixed;
  ConstantNames constant;
};

/// Finds the probes of one file and writes them into its text.
class ProbeWriter {
 public:
  ProbeWriter(const Header& file, const SourceNames& names, ProbeExtent extent,
              std::vector<Probe>& probes)
      : file_(file.name), text_(file.text), names_(names), extent_(extent), probes_(probes) {
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (text_[i] == '\n') breaks_.push_back(i);
    }
  }

  [[nodiscard]] std::string write() {
    std::vector<Token> code, directives;
    for (const Token& token : tokens_of(text_)) {
      (token.kind == Kind::directive ? directives : code).push_back(token);
    }
    read(std::move(code));
    if (extent_ == ProbeExtent::everything) {
      for (const Token& directive : directives) read_macro(directive);
    }
    return written();
  }

 private:
  [[nodiscard]] bool is(std::size_t i, std::string_view text) const {
    return i < tokens_.size() && tokens_[i].text == text;
  }
  [[nodiscard]] bool is_word(std::size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == Kind::word;
  }
  [[nodiscard]] std::size_t begin_of(std::size_t i) const {
    return static_cast<std::size_t>(tokens_[i].text.data() - text_.data());
  }
  [[nodiscard]] std::size_t end_of(std::size_t i) const {
    return begin_of(i) + tokens_[i].text.size();
  }
  /// Whether two tokens are one operator.
  [[nodiscard]] bool touch(std::size_t i) const {
    return i + 1 < tokens_.size() && end_of(i) == begin_of(i + 1);
  }
  [[nodiscard]] bool is_pair(std::size_t i, std::string_view mark) const {
    return is(i, mark) && is(i + 1, mark) && touch(i);
  }
  /// Whether a colon is one of ::.
  [[nodiscard]] bool is_of_scope(std::size_t i) const {
    return is_pair(i, ":") || (i > 0 && is_pair(i - 1, ":"));
  }

  void read(std::vector<Token> tokens) {
    tokens_ = std::move(tokens);
    match_brackets();
    switches_.clear();
    for (std::size_t i = 0; i < tokens_.size(); ++i) read_token(i);
  }

  /// The body of a macro, unless it makes tokens or is fixed.
  void read_macro(const Token& directive) {
    std::vector<Token> line = tokens_of(directive.text.substr(1));
    if (line.size() < 3 || line[0].text != "define") return;
    const bool is_plain =
        !names_.fixed.contain(line[1].text) && std::ranges::count(line, "#", &Token::text) == 0;
    if (!is_plain) return;
    std::size_t body = 2;
    if (line[2].text == "(" && line[2].text.data() == line[1].text.data() + line[1].text.size()) {
      while (body < line.size() && line[body].text != ")") ++body;
      ++body;
    }
    if (body < line.size()) {
      read({line.begin() + static_cast<std::ptrdiff_t>(body), line.end()});
    }
  }

  void match_brackets() {
    partners_.assign(tokens_.size(), kNone);
    std::array<std::vector<std::size_t>, 3> open;
    constexpr std::string_view kOpening = "([{", kClosing = ")]}";
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].kind != Kind::mark) continue;
      const char c = tokens_[i].text.front();
      if (const auto kind = kOpening.find(c); kind != std::string_view::npos) {
        open[kind].push_back(i);
      } else if (const auto closed = kClosing.find(c);
                 closed != std::string_view::npos && !open[closed].empty()) {
        partners_[i] = open[closed].back();
        partners_[open[closed].back()] = i;
        open[closed].pop_back();
      }
    }
  }
  /// Of an opening bracket; none when nothing closes it soon.
  [[nodiscard]] std::optional<std::size_t> close_of(std::size_t open) const {
    if (partners_[open] == kNone || partners_[open] - open > kMostTokens) return std::nullopt;
    return partners_[open];
  }

  void read_token(std::size_t i) {
    if (is(i, "?") && extent_ == ProbeExtent::everything) return read_ternary(i);
    if (!is_word(i)) return;
    if (is(i, "case") || is(i, "default")) return read_label(i);
    const bool has_condition = is(i, "if") || is(i, "while") || is(i, "for") || is(i, "switch");
    if (!has_condition || !is(i + 1, "(")) return;
    const auto close = close_of(i + 1);
    if (!close) return;
    const auto [begin, end] = is(i, "for") ? second_part(i + 2, *close) : last_part(i + 2, *close);
    if (begin >= end || declares(begin, end) || is_constant(begin, end)) return;
    if (is(i, "switch")) return read_switch(i, begin, *close);
    const auto kind = is(i, "if") ? Probe::Kind::condition : Probe::Kind::loop;
    add_condition(begin, end, {.kind = kind, .text = text_of(i, *close + 1)}, line_of(i));
  }

  using Range = std::pair<std::size_t, std::size_t>;  // of tokens

  [[nodiscard]] std::vector<std::size_t> semicolons(std::size_t begin, std::size_t end) const {
    std::vector<std::size_t> found;
    for (std::size_t i = begin; i < end; i = next(i)) {
      if (is(i, ";")) found.push_back(i);
    }
    return found;
  }
  /// The token behind this one, or behind what it opens.
  [[nodiscard]] std::size_t next(std::size_t i) const {
    return partners_[i] != kNone && partners_[i] > i ? partners_[i] + 1 : i + 1;
  }
  /// Of for (…; …; …): the condition. A loop over a range has none.
  [[nodiscard]] Range second_part(std::size_t begin, std::size_t end) const {
    const std::vector<std::size_t> found = semicolons(begin, end);
    return found.size() == 2 ? Range(found[0] + 1, found[1]) : Range(end, end);
  }
  /// Of if (…; …): the condition.
  [[nodiscard]] Range last_part(std::size_t begin, std::size_t end) const {
    const std::vector<std::size_t> found = semicolons(begin, end);
    return {found.empty() ? begin : found.back() + 1, end};
  }

  /// Whether `=` is an assignment or an initialisation, here.
  [[nodiscard]] bool assigns(std::size_t i) const {
    if (!is(i, "=") || (touch(i) && is(i + 1, "="))) return false;
    if (i == 0 || !touch(i - 1)) return true;
    if (is(i - 1, "=") || is(i - 1, "!")) return false;
    const bool is_shift = i > 1 && touch(i - 2) && tokens_[i - 2].text == tokens_[i - 1].text;
    return !(is(i - 1, "<") || is(i - 1, ">")) || is_shift;
  }
  /// if (const int x = …), while (auto* p = …)
  [[nodiscard]] bool declares(std::size_t begin, std::size_t end) const {
    constexpr std::array<std::string_view, 4> kOfTypes = {"*", "&", ">", "]"};
    for (std::size_t i = begin; i < end; i = next(i)) {
      if (!assigns(i) || i < begin + 2) continue;
      if (is(i - 1, "]")) return is(begin, "auto") || is(begin, "const");
      return is_word(i - 1) &&
             (is_word(i - 2) || std::ranges::count(kOfTypes, tokens_[i - 2].text));
    }
    return false;
  }

  [[nodiscard]] bool is_constant(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i) {
      if (is_word(i) && !names_.constant.contain(tokens_[i].text)) return false;
    }
    return true;
  }

  /// Adds the probe of a condition and, where that is wanted, those of its operands.
  void add_condition(std::size_t begin, std::size_t end, Probe probe, std::uint64_t line) {
    probe.file = file_;
    probe.line = line;
    for (std::size_t i = begin; i < end; ++i) {
      if (is_word(i)) probe.words.emplace_back(tokens_[i].text);
    }
    const std::size_t id = probes_.size();
    probes_.push_back(std::move(probe));
    const std::size_t from = begin_of(begin), to = end_of(end - 1);
    insertions_.push_back({.at = from,
                           .order = Insertion::opening,
                           .partner = to,
                           .text = fmt::format("::tuner_probes::saw<{}>((", id)});
    insertions_.push_back(
        {.at = to, .order = Insertion::closing, .partner = from, .text = ") ? true : false)"});
    if (extent_ == ProbeExtent::everything) add_operands(begin, end, id);
  }

  void add_operands(std::size_t begin, std::size_t end, std::size_t whole) {
    while (is(begin, "(") && partners_[begin] == end - 1) {
      ++begin;
      --end;
    }
    for (const std::string_view mark : {"|", "&"}) {
      std::vector<Range> parts;
      std::size_t from = begin;
      for (std::size_t i = begin; i < end; i = next(i)) {
        if (!is_pair(i, mark) || i + 2 >= end || i == from) continue;
        parts.emplace_back(from, i);
        from = i + 2;
        ++i;
      }
      if (parts.empty()) continue;
      parts.emplace_back(from, end);
      for (const auto& [first, last] : parts) {
        if (is_constant(first, last)) continue;
        add_condition(first, last, {.text = text_of(first, last), .whole = whole}, line_of(first));
      }
      return;
    }
  }

  void read_switch(std::size_t i, std::size_t begin, std::size_t close) {
    if (!is(close + 1, "{") || partners_[close + 1] == kNone) return;
    const std::size_t id = probes_.size();
    switches_.push_back({.body = close + 1, .probe = id});
    probes_.push_back({.kind = Probe::Kind::choice,
                       .file = file_,
                       .line = line_of(i),
                       .text = text_of(i, close + 1)});
    const std::size_t from = begin_of(begin), to = end_of(close - 1);
    insertions_.push_back({.at = from,
                           .order = Insertion::opening,
                           .partner = to,
                           .text = fmt::format("::tuner_probes::chose<{}>(", id)});
    insertions_.push_back({.at = to, .order = Insertion::closing, .partner = from, .text = ")"});
  }

  void read_label(std::size_t i) {
    const auto around = std::find_if(switches_.rbegin(), switches_.rend(), [&](const Switch& each) {
      return each.body < i && i < partners_[each.body];
    });
    if (around == switches_.rend()) return;
    std::size_t colon = i + 1;
    while (colon < tokens_.size() && colon < i + kMostTokens &&
           (!is(colon, ":") || is_of_scope(colon))) {
      if (is(colon, "?") || is(colon, ";")) return;
      colon = next(colon);
    }
    if (!is(colon, ":")) return;
    insertions_.push_back({.at = end_of(colon),
                           .order = Insertion::point,
                           .partner = 0,
                           .text = fmt::format(" ::tuner_probes::reached<{}>();", probes_.size())});
    probes_.push_back({.kind = Probe::Kind::label,
                       .file = file_,
                       .line = line_of(i),
                       .text = text_of(i, colon + 1),
                       .whole = around->probe});
  }

  void read_ternary(std::size_t mark) {
    if (is(mark + 1, ":")) return;  // GNU: the condition is the value
    const auto begin = condition_begin(mark);
    if (!begin || *begin >= mark || is_constant(*begin, mark)) return;
    add_condition(*begin, mark, {.text = text_of(*begin, mark) + " ? …"}, line_of(*begin));
  }

  /// Where the condition of a ternary begins; none when it is too long.
  [[nodiscard]] std::optional<std::size_t> condition_begin(std::size_t mark) const {
    constexpr std::array<std::string_view, 6> kWords = {"return", "else",  "do",
                                                        "case",   "throw", "co_return"};
    constexpr std::string_view kMarks = "([{};,?";
    for (std::size_t i = mark; i > 0; --i) {
      const std::size_t before = i - 1;
      if (mark - before > kMostTokens) return std::nullopt;
      if (is(before, ")") || is(before, "]")) {
        const std::size_t open = partners_[before];
        if (open == kNone) return std::nullopt;
        const bool is_head =
            open > 0 && (is(open - 1, "if") || is(open - 1, "while") || is(open - 1, "for") ||
                         is(open - 1, "switch") || is(open - 1, "constexpr"));
        if (is_head && is(before, ")")) return i;
        i = open + 1;
        continue;
      }
      if (tokens_[before].kind == Kind::mark &&
          kMarks.find(tokens_[before].text) != std::string_view::npos) {
        return i;
      }
      if (assigns(before) || (is(before, ":") && !is_of_scope(before))) return i;
      if (is_word(before) && std::ranges::count(kWords, tokens_[before].text) > 0) return i;
    }
    return 0;
  }

  [[nodiscard]] std::uint64_t line_of(std::size_t i) const {
    const auto behind = std::ranges::lower_bound(breaks_, begin_of(i));
    return 1 + static_cast<std::uint64_t>(behind - breaks_.begin());
  }

  /// On one line, without comments.
  [[nodiscard]] std::string text_of(std::size_t begin, std::size_t end) const {
    constexpr std::size_t kLongest = 100;
    std::string text;
    for (std::size_t i = begin; i < end; ++i) {
      if (i > begin && !touch(i - 1)) text += ' ';
      if (text.size() + tokens_[i].text.size() > kLongest) return text + "…";
      text += tokens_[i].text;
    }
    return text;
  }

  [[nodiscard]] std::string written() {
    std::ranges::sort(insertions_, [](const Insertion& a, const Insertion& b) {
      const auto key = [](const Insertion& each) {
        return std::tuple(each.at, each.order, ~each.partner);
      };
      return key(a) < key(b);
    });
    std::string result;
    std::size_t copied = 0;
    for (const Insertion& insertion : insertions_) {
      result += text_.substr(copied, insertion.at - copied);
      result += insertion.text;
      copied = insertion.at;
    }
    return result + std::string(text_.substr(copied));
  }

  struct Switch {
    std::size_t body;  ///< its brace
    std::size_t probe;
  };

  std::string file_;
  std::string_view text_;
  const SourceNames& names_;
  ProbeExtent extent_;
  std::vector<Probe>& probes_;
  std::vector<std::size_t> breaks_;    // of lines
  std::vector<Token> tokens_;          // of the file's code, or of a macro's
  std::vector<std::size_t> partners_;  // of brackets
  std::vector<Switch> switches_;
  std::vector<Insertion> insertions_;
};

std::string in_literal(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

}  // namespace

ProbedSource with_probes(const KernelSource& source, std::span<const std::string> options,
                         ProbeExtent extent) {
  const SourceNames names{.fixed = FixedMacros(source), .constant = ConstantNames(source, options)};
  ProbedSource probed{.source = source, .probes = {}};
  for (std::size_t i = 0; i < source.headers.size(); ++i) {
    probed.source.headers[i].text =
        ProbeWriter(source.headers[i], names, extent, probed.probes).write();
  }
  const Header main{.name = source.name, .text = source.text};
  probed.source.text = ProbeWriter(main, names, extent, probed.probes).write();
  if (probed.probes.empty()) return {.source = source, .probes = {}};
  probed.source.text =
      fmt::format(fmt::runtime(kRuntime), ProbeNotes::kBytes * probed.probes.size(),
                  ProbeNotes::kBytes, ProbedSource::kReadNotes, in_literal(source.name)) +
      probed.source.text;
  return probed;
}

}  // namespace tuner::source
