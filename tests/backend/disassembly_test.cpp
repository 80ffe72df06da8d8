// SPDX-License-Identifier: Apache-2.0
// With a script in place of cuobjdump, which not every machine has.
#include "tuner/backend/disassembly.hpp"

#include "tuner/core/file.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace tuner::backend {
namespace {

namespace fs = std::filesystem;

class DisassemblyTest : public testing::Test {
 protected:
  ~DisassemblyTest() override { setenv("PATH", path_.c_str(), 1); }

  void install(const std::string& script) const {
    write_file(folder_.path() / "cuobjdump", "#!/bin/sh\n" + script);
    fs::permissions(folder_.path() / "cuobjdump", fs::perms::owner_all);
    setenv("PATH", (folder_.path().string() + ":" + path_).c_str(), 1);
  }

  TemporaryDirectory folder_;
  std::string path_ = std::getenv("PATH");
  Binary binary_{.image = {std::byte{'c'}, std::byte{'u'}}, .symbols = {}};
};

TEST_F(DisassemblyTest, ReadsWhatTheProgramListsOfTheImage) {
  install(
      "[ \"$1\" = -sass ] && [ \"$(cat \"$2\")\" = cu ] || exit 1\n"
      "echo '        /*0000*/                   FFMA R12, R8, R9, R12 ;    /* 0x00 */'\n"
      "echo '        /*0010*/                   EXIT ;                     /* 0x00 */'\n");
  const auto mix = instructions_of(binary_);
  ASSERT_TRUE(mix);
  EXPECT_EQ(*mix, (counters::InstructionMix{.fma = 1, .other = 1}));
}

TEST_F(DisassemblyTest, KnowsNothingOfWhatTheProgramDoesNotRead) {
  install("echo '/*0000*/ EXIT ; /* 0x00 */'; exit 255");
  EXPECT_FALSE(instructions_of(binary_));
  install("echo 'cuobjdump info    : File does not contain device code'");
  EXPECT_FALSE(instructions_of(binary_));
}

}  // namespace
}  // namespace tuner::backend
