// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/evaluator.hpp"

#include "tests/support/cached_cpu_backend.hpp"
#include "tests/support/scripted_backend.hpp"
#include "tests/verify/split_gemm.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tuner::worker {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::ScriptedBackend;

/// y = 5x. Kernels: one is right; one is right for so many launches that verification and single
/// timed launches see none of the others; one asks for 64x64 threads; three keep results of earlier
/// launches: by the input, by a part of it, and in scratch memory.
family::Family scale_family() {
  constexpr std::string_view kKernel = R"json("{0}": {{
      "source": "scale.cu",
      "entry": "{0}<${{BLOCK}}>",
      "parameters": {{"BLOCK": {{"values": [32, 64], "default": 64}}}},
      "launch": {{"grid": [1], "block": ["BLOCK"{1}]}}
    }})json";
  const std::string document =
      fmt::format(R"json({{
    "format": "space/1",
    "family": "scale",
    "problem": {{"dims": ["N"], "flops": "N", "bytes": "8*N"}},
    "arguments": [
      {{"name": "N", "type": "int", "value": "N"}},
      {{"name": "x", "type": "float*", "count": "N"}},
      {{"name": "y", "type": "float*", "count": "N", "role": "output"}}
    ],
    "check": {{"reference": {{"kernel": "right"}}, "sizes": [[1], [31]]}},
    "kernels": {{{}, {}, {}, {}, {}, {}, {}}}
  }})json",
                  fmt::format(kKernel, "right", ""), fmt::format(kKernel, "tiring", ""),
                  fmt::format(kKernel, "wide", ", \"BLOCK\""), fmt::format(kKernel, "keeping", ""),
                  fmt::format(kKernel, "careless", ""), fmt::format(kKernel, "counting", ""),
                  fmt::format(kKernel, "doubles", ""));
  const source::KernelSource source = {.name = "scale.cu",
                                       .text = R"(
template <int BLOCK> __global__ void right(int n, const float* x, float* y) {
  for (int i = threadIdx.x; i < n; i += BLOCK) y[i] = 5 * x[i];
}
template <int BLOCK> __global__ void wide(int n, const float* x, float* y) {
  for (int i = threadIdx.x; i < n; i += BLOCK) y[i] = 5 * x[i];
}
static int launches = 0;
template <int BLOCK> __global__ void tiring(int n, const float* x, float* y) {
  if (threadIdx.x == 0) ++launches;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += BLOCK) y[i] = (launches <= 200 ? 5 : 6) * x[i];
}
__device__ float slow(float x) {
  float y = 0;
  for (volatile int i = 0; i < 3000; ++i) y += 0;
  return 5 * x + y;
}
__device__ float keys[1 << 10], results[1 << 10];
template <int BLOCK> __global__ void keeping(int n, const float* x, float* y) {
  for (int i = threadIdx.x; i < n; i += BLOCK) {
    if (keys[i] != x[i]) { results[i] = slow(x[i]); keys[i] = x[i]; }
    y[i] = results[i];
  }
}
__device__ float first_key;
template <int BLOCK> __global__ void careless(int n, const float* x, float* y) {
  const bool known = first_key == x[1] && n == 100;
  __syncthreads();
  if (threadIdx.x == 0) first_key = x[1];
  for (int i = threadIdx.x; i < n; i += BLOCK) {
    if (!known) results[i] = 5 * x[i];
    y[i] = results[i];
  }
}
typedef double real;
template <int BLOCK> __global__ void doubles(int n, const real* x, real* y) {
  for (int i = threadIdx.x; i < n; i += BLOCK) y[i] = 5 * x[i];
}
__device__ unsigned finished;
template <int BLOCK> __global__ void counting(int n, const float* x, float* y) {
  for (int i = threadIdx.x; i < n; i += BLOCK) y[i] = 5 * x[i];
  if (threadIdx.x == 0 && atomicAdd(&finished, 1u) == 0) finished = 0;
}
)",
                                       .headers = {}};
  return family::parse_family(document, "scale.json",
                              {{"right", source},
                               {"tiring", source},
                               {"wide", source},
                               {"keeping", source},
                               {"careless", source},
                               {"counting", source},
                               {"doubles", source}});
}

class EvaluatorOnCpu : public testing::Test {
 protected:
  explicit EvaluatorOnCpu(family::Family family = scale_family()) : family_(std::move(family)) {}

  EvaluatedCandidate evaluate(const std::string& kernel_name) {
    const family::Kernel& kernel = family_.kernel(kernel_name);
    const space::Space space(kernel.space, backend_->device().attributes, space::Size{100});
    const space::Config config = space.default_config();
    const auto binary = backend_->compiler().compile(family::compile_job(kernel, space, config));
    if (!binary) throw std::runtime_error(binary.error().message);
    return evaluator_.evaluate(
        {.kernel = kernel, .space = space, .config = config, .binary = *binary}, {100},
        std::nullopt);
  }

 private:
  std::unique_ptr<backend::Backend> backend_ = testing_support::open_cached_cpu_backend();
  family::Family family_;
  Evaluator evaluator_{*backend_, backend_->compiler(), family_, 3};
};

TEST_F(EvaluatorOnCpu, ARightCandidateHasATimeAndTheShareOfItsError) {
  const EvaluatedCandidate evaluation = evaluate("right");
  EXPECT_EQ(evaluation.outcome, Outcome::ok) << evaluation.message;
  EXPECT_EQ(evaluation.message, "");
  ASSERT_TRUE(evaluation.time);
  EXPECT_GE(evaluation.time->samples, 20);
  EXPECT_GT(evaluation.time->min_ns, 0);
  EXPECT_GT(evaluation.series_ns, 0.0);
  EXPECT_EQ(evaluation.worst_error, 0.0);
  EXPECT_GT(evaluation.verify_ms, 0);
  EXPECT_GE(evaluation.measure_ms * 1e6, 20 * evaluation.time->min_ns);
}

TEST_F(EvaluatorOnCpu, AKernelOfOtherParametersIsRefusedBeforeItRuns) {
  const EvaluatedCandidate evaluation = evaluate("doubles");
  EXPECT_EQ(evaluation.outcome, Outcome::compile_error);
  EXPECT_THAT(evaluation.message,
              AllOf(HasSubstr("'x' is float*, but parameter 2 of doubles is 'double const*'"),
                    HasSubstr("write \"type\": \"double*\"")));
  EXPECT_TRUE(evaluation.checks.empty());
}

TEST_F(EvaluatorOnCpu, ACandidateThatTurnsWrongWhileItIsTimedIsFoundOut) {
  const EvaluatedCandidate evaluation = evaluate("tiring");
  EXPECT_EQ(evaluation.outcome, Outcome::wrong_result);
  EXPECT_THAT(evaluation.message, AllOf(HasSubstr("wrong elements: 100 of 100"),
                                        HasSubstr("seed 3"), HasSubstr("launches back to back")));
  EXPECT_FALSE(evaluation.time);
  ASSERT_FALSE(evaluation.checks.empty());
  const verify::PerformedCheck& last = evaluation.checks.back();
  EXPECT_EQ(last.launch, "timed");
  EXPECT_EQ(last.outcome, Outcome::wrong_result);
  ASSERT_TRUE(last.element);
  EXPECT_EQ(last.element->index, 0U);
}

TEST_F(EvaluatorOnCpu, ResultsThatAreKeptForEqualInputsAreFoundByTheTimesOfLaunches) {
  const EvaluatedCandidate evaluation = evaluate("keeping");
  EXPECT_EQ(evaluation.outcome, Outcome::implausible) << evaluation.message;
  EXPECT_THAT(evaluation.message, HasSubstr("it takes over results of that launch"));
}

TEST_F(EvaluatorOnCpu, ResultsThatAreKeptForOtherInputsAreWrong) {
  const EvaluatedCandidate evaluation = evaluate("careless");
  EXPECT_EQ(evaluation.outcome, Outcome::wrong_result) << evaluation.message;
  EXPECT_THAT(evaluation.message, HasSubstr("a result of one of them is taken for another's"));
}

TEST_F(EvaluatorOnCpu, ACandidateMayHaveStateThatItResets) {
  EXPECT_EQ(evaluate("counting").outcome, Outcome::ok) << evaluate("counting").message;
}

/// Notes of launches that are timed alone whether variables are restored before them.
class NotesRestores : public WatchedBackend {
 public:
  explicit NotesRestores(backend::Backend& backend)
      : WatchedBackend(backend, backend.compiler(), [](const DeviceStep&) {}) {}

  Expected<std::vector<backend::Sample>, Failure> time(const backend::Work& work,
                                                       const backend::SamplePlan& plan) override {
    // What warms up may be another kernel, by which the clock is watched.
    if (plan.before && plan.warm_up == 0) {
      ++(std::get<backend::Launch>(*plan.before).restores ? restored : plain);
    }
    return WatchedBackend::time(work, plan);
  }
  int restored = 0, plain = 0;
};

TEST(TimedLaunches, RestoreVariablesThatLaunchesChange) {
  const auto cpu = testing_support::open_cached_cpu_backend();
  const family::Family family = scale_family();
  const auto timed = [&](const std::string& kernel_name) {
    NotesRestores backend(*cpu);
    Evaluator evaluator(backend, cpu->compiler(), family, 3);
    const family::Kernel& kernel = family.kernel(kernel_name);
    const space::Space space(kernel.space, backend.device().attributes, space::Size{100});
    const space::Config config = space.default_config();
    const auto binary = cpu->compiler().compile(family::compile_job(kernel, space, config));
    static_cast<void>(
        evaluator.evaluate({.kernel = kernel, .space = space, .config = config, .binary = *binary},
                           {100}, std::nullopt));
    return std::pair(backend.restored, backend.plain);
  };
  const auto [no, all_plain] = timed("right");
  EXPECT_EQ(no, 0);
  EXPECT_GT(all_plain, 0);
  const auto [all_restored, none] = timed("tiring");
  EXPECT_GT(all_restored, 0);
  EXPECT_EQ(none, 0);
}

/// y += x, of an output that holds numbers before each launch.
family::Family sum_family() {
  return family::parse_family(
      R"json({
    "format": "space/1", "family": "sum",
    "problem": {"dims": ["N"], "flops": "N", "bytes": "12*N"},
    "arguments": [
      {"name": "N", "type": "int", "value": "N"},
      {"name": "x", "type": "float*", "count": "N"},
      {"name": "y", "type": "float*", "count": "N", "role": "output", "initial": "input"}
    ],
    "check": {"reference": {"kernel": "add"}, "sizes": [[1], [31]]},
    "kernels": {"add": {"source": "add.cu", "entry": "add", "launch": {"grid": [1], "block": [64]}}}
  })json",
      "sum.json",
      {{"add",
        {.name = "add.cu",
         .text = "__global__ void add(int n, const float* x, float* y) {\n"
                 "  for (int i = threadIdx.x; i < n; i += 64) y[i] += x[i];\n}",
         .headers = {}}}});
}

class EvaluatorOfSums : public EvaluatorOnCpu {
 protected:
  EvaluatorOfSums() : EvaluatorOnCpu(sum_family()) {}
};

TEST_F(EvaluatorOfSums, AnOutputHoldsItsContentBeforeEachLaunch) {
  const EvaluatedCandidate evaluation = evaluate("add");
  EXPECT_EQ(evaluation.outcome, Outcome::ok) << evaluation.message;
  EXPECT_FALSE(evaluation.series_ns) << "its sums would grow";
}

TEST_F(EvaluatorOnCpu, ALaunchThatIsImpossibleIsALaunchError) {
  const EvaluatedCandidate evaluation = evaluate("wide");
  EXPECT_EQ(evaluation.outcome, Outcome::launch_error);
  EXPECT_THAT(evaluation.message, AllOf(HasSubstr("64x64"), HasSubstr("4096 threads")));
  EXPECT_FALSE(evaluation.time);
  EXPECT_FALSE(evaluation.worst_error);
}

constexpr std::string_view kGemmDocument = R"json({
  "format": "space/1",
  "family": "gemm",
  "problem": {"dims": ["N"], "flops": "2*N*N*N", "bytes": "12*N*N"},
  "arguments": [
    {"name": "A", "type": "float*", "count": "N*N"},
    {"name": "B", "type": "float*", "count": "N*N"},
    {"name": "C", "type": "float*", "count": "N*N", "role": "output"}
  ],
  "check": {
    "reference": {"op": "gemm", "m": "N", "n": "N", "k": "N", "a": "A", "b": "B", "c": "C"},
    "sizes": [[3]]
  },
  "kernels": {
    "gemm": {
      "source": "gemm.cu",
      "entry": "gemm<${TILE}>",
      "parameters": {"TILE": {"values": [1, 2, 4], "default": 1}},
      "launch": {"grid": ["ceil_div(N, TILE)"], "block": [32]}
    }
  }
})json";

/// On a device that takes 100 ns times the tile for a kernel and 70 ns for the library.
class EvaluatorOnScript : public testing::Test {
 protected:
  Candidate candidate(int tile) {
    const space::Config config =
        space::config_from_text(*kernel_.space, fmt::format("TILE={}", tile));
    return {.kernel = kernel_,
            .space = space_,
            .config = config,
            .binary = *backend_.compiler().compile(family::compile_job(kernel_, space_, config))};
  }

  Expected<double, Failure> answer(const backend::Work& work) {
    const auto* launch = std::get_if<backend::Launch>(&work);
    if (launch == nullptr) {
      if (std::holds_alternative<backend::LibraryCall>(work)) ++library_runs_;
      return 70.0;
    }
    const std::string entry = backend_.symbol(launch->kernel);
    if (!entry.starts_with("gemm<")) return 1.0;
    if (++launches_ == failing_launch_) return Unexpected(Failure{Outcome::launch_error, "no"});
    return 100.0 * std::stod(entry.substr(entry.find('<') + 1));
  }

  family::Family family_ = family::parse_family(
      kGemmDocument, "gemm.json",
      {{"gemm", {.name = "gemm.cu", .text = "// never compiled", .headers = {}}}});
  const family::Kernel& kernel_ = family_.kernels.front();
  ScriptedBackend backend_{[this](const backend::Work& work) { return answer(work); }};
  space::Space space_{kernel_.space, backend_.device().attributes, space::Size{10}};
  Evaluator evaluator_{backend_, backend_.compiler(), family_, 1};
  int launches_ = 0, failing_launch_ = 0, library_runs_ = 0;
};

TEST_F(EvaluatorOnScript, AHopelessCandidateIsTimedBriefly) {
  EXPECT_EQ(evaluator_.evaluate(candidate(4), {10}, 100.0).time->samples, 5);
  EXPECT_EQ(evaluator_.evaluate(candidate(1), {10}, 100.0).time->samples, 20);
}

TEST_F(EvaluatorOnScript, ACandidateIsTimedInSeriesThroughCopies) {
  backend_.set_l2_bytes(12 * 10 * 10);
  backend_.series_share_of = [](const backend::Work&) { return 0.5; };
  EXPECT_EQ(evaluator_.evaluate(candidate(1), {10}, std::nullopt).series_ns, 50.0);
  EXPECT_EQ(backend_.copies, 4U) << "an even number, since two inputs take turns";
  EXPECT_EQ(evaluator_.evaluate(candidate(1), {100}, std::nullopt).series_ns, 50.0);
  EXPECT_EQ(backend_.copies, 2U) << "of data a hundred times as large";
  EXPECT_EQ(evaluator_.evaluate(candidate(2), {10}, 100.0).series_ns, std::nullopt);
}

TEST_F(EvaluatorOnScript, TimesThatContradictOneAnotherAreImplausible) {
  backend_.hot_share = 4;
  backend_.series_share_of = [](const backend::Work&) { return 4.0; };
  const EvaluatedCandidate evaluation = evaluator_.evaluate(candidate(1), {10}, std::nullopt);
  EXPECT_EQ(evaluation.outcome, Outcome::implausible);
  EXPECT_THAT(evaluation.message, HasSubstr("4.0 times as long"));
  EXPECT_FALSE(evaluation.time);
}

TEST_F(EvaluatorOnScript, BytesThatARightKernelMayLeaveAloneAreNotJudged) {
  backend_.limit = {.bytes_per_s = 1e9};
  family_.problem.bytes = space::Expression::constant(std::int64_t{1} << 40);
  EXPECT_EQ(evaluator_.evaluate(candidate(1), {10}, std::nullopt).outcome, Outcome::implausible);
  family_.problem.moves_all_bytes = false;
  EXPECT_EQ(evaluator_.evaluate(candidate(1), {10}, std::nullopt).outcome, Outcome::ok);
}

TEST_F(EvaluatorOnScript, TimesThatContradictOneAnotherOnceAreTakenAgain) {
  backend_.hot_share = 4;
  const int of_one_screening = 3;
  backend_.series_share_of = [&](const backend::Work&) {
    return backend_.series <= of_one_screening ? 4.0 : 0.5;
  };
  const EvaluatedCandidate evaluation = evaluator_.evaluate(candidate(1), {10}, std::nullopt);
  EXPECT_EQ(evaluation.outcome, Outcome::ok) << evaluation.message;
  EXPECT_EQ(evaluation.series_ns, 50.0);
}

TEST_F(EvaluatorOnScript, AFailureWhileTimingLeavesNoTime) {
  failing_launch_ = 30;  // verifying takes 24
  const EvaluatedCandidate evaluation = evaluator_.evaluate(candidate(1), {10}, std::nullopt);
  EXPECT_EQ(evaluation.outcome, Outcome::launch_error);
  EXPECT_EQ(evaluation.message, "no");
  EXPECT_FALSE(evaluation.time);
}

TEST_F(EvaluatorOnScript, ContendersAreTimedAsAddedAndTheLibraryBesideThem) {
  evaluator_.begin_side_by_side({10});
  ASSERT_TRUE(evaluator_.add_contender(candidate(2)));
  ASSERT_TRUE(evaluator_.add_contender(candidate(1)));
  ASSERT_TRUE(*evaluator_.add_library({}));
  EXPECT_EQ(evaluator_.time_contender(0)->time_ns, 200.0);
  EXPECT_EQ(evaluator_.time_contender(2)->time_ns, 70.0);
  EXPECT_EQ(evaluator_.time_contender(1)->time_ns, 100.0);
  EXPECT_EQ(*evaluator_.time_contender_hot(0), 20.0);
  evaluator_.begin_side_by_side({10});
  ASSERT_TRUE(evaluator_.add_contender(candidate(1)));
  EXPECT_EQ(evaluator_.time_contender(0)->time_ns, 100.0);
}

TEST_F(EvaluatorOnScript, TheLibraryRunsOnceBeforeItIsTimedSoThatItsCodeIsLoaded) {
  evaluator_.begin_side_by_side({10});
  ASSERT_TRUE(*evaluator_.add_library({}));
  const int before = library_runs_;
  EXPECT_TRUE(evaluator_.time_contender(0));
  EXPECT_EQ(library_runs_ - before, 2);
  EXPECT_TRUE(evaluator_.time_contender(0));
  EXPECT_EQ(library_runs_ - before, 3);
}

TEST_F(EvaluatorOnScript, TheLibraryOffersTheFastestOfItsAlgorithms) {
  EXPECT_EQ(*evaluator_.fastest_library_algorithm({10}), "") << "it has no choice";
  backend_.algorithms = {"one"};
  EXPECT_EQ(*evaluator_.fastest_library_algorithm({10}), "one");
  evaluator_.begin_side_by_side({10});
  ASSERT_TRUE(*evaluator_.add_library("one"));
  EXPECT_EQ(evaluator_.time_contender(0)->time_ns, 70.0);
  EXPECT_EQ((*evaluator_.time_contender_regimes(0))->sustained_ns, 70.0);
}

TEST_F(EvaluatorOnScript, SeriesGoThroughCopiesOfWhatTheCacheWouldHold) {
  backend_.set_l2_bytes(12 * 10 * 10);
  evaluator_.begin_side_by_side({10});
  ASSERT_TRUE(evaluator_.add_contender(candidate(2)));
  EXPECT_EQ(**evaluator_.time_contender_series(0, backend::Lead::load), 200.0);
  EXPECT_EQ(backend_.loaded_series, 1);
  EXPECT_EQ(backend_.copies, 4U) << "an even number, since two inputs take turns";
  backend_.copies = 0;
  EXPECT_EQ((*evaluator_.time_contender_regimes(0))->sustained_ns, 200.0);
  EXPECT_EQ(backend_.copies, 4U) << "an even number, since two inputs take turns";
  evaluator_.begin_side_by_side({100});
  ASSERT_TRUE(evaluator_.add_contender(candidate(2)));
  EXPECT_EQ(**evaluator_.time_contender_series(0, backend::Lead::none), 200.0);
  EXPECT_EQ(backend_.copies, 2U) << "of data a hundred times as large";
}

TEST(EvaluatorOfLists, LaunchesOneAfterAnotherWouldWriteBeyondThem) {
  const family::Family lists = family::parse_family(
      R"json({
    "format": "space/1", "family": "lists",
    "problem": {"dims": ["N"], "flops": "N", "bytes": "8*N"},
    "arguments": [
      {"name": "out", "type": "int*", "count": "N", "role": "output", "order": "any"},
      {"name": "count", "type": "int*", "count": 1, "role": "output", "initial": "zero"}
    ],
    "check": {"reference": {"kernel": "append"}},
    "kernels": {"append": {"source": "append.cu", "entry": "append",
                           "launch": {"grid": [1], "block": [32]}}}
  })json",
      "lists.json", {{"append", {.name = "append.cu", .text = "", .headers = {}}}});
  ScriptedBackend backend([](const backend::Work&) { return 100.0; });
  Evaluator evaluator(backend, backend.compiler(), lists, 1);
  const family::Kernel& kernel = lists.kernels.front();
  const space::Space space(kernel.space, backend.device().attributes, space::Size{10});
  evaluator.begin_side_by_side({10});
  ASSERT_TRUE(evaluator.add_contender({.kernel = kernel,
                                       .space = space,
                                       .config = space.default_config(),
                                       .binary = {.image = {}, .symbols = {"append"}}}));
  EXPECT_EQ(*evaluator.time_contender_hot(0), 100.0);
  EXPECT_EQ(backend.hot_timings, 0);
  EXPECT_EQ(*evaluator.time_contender_regimes(0), std::nullopt);
  EXPECT_EQ(*evaluator.time_contender_series(0, backend::Lead::none), std::nullopt);
  EXPECT_EQ(*evaluator.measure_contender_energy(0, 1), std::nullopt);
  EXPECT_EQ(backend.energy_windows, 0);
}

/// A library that offers an algorithm which computes half of what it should, at once.
class HalfRightLibrary : public WatchedBackend {
 public:
  explicit HalfRightLibrary(backend::Backend& backend)
      : WatchedBackend(backend, backend.compiler(), [](const DeviceStep&) {}) {}

  std::vector<std::string> library_algorithms(const backend::LibraryCall& call) override {
    std::vector<std::string> all = WatchedBackend::library_algorithms(call);
    all.emplace_back("half");
    return all;
  }
  Expected<void, Failure> run(const backend::Work& work) override {
    return WatchedBackend::run(right(work));
  }
  Expected<std::vector<backend::Sample>, Failure> time(const backend::Work& work,
                                                       const backend::SamplePlan& plan) override {
    auto samples = WatchedBackend::time(right(work), plan);
    if (samples && is_half(work)) {
      for (backend::Sample& sample : *samples) sample.time_ns = 1;
    }
    return samples;
  }

 private:
  static bool is_half(const backend::Work& work) {
    const auto* call = std::get_if<backend::LibraryCall>(&work);
    return call != nullptr && call->algorithm == "half";
  }
  static backend::Work right(backend::Work work) {
    if (!is_half(work)) return work;
    auto& call = std::get<backend::LibraryCall>(work);
    call.algorithm.clear();
    call.operands.alpha /= 2;
    return work;
  }
};

TEST(LibraryAlgorithms, AnAlgorithmOfTheLibraryThatIsWrongIsNeverTheFastest) {
  const auto cpu = testing_support::open_cached_cpu_backend();
  HalfRightLibrary backend(*cpu);
  const family::Family family = verify::split_gemm::family();
  Evaluator evaluator(backend, cpu->compiler(), family, 3);
  const space::Size size = {21, 18, 40, 3, 4, 5, 1};
  EXPECT_EQ(*evaluator.fastest_library_algorithm(size), "host/1/loops");
}

/// A library of three algorithms on a device whose clock has fallen after some samples.
class LibraryOnAFallingClock : public WatchedBackend {
 public:
  explicit LibraryOnAFallingClock(backend::Backend& backend)
      : WatchedBackend(backend, backend.compiler(), [](const DeviceStep&) {}) {}

  std::vector<std::string> library_algorithms(const backend::LibraryCall&) override {
    return {"slow", "fast", "middle"};
  }
  Expected<std::vector<backend::Sample>, Failure> time(const backend::Work& work,
                                                       const backend::SamplePlan& plan) override {
    const std::map<std::string, double> times_ns = {{"slow", 110}, {"fast", 100}, {"middle", 105}};
    const double time_ns = times_ns.at(std::get<backend::LibraryCall>(work).algorithm);
    std::vector<backend::Sample> samples;
    for (int i = 0; i < plan.samples; ++i) {
      samples.push_back({.time_ns = timed_++ < kBeforeTheFall ? 0.8 * time_ns : time_ns});
    }
    return samples;
  }
  Expected<void, Failure> run(const backend::Work& work) override {
    backend::Work plain = work;
    if (auto* const call = std::get_if<backend::LibraryCall>(&plain)) call->algorithm.clear();
    return WatchedBackend::run(plain);
  }

 private:
  static constexpr int kBeforeTheFall = 5;
  int timed_ = 0;
};

TEST(LibraryAlgorithms, AClockThatFallsMeanwhileFavoursNone) {
  const auto cpu = testing_support::open_cached_cpu_backend();
  LibraryOnAFallingClock backend(*cpu);
  const family::Family family = verify::split_gemm::family();
  Evaluator evaluator(backend, cpu->compiler(), family, 3);
  EXPECT_EQ(*evaluator.fastest_library_algorithm({21, 18, 40, 3, 4, 5, 1}), "fast");
}

TEST_F(EvaluatorOnScript, AContenderIsCounted) {
  backend_.reading_of = [](double time_ns) {
    return counters::CounterReading{.counters = counters::Counters{.elapsed_ns = time_ns}};
  };
  evaluator_.begin_side_by_side({10});
  ASSERT_TRUE(evaluator_.add_contender(candidate(2)));
  ASSERT_TRUE(*evaluator_.add_library({}));
  EXPECT_EQ(evaluator_.count_contender(0)->counters->elapsed_ns, 200.0);
  EXPECT_EQ(evaluator_.count_contender(1)->counters->elapsed_ns, 70.0);
}

TEST_F(EvaluatorOnScript, TheEnergyOfAContenderIsMeasuredWhereTheDeviceTellsIt) {
  evaluator_.begin_side_by_side({10});
  ASSERT_TRUE(evaluator_.add_contender(candidate(2)));
  EXPECT_FALSE(evaluator_.idle_watts());
  EXPECT_FALSE(*evaluator_.measure_contender_energy(0, 2));
  backend_.watts_of = [](const backend::Work&) { return 400.0; };
  EXPECT_EQ(evaluator_.idle_watts(), 50.0);
  EXPECT_DOUBLE_EQ((*evaluator_.measure_contender_energy(0, 2))->joules, 400 * 200e-9);
}

TEST_F(EvaluatorOnScript, AContenderFailsAsACandidateDoes) {
  failing_launch_ = 1;
  evaluator_.begin_side_by_side({10});
  ASSERT_TRUE(evaluator_.add_contender(candidate(2)));
  const auto sample = evaluator_.time_contender(0);
  ASSERT_FALSE(sample);
  EXPECT_EQ(sample.error().outcome, Outcome::launch_error);
}

}  // namespace
}  // namespace tuner::worker
