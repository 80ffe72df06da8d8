// SPDX-License-Identifier: Apache-2.0
// Tables with compiled code: when it is taken, and what happens where it cannot be.
#include "tests/dispatch/fake_executor.hpp"
#include "tests/dispatch/product_family.hpp"
#include "tests/dispatch/squares_family.hpp"
#include "tuner/backend/binary_cache.hpp"
#include "tuner/dispatch/engine.hpp"
#include "tuner/select/code_jobs.hpp"

#include <gmock/gmock.h>

#include <array>

namespace tuner::dispatch {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

select::CodeOrigin origin() {
  return {.architecture = FakeExecutor().device().architecture,
          .recipe = backend::compile_recipe("cuda"),
          .compiler = "NVRTC 13.0"};
}

class CompiledCodeTest : public testing::Test {
 protected:
  CompiledCodeTest() : database(FakeExecutor().device(), FakeExecutor().environment()) {
    database.add({.size = "8,16,4"});
    database.add_portfolio({{.size = "8,16,4"}});
  }

  [[nodiscard]] select::Catalogue known() const {
    const store::Store store(database.path(), store::Store::Mode::read_only);
    return select::catalogue(store, {});
  }
  /// What `tune export --format json --code` writes, with images that say what they are of.
  [[nodiscard]] std::string exported(const select::CodeOrigin& made = origin(),
                                     select::CodeScope scope = select::CodeScope::members) const {
    const select::Catalogue catalogue = known();
    std::map<select::CodeKey, select::CompiledKernel> kernels;
    for (const auto& it : select::code_jobs(catalogue, scope).jobs) {
      kernels[it.key] = {.image = "code of " + it.job.entries.front(), .symbols = it.job.entries};
    }
    return select::catalogue_json(catalogue, select::code_text(made, kernels));
  }
  void open(const std::string& table, const std::string& refused = "") {
    auto executor = std::make_unique<FakeExecutor>();
    device = executor.get();
    if (!refused.empty()) device->refused_images.insert(refused);
    if (!has_compiler) device->lose_compiler();
    DispatchOptions options;
    options.cache = folder.path() / "binaries";
    options.stale = stale;
    engine = std::make_unique<Engine>(std::move(executor), Table::text(table), options,
                                      DispatchSettings{.log = LogLevel::info});
  }
  void launch(const Size& size) {
    const std::array<DispatchArgument, 5> arguments = {2.0F, data, data, 1.0F, data};
    engine->launch(engine->family("product"), size, arguments, nullptr);
  }
  [[nodiscard]] Answer answer(const Size& size) const {
    return engine->answer(engine->family("product"), size);
  }
  /// What is said while a size is launched.
  [[nodiscard]] std::string said(const Size& size) {
    testing::internal::CaptureStderr();
    launch(size);
    return testing::internal::GetCapturedStderr();
  }

  alignas(16) float data[512] = {};
  bool has_compiler = true;
  StalePolicy stale = StalePolicy::use;
  TemporaryDirectory folder;
  TunedDatabase database;
  FakeExecutor* device = nullptr;
  std::unique_ptr<Engine> engine;
};

TEST_F(CompiledCodeTest, IsLoadedAndNothingIsCompiled) {
  open(exported());
  EXPECT_THAT(device->images, IsEmpty()) << "not before it is needed";
  EXPECT_EQ(said({8, 16, 4}), "");
  EXPECT_THAT(device->images, ElementsAre("code of rows<2,4>"));
  EXPECT_EQ(device->last.entry, "rows<2,4>");
  EXPECT_EQ(device->compilations, 0);
}

TEST_F(CompiledCodeTest, OfAnyCompilerThatMadeIt) {
  select::CodeOrigin other = origin();
  other.compiler = "NVRTC 12.8";
  open(exported(other));
  launch({8, 16, 4});
  EXPECT_EQ(device->compilations, 0);
}

TEST_F(CompiledCodeTest, WithAKernelOfSeveralFunctions) {
  database.add(squares("16"));
  open(exported(origin(), select::CodeScope::bests));
  const std::array<DispatchArgument, 3> arguments = {2.0F, data, data};
  engine->launch(engine->family("squares"), Size{16}, arguments, nullptr);
  EXPECT_EQ(device->last.entry, "total");
  EXPECT_EQ(device->compilations, 0);
}

/// The same configuration with another alignment is other code.
TEST_F(CompiledCodeTest, WhatTheTableHasNoCodeOfIsCompiled) {
  database.add({.size = "8,16,4,ALIGN=1"});
  open(exported());
  launch({8, 16, 4, 1});
  EXPECT_EQ(device->last.entry, "rows<2,1>");
  EXPECT_EQ(device->compilations, 1);
}

TEST_F(CompiledCodeTest, ForAnotherArchitectureIsCompiledFromSource) {
  select::CodeOrigin other = origin();
  other.architecture = "sm_80";
  open(exported(other));
  EXPECT_EQ(said({8, 16, 4}),
            "tuner: kernels are compiled from source: the table's compiled code is for sm_80, this "
            "device is sm_90\n");
  EXPECT_EQ(device->last.entry, "rows<2,4>");
  EXPECT_EQ(device->compilations, 1);
}

TEST_F(CompiledCodeTest, ThatTheDriverDoesNotTakeIsCompiledFromSource) {
  open(exported(), "code of rows<2,4>");
  EXPECT_THAT(said({8, 16, 4}), AllOf(HasSubstr("rows<2,4> is compiled from source"),
                                      HasSubstr("a newer toolkit's")));
  EXPECT_EQ(device->last.entry, "rows<2,4>");
  EXPECT_EQ(device->compilations, 1);
}

TEST_F(CompiledCodeTest, ThatIsDamagedIsCompiledFromSource) {
  std::string table = exported();
  const std::size_t last = table.rfind("\"]") - 6;
  table[last] = table[last] == 'A' ? 'B' : 'A';
  open(table);
  EXPECT_THAT(said({8, 16, 4}),
              AllOf(HasSubstr("rows<2,4> is compiled from source"), HasSubstr("damaged")));
  EXPECT_EQ(device->compilations, 1);
}

TEST_F(CompiledCodeTest, ThatIsCutOffIsCompiledFromSource) {
  const std::string table = exported();
  open(table.substr(0, table.rfind("\n[\"") + 2));
  EXPECT_THAT(said({8, 16, 4}), HasSubstr("cut off: 0 of 1 kernels are there"));
  EXPECT_EQ(device->compilations, 1);
}

TEST_F(CompiledCodeTest, NeedsNoCompilerForWhatItHolds) {
  database.add({.size = "8,16,4,ALIGN=1"});
  database.add({.size = "24,16,4,ALIGN=1"});
  has_compiler = false;
  open(exported());
  launch({8, 16, 4});
  EXPECT_EQ(device->last.entry, "rows<2,4>");
  EXPECT_EQ(said({8, 16, 4, 1}),
            "tuner: kernels that the table does not hold compiled are left out: NVRTC was not "
            "found\n");
  EXPECT_EQ(device->last.entry, "library");
  EXPECT_EQ(said({24, 16, 4, 1}), "") << "it is said once";
}

/// The portfolio runs as it was measured, whatever compiler is installed.
TEST_F(CompiledCodeTest, IsNotStaleForAnotherInstalledCompiler) {
  has_compiler = false;
  stale = StalePolicy::refuse;
  open(exported());
  EXPECT_THAT(answer({16, 16, 4}).explanation, Contains(HasSubstr("of the portfolio of")));
  select::CodeOrigin other = origin();
  other.architecture = "sm_80";
  open(exported(other));
  EXPECT_THAT(answer({16, 16, 4}).explanation, Not(Contains(HasSubstr("of the portfolio of"))));
}

}  // namespace
}  // namespace tuner::dispatch
