// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/code_hash.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tuner::family {
namespace {

TEST(CodeHash, StaysWhereOnlyTheTextChanges) {
  const std::string original = code_hash("int f(int a) {\n  return a + 1;  // one more\n}\n");
  EXPECT_EQ(code_hash("int f( int a )\n{ return a+1; }"), original);
  EXPECT_EQ(code_hash("/* of\n two lines */ int f(int a) { return a + /* one */ 1; }"), original);
  EXPECT_EQ(code_hash("int f(int a) {\r\n  return \\\r\n a + 1;\r\n}\r\n"), original);
}

TEST(CodeHash, ChangesWithEveryToken) {
  const std::string original = code_hash("a = b + +c;");
  EXPECT_NE(code_hash("a = b ++c;"), original);
  EXPECT_NE(code_hash("a = b + -c;"), original);
  EXPECT_NE(code_hash("a = bc + +c;"), original);
  EXPECT_NE(code_hash("x < y"), code_hash("x << y"));
  EXPECT_NE(code_hash("x >> y"), code_hash("x > > y"));
  EXPECT_NE(code_hash("a b"), code_hash("ab"));
}

TEST(CodeHash, KeepsTheBlanksOfLiterals) {
  EXPECT_NE(code_hash(R"(f("a  b"))"), code_hash(R"(f("a b"))"));
  EXPECT_NE(code_hash(R"(f("// a"))"), code_hash(R"(f("// b"))"));
  EXPECT_NE(code_hash("f(R\"(a\nb)\")"), code_hash("f(R\"(a b)\")"));
  EXPECT_NE(code_hash(R"(f(L"a"))"), code_hash(R"(f(L "a"))"));
}

TEST(CodeHash, KeepsWhatBlanksAndLineBreaksMeanInDirectives) {
  EXPECT_NE(code_hash("#define F (x)\n"), code_hash("#define F(x)\n"));
  EXPECT_EQ(code_hash("#define F  (x) // a\n"), code_hash("# define F (x)\n"));
  EXPECT_EQ(code_hash("#define F a \\\n  + b\n"), code_hash("#define F a + b\n"));
  EXPECT_NE(code_hash("#define F a\nb"), code_hash("#define F a b"));
}

TEST(CodeHash, KnowsTheOrderOfIncludes) {
  EXPECT_NE(code_hash("#include <b>\n#include <a>\n"), code_hash("#include <a>\n#include <b>\n"));
  EXPECT_EQ(code_hash("#include <b>  // why\n\n#include \"a\"\n"),
            code_hash("#include <b>\n#include \"a\"\n"));
}

TEST(CodeHash, KeepsTheNamesOfHeaders) {
  EXPECT_NE(code_hash("#include <a//b>\n"), code_hash("#include <a//c>\n"));
  EXPECT_NE(code_hash("#include <a/*b>\n"), code_hash("#include <a/*c>\n"));
  EXPECT_TRUE(depends_on_layout("#include /* a */ <a//b>\n"));
}

TEST(CodeHash, JoinsWhatABackslashJoins) {
  EXPECT_EQ(code_hash("#define CHECK\\\nED 1\n"), code_hash("#define CHECKED 1\n"));
  EXPECT_NE(code_hash("#define CHECKED\\\n1\n"), code_hash("#define CHECKED 1\n"));
}

// Each pair is one stream of tokens to who does not know the rule.
TEST(CodeHash, ReadsNumbersLiteralsAndCommentsAsCompilersDo) {
  EXPECT_NE(code_hash("F(1e-'a'//'b\n)"), code_hash("F(1e-'a'//'c\n)"));
  EXPECT_NE(code_hash("F(1.e'a'//'b\n)"), code_hash("F(1.e'a'//'c\n)"));
  EXPECT_NE(code_hash("D(1R\"(a\" )\" // b\""), code_hash("D(1R\"(a\" )\" // c\""));
  EXPECT_NE(code_hash("#define S \"/*\"\n1"), code_hash("#define S \"/*\" 1"));
  EXPECT_EQ(code_hash("x = 1'000'000; // a"), code_hash("x = 1'000'000; // b"));
}

TEST(CodeHash, SaysWhereMoreThanTokensCounts) {
  for (const char* code :
       {"return __LINE__;", "#define S(x) #x\n", "// why\\ \nreturn;",
        "// why??"
        "/\nreturn;",
        "%:define A\n1", "a\rb", "R\"(a\\\nb)\"", "#if __has_include(<a//b>)\n#endif\n",
        "#if 0\n/*\n#endif\n// */ #else\nx\n#endif\n"}) {
    EXPECT_TRUE(depends_on_layout(code)) << code;
  }
  for (const char* code :
       {"#define P(x, y) x##y\n", "#define F(x) \\\n  (x)\n", "int a; // one's \"text\"\r\n",
        "#if 0\nx // y\n#endif\n", "#if A /* why */\n#endif\n", "f('\\\\', \"\\n\");\n"}) {
    EXPECT_FALSE(depends_on_layout(code)) << code;
  }
}

// A source may have megabytes: neighbours of a mark are not looked through for each mark.
TEST(CodeHash, ReadsManyMarksAtOnce) {
  EXPECT_EQ(code_hash(std::string(2'000'000, '(')).size(), 64U);
}

}  // namespace
}  // namespace tuner::family
