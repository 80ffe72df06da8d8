// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/expression.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace tuner::space {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();

/// dev.warp_size = 32, A = 7, B = -2, ZERO = 0, MAX and MIN the extreme integers, LAYOUT = 'nt'.
class ExpressionTest : public testing::Test {
 protected:
  ExpressionTest() {
    declare("dev.warp_size", 32);
    declare("A", 7);
    declare("B", -2);
    declare("ZERO", 0);
    declare("MAX", kLargest);
    declare("MIN", kSmallest);
    scope_.declare("LAYOUT", ValueKind::word);
    slots_.push_back(scope_.intern("nt"));
    scope_.intern("tn");
  }

  void declare(const char* name, std::int64_t value) {
    scope_.declare(name);
    slots_.push_back(value);
  }

  Expression compile(const std::string& text) const {
    auto expression = Expression::compile(text, scope_);
    if (!expression) throw std::runtime_error(expression.error().with_caret(text));
    return *std::move(expression);
  }

  std::int64_t value(const std::string& text) const {
    const auto result = compile(text).evaluate(slots_);
    if (!result) throw std::runtime_error(text + ": " + std::string(name(result.error())));
    return *result;
  }

  std::string fault(const std::string& text) const {
    const auto result = compile(text).evaluate(slots_);
    return result ? "value " + std::to_string(*result) : std::string(name(result.error()));
  }

  std::string error(const std::string& text) const {
    const auto expression = Expression::compile(text, scope_);
    return expression ? "compiles" : expression.error().with_caret(text);
  }

  Scope scope_;
  std::vector<std::int64_t> slots_;
};

TEST_F(ExpressionTest, FollowsPythonsPrecedence) {
  EXPECT_EQ(value("1 + 2 * 3"), 7);
  EXPECT_EQ(value("(1 + 2) * 3"), 9);
  EXPECT_EQ(value("10 - 4 - 3"), 3);
  EXPECT_EQ(value("1 << 2 + 1"), 8);
  EXPECT_EQ(value("6 & 3 == 2"), 1);  // the mask first, unlike in C
  EXPECT_EQ(value("1 | 6 ^ 2 & 3"), 5);
  EXPECT_EQ(value("not 1 == 2"), 1);
  EXPECT_EQ(value("!1 == 0"), 1);
  EXPECT_EQ(value("0 and 0 or 1"), 1);
  EXPECT_EQ(value("-A + +A"), 0);
  EXPECT_EQ(value("~A"), -8);
}

TEST_F(ExpressionTest, FloorDivisionAndRemainderRoundDown) {
  EXPECT_EQ(value("7 // 2"), 3);
  EXPECT_EQ(value("-7 // 2"), -4);
  EXPECT_EQ(value("7 // -2"), -4);
  EXPECT_EQ(value("-7 // -2"), 3);
  EXPECT_EQ(value("7 % -2"), -1);
  EXPECT_EQ(value("-7 % 2"), 1);
  EXPECT_EQ(value("-6 % 3"), 0);
}

TEST_F(ExpressionTest, SlashDividesExactly) {
  EXPECT_EQ(value("6 / 3"), 2);
  EXPECT_EQ(value("1 / 2 + 1 / 2"), 1);
  EXPECT_EQ(value("1 / 2 < 1"), 1);
  EXPECT_EQ(value("1 / 2 == 2 / 4"), 1);
  EXPECT_EQ(value("1 / 3 != 1 / 4"), 1);
  EXPECT_EQ(value("-1 / 2 < 0"), 1);
  EXPECT_EQ(value("1 / -2 == -1 / 2"), 1);
  EXPECT_EQ(value("7 / 2 // 1"), 3);
  EXPECT_EQ(value("-7 / 2 // 1"), -4);
  EXPECT_EQ(value("7 / 2 % 1 == 1 / 2"), 1);
  EXPECT_EQ(value("32 % (64 / 48) == 0"), 1);  // 4/3 stands in 32 exactly 24 times
  EXPECT_EQ(value("ceil_div(7 / 2, 1)"), 4);
  EXPECT_EQ(value("max(1 / 2, 1 / 3) * 2"), 1);
  EXPECT_EQ(value("1 / 2 and 1"), 1);
  EXPECT_EQ(fault("1 / 2"), "not a whole number");
  EXPECT_EQ(fault("(1 / 2) & 1"), "not a whole number");
}

TEST_F(ExpressionTest, ComparisonsChain) {
  EXPECT_EQ(value("1 <= A < 8"), 1);
  EXPECT_EQ(value("1 <= A < 7"), 0);
  EXPECT_EQ(value("8 <= A < 9"), 0);
  EXPECT_EQ(value("3 > 2 > 1 > 0"), 1);
  EXPECT_EQ(value("(3 > 2) > 1"), 0);
  EXPECT_EQ(value("1 == 1 == 1 != 0"), 1);
}

TEST_F(ExpressionTest, MembershipTakesBothBrackets) {
  EXPECT_EQ(value("A in [1, 7]"), 1);
  EXPECT_EQ(value("A in (1, 6)"), 0);
  EXPECT_EQ(value("A not in [1, 6]"), 1);
  EXPECT_EQ(value("A + 1 in [A, A + 1] and 1"), 1);
  EXPECT_EQ(value("1 / 2 in [2 / 4]"), 1);
}

TEST_F(ExpressionTest, ConditionalChoosesOneBranch) {
  EXPECT_EQ(value("A > 5 ? 10 : 20"), 10);
  EXPECT_EQ(value("A > 9 ? 1 : A > 5 ? 2 : 3"), 2);
  EXPECT_EQ(value("ZERO == 0 ? 1 : 1 // ZERO"), 1);
}

TEST_F(ExpressionTest, BooleansAreZeroAndOne) {
  EXPECT_EQ(value("True + true"), 2);
  EXPECT_EQ(value("False or false"), 0);
  EXPECT_EQ(value("5 and 7"), 1);
  EXPECT_EQ(value("0 || 7"), 1);
  EXPECT_EQ(value("not 5"), 0);
}

TEST_F(ExpressionTest, LogicStopsAtTheFirstAnswer) {
  EXPECT_EQ(value("ZERO != 0 and 1 // ZERO > 0"), 0);
  EXPECT_EQ(value("ZERO == 0 or 1 // ZERO > 0"), 1);
  EXPECT_EQ(value("5 < 4 < 1 // ZERO"), 0);
  EXPECT_EQ(value("A in [7, 1 // ZERO]"), 1);
}

TEST_F(ExpressionTest, FunctionsCompute) {
  EXPECT_EQ(value("min(3, 1, 2)"), 1);
  EXPECT_EQ(value("max(3, 1, 2)"), 3);
  EXPECT_EQ(value("abs(B)"), 2);
  EXPECT_EQ(value("ceil_div(7, 2)"), 4);
  EXPECT_EQ(value("ceil_div(-7, 2)"), -3);
  EXPECT_EQ(value("ceil_div(8, 2)"), 4);
  EXPECT_EQ(value("is_pow2(64)"), 1);
  EXPECT_EQ(value("is_pow2(0)"), 0);
  EXPECT_EQ(value("is_pow2(48)"), 0);
  EXPECT_EQ(value("log2(1)"), 0);
  EXPECT_EQ(value("log2(1023)"), 9);
  EXPECT_EQ(value("align_up(33, 32)"), 64);
  EXPECT_EQ(value("align_up(dev.warp_size, 32)"), 32);
}

TEST_F(ExpressionTest, BitsShift) {
  EXPECT_EQ(value("1 << 62"), std::int64_t{1} << 62);
  EXPECT_EQ(value("-1 << 63"), kSmallest);
  EXPECT_EQ(value("-8 >> 1"), -4);
  EXPECT_EQ(value("5 & 6"), 4);
  EXPECT_EQ(value("5 | 6"), 7);
  EXPECT_EQ(value("5 ^ 6"), 3);
}

TEST_F(ExpressionTest, WordsCompare) {
  EXPECT_EQ(value("LAYOUT == 'nt'"), 1);
  EXPECT_EQ(value("LAYOUT != 'nt'"), 0);
  EXPECT_EQ(value("LAYOUT in ['tn', 'nt']"), 1);
  EXPECT_EQ(compile("A > 1 ? LAYOUT : 'tn'").kind(), ValueKind::word);
  EXPECT_EQ(compile("LAYOUT == 'nt'").kind(), ValueKind::number);
}

TEST_F(ExpressionTest, ExtremeIntegersAreRead) {
  EXPECT_EQ(value("9223372036854775807"), kLargest);
  EXPECT_EQ(value("-9223372036854775808"), kSmallest);
}

TEST_F(ExpressionTest, OverflowIsAFault) {
  const char* const overflow = "overflow of 64-bit integers";
  EXPECT_EQ(fault("MAX + 1"), overflow);
  EXPECT_EQ(fault("MIN - 1"), overflow);
  EXPECT_EQ(fault("MAX * 2"), overflow);
  EXPECT_EQ(fault("-MIN"), overflow);
  EXPECT_EQ(fault("abs(MIN)"), overflow);
  EXPECT_EQ(fault("MIN // -1"), overflow);
  EXPECT_EQ(fault("ceil_div(MIN, -1)"), overflow);
  EXPECT_EQ(fault("MIN / -1"), overflow);
  EXPECT_EQ(fault("1 << 63"), overflow);
  EXPECT_EQ(fault("align_up(MAX, 2)"), overflow);
  EXPECT_EQ(fault("1 / MAX * (1 / MAX) == 0"), overflow);
  EXPECT_EQ(value("MIN % -1"), 0);
}

TEST_F(ExpressionTest, DivisionByZeroIsAFault) {
  for (const char* text : {"1 / ZERO", "1 // ZERO", "1 % ZERO", "ceil_div(1, ZERO)",
                           "align_up(1, ZERO)", "1 / 2 % ZERO", "1 / 2 // ZERO"}) {
    EXPECT_EQ(fault(text), "division by zero") << text;
  }
}

TEST_F(ExpressionTest, DomainIsAFault) {
  for (const char* text : {"log2(ZERO)", "log2(B)", "1 << 64", "1 >> B"}) {
    EXPECT_EQ(fault(text), "outside the domain of log2 or a shift") << text;
  }
}

TEST_F(ExpressionTest, ReportsItsSlotsAscending) {
  EXPECT_EQ(compile("B + A * A - dev.warp_size").slots(), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_TRUE(compile("1 + 2").slots().empty());
}

TEST_F(ExpressionTest, ConstantIsItsValue) {
  EXPECT_EQ(*Expression::constant(-5).evaluate({}), -5);
  EXPECT_EQ(Expression::constant(-5).text(), "-5");
}

TEST_F(ExpressionTest, SplitsIntoConjuncts) {
  const std::vector<Expression> parts = compile("A > 1 and 1 < B < A && 1 / 2").conjuncts();
  ASSERT_EQ(parts.size(), 4U);
  EXPECT_EQ(parts[0].slots(), (std::vector<std::size_t>{1}));
  EXPECT_EQ(parts[1].slots(), (std::vector<std::size_t>{2}));
  EXPECT_EQ(parts[2].slots(), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(*parts[0].evaluate(slots_), 1);
  EXPECT_EQ(*parts[1].evaluate(slots_), 0);
  EXPECT_EQ(*parts[2].evaluate(slots_), 1);
  EXPECT_EQ(*parts[3].evaluate(slots_), 1) << "a fraction is true under `and`";
  EXPECT_EQ(compile("A or B and A").conjuncts().size(), 1U);
}

TEST_F(ExpressionTest, PointsAtUnknownNames) {
  EXPECT_EQ(error("A % 2 == 0 && dev.wrap_size > 1"),
            "unknown name 'dev.wrap_size' (did you mean 'dev.warp_size'?)\n"
            "    A % 2 == 0 && dev.wrap_size > 1\n"
            "                  ^^^^^^^^^^^^^");
  EXPECT_EQ(error("LAYUOT"),
            "unknown name 'LAYUOT' (did you mean 'LAYOUT'?)\n    LAYUOT\n    ^^^^^^");
  EXPECT_EQ(error("ciel_div(A, 2)"),
            "unknown function 'ciel_div' (did you mean 'ceil_div'?)\n"
            "    ciel_div(A, 2)\n    ^^^^^^^^");
  EXPECT_EQ(error("LAYOUT == 'nn'"),
            "no parameter has the value 'nn' (did you mean 'nt'?)\n"
            "    LAYOUT == 'nn'\n              ^^^^");
  EXPECT_NE(error("completely_unknown").find("(known: A, B, ZERO, MAX, MIN, LAYOUT"),
            std::string::npos);
  EXPECT_EQ(error("min + 1"),
            "'min' is a function and needs arguments: min(…)\n    min + 1\n    ^^^");
}

TEST_F(ExpressionTest, PointsAtSyntaxErrors) {
  EXPECT_EQ(error(""), "an expression is missing\n    \n    ^");
  EXPECT_EQ(error("A +"), "the expression ends where a value is expected\n    A +\n       ^");
  EXPECT_EQ(error("(A"), "')' is missing at the end\n    (A\n      ^");
  EXPECT_EQ(error("A B"), "unexpected 'B'\n    A B\n      ^");
  EXPECT_EQ(error("A = 1"), "'=' is not an operator (did you mean '=='?)\n    A = 1\n      ^");
  EXPECT_EQ(error("A ** 2"),
            "there is no power operator; write a product, or 1 << n\n    A ** 2\n      ^^");
  EXPECT_EQ(error("1.5"),
            "numbers in an expression are whole (3/2 may be a part of one); a number by value with "
            "a fraction is written without quotes\n    1.5\n    ^^^");
  EXPECT_EQ(error("12ab"), "'12ab' is neither a number nor a name\n    12ab\n    ^^^^");
  EXPECT_EQ(error("9223372036854775808"),
            "the number does not fit in 64 bits\n    9223372036854775808\n"
            "    ^^^^^^^^^^^^^^^^^^^");
  EXPECT_EQ(error("A in 5"), "expected a list: in [1, 2, 4]\n    A in 5\n         ^");
  EXPECT_EQ(error("log2(1, 2)"), "log2 takes 1 argument, not 2\n    log2(1, 2)\n    ^^^^");
  EXPECT_EQ(error("min(1)"), "min takes at least 2 arguments, not 1\n    min(1)\n    ^^^");
  EXPECT_EQ(error("A @ 2"), "unexpected character '@'\n    A @ 2\n      ^");
  EXPECT_EQ(error("LAYOUT == 'nt"),
            "the closing ' is missing\n    LAYOUT == 'nt\n              ^^^");
}

TEST_F(ExpressionTest, RefusesToCalculateWithWords) {
  EXPECT_EQ(error("LAYOUT + 1"),
            "a word can only be compared, with == != or in\n    LAYOUT + 1\n    ^^^^^^");
  EXPECT_EQ(error("LAYOUT == 1"),
            "a word cannot be compared with a number\n    LAYOUT == 1\n    ^^^^^^^^^^^");
  EXPECT_EQ(error("LAYOUT < 'nt'"),
            "a word can only be compared, with == != or in\n    LAYOUT < 'nt'\n             ^^^^");
  EXPECT_EQ(error("A in [1, 'nt']").substr(0, 39), "a word cannot be compared with a number");
  EXPECT_EQ(error("A ? LAYOUT : 1").substr(0, 47),
            "one branch is a word and the other a number\n   ");
}

TEST_F(ExpressionTest, LimitsNestingAndLength) {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '(') + "1" + std::string(levels, ')');
  };
  EXPECT_EQ(value(nested(64)), 1);
  EXPECT_EQ(error(nested(65)).substr(0, 29), "nested deeper than 64 levels\n");
  EXPECT_EQ(error(nested(2000)).substr(0, 29), "nested deeper than 64 levels\n");
  EXPECT_EQ(error(std::string(65, '~') + "1").substr(0, 29), "nested deeper than 64 levels\n");
  EXPECT_EQ(value(std::string(4095, ' ') + "1"), 1);
  EXPECT_EQ(error(std::string(4096, ' ') + "1").substr(0, 28), "longer than 4096 characters\n");
}

TEST_F(ExpressionTest, LongSumsAndDeepStacksEvaluate) {
  std::string sum = "1";
  for (int i = 0; i < 2000; ++i) sum += "+1";
  EXPECT_EQ(value(sum), 2001);
  std::string deep;
  for (int i = 0; i < 60; ++i) deep += "A | A + ZERO * (";
  deep += "0" + std::string(60, ')');
  EXPECT_EQ(value(deep), value("A | A"));
  std::string too_deep;
  for (int i = 0; i < 64; ++i) too_deep += "A | A ^ A & A << A + A * (";
  too_deep += "0" + std::string(64, ')');
  EXPECT_EQ(error(too_deep).substr(0, 24), "too many values at once;");
}

TEST_F(ExpressionTest, CaretFollowsIntoLongAndUnprintableText) {
  const std::string text = std::string(200, ' ') + "X\x1b";
  const std::string shown = error("A +" + text);
  EXPECT_EQ(shown.find('\x1b'), std::string::npos);
  EXPECT_LT(shown.size(), 300U);
}

TEST(Scope, RefusesTheSameNameTwice) {
  Scope scope;
  EXPECT_EQ(scope.declare("A"), 0U);
  EXPECT_THROW(scope.declare("A"), std::invalid_argument);
}

TEST(Scope, NumbersWordsOnce) {
  Scope scope;
  const std::int64_t first = scope.intern("nt");
  EXPECT_NE(scope.intern("tn"), first);
  EXPECT_EQ(scope.intern("nt"), first);
  EXPECT_EQ(*scope.find_word("nt"), first);
  EXPECT_EQ(scope.find_word("nn"), nullptr);
}

TEST(Names, AreIdentifiersOutsideTheLanguage) {
  EXPECT_TRUE(is_name("BLOCK_X"));
  EXPECT_TRUE(is_name(std::string(64, 'a')));
  EXPECT_FALSE(is_name(std::string(65, 'a')));
  for (const char* text : {"", "1A", "A-B", "and", "True", "min", "dev.x", "é"}) {
    EXPECT_FALSE(is_name(text)) << text;
  }
  EXPECT_TRUE(is_word("min"));
}

}  // namespace
}  // namespace tuner::space
