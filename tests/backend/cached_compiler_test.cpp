// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cached_compiler.hpp"

#include "tuner/core/file.hpp"

#include <gmock/gmock.h>

namespace tuner::backend {
namespace {

using testing::AllOf;
using testing::Ne;

/// Counts what it compiles; the entry "bad" fails.
class CountingCompiler : public Compiler {
 public:
  Expected<Binary, Failure> compile(const family::CompileJob& job) const override {
    ++compiled;
    if (job.entries.front() == "bad") return Unexpected(Failure{Outcome::compile_error, "no"});
    return Binary{.image = std::vector<std::byte>(100), .symbols = job.entries};
  }
  mutable int compiled = 0;
};

family::CompileJob job(std::string entry) {
  return {.source = {}, .entries = {entry}, .options = {}, .key = "key of " + entry};
}

class CachedCompilerTest : public testing::Test {
 protected:
  [[nodiscard]] CachedCompiler cached(std::string identity) {
    return {compiler_, cache_, std::move(identity)};
  }
  CountingCompiler compiler_;

 private:
  TemporaryDirectory directory_;
  BinaryCache cache_{directory_.path()};
};

TEST_F(CachedCompilerTest, CompilesAJobOnce) {
  EXPECT_EQ(cached("gpu").compile(job("f"))->symbols, std::vector<std::string>{"f"});
  EXPECT_EQ(cached("gpu").compile(job("f"))->symbols, std::vector<std::string>{"f"});
  EXPECT_EQ(cached("gpu").compile(job("g"))->symbols, std::vector<std::string>{"g"});
  EXPECT_EQ(compiler_.compiled, 2);
}

TEST_F(CachedCompilerTest, CompilesAgainForAnotherCompiler) {
  static_cast<void>(cached("NVRTC 13.0").compile(job("f")));
  static_cast<void>(cached("NVRTC 13.1").compile(job("f")));
  EXPECT_EQ(compiler_.compiled, 2);
}

TEST_F(CachedCompilerTest, TriesAgainWhatFailed) {
  for (int i = 0; i < 2; ++i) {
    const auto failed = cached("gpu").compile(job("bad"));
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message, "no");
  }
  EXPECT_EQ(compiler_.compiled, 2);
}

TEST(CompilerIdentity, TellsApartWhatMakesDifferentImages) {
  const space::EnvironmentInfo environment{
      .driver = "580", .compiler = "NVRTC 13.0", .library = "cuBLAS", .tool = "1"};
  const space::DeviceInfo h200{.backend = "cuda",
                               .name = "NVIDIA H200",
                               .uuid = "1",
                               .architecture = "sm_90",
                               .attributes = {}};
  const std::string identity = compiler_identity(h200, environment);

  space::DeviceInfo other_card = h200;
  other_card.name = "NVIDIA H100";
  EXPECT_EQ(compiler_identity(other_card, environment), identity);
  space::EnvironmentInfo other_driver = environment;
  other_driver.driver = "590";
  EXPECT_EQ(compiler_identity(h200, other_driver), identity);

  space::DeviceInfo other_architecture = h200;
  other_architecture.architecture = "sm_100";
  EXPECT_NE(compiler_identity(other_architecture, environment), identity);
  space::EnvironmentInfo other_compiler = environment;
  other_compiler.compiler = "NVRTC 13.1";
  EXPECT_NE(compiler_identity(h200, other_compiler), identity);

  space::DeviceInfo cpu = h200;
  cpu.backend = "cpu";
  space::DeviceInfo other_cpu = cpu;
  other_cpu.name = "another processor";
  EXPECT_THAT(compiler_identity(cpu, environment),
              AllOf(Ne(identity), Ne(compiler_identity(other_cpu, environment))));
}

}  // namespace
}  // namespace tuner::backend
