// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/expected.hpp"
#include "tuner/space/bytecode.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::space {

struct Syntax;

/// The meaning of a name in an expression.
enum class ValueKind {
  number,  ///< a 64-bit integer; booleans are 0 and 1
  word,    ///< one of a parameter's named values; compares only with == != in
};

/// The names an expression may use, each with its slot in the array of values it is evaluated on.
/// ExpressionValues are given out in the order of declaration; what is declared first may be
/// evaluated alone.
class Scope {
 public:
  /// Declares a name and returns its slot. Throws std::invalid_argument unless the name is new.
  std::size_t declare(std::string name, ValueKind kind = ValueKind::number);
  /// The number by which a named value ("nt", "xor") is stored.
  std::int64_t intern(const std::string& word);

  /// Declares what bytes(name) is: by the value in a slot.
  void declare_bytes(const std::string& name, std::size_t slot, std::vector<std::int64_t> by_value);
  struct Bytes {
    std::size_t slot = 0;
    std::vector<std::int64_t> by_value;
  };
  [[nodiscard]] const Bytes* find_bytes(std::string_view name) const;  ///< null when unknown
  [[nodiscard]] std::vector<std::string> names_with_bytes() const;

  struct Symbol {
    std::size_t slot = 0;
    ValueKind kind = ValueKind::number;
  };
  [[nodiscard]] const Symbol* find(std::string_view name) const;  ///< null when unknown
  [[nodiscard]] const std::int64_t* find_word(std::string_view word) const;
  [[nodiscard]] std::vector<std::string> names() const;  ///< in the order of declaration
  [[nodiscard]] std::vector<std::string> words() const;  ///< all that were interned
  [[nodiscard]] std::size_t size() const { return order_.size(); }

 private:
  std::map<std::string, Symbol, std::less<>> symbols_;
  std::map<std::string, std::int64_t, std::less<>> words_;
  std::map<std::string, Bytes, std::less<>> bytes_;
  std::vector<std::string> order_;
};

/// Why a text is no expression: what is wrong and where.
struct ExpressionError {
  std::string message;
  std::size_t column = 0;  ///< 0-based, of the first offending character
  std::size_t length = 1;  ///< characters to underline

  /// The message over the text with carets under the place:
  ///     unknown name 'BX' (did you mean 'BN'?)
  ///         BK % VEC == 0 && BX % VEC == 0
  ///                          ^^
  [[nodiscard]] std::string with_caret(std::string_view text) const;
};

/// Why an evaluation has no value.
enum class Fault {
  overflow,  ///< left the 64-bit integers
  division_by_zero,
  not_an_integer,  ///< the whole expression came out as a fraction
  domain,          ///< log2 of a number below 1, a shift by a negative or over-long count
};

[[nodiscard]] std::string_view name(Fault fault);

/// An arithmetic or logical expression of a space file, compiled once to bytecode.
///
/// Values are 64-bit integers with checked overflow. `/` is exact division (1/2 is a half, as in
/// Python and T1 files), `//` floors, `%` follows the floor; a fraction may stand inside but must
/// not be the result. `and or not`, `&& || !`, chained comparisons (`1 <= A < B`), `A in [1, 2]`,
/// `c ? a : b`, `& | ^ ~ << >>`, `min max abs ceil_div is_pow2 log2 align_up`.
class Expression {
 public:
  /// Compiles `text` against `scope`. Text is at most 4 KiB, nesting at most 64.
  [[nodiscard]] static Expected<Expression, ExpressionError> compile(std::string_view text,
                                                                     const Scope& scope);
  /// An expression that is always `value`.
  [[nodiscard]] static Expression constant(std::int64_t value);

  /// The value, given one number for every slot the expression uses.
  [[nodiscard]] Expected<std::int64_t, Fault> evaluate(std::span<const std::int64_t> values) const;

  /// The expressions of which this one is the conjunction (`a && b < c < d`: a, b < c, c < d), so
  /// that each can be checked as soon as its own values are known; itself alone when it is none.
  [[nodiscard]] std::vector<Expression> conjuncts() const;

  /// The values it reads, ascending, each once.
  [[nodiscard]] const std::vector<std::size_t>& slots() const { return slots_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  /// Those of its text, named values in their quotes.
  [[nodiscard]] std::vector<std::string> tokens() const;
  [[nodiscard]] ValueKind kind() const { return kind_; }

  /// What it was compiled from: the node `root()` of `syntax()`.
  [[nodiscard]] const Syntax& syntax() const { return *syntax_; }
  [[nodiscard]] std::size_t root() const { return root_; }

 private:
  Expression(std::string text, std::shared_ptr<const Syntax> syntax, std::size_t root);

  std::string text_;
  std::shared_ptr<const Syntax> syntax_;  // shared by the parts of a conjunction
  std::size_t root_ = 0;
  std::vector<std::size_t> slots_;
  ValueKind kind_ = ValueKind::number;
  std::vector<Instruction> code_;
  bool fractional_ = false;  // it divides exactly: evaluated on fractions, else on integers
};

/// Whether a text can be a name of one's own in an expression: [A-Za-z_][A-Za-z0-9_]{0,63}, and
/// neither a keyword nor a function.
[[nodiscard]] bool is_name(std::string_view text);
/// Whether a text can be a word, the named value of a parameter: [A-Za-z_][A-Za-z0-9_]{0,63}.
[[nodiscard]] bool is_word(std::string_view text);

}  // namespace tuner::space
