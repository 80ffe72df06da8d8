// SPDX-License-Identifier: Apache-2.0
#include "tuner/source/probes.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tuner::source {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

ProbedSource probed(std::string text, ProbeExtent extent = ProbeExtent::everything) {
  return with_probes({.name = "plain.cu", .text = std::move(text), .headers = {}}, {{"-DWIDTH=4"}},
                     extent);
}

/// "1: if (x > 2)" of each.
std::vector<std::string> places(const ProbedSource& source) {
  std::vector<std::string> found;
  for (const Probe& probe : source.probes) {
    found.push_back(fmt::format("{}: {}", probe.line, probe.text));
  }
  return found;
}

std::vector<std::string> places(std::string text, ProbeExtent extent = ProbeExtent::everything) {
  return places(probed(std::move(text), extent));
}

/// The source behind what is put before it.
std::string own_text(const ProbedSource& source) {
  constexpr std::string_view kLine = "#line 1 \"plain.cu\"\n";
  const std::size_t begin = source.source.text.find(kLine);
  return begin == std::string::npos ? source.source.text
                                    : source.source.text.substr(begin + kLine.size());
}

TEST(Probes, AreAtConditionsOfStatements) {
  EXPECT_THAT(places("void f(int n) {\n"
                     "  if (n > 2) return;\n"
                     "  else if (n <\n"
                     "           1) n = 1;  // one\n"
                     "  for (int i = 0; i < n; ++i) {}\n"
                     "  while (n--) {}\n"
                     "  do { ++n; } while (n < 3);\n"
                     "}\n"),
              ElementsAre("2: if (n > 2)", "3: if (n < 1)", "5: for (int i = 0; i < n; ++i)",
                          "6: while (n--)", "7: while (n < 3)"));
}

TEST(Probes, AreAtTernariesWhereverTheyStand) {
  EXPECT_THAT(places("float f(int n, float x) {\n"
                     "  float y = x > 1 ? x : n < 3 ? 2 : 3;\n"
                     "  y += g(n, x == 0 ? 1 : 2)[n ? 0 : 1];\n"
                     "  if (n > 9) x < y ? g(1, 2) : g(2, 1);\n"
                     "  return (float)(n) > a::b ? x : y;\n"
                     "}\n"),
              ElementsAre("2: x > 1 ? …", "2: n < 3 ? …", "3: x == 0 ? …", "3: n ? …",
                          "4: if (n > 9)", "4: x < y ? …", "5: (float)(n) > a::b ? …"));
}

TEST(Probes, AreAtOperandsOfConditions) {
  const ProbedSource source =
      probed("void f(int n, int m) { if (n > 0 && (m < 1 || m > 5)) n = 0; }");
  EXPECT_THAT(places(source), ElementsAre("1: if (n > 0 && (m < 1 || m > 5))", "1: n > 0",
                                          "1: (m < 1 || m > 5)", "1: m < 1", "1: m > 5"));
  EXPECT_EQ(source.probes[1].whole, 0U);
  EXPECT_EQ(source.probes[3].whole, 2U);
}

TEST(Probes, AreAtLabelsOfTheirSwitch) {
  const ProbedSource source = probed(
      "void f(int n) {\n"
      "  switch (n) {\n"
      "    case a::kOne: n = 1; break;\n"
      "    case 2: case 3: switch (n + 1) { default: break; }\n"
      "    default: break;\n"
      "  }\n"
      "}\n");
  EXPECT_THAT(places(source),
              ElementsAre("2: switch (n)", "3: case a::kOne:", "4: case 2:", "4: case 3:",
                          "4: switch (n + 1)", "4: default:", "5: default:"));
  EXPECT_EQ(source.probes[5].whole, 4U);
  EXPECT_EQ(source.probes[6].whole, 0U);
}

TEST(Probes, AreNotWhereNoInputDecides) {
  EXPECT_THAT(places("#define TILE 32\n"
                     "constexpr int kTile = 4;\n"
                     "template <int N, bool ADD = true> void f(int* p) {\n"
                     "  if constexpr (N > 2) { *p = 1; }\n"
                     "  if (ADD && N > 2 * kTile) *p = TILE > WIDTH ? 1 : 2;\n"
                     "  while (true) break;\n"
                     "  for (;;) break;\n"
                     "  for (int x : a) g(x);\n"
                     "  if (const int x = *p) g(x);\n"
                     "  while (auto* next = g(p)) p = next;\n"
                     "#if 0\n"
                     "  if (*p > 3) g(1);\n"
                     "#endif\n"
                     "  // if (*p > 4) g(2);\n"
                     "  g(\"if (x)\");\n"
                     "}\n"),
              IsEmpty());
}

TEST(Probes, AreInTheDefinitionOfAMacro) {
  EXPECT_THAT(places("#define CLAMP(v, hi) \\\n"
                     "  ((v) > (hi) ? (hi) : (v))\n"
                     "#define NAME(x) #x, (x ? 1 : 2)\n"
                     "#define WIDE (a ? 1 : 2)\n"
                     "#define TWICE(x) (x ? 1 : 2)\n"
                     "#define TWICE(x) (x ? 1 : 2)\n"
                     "#if WIDE\n"
                     "#endif\n"),
              ElementsAre("2: (v) > (hi) ? …"));
}

TEST(Probes, OfStatementsLeaveTheRestOut) {
  EXPECT_THAT(places("#define SIGN(x) ((x) < 0 ? -1 : 1)\n"
                     "void f(int n, int m) { if (n > 0 && m > 0) n = n > 3 ? 1 : 2; }\n",
                     ProbeExtent::statements),
              ElementsAre("2: if (n > 0 && m > 0)"));
}

TEST(Probes, KeepLinesAndTheRestOfTheText) {
  const std::string text =
      "void f(int n) {\n  if (n > 2 &&\n      n < 5) n = 0;\n  switch (n) { case 1: n = 2; }\n}\n";
  const ProbedSource source = probed(text);
  EXPECT_EQ(std::ranges::count(own_text(source), '\n'), std::ranges::count(text, '\n'));
  EXPECT_THAT(own_text(source),
              AllOf(HasSubstr("if (::tuner_probes::saw<0>((::tuner_probes::saw<1>((n > 2) ? true : "
                              "false) &&\n      ::tuner_probes::saw<2>((n < 5) ? true : false)) ? "
                              "true : false)) n = 0;"),
                    HasSubstr("switch (::tuner_probes::chose<3>(n)) { case 1: "
                              "::tuner_probes::reached<4>(); n = 2; }")));
}

TEST(Probes, LeaveASourceWithoutConditionsAsItIs) {
  const std::string text = "__global__ void f(int* x) { *x = 1; }\n";
  EXPECT_EQ(probed(text).source.text, text);
  EXPECT_THAT(probed(text).source.text, Not(HasSubstr("tuner_probes")));
}

TEST(Probes, LookIntoHeaders) {
  const ProbedSource source =
      with_probes({.name = "plain.cu",
                   .text = "#include \"a.cuh\"\nvoid f(int n) { if (n) g(n); }\n",
                   .headers = {{.name = "a.cuh", .text = "\nvoid g(int n) { while (n) --n; }\n"}}},
                  {}, ProbeExtent::everything);
  ASSERT_EQ(source.probes.size(), 2U);
  EXPECT_EQ(source.probes[0].file, "a.cuh");
  EXPECT_EQ(source.probes[0].line, 2U);
  EXPECT_EQ(source.probes[1].file, "plain.cu");
}

TEST(Probes, EndWithAnyText) {
  for (const char* text :
       {"if (", "if (x", "switch (x) {", "switch (x) { case", "?", "a ?", "for (;",
        ") ? :", "#define A(", "#define A ? ", "case 1:", "if (&&)", "if (a ||)"}) {
    EXPECT_FALSE(probed(text).source.text.empty()) << text;
  }
}

}  // namespace
}  // namespace tuner::source
