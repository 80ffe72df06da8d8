// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/compile_pool.hpp"

#include "tuner/core/error.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tuner::worker {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::SizeIs;

/// Does as it is told with each entry; keeps what it compiled.
class ScriptedCompiler : public backend::Compiler {
 public:
  using Script = std::function<Expected<backend::Binary, Failure>(const std::string& entry)>;
  explicit ScriptedCompiler(Script script) : script_(std::move(script)) {}
  ScriptedCompiler()
      : ScriptedCompiler([](const std::string& entry) {
          return backend::Binary{.image = {}, .symbols = {"_" + entry}};
        }) {}

  Expected<backend::Binary, Failure> compile(const family::CompileJob& job) const override {
    {
      const std::scoped_lock lock(mutex_);
      compiled_.push_back(job.entries.front());
    }
    return script_(job.entries.front());
  }
  [[nodiscard]] std::vector<std::string> compiled() const {
    const std::scoped_lock lock(mutex_);
    return compiled_;
  }

 private:
  Script script_;
  mutable std::mutex mutex_;
  mutable std::vector<std::string> compiled_;
};

family::CompileJob job(const std::string& entry) {
  return {.source = {}, .entries = {entry}, .options = {}, .key = "key of " + entry};
}

TEST(CompilePool, CompilesEqualKeysOnceAndSharesTheResult) {
  const ScriptedCompiler compiler;
  CompilePool pool(compiler, 2);
  const auto first = pool.submit(job("a")), other = pool.submit(job("b"));
  const auto again = pool.submit(job("a"));
  EXPECT_EQ(first.get().binary->symbols.at(0), "_a");
  EXPECT_EQ(other.get().binary->symbols.at(0), "_b");
  EXPECT_EQ(&again.get(), &first.get());
  EXPECT_EQ(&pool.submit(job("a")).get(), &first.get()) << "when it is long done, too";
  EXPECT_THAT(compiler.compiled(), SizeIs(2));
}

TEST(CompilePool, CarriesWhyACompilationFailedAndHowLongItTook) {
  const ScriptedCompiler compiler(
      [](const std::string& entry) -> Expected<backend::Binary, Failure> {
        std::this_thread::sleep_for(5ms);
        return Unexpected(Failure{Outcome::compile_error, entry + " has no semicolon"});
      });
  CompilePool pool(compiler, 1);
  const auto result = pool.submit(job("a"));
  ASSERT_FALSE(result.get().binary);
  EXPECT_EQ(result.get().binary.error().message, "a has no semicolon");
  EXPECT_GE(result.get().compile_ms, 5.0);
  EXPECT_LT(result.get().compile_ms, 5'000.0) << "milliseconds";
}

TEST(CompilePool, RethrowsWhatTheCompilerThrewAndGoesOn) {
  const ScriptedCompiler compiler(
      [](const std::string& entry) -> Expected<backend::Binary, Failure> {
        if (entry == "a") throw Error(ErrorCode::failure, "disk full");
        return backend::Binary{};
      });
  CompilePool pool(compiler, 1);
  const auto broken = pool.submit(job("a"));
  EXPECT_TRUE(pool.submit(job("b")).get().binary);
  EXPECT_THROW(static_cast<void>(broken.get()), Error);
}

TEST(CompilePool, OneThreadCompilesInTheOrderSubmitted) {
  const ScriptedCompiler compiler;
  CompilePool pool(compiler, 1);
  std::vector<std::shared_future<Compiled>> results;
  for (const char* entry : {"d", "a", "c", "b"}) results.push_back(pool.submit(job(entry)));
  for (const auto& result : results) result.wait();
  EXPECT_THAT(compiler.compiled(), ElementsAre("d", "a", "c", "b"));
}

TEST(CompilePool, SeveralThreadsCompileAtTheSameTime) {
  std::atomic<int> under_way = 0;
  std::atomic<bool> together = false;
  const ScriptedCompiler compiler([&](const std::string&) {
    if (++under_way == 2) together = true;
    for (int i = 0; i < 10'000 && !together; ++i) std::this_thread::sleep_for(1ms);
    return backend::Binary{};
  });
  CompilePool pool(compiler, 2);
  const auto first = pool.submit(job("a")), second = pool.submit(job("b"));
  first.wait();
  second.wait();
  EXPECT_TRUE(together);
}

TEST(CompilePool, ManyThreadsAndSubmittersCompileEachKeyOnce) {
  const ScriptedCompiler compiler;
  CompilePool pool(compiler, 8);
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> submitters;
    for (int thread = 0; thread < 4; ++thread) {
      submitters.emplace_back([&] {
        for (int i = 0; i < 200; ++i) {
          const std::string entry = std::to_string(i % 50);
          right += pool.submit(job(entry)).get().binary->symbols.at(0) == "_" + entry ? 1 : 0;
        }
      });
    }
  }
  EXPECT_EQ(right, 800);
  EXPECT_THAT(compiler.compiled(), SizeIs(50));
}

TEST(CompilePool, KeepsTheMostRecentlyUsedResults) {
  const ScriptedCompiler compiler;
  CompilePool pool(compiler, 1);
  const auto times_compiled = [&](const std::string& entry) {
    pool.submit(job(entry)).wait();
    return std::ranges::count(compiler.compiled(), entry);
  };
  pool.submit(job("used")).wait();
  pool.submit(job("unused")).wait();
  for (int i = 0; i < 3'000; ++i) {
    pool.submit(job(std::to_string(i))).wait();
    if (i % 1'000 == 0) pool.submit(job("used")).wait();
  }
  EXPECT_EQ(times_compiled("used"), 1);
  EXPECT_EQ(times_compiled("unused"), 2);
}

TEST(CompilePool, ItsEndWaitsForWhatIsUnderWayAndDropsWhatHasNotBegun) {
  std::atomic<bool> begun = false;
  const ScriptedCompiler compiler([&](const std::string&) {
    begun = true;
    begun.notify_all();
    std::this_thread::sleep_for(10ms);
    return backend::Binary{};
  });
  std::shared_future<Compiled> first, last;
  {
    CompilePool pool(compiler, 1);
    first = pool.submit(job("first"));
    for (int i = 0; i < 1'000; ++i) last = pool.submit(job(std::to_string(i)));
    begun.wait(false);
  }
  EXPECT_TRUE(first.get().binary);
  EXPECT_LT(compiler.compiled().size(), 1'000U);
  EXPECT_THROW(static_cast<void>(last.get()), std::future_error);
}

}  // namespace
}  // namespace tuner::worker
