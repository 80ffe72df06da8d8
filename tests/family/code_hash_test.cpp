// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/code_hash.hpp"

#include <gtest/gtest.h>

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

TEST(CodeHash, SortsIncludesThatFollowEachOther) {
  EXPECT_EQ(code_hash("#include <b>\n\n#include \"a\"  // why\nx"),
            code_hash("#include \"a\"\n#include <b>\nx"));
  EXPECT_NE(code_hash("#include <b>\n#define N\n#include <a>\n"),
            code_hash("#include <a>\n#define N\n#include <b>\n"));
}

}  // namespace
}  // namespace tuner::family
