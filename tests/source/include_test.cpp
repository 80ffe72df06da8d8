// SPDX-License-Identifier: Apache-2.0
#include "tuner/source/include.hpp"

#include "../support/hostile_sources.hpp"

#include <gmock/gmock.h>

namespace tuner::source {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

auto include(Include::Form form, std::string name, std::size_t line) {
  return AllOf(Field(&Include::form, form), Field(&Include::name, std::move(name)),
               Field(&Include::line, line), Field(&Include::problem, ""));
}

TEST(Includes, AreFoundWhereACompilerSeesThem) {
  EXPECT_THAT(includes("#include \"a.cuh\"\n"
                       "  # include <cuda_fp16.h>  // why\n"
                       "// #include \"not.cuh\"\n"
                       "int a; #include \"not.cuh\"\n"
                       "const char* s = \"#include \\\"not\\\"\";\r\n"
                       "/* a */ #include \"sub/b.cuh\""),
              ElementsAre(include(Include::Form::quoted, "a.cuh", 1),
                          include(Include::Form::angled, "cuda_fp16.h", 2),
                          include(Include::Form::quoted, "sub/b.cuh", 6)));
}

TEST(Includes, AreNotWhatOnlyLooksLikeOne) {
  EXPECT_THAT(includes("#pragma once\n#includes \"/x\"\n#define include \"/x\"\n#\n#if 1\n#endif\n"
                       "#if defined(__has_include) && __has_include(<cuda_fp16.h>)\n#endif\n"
                       "#ifdef __has_include\n#endif\nint includes, __has_include_ = 1;\n"),
              IsEmpty());
}

TEST(Includes, HaveAProblemWhenTheyCouldReachAFileOutside) {
  for (const char* text : testing_support::kHostileSources) {
    const KernelSource source{.name = "k.cu", .text = text, .headers = {}};
    EXPECT_TRUE(include_problem(source)) << text;
  }
}

TEST(Includes, SayWhatTheProblemIsAndWhere) {
  const auto problem = [](std::string text) {
    return include_problem({.name = "k.cu", .text = "", .headers = {{"a.cuh", std::move(text)}}})
        .value_or("none");
  };
  EXPECT_EQ(problem("\n#include \"/etc/passwd\"\n"),
            "a.cuh:2: the include \"/etc/passwd\" is an absolute path: a kernel may include only "
            "files in its own folder or below, and in folders that \"include\" of the space file "
            "lists");
  EXPECT_THAT(problem("#include <../x>"), HasSubstr("a.cuh:1: the include \"../x\" contains"));
  EXPECT_THAT(problem("#include H"), HasSubstr("not by a macro"));
  EXPECT_THAT(problem("#embed \"x\""), HasSubstr("a kernel may not use #embed"));
  EXPECT_EQ(problem("#include \"b.cuh\"\n"), "none");
}

/// Each of these takes time that grows with the square of its length when read naively; together
/// they take milliseconds.
TEST(Includes, OfALargeHostileTextAreFoundInLinearTime) {
  constexpr int kCopies = 50'000;
  for (const char* unit : {"\\\n", "/**/", "*//*", "/*", "#include <\\\n", "__has_include/*",
                           "__has_include", "__has_include_next", "_\\\n"}) {
    std::string text;
    for (int i = 0; i < kCopies; ++i) text += unit;
    text += "\n#include \"/etc/hostname\"\n";
    const auto found = includes(text);
    ASSERT_FALSE(found.empty()) << unit;
    EXPECT_FALSE(found.back().problem.empty()) << unit;
  }
}

TEST(Includes, StandInABranchUnlessItIsTheGuardOfAHeader) {
  const auto branches = [](std::string_view text) {
    std::vector<bool> found;
    for (const Include& each : includes(text)) found.push_back(each.is_conditional);
    return found;
  };
  EXPECT_THAT(branches("#include \"a\"\n#if 0\n#include \"b\"\n#else\n#include \"c\"\n#endif\n"
                       "#include \"d\"\n"),
              ElementsAre(false, true, true, false));
  for (const char* guard : {"#ifndef A_H\n#define A_H\n", "#if !defined(A_H)\n#define A_H 1\n",
                            "// a\n#ifndef A_H  // b\n\n# define A_H\n"}) {
    EXPECT_THAT(branches(std::string(guard) + "#include \"a\"\n#ifdef B\n#include \"b\"\n#endif\n"
                                              "#include \"c\"\n#endif\n#include \"d\"\n"),
                ElementsAre(false, true, false, false))
        << guard;
  }
  EXPECT_THAT(branches("#ifndef A\n#include \"a\"\n#define A\n#endif\n"), ElementsAre(true));
  EXPECT_THAT(branches("#endif\n#else\n#include \"a\"\n"), ElementsAre(false));
}

TEST(MissingHeader, IsNamedAsGxxAndNvrtcNameIt) {
  for (const char* message :
       {"k.cu:1:10: fatal error: cub/cub.cuh: No such file or directory\ncompilation terminated.",
        "k.cu(1): catastrophic error: cannot open source file \"cub/cub.cuh\"\n",
        "k.cu(1): catastrophic error: could not open source file \"cub/cub.cuh\" (no directories "
        "in search list)"}) {
    EXPECT_THAT(missing_header_hint(message), StartsWith("\nhint: the header cub/cub.cuh was"));
  }
}

TEST(MissingHeader, OtherMessagesGetNoHint) {
  EXPECT_EQ(missing_header_hint(""), "");
  EXPECT_EQ(missing_header_hint("k.cu:1:87: error: 'nonsense' was not declared"), "");
  EXPECT_EQ(missing_header_hint("fatal error: out of memory\nx: No such file or directory"), "");
}

/// Each of these takes minutes when every beginning is looked at up to the line's end.
TEST(MissingHeader, OfALongHostileMessageIsFoundInLinearTime) {
  for (const char* unit : {"fatal error: ", "fatal error: : No such file", "fatal error: \n"}) {
    std::string message;
    for (int i = 0; i < 500'000; ++i) message += unit;
    EXPECT_EQ(missing_header_hint(message), "");
    EXPECT_THAT(missing_header_hint(message + "fatal error: a.h: No such file"), HasSubstr("a.h"));
  }
}

}  // namespace

}  // namespace tuner::source
