// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/table_code.hpp"

#include <gmock/gmock.h>

namespace tuner::select {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const CodeOrigin kOrigin = {
    .architecture = "sm_90", .recipe = "options 2", .compiler = "NVRTC 13.0"};

CodeKey key(char digit) {
  return {.kernel_hash = std::string(64, 'a'), .job_key = std::string(32, digit)};
}

std::map<CodeKey, CompiledKernel> kernels() {
  return {{key('1'),
           {.image = std::string("\x7f"
                                 "ELF\0one",
                                 8),
            .symbols = {"_Z3one", "_Z5other"}}},
          {key('2'), {.image = std::string(5000, 'x'), .symbols = {"_Z3two"}}},
          {key('3'), {.image = "three", .symbols = {"_Z5three"}}}};
}

/// As a table holds it, between other text.
TableCode read(const std::string& section) {
  const auto text = std::make_shared<const std::string>("kernels," + section);
  return {text, std::string_view(*text).substr(8)};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  EXPECT_THAT(text, HasSubstr(from));
  return text.replace(text.find(from), from.size(), to);
}

TEST(TableCode, GivesEachKernelBack) {
  const TableCode code = read(code_text(kOrigin, kernels()) + "}\n");
  EXPECT_EQ(code.problem(), "");
  EXPECT_EQ(code.origin(), kOrigin);
  EXPECT_THAT(code.keys(), SizeIs(3));
  for (const auto& [known, kernel] : kernels()) {
    const auto found = code.find(known);
    ASSERT_TRUE(found && *found);
    EXPECT_EQ(**found, kernel);
  }
}

TEST(TableCode, HasNothingForAnotherSourceOrOtherOptions) {
  const TableCode code = read(code_text(kOrigin, kernels()));
  CodeKey other = key('1');
  other.kernel_hash.front() = 'b';
  for (const CodeKey& it : {other, key('4')}) {
    const auto found = code.find(it);
    ASSERT_TRUE(found);
    EXPECT_FALSE(*found);
  }
}

TEST(TableCode, IsForItsArchitectureAndRecipeAndAnyInstalledCompiler) {
  const TableCode code = read(code_text(kOrigin, kernels()));
  EXPECT_EQ(code.objection("sm_90", "options 2"), "");
  EXPECT_EQ(code.objection("sm_80", "options 2"),
            "the table's compiled code is for sm_90, this device is sm_80");
  EXPECT_THAT(code.objection("sm_90", "options 3"), HasSubstr("another version of tuner"));
}

TEST(TableCode, CodeUnderTheKeyOfAnotherIsDamaged) {
  const std::string text =
      replaced(code_text(kOrigin, kernels()), key('3').job_key, key('9').job_key);
  const auto found = read(text).find(key('9'));
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error(), HasSubstr("checksum"));
}

TEST(TableCode, SoIsCodeThatIsSaidToBeOfAnotherArchitecture) {
  const TableCode code = read(replaced(code_text(kOrigin, kernels()), "sm_90", "sm_80"));
  EXPECT_EQ(code.objection("sm_80", "options 2"), "");
  EXPECT_FALSE(code.find(key('1')));
}

TEST(TableCode, ADamagedKernelLeavesTheOthers) {
  std::string text = code_text(kOrigin, kernels());
  const std::size_t first = text.find("\"]") - 6;  // in the last element of the first line
  text[first] = text[first] == 'A' ? 'B' : 'A';
  const TableCode code = read(text);
  EXPECT_FALSE(code.find(key('1')));
  EXPECT_TRUE(code.find(key('2')) && *code.find(key('2')));
  EXPECT_EQ(code.problem(), "");
}

TEST(TableCode, WhatIsCutOffSaysHowMuchIsThere) {
  const std::string text = code_text(kOrigin, kernels());
  const TableCode code = read(text.substr(0, text.find(key('3').job_key)));
  EXPECT_EQ(code.problem(), "the table's compiled code is cut off: 2 of 3 kernels are there");
  EXPECT_TRUE(code.find(key('2')) && *code.find(key('2')));
}

TEST(TableCode, CutOffOrDamagedAnywhereItNeverGivesAnotherKernel) {
  const std::string text = code_text(kOrigin, kernels());
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = damaged[i] == '0' ? '1' : '0';
    for (const std::string& section : {text.substr(0, i), damaged}) {
      const TableCode code = read(section);
      static_cast<void>(code.objection("sm_90", "options 2"));
      for (const auto& [known, kernel] : kernels()) {
        const auto found = code.find(known);
        if (found && *found) {
          EXPECT_EQ(**found, kernel) << i;
        }
      }
    }
  }
}

TEST(TableCode, AnUnknownFormatIsNamedAndNothingOfItIsRead) {
  const TableCode code = read(replaced(code_text(kOrigin, kernels()), "code/1", "code/2"));
  EXPECT_EQ(code.problem(),
            "the table's compiled code has the format \"code/2\", this version reads code/1");
  EXPECT_EQ(code.objection("sm_90", "options 2"), code.problem());
  EXPECT_FALSE(code.origin());
  EXPECT_THAT(code.keys(), IsEmpty());
}

}  // namespace
}  // namespace tuner::select
