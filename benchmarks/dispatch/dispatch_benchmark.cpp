// SPDX-License-Identifier: Apache-2.0
// What the dispatcher costs an application, in time of the processor:
//   dispatch_benchmark [cpu|cuda|opening] [ROUNDS]
//   dispatch_benchmark code TABLE
// Selection is a launch on a device that does nothing. A chain of multiplications, which needs no
// memory, says what the host takes for work of several threads that have nothing in common. From 50
// rounds on, opening is that of tables of 10000 entries. A whole call is measured in turn with a
// bare launch of the same kernel with the same arguments; the figure is the median over the rounds.
#include "benchmarks/dispatch/opening.hpp"
#include "tests/dispatch/product_family.hpp"
#include "tuner/dispatch/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace tuner {
namespace {

using Clock = std::chrono::steady_clock;

double nanoseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

/// A device on which every launch is over at once.
class NullExecutor final : public backend::Executor {
 public:
  const space::DeviceInfo& device() const override { return device_; }
  const space::EnvironmentInfo& environment() const override { return environment_; }
  const backend::Compiler& compiler() const override { return compiler_; }
  Expected<std::vector<backend::FunctionId>, Failure> load(const backend::Binary& binary) override {
    return std::vector<backend::FunctionId>(binary.symbols.size());
  }
  Expected<void, Failure> admit(backend::FunctionId, const family::Geometry&,
                                std::span<const std::size_t>) override {
    return {};
  }
  Expected<void, Failure> launch(backend::FunctionId, const family::Geometry&, void**,
                                 StreamHandle) override {
    return {};
  }
  [[nodiscard]] Expected<backend::TensorMapValue, Failure> tensor_map(const family::TensorLayout&,
                                                                      void*) const override {
    return backend::TensorMapValue{};
  }
  Expected<backend::StreamState, Failure> state(StreamHandle) const override {
    return backend::StreamState{};
  }
  Expected<std::shared_ptr<void>, Failure> memory(std::size_t size_bytes) override {
    return std::shared_ptr<void>(std::aligned_alloc(256, (size_bytes + 255) / 256 * 256),
                                 std::free);
  }
  Expected<void, Failure> repeat(std::span<const std::byte>, void*, std::size_t) override {
    return {};
  }
  Expected<void, Failure> clear(void*, std::size_t, StreamHandle) override { return {}; }
  Expected<void*, Failure> graph_memory(std::size_t, StreamHandle) override {
    return Unexpected(Failure{Outcome::launch_error, "nothing is captured"});
  }
  Expected<std::vector<double>, Failure> time(std::span<const backend::StreamWork> works) override {
    return std::vector<double>(works.size(), 1.0);
  }
  Expected<void, Failure> prepare_library() override { return {}; }
  Expected<void, Failure> run_library(const blas::Operation&, const blas::Addresses&,
                                      StreamHandle) override {
    return {};
  }
  std::vector<std::string> library_algorithms(const blas::Operation&,
                                              const blas::Addresses&) override {
    return {};
  }
  Expected<backend::LibraryWork, Failure> library_work(const blas::Operation&,
                                                       const std::string&) override {
    return Unexpected(Failure{Outcome::launch_error, "there is no library"});
  }

 private:
  struct NullCompiler : backend::Compiler {
    Expected<backend::Binary, Failure> compile(const family::CompileJob& job) const override {
      return backend::Binary{.image = {}, .symbols = job.entries};
    }
  };
  space::DeviceInfo device_ = space::device_profile("h200").value();
  space::EnvironmentInfo environment_{
      .driver = "1", .compiler = "none", .library = "none", .tool = "1"};
  NullCompiler compiler_;
};

/// An engine, its family and a launch of 4x4x4.
struct Opened {
  std::unique_ptr<dispatch::Engine> engine;
  std::shared_ptr<void> memory;  // what it launches on; goes first
  FamilyId family{};
  std::array<DispatchArgument, 5> arguments;
  Size size;

  void launch(StreamHandle stream) const { engine->launch(family, size, arguments, stream); }
};

Opened open(std::unique_ptr<backend::Executor> executor, const std::filesystem::path& database,
            const std::filesystem::path& cache) {
  DispatchOptions options;
  options.cache = cache;
  backend::Executor& device = *executor;
  auto engine = std::make_unique<dispatch::Engine>(
      std::move(executor), Table::database(database), options,
      dispatch::DispatchSettings{.log = dispatch::LogLevel::off});
  std::shared_ptr<void> memory = device.memory(4096).value();
  const FamilyId family = engine->family("product");
  return {.engine = std::move(engine),
          .memory = memory,
          .family = family,
          .arguments = {1.0F, memory.get(), memory.get(), 0.0F, memory.get()},
          .size = {4, 4, 4}};
}

/// The same kernel with the same arguments, launched without a dispatcher.
class BareLaunch {
 public:
  BareLaunch(backend::Executor& device, const Opened& subject) : device_(device) {
    family::CompileJob job;
    job.source = {.name = "product.cu", .text = dispatch::kProductSource, .headers = {}};
    job.entries = {"rows<1,4>"};
    job.key = "bare";
    function_ = device.load(device.compiler().compile(job).value()).value().front();
    geometry_.grid[0] = 4;
    constexpr std::array<std::size_t, 8> kBytes = {4, 4, 4, 4, 8, 8, 4, 8};
    if (auto fits = device.admit(function_, geometry_, kBytes); !fits) std::abort();
    const auto& given = subject.arguments;
    values_ = {4,
               4,
               4,
               given[0].bits(),
               given[1].bits(),
               given[2].bits(),
               given[3].bits(),
               given[4].bits()};
  }
  void launch(StreamHandle stream) const {
    auto values = values_;
    std::array<void*, 8> addresses{};
    for (std::size_t i = 0; i < values.size(); ++i) addresses[i] = &values[i];
    if (!device_.launch(function_, geometry_, addresses.data(), stream)) std::abort();
  }

 private:
  backend::Executor& device_;
  backend::FunctionId function_{};
  family::Geometry geometry_;
  std::array<std::uint64_t, 8> values_{};
};

/// What one call costs each of several threads, which begin together: `calls` of each way in turn.
struct Cost {
  double dispatched_ns = 0, bare_ns = 0;
};
Cost measure(int threads, int rounds, int calls, const std::function<void(int)>& dispatched,
             const std::function<void(int)>& bare, const std::function<void()>& finish) {
  std::vector<std::vector<double>> of_dispatched(static_cast<std::size_t>(threads));
  auto of_bare = of_dispatched;
  std::barrier together(threads);
  const auto series = [&](const std::function<void(int)>& call, int thread) {
    together.arrive_and_wait();
    const auto begin = Clock::now();
    for (int i = 0; i < calls; ++i) call(thread);
    const double each_ns = nanoseconds_since(begin) / calls;
    together.arrive_and_wait();
    if (thread == 0) finish();
    return each_ns;
  };
  const auto work = [&](int thread) {
    const auto place = static_cast<std::size_t>(thread);
    for (int round = 0; round < rounds; ++round) {
      of_dispatched[place].push_back(series(dispatched, thread));
      of_bare[place].push_back(series(bare, thread));
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (int thread = 1; thread < threads; ++thread) helpers.emplace_back(work, thread);
    work(0);
  }
  Cost cost;
  for (int thread = 0; thread < threads; ++thread) {
    const auto place = static_cast<std::size_t>(thread);
    cost.dispatched_ns += median(of_dispatched[place]) / threads;
    cost.bare_ns += median(of_bare[place]) / threads;
  }
  return cost;
}

void print_selection(int rounds) {
  const NullExecutor device;
  dispatch::TunedDatabase database(device.device(), device.environment());
  TemporaryDirectory cache;
  database.add({.size = "4,4,4"});
  const Opened subject =
      open(std::make_unique<NullExecutor>(), database.path(), cache.path() / "binaries");
  subject.launch(nullptr);
  for (const int threads : {1, 8}) {
    const Cost cost = measure(
        threads, rounds, 10000, [&](int) { subject.launch(nullptr); }, [](int) {}, [] {});
    fmt::print("{:<44} {:>9} {:>12.1f} ns\n", "selection of a prepared size", threads,
               cost.dispatched_ns - cost.bare_ns);
  }
}

void print_host(int rounds) {
  constexpr int kLength = 64;
  std::atomic<std::uint64_t> seed = 3;
  const auto chain = [&](int) {
    std::uint64_t value = seed.load(std::memory_order_relaxed);
    for (int i = 0; i < kLength; ++i) value *= value;
    if (value == 0) seed = 3;  // of an odd number never: keeps the chain from being left out
  };
  for (const int threads : {1, 8}) {
    const Cost cost = measure(
        threads, rounds, 10000, chain, [](int) {}, [] {});
    fmt::print("{:<44} {:>9} {:>12.1f} ns\n", fmt::format("a chain of {} multiplications", kLength),
               threads, cost.dispatched_ns - cost.bare_ns);
  }
}

/// Waits for the GPU; nothing where there is none.
std::function<void()> finisher(const std::string& backend) {
  if (backend != "cuda") return [] {};
  void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW);
  return [wait = reinterpret_cast<int (*)()>(::dlsym(driver, "cuCtxSynchronize"))] { wait(); };
}

void print_whole_call(const std::string& backend, int rounds) {
  auto executor = backend::open_executor(backend, 0);
  backend::Executor& device = *executor;
  dispatch::TunedDatabase database(device.device(), device.environment());
  TemporaryDirectory cache;
  database.add({.size = "4,4,4", .config = R"({"TILE":1})"});
  const Opened subject = open(std::move(executor), database.path(), cache.path() / "binaries");
  const auto begin = Clock::now();
  subject.launch(nullptr);
  fmt::print("{:<44} {:>9} {:>12.1f} ms\n", "first use, compiled", 1,
             nanoseconds_since(begin) / 1e6);
  {
    const Opened again =
        open(backend::open_executor(backend, 0), database.path(), cache.path() / "binaries");
    const auto start = Clock::now();
    again.launch(nullptr);
    fmt::print("{:<44} {:>9} {:>12.3f} ms\n", "first use, from the disk cache", 1,
               nanoseconds_since(start) / 1e6);
  }
  const BareLaunch bare(device, subject);
  // CU_STREAM_PER_THREAD, so that threads do not meet in one stream.
  auto* const stream = reinterpret_cast<StreamHandle>(backend == "cuda" ? 2 : 0);
  for (const int threads : {1, 8}) {
    const Cost cost = measure(
        threads, rounds, 200, [&](int) { subject.launch(stream); },
        [&](int) { bare.launch(stream); }, finisher(backend));
    fmt::print("{:<44} {:>9} {:>12.1f} ns, {:.1f} bare: +{:.1f} ns, {:.3f} times\n", "a whole call",
               threads, cost.dispatched_ns, cost.bare_ns, cost.dispatched_ns - cost.bare_ns,
               cost.dispatched_ns / cost.bare_ns);
  }
}

}  // namespace
}  // namespace tuner

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "code") {
    tuner::print_code([] { return std::make_unique<tuner::NullExecutor>(); }, argv[2]);
    return 0;
  }
  const std::string backend = argc > 1 ? argv[1] : "cpu";
  const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 100;
  fmt::print("{:<44} {:>9} {:>15}\n", "question", "threads", "answer");
  if (backend != "opening") {
    tuner::print_host(rounds);
    tuner::print_selection(rounds);
  }
  tuner::print_opening([] { return std::make_unique<tuner::NullExecutor>(); },
                       rounds >= 50 ? 10000 : 100);
  if (backend != "opening") tuner::print_whole_call(backend, rounds);
}
