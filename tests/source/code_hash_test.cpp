// SPDX-License-Identifier: Apache-2.0
#include "tuner/source/code_hash.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace tuner::source {
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
}

TEST(CodeHash, JoinsWhatABackslashJoins) {
  EXPECT_EQ(code_hash("#define CHECK\\\nED 1\n"), code_hash("#define CHECKED 1\n"));
  EXPECT_NE(code_hash("#define CHECKED\\\n1\n"), code_hash("#define CHECKED 1\n"));
}

// Each pair is one stream of tokens to who does not know the rule.
TEST(CodeHash, ReadsNumbersLiteralsAndCommentsAsCompilersDo) {
  EXPECT_NE(code_hash("F(1e-'a'//'b\n)"), code_hash("F(1e-'a'//'c\n)"));
  EXPECT_NE(code_hash("F(1.e'a'//'b\n)"), code_hash("F(1.e'a'//'c\n)"));
  EXPECT_NE(code_hash("c ? x<:0:> : 1"), code_hash("c ? x< :0: > : 1"));
  EXPECT_NE(code_hash("D(1R\"(a\" )\" // b\""), code_hash("D(1R\"(a\" )\" // c\""));
  EXPECT_NE(code_hash("#define S \"/*\"\n1"), code_hash("#define S \"/*\" 1"));
}

// With each of these, two texts of the same tokens can be different programs.
TEST(CodeHash, SaysWhereMoreThanTokensCounts) {
  using namespace std::string_view_literals;
  for (const std::string_view code :
       {"return __LINE__;"sv, "__LI\\\nNE__"sv, "sizeof(__FILE__)"sv, "#/**/define S(x) #x\n"sv,
        "\xef\xbb\xbf#define S(x) #x\n"sv,
        // lines that are continued, ended or joined in another place
        "// why\\ \nreturn;"sv, "// why?\?/\nreturn;"sv, "%:define A\n1"sv, "?\?=define A\n1"sv,
        "a\rb"sv, "a\0b"sv, "R\"(a\\\nb)\""sv, "R\\\n\"(ab)\""sv, "f(\"a\" R\"(b)\")"sv,
        "#define F /* a\n */ (x)\n"sv,
        // what some preprocessors end elsewhere
        "#define N 1'000\n"sv, "#pragma foo don't\n"sv, "#ifdef NEVER\nit's slow\n#endif\n"sv,
        "#if 0 // off\nit's\n#else\nx\n#endif\n"sv, "#if 0\n/*\n#endif\n// */ #else\nx\n#endif\n"sv,
        "#if 0\n#iffy\n#endif\n"sv, "int a\xc3\xa9;"sv, "int a\\u00e9;"sv,
        // headers
        "#if __has_include(<a//b>)\n#endif\n"sv, "#include_next <a>\n"sv,
        "#include /* a */ <a//b>\n"sv}) {
    EXPECT_EQ(decisive(code), Decisive::text) << code;
  }
  for (const std::string_view code : {"#define S(x) #x\n"sv, "#define P(x, y) x##y\n"sv,
                                      "#define S(x) /* why */ \\\n  #x\nS(a + b)\n"sv}) {
    EXPECT_EQ(decisive(code), Decisive::blanks) << code;
  }
  for (const std::string_view code :
       {"#define F(x) \\\n  (x)\n"sv, "int a; // one's \"text\" \xc3\xa9 __LINE__ why?\?\r\n"sv,
        "#if A /* why */\n#endif\n"sv, "f('\\\\', \"\\n%d:%:\", '\"');\n"sv,
        "#pragma unroll (4)\n"sv, "#include <a.h>\n#include \"b.h\"\n"sv,
        "x = 1.5e-3f + .5 + 0x1p-3;"sv, "asm(\"mov %0, 1;\" : \"=r\"(x));"sv,
        "#error it is not so\n"sv}) {
    EXPECT_EQ(decisive(code), Decisive::tokens) << code;
  }
}

TEST(CodeHash, WithBlanksTellsApartWhatIsOneTextFromAnother) {
  EXPECT_NE(spaced_code_hash("S(a + b)"), spaced_code_hash("S(a+b)"));
  EXPECT_NE(spaced_code_hash("S(a +b)"), spaced_code_hash("S(a+ b)"));
  EXPECT_NE(spaced_code_hash("S(a/**/+b)"), spaced_code_hash("S(a+b)"));
  EXPECT_EQ(spaced_code_hash("S(a /* one */ + b) // two\n"),
            spaced_code_hash("// three\nS(a\n  +  b)"));
  EXPECT_EQ(spaced_code_hash("/// Four.\n#define S(x) #x\nint a;"),
            spaced_code_hash("#define S(x)  #x  // five\n\n\nint a;"));
}

// A source may have megabytes: neighbours of a mark are not looked through for each mark.
TEST(CodeHash, ReadsManyMarksAtOnce) {
  EXPECT_EQ(code_hash(std::string(2'000'000, '(')).size(), 64U);
}

}  // namespace
}  // namespace tuner::source
