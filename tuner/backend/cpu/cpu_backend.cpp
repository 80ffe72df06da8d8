// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/cpu_backend.hpp"

#include "tuner/backend/cpu/block_runner.hpp"
#include "tuner/backend/cpu/cpu_device.hpp"
#include "tuner/backend/cpu/cpu_executor.hpp"
#include "tuner/backend/cpu/grid_runner.hpp"
#include "tuner/backend/cpu/host_compiler.hpp"
#include "tuner/backend/cpu/host_library.hpp"
#include "tuner/backend/cpu/host_memory.hpp"
#include "tuner/backend/cpu/host_tensor_map.hpp"
#include "tuner/backend/cpu/interleaved_image.hpp"
#include "tuner/backend/cpu/loaded_image.hpp"
#include "tuner/backend/cpu/openblas.hpp"
#include "tuner/backend/cpu/write_watch.hpp"
#include "tuner/backend/launch_error.hpp"
#include "tuner/backend/match_arguments.hpp"
#include "tuner/core/environment.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/quantile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <thread>
#include <utility>

namespace tuner::backend {
namespace {

/// A run this long is sustained by itself.
constexpr double kLongestInRegimesNs = 150e6;
constexpr double kSeriesNs = 1e6, kLoadNs = 20e6;

/// What is read to evict a core's private caches.
std::size_t eviction_bytes(std::int64_t l2_bytes) {
  constexpr std::size_t kUnknown = std::size_t{4} << 20;  // a virtual machine may not tell
  return l2_bytes == 0 ? kUnknown : 2 * static_cast<std::size_t>(l2_bytes);
}

/// Whether a launch ends soon although every access to memory is a call.
bool is_short(const Launch& launch) {
  constexpr std::uint64_t kFewThreads = 16384;
  return std::ranges::all_of(launch.steps, [](const StepLaunch& step) {
    const auto &grid = step.geometry.grid, &block = step.geometry.block;
    return std::uint64_t{grid[0]} * grid[1] * grid[2] * block[0] * block[1] * block[2] <=
           kFewThreads;
  });
}

/// Kernels with references of their own run without a BLAS; products say what is missing.
std::string blas_version() {
  try {
    return openblas().version;
  } catch (const Error&) {
    return "no BLAS";
  }
}

space::EnvironmentInfo cpu_environment(const HostCompilerInfo& compiler) {
  return {.driver = "",
          .compiler = "g++ " + compiler.version,
          .library = blas_version(),
          .tool = TUNER_VERSION};
}

class CpuBackend final : public Backend {
 public:
  CpuBackend(space::DeviceInfo device, HostCompilerInfo compiler)
      : device_(std::move(device)),
        environment_(cpu_environment(compiler)),
        compiler_(std::move(compiler)),
        memory_(static_cast<std::size_t>(device_.attributes.memory_bytes)),
        grids_(static_cast<unsigned>(device_.attributes.sm_count),
               eviction_bytes(device_.attributes.l2_bytes)) {}

  [[nodiscard]] const space::DeviceInfo& device() const override { return device_; }
  [[nodiscard]] const space::EnvironmentInfo& environment() const override { return environment_; }
  [[nodiscard]] const Compiler& compiler() const override { return compiler_; }

  [[nodiscard]] BufferId allocate(std::size_t size_bytes) override {
    return memory_.allocate(size_bytes);
  }
  [[nodiscard]] PinnedBuffer allocate_pinned(std::size_t size_bytes) override {
    const BufferId id = memory_.allocate(size_bytes);
    const std::span bytes(memory_.data(id, size_bytes), size_bytes);
    std::ranges::fill(bytes, std::byte{0});
    return {.id = id, .bytes = bytes};
  }
  void release(BufferId buffer) override { memory_.release(buffer); }
  void write(Region to, std::span<const std::byte> data) override {
    std::ranges::copy(data, memory_.data(to, data.size()));
  }
  void read(Region from, std::span<std::byte> data) const override {
    std::copy_n(memory_.data(from, data.size()), data.size(), data.begin());
  }
  void fill(Region region, std::uint32_t pattern, std::size_t size_bytes) override {
    std::byte* const data = memory_.data(region, size_bytes);
    std::fill_n(reinterpret_cast<std::uint32_t*>(data), size_bytes / sizeof pattern, pattern);
  }
  void copy(Region to, Region from, std::size_t size_bytes) override {
    std::memmove(memory_.data(to, size_bytes), memory_.data(from, size_bytes), size_bytes);
  }

  [[nodiscard]] Expected<KernelId, Failure> load(const Binary& binary) override {
    const KernelId id{++last_kernel_};
    const auto scratch = [&](std::string_view of) {
      return images_.path() / fmt::format("{}{}.so", last_kernel_, of);
    };
    auto image = LoadedImage::load(binary, scratch(""));
    if (!image) return Unexpected(image.error());
    kernels_.emplace(id, LoadedKernel{.image = std::move(*image),
                                      .interleaved = LoadedImage::load_interleaved(
                                          binary, scratch("_interleaved")),
                                      .rounding = interleaved_part(binary.image).rounding});
    return id;
  }
  void unload(KernelId kernel) override { kernels_.erase(kernel); }
  [[nodiscard]] std::vector<Resources> resources(KernelId kernel) const override {
    return std::vector<Resources>(kernels_.at(kernel).image.functions().size());
  }
  [[nodiscard]] bool has_changed_variables(KernelId kernel) const override {
    const LoadedKernel& loaded = kernels_.at(kernel);
    return loaded.image.has_changed_variables() ||
           (loaded.interleaved && loaded.interleaved->has_changed_variables());
  }

  [[nodiscard]] Expected<void, Failure> run(const Work& work) override {
    return std::visit([this](const auto& call) { return execute(call); }, work);
  }

  [[nodiscard]] Expected<std::vector<Sample>, Failure> time(const Work& work,
                                                            const SamplePlan& plan) override {
    const auto begin = Clock::now();
    for (int i = 0; i < plan.warm_up || nanoseconds_since(begin) < plan.warm_up_ns; ++i) {
      if (auto done = run_before(plan); !done) return Unexpected(done.error());
      if (auto done = run(work); !done) return Unexpected(done.error());
    }
    std::vector<Sample> samples;
    for (int i = 0; i < plan.samples; ++i) {
      if (auto done = run_before(plan); !done) return Unexpected(done.error());
      grids_.evict_caches();
      const auto time_ns = time_once(work);
      if (!time_ns) return Unexpected(time_ns.error());
      samples.push_back({.time_ns = *time_ns});
    }
    return samples;
  }

  /// The median of three after a run that fills the caches: a host's runs differ too much for one,
  /// and are too long for many.
  [[nodiscard]] Expected<double, Failure> time_hot(const Work& work) override {
    if (auto done = run(work); !done) return Unexpected(done.error());
    std::array<double, 3> times_ns{};
    for (double& time_ns : times_ns) {
      auto timed = time_once(work);
      if (!timed) return timed;
      time_ns = *timed;
    }
    return *quantile(times_ns, 0.5);
  }

  [[nodiscard]] Expected<SeriesTime, Failure> time_series(std::span<const Work> works,
                                                          Lead lead) override {
    if (auto done = run(works.front()); !done) return Unexpected(done.error());
    return median_for(works, lead == Lead::load ? kLoadNs : kSeriesNs);
  }

  [[nodiscard]] Expected<std::optional<RegimeTimes>, Failure> time_regimes(
      std::span<const Work> works) override {
    constexpr auto kPause = std::chrono::milliseconds(10);
    const auto warm_ns = time_once(works.front());
    if (!warm_ns) return Unexpected(warm_ns.error());
    if (*warm_ns > kLongestInRegimesNs) return std::optional<RegimeTimes>();
    std::this_thread::sleep_for(kPause);
    const auto rested_ns = time_once(works.back());
    if (!rested_ns) return Unexpected(rested_ns.error());
    const auto sustained = median_for(works, kLoadNs);
    if (!sustained) return Unexpected(sustained.error());
    return std::optional(RegimeTimes{.rested_ns = *rested_ns, .sustained_ns = sustained->time_ns});
  }

  [[nodiscard]] Expected<std::optional<EnergySample>, Failure> measure_energy(const Work&,
                                                                              double) override {
    return std::optional<EnergySample>();
  }
  [[nodiscard]] std::optional<double> idle_watts() override { return std::nullopt; }

  [[nodiscard]] Expected<double, Failure> time_call(const Work& work) override {
    return time_once(work);
  }

  [[nodiscard]] Expected<counters::CounterReading, Failure> count(
      const Work&, const std::optional<Work>&) override {
    return counters::CounterReading{
        .counters = std::nullopt,
        .problem = "hardware counters are not available on the cpu backend"};
  }

  [[nodiscard]] std::vector<std::string> library_algorithms(const LibraryCall& call) override {
    return host_library_algorithms(call.operation);
  }
  [[nodiscard]] Conditions conditions() override { return {}; }
  [[nodiscard]] std::optional<Peak> peak(family::ElementType) const override {
    return std::nullopt;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double nanoseconds_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
  }
  [[nodiscard]] Expected<void, Failure> run_before(const SamplePlan& plan) {
    return plan.before ? run(*plan.before) : Expected<void, Failure>();
  }
  /// The median of runs of each in turn for so long, of one at the least.
  [[nodiscard]] Expected<SeriesTime, Failure> median_for(std::span<const Work> works,
                                                         double duration_ns) {
    std::vector<double> times_ns;
    for (const auto begin = Clock::now();
         times_ns.empty() || nanoseconds_since(begin) < duration_ns;) {
      const auto time_ns = time_once(works[times_ns.size() % works.size()]);
      if (!time_ns) return Unexpected(time_ns.error());
      times_ns.push_back(*time_ns);
    }
    const auto runs = static_cast<std::int64_t>(times_ns.size());
    return SeriesTime{.time_ns = *quantile(times_ns, 0.5), .runs = runs};
  }
  /// Of a kernel only its run counts: what comes before depends on nothing that it does.
  [[nodiscard]] Expected<double, Failure> time_once(const Work& work) {
    if (const auto* launch = std::get_if<Launch>(&work)) {
      const auto steps = prepare(*launch, Purpose::timing);
      if (!steps) return Unexpected(steps.error());
      return timed([&] { return run_steps(*launch, *steps); });
    }
    return timed([&] { return run(work); });
  }
  template <class Run>
  [[nodiscard]] Expected<double, Failure> timed(const Run& run_it) {
    blocks_ = BlockOrder::ascending;
    const auto begin = Clock::now();
    const auto done = run_it();
    const double time_ns = nanoseconds_since(begin);
    blocks_ = BlockOrder::shuffled;
    if (!done) return Unexpected(done.error());
    return time_ns;
  }

  /// A step of a launch, checked, with its arguments in place.
  struct PreparedStep {
    ArgumentList arguments;
    std::vector<std::span<std::byte>> shared_by_blocks = {};
    KernelCall call;
  };

  /// What a launch is for: its time, or its results.
  enum class Purpose { timing, results };

  [[nodiscard]] Expected<void, Failure> execute(const Launch& launch) {
    const auto steps = prepare(launch, Purpose::results);
    if (!steps) return Unexpected(steps.error());
    const auto begin = Clock::now();
    auto done = run_steps(launch, *steps);
    if (is_short(launch) && !steps->front().call.interleaved) {
      kernels_.at(launch.kernel).plain_ns = nanoseconds_since(begin);
    }
    return done;
  }

  struct LoadedKernel {
    LoadedImage image;
    std::optional<LoadedImage> interleaved;
    Rounding rounding = Rounding::same;  ///< of the interleaved image
    unsigned launches = 0;               ///< that may interleave
    double plain_ns = 0;                 ///< of the last short one that did not
  };

  /// In every second launch of those that may.
  [[nodiscard]] static bool interleaves(LoadedKernel& kernel, const Launch& launch) {
    constexpr double kLongestNs = 1e8;  // interleaved, it takes some 20 times as long
    return kernel.interleaved && is_short(launch) && kernel.plain_ns < kLongestNs &&
           (kernel.rounding == Rounding::same || launch.bits == Launch::Bits::any) &&
           kernel.launches++ % 2 == 0;
  }

  [[nodiscard]] Expected<std::vector<PreparedStep>, Failure> prepare(const Launch& launch,
                                                                     Purpose purpose) {
    const auto kernel = kernels_.find(launch.kernel);
    if (kernel == kernels_.end()) return launch_error("the kernel is not loaded");
    if (launch.restores) {
      const LoadedKernel& restored = kernels_.at(*launch.restores);
      restored.image.restore_variables();
      if (restored.interleaved) restored.interleaved->restore_variables();
    }
    LoadedKernel& loaded = kernel->second;
    const bool interleaved = purpose == Purpose::results && interleaves(loaded, launch);
    LoadedImage& image = interleaved ? *loaded.interleaved : loaded.image;
    const std::size_t count = image.functions().size();
    if (launch.steps.size() != count) return Unexpected(other_steps(launch.steps.size(), count));
    for (const SymbolValue& symbol : launch.symbols) {
      if (auto written = image.write(symbol); !written) {
        return Unexpected(std::move(written.error()));
      }
    }
    std::vector<PreparedStep> steps;
    for (std::size_t i = 0; i < count; ++i) {
      auto step = prepare(image, i, launch);
      if (!step) return Unexpected(in_step(std::move(step.error()), i, count));
      if (interleaved) {
        step->call.interleaved = loaded.launches / 2;
        step->shared_by_blocks = shared_by_blocks(image);
        step->call.shared_by_blocks = step->shared_by_blocks;
      }
      step->call.all_begin_first = purpose == Purpose::results;
      steps.push_back(std::move(*step));
    }
    return steps;
  }

  /// What a block writes there, others may read.
  [[nodiscard]] std::vector<std::span<std::byte>> shared_by_blocks(const LoadedImage& image) const {
    std::vector<std::span<std::byte>> ranges = memory_.all();
    std::ranges::move(image.variables(), std::back_inserter(ranges));
    std::ranges::sort(ranges, {}, [](std::span<std::byte> range) { return range.data(); });
    return ranges;
  }

  [[nodiscard]] Expected<PreparedStep, Failure> prepare(const LoadedImage& image, std::size_t index,
                                                        const Launch& launch) {
    const KernelImage& function = *image.functions()[index];
    const StepLaunch& step = launch.steps[index];
    if (auto fits = check_geometry(step.geometry, image.static_shared_bytes()); !fits) {
      return Unexpected(fits.error());
    }
    PreparedStep prepared;
    for (const LaunchArgument& argument : step.arguments) {
      if (const auto* region = std::get_if<Region>(&argument)) {
        prepared.arguments.push(memory_.data(*region, 0));
      } else if (const auto* scalar = std::get_if<family::Scalar>(&argument)) {
        prepared.arguments.push(*scalar);
      } else if (const auto* array = std::get_if<ArrayValue>(&argument)) {
        prepared.arguments.push(*array);
      } else {
        const auto& tensor = std::get<Tensor>(argument);
        const auto map = host_tensor_map(tensor.layout, memory_.data(tensor.region, 0));
        if (!map) return Unexpected(map.error());
        prepared.arguments.push(*map);
      }
    }
    if (auto match = match_arguments(prepared.arguments.sizes_bytes(), argument_sizes(function));
        !match) {
      return Unexpected(match.error());
    }
    prepared.call = {.entry = function.entry,
                     .arguments = prepared.arguments.addresses(),
                     .geometry = step.geometry,
                     .shared_content = launch.shared_content,
                     .static_shared = image.static_shared()};
    return prepared;
  }

  [[nodiscard]] Expected<void, Failure> run_steps(const Launch& launch,
                                                  const std::vector<PreparedStep>& steps) {
    ++launches_;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      KernelCall call = steps[i].call;
      const bool descends = call.interleaved ? *call.interleaved / 2 % 2 != 0 : launches_ % 2 == 0;
      call.order = descends ? ThreadOrder::descending : ThreadOrder::ascending;
      call.warps_go_ahead = (launches_ + 1) / 2 % 2 == 0;  // in one of two, with either order
      call.blocks = blocks_;
      call.blocks_pause = blocks_ == BlockOrder::shuffled && launches_ / 4 % 2 == 0;
      call.launch = launches_;
      auto done = run_watched(launch, call);
      if (!done) return Unexpected(in_step(std::move(done.error()), i, steps.size()));
    }
    return {};
  }

  /// Runs the grid of one of its steps and looks what it writes.
  [[nodiscard]] Expected<void, Failure> run_watched(const Launch& launch, const KernelCall& call) {
    if (launch.read_only.empty() && launch.guards.empty()) return grids_.run(call);
    std::vector<std::span<std::byte>> data;
    data.reserve(launch.read_only.size());
    for (const ReadOnlyData& each : launch.read_only) {
      data.emplace_back(memory_.data(each.region, each.size_bytes), each.size_bytes);
    }
    const bool sees_all = launch.faults_on_write;
    if (sees_all) {
      for (const ReadOnlyData& each : launch.guards) {
        data.emplace_back(memory_.data(each.region, each.size_bytes), each.size_bytes);
      }
    }
    KernelCall watched = call;
    // While a page is open for the write of one thread, others could write there without a fault.
    watched.on_one_core = sees_all;
    const WriteWatch watch(
        std::move(data), sees_all ? WriteWatch::Faults::every : WriteWatch::Faults::first_of_a_page,
        &shared_pages_);
    auto done = grids_.run(watched);
    const auto written = watch.first_write();
    if (!written) return done;
    if (written->data >= launch.read_only.size()) {
      return Unexpected(Failure{
          Outcome::out_of_bounds,
          fmt::format("wrote the guard zone {}, {} bytes from where the zone begins, whatever it "
                      "wrote there later",
                      launch.guards[written->data - launch.read_only.size()].name,
                      written->offset_bytes)});
    }
    const ReadOnlyData& what = launch.read_only[written->data];
    return Unexpected(Failure{
        Outcome::out_of_bounds,
        fmt::format("wrote its input {0}, at {0}[{1}]; give an argument to write the \"role\" "
                    "\"output\" or \"inout\"",
                    what.name, written->offset_bytes / what.element_bytes)});
  }

  [[nodiscard]] Expected<void, Failure> execute(const LibraryCall& call) {
    const blas::Addresses operands = call_addresses(
        call,
        [this](Region region, std::size_t size_bytes) { return memory_.data(region, size_bytes); });
    return call.algorithm.empty() ? run_host_library(call.operation, operands)
                                  : run_host_library(call.operation, operands, call.algorithm);
  }

  space::DeviceInfo device_;
  space::EnvironmentInfo environment_;
  HostCompiler compiler_;
  HostMemory memory_;
  SharedPages shared_pages_;
  TemporaryDirectory images_;
  std::uint64_t last_kernel_ = 0;
  // The order of threads, and of blocks where no time is taken, is another one each time: a kernel
  // whose result depends on it does not give it twice.
  std::uint64_t launches_ = 0;
  BlockOrder blocks_ = BlockOrder::shuffled;
  std::map<KernelId, LoadedKernel> kernels_;
  GridRunner grids_;  // last: its threads stop before the kernels' images go
};

/// What TUNER_HOST_CXX names where no compiler was found.
std::string unusable_compiler() {
  const std::string named = environment_variable("TUNER_HOST_CXX");
  return named.empty() ? "" : fmt::format(" (TUNER_HOST_CXX={} cannot be run)", printable(named));
}

HostCompilerInfo require_host_compiler() {
  if (auto compiler = find_host_compiler()) return std::move(*compiler);
  throw Error(ErrorCode::no_device,
              fmt::format("the cpu backend needs a C++ compiler and found none{}: `apt-get install "
                          "g++`, or name one in TUNER_HOST_CXX",
                          unusable_compiler()));
}

}  // namespace

std::unique_ptr<Executor> open_cpu_executor() {
  HostCompilerInfo compiler = require_host_compiler();
  space::EnvironmentInfo environment = cpu_environment(compiler);
  return std::make_unique<CpuExecutor>(cpu_device(), std::move(environment), std::move(compiler));
}

std::unique_ptr<Backend> open_cpu_backend() {
  return open_cpu_backend(cpu_device());
}

std::unique_ptr<Backend> open_cpu_backend(space::DeviceInfo device) {
  return std::make_unique<CpuBackend>(std::move(device), require_host_compiler());
}

std::unique_ptr<const Compiler> make_cpu_compiler(std::chrono::seconds deadline,
                                                  std::vector<std::string> confiner) {
  return std::make_unique<HostCompiler>(require_host_compiler(), deadline, std::move(confiner));
}

namespace {

Finding examine_host_compiler() {
  if (is_privileged()) {
    return {Finding::Status::missing, "host compiler", "not looked for",
            "a program that is set-uid, set-gid or has file capabilities runs no compiler that its "
            "user names"};
  }
  if (const auto compiler = find_host_compiler()) {
    return {Finding::Status::good, "host compiler",
            fmt::format("{} {}", compiler->program, compiler->version), ""};
  }
  return {Finding::Status::missing, "host compiler", "none found" + unusable_compiler(),
          "apt-get install g++, or name one in TUNER_HOST_CXX"};
}

Finding examine_blas() {
  try {
    return {Finding::Status::good, "BLAS of the host", openblas().version, ""};
  } catch (const Error& error) {
    return {Finding::Status::missing, "BLAS of the host", "none found", error.what()};
  }
}

}  // namespace

std::vector<Finding> examine_cpu() {
  using enum Finding::Status;
  const space::DeviceInfo device = cpu_device();
  return {{good, "processor",
           fmt::format("{} ({} cores, vectors of {} bits, {:.1f} GiB)", device.name,
                       device.attributes.sm_count, vector_bits(),
                       static_cast<double>(device.attributes.memory_bytes) / (1 << 30)),
           ""},
          examine_host_compiler(),
          examine_blas()};
}

}  // namespace tuner::backend
