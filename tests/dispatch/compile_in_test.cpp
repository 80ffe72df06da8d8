// SPDX-License-Identifier: Apache-2.0
// Where the sources of a table are compiled, by NVRTC, for a GPU that is not there.
#include "tests/dispatch/engine_fixture.hpp"
#include "tests/support/endless_sources.hpp"
#include "tuner/backend/registry.hpp"
#include "tuner/select/catalogue.hpp"
#include "tuner/select/catalogue_json.hpp"

#include <chrono>

namespace tuner::dispatch {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

/// NVRTC, which counts what it compiles in this process.
class CountedCompiler : public backend::Compiler {
 public:
  [[nodiscard]] Expected<backend::Binary, Failure> compile(
      const family::CompileJob& job) const override {
    ++compiled;
    return nvrtc_->compile(job);
  }
  [[nodiscard]] std::vector<std::string> helper_arguments() const override {
    return nvrtc_->helper_arguments();
  }
  mutable int compiled = 0;

 private:
  std::unique_ptr<const backend::Compiler> nvrtc_ = backend::make_compiler("cuda", "sm_90", 60s);
};

class CompileInTest : public EngineTest {
 protected:
  void open_with(const Table& table, DispatchOptions options = {}) {
    auto executor = std::make_unique<FakeExecutor>();
    executor->own_compiler = &nvrtc;
    device = executor.get();
    options.cache = cache.path() / "binaries";
    engine = std::make_unique<Engine>(std::move(executor), table, options, settings);
    family = engine->family("product");
  }
  [[nodiscard]] Table as_text() const {
    const store::Store store(database.path(), store::Store::Mode::read_only);
    return Table::text(select::catalogue_json(select::catalogue(
        store,
        {.device = FakeExecutor().device().name, .environment = FakeExecutor().environment()})));
  }
  [[nodiscard]] std::string explanation(const space::Size& size) const {
    std::string text;
    for (const std::string& line : engine->answer(family, size).explanation) text += line + "\n";
    return text;
  }
  /// Kernels that no compiler finishes.
  [[nodiscard]] static std::string endless_source() {
    return R"(
template <int kTile, int kVector>
__global__ void rows(int M, int N, int K, float alpha, const float* A, const float* B, float beta,
                     float* C) {
  float sums[96 + kTile][96] = {};
  for (int k = 0; k < K; ++k) {
#pragma unroll
    for (int i = 0; i < 96 + kTile; ++i) {
#pragma unroll
      for (int j = 0; j < 96; ++j) sums[i][j] += A[k * 96 + i] * B[k * 96 + j];
    }
  }
#pragma unroll
  for (int i = 0; i < 96 + kTile; ++i) {
#pragma unroll
    for (int j = 0; j < 96; ++j) C[i * 96 + j] = sums[i][j];
  }
}
)";
  }

  CountedCompiler nvrtc;
};

TEST_F(CompileInTest, SourcesOfADatabaseAreCompiledInAHelper) {
  database.add({.size = "64,64,64"});
  open_with(Table::database(database.path()));
  EXPECT_THAT(launched({64, 64, 64}), HasSubstr("rows"));
  EXPECT_EQ(nvrtc.compiled, 0);
}

TEST_F(CompileInTest, SourcesThatWereCompiledInAreCompiledHereUntilAnotherTableIsRead) {
  database.add({.size = "64,64,64"});
  open_with(as_text());
  EXPECT_THAT(launched({64, 64, 64}), HasSubstr("rows"));
  EXPECT_EQ(nvrtc.compiled, 1);
  database.add({.size = "32,32,32", .config = R"({"TILE":4})"});
  engine->reload(Table::database(database.path()));
  EXPECT_THAT(launched({32, 32, 32}), HasSubstr("rows"));
  EXPECT_EQ(nvrtc.compiled, 1);
}

TEST_F(CompileInTest, AnApplicationDecidesOtherwise) {
  database.add({.size = "64,64,64"});
  open_with(Table::database(database.path()), {.compile_in = CompileIn::process});
  EXPECT_THAT(launched({64, 64, 64}), HasSubstr("rows"));
  EXPECT_EQ(nvrtc.compiled, 1);
}

TEST_F(CompileInTest, AnApplicationDistrustsEvenItsOwnSources) {
  database.add({.size = "64,64,64"});
  open_with(as_text(), {.compile_in = CompileIn::helper});
  EXPECT_THAT(launched({64, 64, 64}), HasSubstr("rows"));
  EXPECT_EQ(nvrtc.compiled, 0);
}

TEST_F(CompileInTest, ASourceThatIsNeverCompiledLeavesTheLibrary) {
  for (const char* size : {"64,64,64", "32,32,32", "16,16,16"}) {
    database.add({.size = size, .source = endless_source()});
  }
  database.add({.size = "48,48,48", .config = R"({"TILE":8})", .source = endless_source()});
  database.add({.size = "24,24,24", .config = R"({"TILE":4})", .source = endless_source()});
  open_with(Table::database(database.path()), {.compile_deadline = 1s});
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(launched({64, 64, 64}), "library");
  EXPECT_THAT(explanation({64, 64, 64}), HasSubstr("did not end within 1 s and was killed"));
  for (const space::Size& size :
       {space::Size{32, 32, 32}, {16, 16, 16}, {48, 48, 48}, {24, 24, 24}}) {
    EXPECT_EQ(launched(size), "library");
  }
  EXPECT_THAT(explanation({24, 24, 24}), HasSubstr("its source is not compiled any more"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, 20s) << "two deadlines";
  EXPECT_EQ(nvrtc.compiled, 0);
}

TEST_F(CompileInTest, ASourceThatExceedsTheMemoryLimitLeavesTheLibrary) {
  database.add({.size = "64,64,64", .source = kLargeArray + std::string(kProductSource)});
  open_with(Table::database(database.path()),
            {.compile_deadline = 300s, .compile_memory_bytes = std::uint64_t{2} << 30});
  EXPECT_EQ(launched({64, 64, 64}), "library");
  EXPECT_THAT(explanation({64, 64, 64}), HasSubstr("its memory is limited to 2048 MiB"));
}

}  // namespace
}  // namespace tuner::dispatch
