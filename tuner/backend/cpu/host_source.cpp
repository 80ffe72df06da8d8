// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/host_source.hpp"

#include "tuner/source/token.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace tuner::backend {
namespace {

std::string string_literal(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + '"';
}

/// Where the text stands that is rewritten: a line break in a directive needs a backslash.
enum class Place { code, directive };

/// Copies a source and rewrites the declarations that the host's compiler does not take.
class Rewriter {
 public:
  Rewriter(std::string_view text, Place place)
      : text_(text), place_(place), tokens_(source::tokens_of(text)) {}

  [[nodiscard]] std::string rewritten() {
    for (std::size_t i = 0; i < tokens_.size();) i = step(i);
    return result_ + std::string(text_.substr(copied_));
  }

 private:
  using Kind = source::Token::Kind;

  /// Longer declarations stay as they are: reading a hostile source takes no longer than it is.
  static constexpr std::size_t kMostTokens = 64;

  [[nodiscard]] bool is(std::size_t i, std::string_view token) const {
    return i < tokens_.size() && tokens_[i].text == token;
  }
  [[nodiscard]] bool is_word(std::size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == Kind::word;
  }

  /// Reads on from a token; returns the one to go on with.
  std::size_t step(std::size_t i) {
    const source::Token& token = tokens_[i];
    if (token.kind == Kind::directive && place_ == Place::code) {
      replace(i, i + 1, "#" + Rewriter(token.text.substr(1), Place::directive).rewritten());
      return i + 1;
    }
    if (is(i, "extern")) {
      if (const std::size_t end = dynamic_array(i); end > i) return end;
    }
    if (is(i, "__shared__")) {
      if (const std::size_t end = behind_alignment(i + 1); end > i + 1) {
        replace(i, end, text_of(i + 1, end) + " __shared__");
        return end;
      }
    }
    // A variable of constant memory is found by its name, as in a GPU's image.
    if ((is(i, "static") && is(i + 1, "__constant__")) ||
        (is(i, "__constant__") && is(i + 1, "static"))) {
      replace(i, i + 2, "__constant__");
      return i + 2;
    }
    return i + 1;
  }

  /// Behind an alignment specifier that begins at a token; that token when none does.
  [[nodiscard]] std::size_t behind_alignment(std::size_t begin) const {
    if (!(is(begin, "__align__") || is(begin, "alignas")) || !is(begin + 1, "(")) return begin;
    std::size_t depth = 0;
    for (std::size_t i = begin + 1; i < std::min(begin + kMostTokens, tokens_.size()); ++i) {
      if (is(i, "(")) ++depth;
      if (is(i, ")") && --depth == 0) return i + 1;
    }
    return begin;
  }

  /// extern [alignment] __shared__ [alignment] TYPE NAME[]; becomes a pointer, which is valid
  /// inside a function as well as at namespace scope. Returns the token behind it, or `begin`.
  std::size_t dynamic_array(std::size_t begin) {
    std::size_t type = behind_alignment(begin + 1);
    if (!is(type, "__shared__")) return begin;
    type = behind_alignment(type + 1);
    std::size_t end = type;  // of the type and the name
    constexpr std::string_view kNotInTypes = ";/=(){}[]";
    std::size_t depth = 0;  // of template arguments, in which alone a comma belongs to the type
    for (; end < std::min(type + kMostTokens, tokens_.size()); ++end) {
      const bool is_mark = tokens_[end].kind == Kind::mark;
      if (!is_mark && !is_word(end)) break;
      if (is_mark && kNotInTypes.find(tokens_[end].text) != std::string_view::npos) break;
      if (is(end, ",") && depth == 0) break;
      if (is(end, "<")) ++depth;
      if (is(end, ">") && depth > 0) --depth;
    }
    const bool is_array = is(end, "[") && is(end + 1, "]") && is(end + 2, ";");
    if (!is_array || end < type + 2 || !is_word(end - 1)) return begin;
    const std::string element = text_of(type, end - 1);
    replace(begin, end + 3,
            fmt::format("thread_local {0}* const {1} = "
                        "static_cast<{0}*>(::tuner::context->dynamic_shared);",
                        element, tokens_[end - 1].text));
    return end + 3;
  }

  /// Tokens with one blank for whatever stands between two of them.
  [[nodiscard]] std::string text_of(std::size_t begin, std::size_t end) const {
    std::string text;
    for (std::size_t i = begin; i < end; ++i) {
      const bool is_apart =
          i > begin && tokens_[i - 1].begin + tokens_[i - 1].text.size() < tokens_[i].begin;
      text += is_apart ? " " : "";
      text += tokens_[i].text;
    }
    return text;
  }

  /// The line breaks of what is replaced stay, behind it.
  void replace(std::size_t begin, std::size_t end, const std::string& text) {
    const std::size_t from = tokens_[begin].begin;
    const std::size_t to = tokens_[end - 1].begin + tokens_[end - 1].text.size();
    const std::string_view replaced = text_.substr(from, to - from);
    result_ += text_.substr(copied_, from - copied_);
    result_ += text;
    const auto breaks = std::ranges::count(replaced, '\n') - std::ranges::count(text, '\n');
    for (auto i = breaks; i > 0; --i) result_ += place_ == Place::directive ? "\\\n" : "\n";
    copied_ = to;
  }

  std::string_view text_;
  Place place_;
  std::vector<source::Token> tokens_;
  std::string result_;
  std::size_t copied_ = 0;
};

struct Macro {
  std::string_view name, value;
};

std::vector<Macro> macros_of(const family::CompileJob& job) {
  std::vector<Macro> macros;
  for (const std::string_view option : job.options) {
    if (!option.starts_with("-D") || option == kStandardMath) continue;
    const std::size_t begin = 2, equals = std::min(option.find('='), option.size());
    macros.push_back({.name = option.substr(begin, equals - begin),
                      .value = equals < option.size() ? option.substr(equals + 1) : "1"});
  }
  return macros;
}

bool is_in_an_entry(const family::CompileJob& job, std::string_view word) {
  return std::ranges::any_of(job.entries, [&](const std::string& entry) {
    const std::vector<source::Token> tokens = source::tokens_of(entry);
    return std::ranges::count(tokens, word, &source::Token::text) > 0;
  });
}

constexpr std::string_view kError = "error: ";
/// How lines about an entry begin; the entry follows.
constexpr std::string_view kEntry = "kernel entry";

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool contains(std::string_view line, std::string_view part) {
  return line.find(part) != std::string_view::npos;
}

bool names_export(std::string_view line) {
  return contains(line, " macro ") && contains(line, "TUNER_EXPORT_KERNEL");
}

/// What says where the lines behind it belong, in code of ours.
bool is_place_of_export(std::string_view line) {
  return line.starts_with("In file included from <command-line>") ||
         (line.starts_with(kEntry) &&
          (contains(line, ": In function") || contains(line, ": At global scope")));
}

/// What of our code a mistake in the entry reminds the compiler of.
bool is_note_of_export(std::string_view line) {
  return line.starts_with(kEntry) && contains(line, " note: ");
}

/// What g++ says of a template that does not take the entry's arguments says nothing of them, and
/// of a kernel that is named like a function of CUDA nothing of that.
std::string explained(std::string_view line) {
  const std::size_t error = line.find(kError);
  if (!line.starts_with(kEntry) || error == std::string_view::npos ||
      !contains(line, "cannot resolve address of overloaded function")) {
    return std::string(line);
  }
  const bool has_arguments = contains(line.substr(0, error), "<");
  return std::string(line.substr(0, error + kError.size())) +
         (has_arguments
              ? "no template takes these arguments: compare their order and kinds with its "
                "parameters"
              : "several functions have this name: a template needs its arguments, and a kernel "
                "cannot have the name of a function of CUDA");
}

bool is_error_of_entry(std::string_view line) {
  return line.starts_with(kEntry) && contains(line, kError);
}

}  // namespace

std::string host_source(std::string_view cuda_source) {
  return Rewriter(cuda_source, Place::code).rewritten();
}

std::vector<std::string> exported_names(const family::CompileJob& job) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < job.entries.size(); ++i) {
    names.push_back(fmt::format("tuner_kernel_{}", i));
  }
  return names;
}

std::string host_macros(const family::CompileJob& job) {
  std::string text;
  for (const Macro& macro : macros_of(job)) {
    text += fmt::format("#define {} {}\n", macro.name, macro.value);
  }
  return text;
}

std::string host_unit(const family::CompileJob& job) {
  std::string unit = fmt::format("#line 1 {}\n{}\n", string_literal(job.source.name),
                                 host_source(job.source.text));
  for (const Macro& macro : macros_of(job)) {
    if (!is_in_an_entry(job, macro.name)) unit += fmt::format("#undef {}\n", macro.name);
  }
  const std::vector<std::string> names = exported_names(job);
  for (std::size_t i = 0; i < names.size(); ++i) {
    unit += fmt::format("#line 1 {}\nTUNER_EXPORT_KERNEL({}, {}, {})\n",
                        string_literal(fmt::format("{} {}", kEntry, job.entries[i])), i, names[i],
                        job.entries[i]);
  }
  return unit;
}

std::string without_export(std::string_view log) {
  const std::vector<std::string_view> lines = lines_of(log);
  std::vector<std::string_view> kept;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    const bool in_ours = line.starts_with("cuda_on_cpu.hpp:") && i + 1 < lines.size() &&
                         contains(lines[i + 1], "in expansion") && names_export(lines[i + 1]);
    if (in_ours || names_export(line) || is_place_of_export(line) || is_note_of_export(line)) {
      continue;
    }
    // The exported code contains the entry several times: its first error causes others there.
    if (is_error_of_entry(line) && std::ranges::any_of(kept, is_error_of_entry)) continue;
    kept.push_back(line);
  }
  const auto is_error = [](std::string_view line) { return contains(line, kError); };
  if (std::ranges::none_of(kept, is_error)) return std::string(log);
  std::string result;
  for (const std::string_view line : kept) result.append(explained(line)).append("\n");
  return result;
}

}  // namespace tuner::backend
