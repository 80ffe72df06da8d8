// SPDX-License-Identifier: Apache-2.0
#include "tuner/source/plain_updates.hpp"

#include "tuner/source/token.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

namespace tuner::source {
namespace {

/// Looks through one text.
class UpdateFinder {
 public:
  explicit UpdateFinder(std::string_view text) : tokens_(tokens_of(text)) {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (is(i, "__shared__")) add_variables(i + 1);
      if (is(i, "__device__") && !is_function(i + 1)) add_variables(i + 1);
      if (is(i, "*") || is(i, "&")) add_pointer(i + 1);
    }
  }

  [[nodiscard]] bool finds_one() const {
    std::set<std::string> read, written;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].kind != Kind::word) continue;
      if (is_update(i)) return true;
      const std::string element = element_at(i);
      if (element.empty()) continue;
      const std::size_t behind = behind_element(i);
      (is(behind, "=") && !is(behind + 1, "=") ? written : read).insert(element);
    }
    return std::ranges::any_of(written,
                               [&](const std::string& element) { return read.contains(element); });
  }

 private:
  using Kind = Token::Kind;

  /// Declarations and statements that are longer are not read: a hostile source takes no longer.
  static constexpr std::size_t kMostTokens = 256;

  [[nodiscard]] bool is(std::size_t i, std::string_view text) const {
    return i < tokens_.size() && tokens_[i].text == text;
  }
  [[nodiscard]] bool is_any(std::size_t i, std::string_view marks) const {
    return i < tokens_.size() && tokens_[i].kind == Kind::mark &&
           marks.find(tokens_[i].text) != std::string_view::npos;
  }

  /// Whether a declaration has parameters.
  [[nodiscard]] bool is_function(std::size_t begin) const {
    for (std::size_t i = begin; i < std::min(begin + kMostTokens, tokens_.size()); ++i) {
      if (is(i, "(") && !is(i - 1, "__align__") && !is(i - 1, "alignas")) return true;
      if (is_any(i, ";={[")) return false;
    }
    return true;
  }

  /// The words of a declaration up to its end: the variable is among them.
  void add_variables(std::size_t begin) {
    for (std::size_t i = begin; i < std::min(begin + kMostTokens, tokens_.size()); ++i) {
      if (is(i, ";")) return;
      if (tokens_[i].kind == Kind::word) shared_.insert(tokens_[i].text);
    }
  }

  /// A name with its subscripts and members, as text: the same text may be the same element. Empty
  /// for another word.
  [[nodiscard]] std::string element_at(std::size_t name) const {
    if (!shared_.contains(tokens_[name].text) && !pointers_.contains(tokens_[name].text)) return "";
    if (name > 0 && is(name - 1, "*") && !is(name + 1, "[")) {
      return "*" + std::string(tokens_[name].text);
    }
    const std::size_t behind = behind_element(name);
    if (behind == name + 1) return "";
    std::string text;
    for (std::size_t i = name; i < behind; ++i) text += tokens_[i].text;
    return text;
  }

  /// `* name,`, `* __restrict__ name)` and the like.
  void add_pointer(std::size_t begin) {
    std::size_t i = begin;
    while (is(i, "const") || is(i, "__restrict__") || is(i, "__restrict")) ++i;
    if (i < tokens_.size() && tokens_[i].kind == Kind::word && is_any(i + 1, ",)=;")) {
      pointers_.insert(tokens_[i].text);
    }
  }

  /// Behind the subscripts and members of a name.
  [[nodiscard]] std::size_t behind_element(std::size_t name) const {
    std::size_t i = name + 1, depth = 0;
    for (; i < std::min(name + kMostTokens, tokens_.size()); ++i) {
      if (is(i, "[")) {
        ++depth;
      } else if (is(i, "]")) {
        if (depth-- == 0) return i;
      } else if (depth == 0 && is(i, ".")) {
        ++i;
      } else if (depth == 0 && is(i, "-") && is(i + 1, ">")) {
        i += 2;
      } else if (depth == 0) {
        return i;
      }
    }
    return i;
  }

  /// Whether an assignment that begins at a mark changes the element: `++`, `+=`, or `=` with the
  /// name in what is assigned.
  [[nodiscard]] bool changes(std::size_t mark, std::string_view name) const {
    if (is_any(mark, "+-") && is(mark + 1, tokens_[mark].text)) return true;
    if (is_any(mark, "+-*/%&|^") && is(mark + 1, "=")) return true;
    if (is_any(mark, "<>") && is(mark + 1, tokens_[mark].text) && is(mark + 2, "=")) return true;
    if (!is(mark, "=") || is(mark + 1, "=")) return false;
    for (std::size_t i = mark + 1; i < std::min(mark + kMostTokens, tokens_.size()); ++i) {
      if (is(i, ";")) return false;
      if (is(i, name)) return true;
    }
    return false;
  }

  [[nodiscard]] bool is_update(std::size_t i) const {
    const std::string_view name = tokens_[i].text;
    const bool is_shared = shared_.contains(name);
    if (!is_shared && !pointers_.contains(name)) return false;
    const bool is_read_through = i > 0 && is(i - 1, "*");
    std::size_t behind = behind_element(i);
    if (!is_shared && !is_read_through && behind == i + 1) return false;  // the pointer itself
    if (is_read_through && is(behind, ")")) ++behind;
    const std::size_t before = i - (is_read_through ? 1 : 0);
    const bool is_behind_mark =
        before > 1 && is_any(before - 1, "+-") && is(before - 2, tokens_[before - 1].text);
    return is_behind_mark || changes(behind, name);
  }

  std::vector<Token> tokens_;
  std::set<std::string_view> shared_, pointers_;
};

/// Whether a text has a word such as "float4", "__half2" or "__nv_bfloat16", or a number such as
/// 0.5.
bool has_floating_point(std::string_view text) {
  constexpr std::array<std::string_view, 4> kBeginnings = {"float", "double", "__half", "__nv_"};
  return std::ranges::any_of(tokens_of(text), [&](const Token& token) {
    if (token.kind != Token::Kind::word) return false;
    const bool is_number = token.text.front() >= '0' && token.text.front() <= '9';
    if (is_number) return token.text.find('.') != std::string_view::npos;
    return std::ranges::any_of(
        kBeginnings, [&](std::string_view beginning) { return token.text.starts_with(beginning); });
  });
}

}  // namespace

bool is_of_whole_numbers(const KernelSource& source, std::span<const std::string> roots) {
  constexpr std::array<std::string_view, 3> kHeaders = {"cuda_fp16", "cuda_bf16", "cuda_fp8"};
  const auto is_included = [&](std::string_view header) {
    return source.text.find(header) != std::string::npos;
  };
  return !has_floating_point(source.text) && std::ranges::none_of(kHeaders, is_included) &&
         std::ranges::none_of(roots, has_floating_point);
}

bool has_plain_updates(const KernelSource& source) {
  return any_text(source, [](std::string_view text) { return UpdateFinder(text).finds_one(); });
}

bool may_join_blocks(const KernelSource& source) {
  return any_text(source, [](std::string_view text) {
    return std::ranges::any_of(tokens_of(text), [](const Token& token) {
      return token.text.starts_with("atomic") || token.text == "volatile" || token.text == "__ldcv";
    });
  });
}

}  // namespace tuner::source
