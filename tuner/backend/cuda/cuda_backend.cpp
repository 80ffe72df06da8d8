// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/cuda_backend.hpp"

#include "tuner/backend/cuda/cold_timer.hpp"
#include "tuner/backend/cuda/counters.hpp"
#include "tuner/backend/cuda/cublas.hpp"
#include "tuner/backend/cuda/cuda_kernel.hpp"
#include "tuner/backend/cuda/device_query.hpp"
#include "tuner/backend/cuda/driver.hpp"
#include "tuner/backend/cuda/energy_meter.hpp"
#include "tuner/backend/cuda/hot_timer.hpp"
#include "tuner/backend/cuda/nvml.hpp"
#include "tuner/backend/cuda/nvrtc_compiler.hpp"
#include "tuner/backend/cuda/peak.hpp"
#include "tuner/backend/cuda/read_only_memory.hpp"
#include "tuner/backend/cuda/runtime.hpp"
#include "tuner/backend/cuda/shared_poison.hpp"
#include "tuner/backend/cuda/stream_gate.hpp"
#include "tuner/backend/cuda/unfinished_launch.hpp"
#include "tuner/backend/launch_error.hpp"
#include "tuner/backend/moved_work.hpp"
#include "tuner/core/environment.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <utility>
#include <variant>

namespace tuner::backend {
namespace {

constexpr int kFirstArchitecture = 75;  ///< that the compilers of CUDA 13 know

/// "x or y".
std::string names_of(const std::vector<ReadOnlyData>& all) {
  return fmt::format("{}", fmt::join(all | std::views::transform(&ReadOnlyData::name), " or "));
}

/// The card, with the architecture of $TUNER_CUDA_ARCHITECTURE if that is set: a virtual one, such
/// as compute_80, shows what a program built for older cards does here. Throws Error(usage) for any
/// that the card does not run.
space::DeviceInfo compiled_for(space::DeviceInfo device) {
  constexpr const char* kVariable = "TUNER_CUDA_ARCHITECTURE";
  const std::string asked = environment_variable(kVariable);
  if (asked.empty()) return device;
  int number = 0;
  const char* const end = asked.data() + asked.size();
  if (asked.starts_with(kVirtualArchitecture)) {
    const auto read = std::from_chars(asked.data() + kVirtualArchitecture.size(), end, number);
    if (read.ptr != end) number = 0;
  }
  if (number < kFirstArchitecture || number > device.attributes.compute_capability) {
    throw Error(ErrorCode::usage,
                fmt::format("{}={}: {} runs PTX of compute_{} to compute_{}", kVariable, asked,
                            device.name, kFirstArchitecture, device.attributes.compute_capability));
  }
  device.architecture = asked;
  device.attributes.compute_capability = number;  // kernels have no more instructions
  return device;
}

struct CudaBuffer {
  std::variant<DeviceMemory, PinnedMemory, ReadOnlyMemory> memory;
  std::size_t size_bytes = 0;

  [[nodiscard]] std::byte* address() const {
    return std::visit([](const auto& owner) { return owner.get(); }, memory);
  }
};

template <class Objects>
auto& object(Objects& objects, typename Objects::key_type id, std::string_view what) {
  const auto found = objects.find(id);
  if (found != objects.end()) return found->second;
  throw Error(ErrorCode::failure,
              fmt::format("there is no {} {}", what, static_cast<std::uint64_t>(id)));
}

/// Made when something is first timed: compiling their kernels takes a tenth of a second, which a
/// process that only verifies, or ends with the first candidate, need not spend.
struct Timers {
  Timers(const Compiler& compiler, cudaStream_t stream, const space::DeviceAttributes& device)
      : gate(compiler, stream), cold(compiler, stream, gate, device), hot(stream, gate) {}

  StreamGate gate;
  ColdTimer cold;
  HotTimer hot;
};

/// Work that overlaps with nothing before it.
Work launched_alone(Work work) {
  if (auto* launch = std::get_if<Launch>(&work)) {
    launch->steps.front().geometry.programmatic = false;
  }
  return work;
}

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(int ordinal);

  const space::DeviceInfo& device() const override { return device_; }
  const space::EnvironmentInfo& environment() const override { return environment_; }
  const Compiler& compiler() const override { return compiler_; }

  BufferId allocate(std::size_t size_bytes) override;
  PinnedBuffer allocate_pinned(std::size_t size_bytes) override;
  void release(BufferId buffer) override { buffers_.erase(buffer); }
  void write(Region to, std::span<const std::byte> data) override;
  void read(Region from, std::span<std::byte> data) const override;
  void fill(Region region, std::uint32_t pattern, std::size_t size_bytes) override;
  void copy(Region to, Region from, std::size_t size_bytes) override;

  Expected<KernelId, Failure> load(const Binary& binary) override;
  void unload(KernelId kernel) override { kernels_.erase(kernel); }
  std::vector<Resources> resources(KernelId kernel) const override;
  bool has_changed_variables(KernelId kernel) const override {
    use_device();
    return object(kernels_, kernel, "kernel").has_changed_variables();
  }

  Expected<void, Failure> run(const Work& work) override;
  Expected<std::vector<Sample>, Failure> time(const Work& work, const SamplePlan& plan) override;
  Expected<double, Failure> time_hot(const Work& work) override;
  Expected<SeriesTime, Failure> time_series(std::span<const Work> works, Lead lead) override;
  Expected<std::optional<RegimeTimes>, Failure> time_regimes(std::span<const Work> works) override;
  Expected<std::optional<EnergySample>, Failure> measure_energy(const Work& work,
                                                                double window_s) override;
  std::optional<double> idle_watts() override;
  Expected<double, Failure> time_call(const Work& work) override;
  Expected<counters::CounterReading, Failure> count(const Work& work,
                                                    const std::optional<Work>& before) override;
  std::vector<std::string> library_algorithms(const LibraryCall& call) override;
  Conditions conditions() override;
  std::optional<Peak> peak(family::ElementType type) const override {
    return cuda_peak(ordinal_, device_.attributes, type);
  }

 private:
  /// The current device belongs to the calling thread, which may be another than last time.
  void use_device() const { check(cudaSetDevice(ordinal_), "use the GPU"); }
  /// Uses the device before a candidate's turn. Every call leaves the stream idle: all that can be
  /// found on it is the fault of an earlier candidate.
  Expected<void, Failure> try_device() const {
    auto usable = attempt(cudaSetDevice(ordinal_));
    return usable ? attempt(cudaStreamQuery(stream_.get())) : usable;
  }
  /// The address of a region. Throws when its buffer has fewer than `size_bytes` from there on.
  [[nodiscard]] std::byte* memory(Region region, std::size_t size_bytes) const;
  void finish_transfer() const {
    check(cudaStreamSynchronize(stream_.get()), "move data to or from the GPU");
  }
  [[nodiscard]] Expected<KernelArgument, Failure> argument(const LaunchArgument& argument) const;
  [[nodiscard]] SharedPoison& shared_poison();
  [[nodiscard]] UnfinishedLaunch& unfinished_launch();
  /// The buffers that a launch can write, each once.
  [[nodiscard]] std::vector<std::span<std::byte>> writable(const StepLaunch& step) const;
  [[nodiscard]] Timers& timers();
  /// None where the device does not tell its energy, or others use it too.
  [[nodiscard]] std::optional<EnergyMeter> energy_meter();
  [[nodiscard]] Expected<Enqueue, Failure> prepare(const Work& work);
  /// Of no work: nothing.
  [[nodiscard]] Expected<Enqueue, Failure> prepare(const std::optional<Work>& work);
  [[nodiscard]] Expected<Enqueue, Failure> prepare(const Launch& launch);
  /// Of a kernel, if there is one.
  [[nodiscard]] Expected<void, Failure> restore_variables(std::optional<KernelId> of) const;
  [[nodiscard]] Expected<std::vector<Enqueue>, Failure> prepare_steps(const Launch& launch);
  [[nodiscard]] Expected<std::vector<Enqueue>, Failure> prepare_all(std::span<const Work> works);
  [[nodiscard]] Expected<void, Failure> run(const Launch& launch);
  [[nodiscard]] Expected<void, Failure> run_on_read_only_copies(Launch launch);
  [[nodiscard]] Expected<Enqueue, Failure> prepare(const LibraryCall& call);
  [[nodiscard]] blas::Addresses operands(const LibraryCall& call) const;

  int ordinal_;
  space::DeviceInfo device_;
  NvrtcCompiler compiler_;
  Stream stream_;
  Cublas cublas_;
  std::optional<SharedPoison> shared_poison_;  // made, as the timers are, when first needed
  std::optional<UnfinishedLaunch> unfinished_launch_;
  std::optional<Timers> timers_;
  std::optional<Nvml> nvml_;
  space::EnvironmentInfo environment_;
  std::map<BufferId, CudaBuffer> buffers_;
  std::map<KernelId, CudaKernel> kernels_;
  std::uint64_t last_id_ = 0;
};

CudaBackend::CudaBackend(int ordinal)
    : ordinal_(ordinal),
      device_(compiled_for(cuda_device_info(ordinal))),
      compiler_(device_.architecture),
      stream_(make_stream()),
      cublas_(stream_.get()),
      environment_{.driver = driver_identity(),
                   .compiler = compiler_.version(),
                   .library = cublas_.version(),
                   .tool = TUNER_VERSION} {}

BufferId CudaBackend::allocate(std::size_t size_bytes) {
  use_device();
  const BufferId id{++last_id_};
  buffers_[id] = {make_device_memory(std::max<std::size_t>(size_bytes, 1)), size_bytes};
  return id;
}

PinnedBuffer CudaBackend::allocate_pinned(std::size_t size_bytes) {
  use_device();
  const BufferId id{++last_id_};
  buffers_[id] = {make_pinned_memory(std::max<std::size_t>(size_bytes, 1)), size_bytes};
  return {.id = id, .bytes = {buffers_[id].address(), size_bytes}};
}

std::byte* CudaBackend::memory(Region region, std::size_t size_bytes) const {
  const CudaBuffer& found = object(buffers_, region.buffer, "buffer");
  if (region.offset_bytes <= found.size_bytes &&
      size_bytes <= found.size_bytes - region.offset_bytes) {
    return found.address() + region.offset_bytes;
  }
  throw Error(ErrorCode::failure,
              fmt::format("a buffer of {} bytes has no {} bytes from byte {} on", found.size_bytes,
                          size_bytes, region.offset_bytes));
}

void CudaBackend::write(Region to, std::span<const std::byte> data) {
  use_device();
  check(cudaMemcpyAsync(memory(to, data.size()), data.data(), data.size(), cudaMemcpyHostToDevice,
                        stream_.get()),
        "write to the GPU");
  finish_transfer();
}

void CudaBackend::read(Region from, std::span<std::byte> data) const {
  use_device();
  check(cudaMemcpyAsync(data.data(), memory(from, data.size()), data.size(), cudaMemcpyDeviceToHost,
                        stream_.get()),
        "read from the GPU");
  finish_transfer();
}

void CudaBackend::fill(Region region, std::uint32_t pattern, std::size_t size_bytes) {
  use_device();
  const auto address = reinterpret_cast<CUdeviceptr>(memory(region, size_bytes));
  const CUresult result =
      driver_api().memset_32(address, pattern, size_bytes / sizeof pattern, stream_.get());
  if (result != CUDA_SUCCESS) {
    throw Error(ErrorCode::failure,
                fmt::format("cannot fill GPU memory: driver error {}", static_cast<int>(result)));
  }
  finish_transfer();
}

void CudaBackend::copy(Region to, Region from, std::size_t size_bytes) {
  use_device();
  check(cudaMemcpyAsync(memory(to, size_bytes), memory(from, size_bytes), size_bytes,
                        cudaMemcpyDeviceToDevice, stream_.get()),
        "copy on the GPU");
  finish_transfer();
}

Expected<KernelId, Failure> CudaBackend::load(const Binary& binary) {
  if (auto usable = try_device(); !usable) return Unexpected(usable.error());
  auto kernel = CudaKernel::load(binary);
  if (!kernel) return Unexpected(kernel.error());
  const KernelId id{++last_id_};
  kernels_.emplace(id, std::move(*kernel));
  return id;
}

std::vector<Resources> CudaBackend::resources(KernelId kernel) const {
  std::vector<Resources> each;
  for (const CudaFunction& function : object(kernels_, kernel, "kernel").functions()) {
    each.push_back(function.resources());
  }
  return each;
}

Expected<void, Failure> CudaBackend::run(const Work& work) {
  if (auto usable = try_device(); !usable) return Unexpected(usable.error());
  if (const auto* launch = std::get_if<Launch>(&work)) return run(*launch);
  const auto enqueue = prepare(work);
  if (!enqueue) return Unexpected(enqueue.error());
  if (auto enqueued = (*enqueue)(); !enqueued) return enqueued;
  return finish(stream_.get());
}

/// Waits for each step, so that a fault is that of the step which made it. What a programmatic step
/// has to wait for has not ended when it begins.
Expected<void, Failure> CudaBackend::run(const Launch& launch) {
  if (launch.faults_on_write && !launch.read_only.empty() &&
      ReadOnlyMemory::is_supported(ordinal_)) {
    return run_on_read_only_copies(launch);
  }
  const auto steps = prepare_steps(launch);
  if (!steps) return Unexpected(steps.error());
  if (auto restored = restore_variables(launch.restores); !restored) return restored;
  for (std::size_t i = 0; i < steps->size(); ++i) {
    if (auto spread = shared_poison().spread(launch.shared_content); !spread) return spread;
    if (launch.steps[i].geometry.programmatic) {
      const auto before = unfinished_launch().enqueue(writable(launch.steps[i]));
      if (!before) return before;
    }
    auto done = (*steps)[i]();
    if (done) done = finish(stream_.get());
    if (!done) return Unexpected(in_step(std::move(done.error()), i, steps->size()));
  }
  return {};
}

/// The copies lie as their originals do, relative to a multiple of 256 bytes, with room around
/// them: what reads a little too far, which another check finds, does not fault.
Expected<void, Failure> CudaBackend::run_on_read_only_copies(Launch launch) {
  constexpr std::size_t kRoom = std::size_t{64} << 10, kAlignment = 256;
  std::vector<std::size_t> offsets;
  std::size_t size_bytes = 0;
  for (const ReadOnlyData& data : launch.read_only) {
    const std::size_t aligned = (size_bytes + kRoom + kAlignment - 1) / kAlignment * kAlignment;
    offsets.push_back(aligned + data.region.offset_bytes % kAlignment);
    size_bytes = offsets.back() + data.size_bytes;
  }
  size_bytes = (size_bytes + kRoom + kAlignment - 1) / kAlignment * kAlignment;
  const BufferId copies{++last_id_};
  CudaBuffer& made =
      buffers_.emplace(copies, CudaBuffer{ReadOnlyMemory(ordinal_, size_bytes), size_bytes})
          .first->second;
  fill({copies, 0}, kNanWord, size_bytes);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    copy({copies, offsets[i]}, launch.read_only[i].region, launch.read_only[i].size_bytes);
  }
  std::get<ReadOnlyMemory>(made.memory).protect();
  const auto place_of = [&](Region region) {
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const auto& [name, original, bytes, element_bytes] = launch.read_only[i];
      if (region.buffer != original.buffer || region.offset_bytes < original.offset_bytes) continue;
      const std::size_t within = region.offset_bytes - original.offset_bytes;
      if (within <= bytes) return Region(copies, offsets[i] + within);
    }
    return region;
  };
  launch.faults_on_write = false;
  auto done = run(moved(launch, place_of));
  release(copies);
  if (!done && done.error().outcome == Outcome::crashed) {
    done.error().message +=
        "; only in a launch with read-only inputs: it writes to " + names_of(launch.read_only);
  }
  return done;
}

SharedPoison& CudaBackend::shared_poison() {
  if (!shared_poison_) shared_poison_.emplace(compiler_, stream_.get(), device_.attributes);
  return *shared_poison_;
}

UnfinishedLaunch& CudaBackend::unfinished_launch() {
  if (!unfinished_launch_) {
    unfinished_launch_.emplace(compiler_, stream_.get(), device_.attributes);
  }
  return *unfinished_launch_;
}

std::vector<std::span<std::byte>> CudaBackend::writable(const StepLaunch& step) const {
  std::set<BufferId> ids;
  for (const LaunchArgument& argument : step.arguments) {
    if (const auto* region = std::get_if<Region>(&argument)) ids.insert(region->buffer);
    if (const auto* tensor = std::get_if<Tensor>(&argument)) ids.insert(tensor->region.buffer);
  }
  std::vector<std::span<std::byte>> result;
  for (const BufferId id : ids) {
    const CudaBuffer& buffer = object(buffers_, id, "buffer");
    if (!std::holds_alternative<DeviceMemory>(buffer.memory)) continue;
    result.emplace_back(buffer.address(), buffer.size_bytes);
  }
  return result;
}

Timers& CudaBackend::timers() {
  if (!timers_) timers_.emplace(compiler_, stream_.get(), device_.attributes);
  return *timers_;
}

Expected<std::vector<Sample>, Failure> CudaBackend::time(const Work& work, const SamplePlan& plan) {
  if (auto usable = try_device(); !usable) return Unexpected(usable.error());
  const auto enqueue = prepare(launched_alone(work));
  if (!enqueue) return Unexpected(enqueue.error());
  const auto before = prepare(plan.before);
  if (!before) return Unexpected(before.error());
  return timers().cold.time(*enqueue, *before, plan);
}

Expected<double, Failure> CudaBackend::time_hot(const Work& work) {
  if (auto usable = try_device(); !usable) return Unexpected(usable.error());
  const auto enqueue = prepare(work);
  if (!enqueue) return Unexpected(enqueue.error());
  return timers().hot.time(*enqueue);
}

Expected<SeriesTime, Failure> CudaBackend::time_series(std::span<const Work> works, Lead lead) {
  const auto enqueues = prepare_all(works);
  if (!enqueues) return Unexpected(enqueues.error());
  return timers().hot.time_series(*enqueues, lead);
}

Expected<std::optional<RegimeTimes>, Failure> CudaBackend::time_regimes(
    std::span<const Work> works) {
  const auto enqueues = prepare_all(works);
  if (!enqueues) return Unexpected(enqueues.error());
  return timers().hot.time_regimes(*enqueues);
}

Expected<std::vector<Enqueue>, Failure> CudaBackend::prepare_all(std::span<const Work> works) {
  if (auto usable = try_device(); !usable) return Unexpected(usable.error());
  std::vector<Enqueue> enqueues;
  for (const Work& work : works) {
    auto enqueue = prepare(work);
    if (!enqueue) return Unexpected(enqueue.error());
    enqueues.push_back(*std::move(enqueue));
  }
  return enqueues;
}

std::optional<EnergyMeter> CudaBackend::energy_meter() {
  if (!nvml_) nvml_.emplace(device_.uuid);
  const bool is_alone = nvml_->conditions().other_processes.empty();
  if (!is_alone || !nvml_->joules()) return std::nullopt;
  return EnergyMeter([this] { return nvml_->joules(); }, stream_.get());
}

Expected<std::optional<EnergySample>, Failure> CudaBackend::measure_energy(const Work& work,
                                                                           double window_s) {
  if (auto usable = try_device(); !usable) return Unexpected(usable.error());
  std::optional<EnergyMeter> meter = energy_meter();
  if (!meter) return std::optional<EnergySample>();
  const auto enqueue = prepare(work);
  if (!enqueue) return Unexpected(enqueue.error());
  const auto load = timers().hot.load(*enqueue);
  if (!load) return Unexpected(load.error());
  if (load->run_ns * 1e-9 > window_s / 4) return std::optional<EnergySample>();
  return meter->measure(load->enqueue, load->runs, window_s);
}

std::optional<double> CudaBackend::idle_watts() {
  std::optional<EnergyMeter> meter = energy_meter();
  return meter ? meter->idle_watts() : std::nullopt;
}

Expected<double, Failure> CudaBackend::time_call(const Work& work) {
  if (auto usable = try_device(); !usable) return Unexpected(usable.error());
  const auto enqueue = prepare(work);
  if (!enqueue) return Unexpected(enqueue.error());
  const auto begin = std::chrono::steady_clock::now();
  if (auto enqueued = (*enqueue)(); !enqueued) return Unexpected(enqueued.error());
  if (auto ended = finish(stream_.get()); !ended) return Unexpected(ended.error());
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

Expected<counters::CounterReading, Failure> CudaBackend::count(const Work& work,
                                                               const std::optional<Work>& before) {
  if (auto usable = try_device(); !usable) return Unexpected(usable.error());
  const auto enqueue = prepare(work);
  if (!enqueue) return Unexpected(enqueue.error());
  const auto restore = prepare(before);
  if (!restore) return Unexpected(restore.error());
  return CounterReader(ordinal_, stream_.get()).count(*enqueue, [this, &restore] {
    return timers().cold.make_cold(*restore);
  });
}

Conditions CudaBackend::conditions() {
  if (!nvml_) nvml_.emplace(device_.uuid);
  Conditions now = nvml_->conditions();
  now.mps = is_shared_by_mps(ordinal_);
  return now;
}

Expected<Enqueue, Failure> CudaBackend::prepare(const Work& work) {
  return std::visit([this](const auto& one) { return prepare(one); }, work);
}

Expected<Enqueue, Failure> CudaBackend::prepare(const std::optional<Work>& work) {
  if (work) return prepare(*work);
  return Enqueue([] { return Expected<void, Failure>(); });
}

Expected<Enqueue, Failure> CudaBackend::prepare(const Launch& launch) {
  auto steps = prepare_steps(launch);
  if (!steps) return Unexpected(std::move(steps.error()));
  return Enqueue([this, restores = launch.restores, steps = *std::move(steps)] {
    Expected<void, Failure> done = restore_variables(restores);
    for (std::size_t i = 0; done && i < steps.size(); ++i) done = steps[i]();
    return done;
  });
}

Expected<void, Failure> CudaBackend::restore_variables(std::optional<KernelId> of) const {
  if (!of) return {};
  return object(kernels_, *of, "kernel").restore_variables(stream_.get());
}

Expected<std::vector<Enqueue>, Failure> CudaBackend::prepare_steps(const Launch& launch) {
  CudaKernel& kernel = object(kernels_, launch.kernel, "kernel");
  for (const SymbolValue& symbol : launch.symbols) {
    if (auto written = kernel.write(symbol, stream_.get()); !written) {
      return Unexpected(written.error());
    }
  }
  const std::size_t count = kernel.functions().size();
  if (launch.steps.size() != count) return Unexpected(other_steps(launch.steps.size(), count));
  std::vector<Enqueue> steps;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [geometry, arguments] = launch.steps[i];
    std::vector<KernelArgument> passed;
    for (const LaunchArgument& one : arguments) {
      auto value = argument(one);
      if (!value) return Unexpected(in_step(std::move(value.error()), i, count));
      passed.push_back(*value);
    }
    auto step = kernel.functions()[i].launch(geometry, std::move(passed), stream_.get());
    if (!step) return Unexpected(in_step(std::move(step.error()), i, count));
    steps.push_back(*std::move(step));
  }
  return steps;
}

blas::Addresses CudaBackend::operands(const LibraryCall& call) const {
  return call_addresses(
      call, [this](Region region, std::size_t size_bytes) { return memory(region, size_bytes); });
}

Expected<Enqueue, Failure> CudaBackend::prepare(const LibraryCall& call) {
  if (call.algorithm.empty()) return cublas_.prepare(call.operation, operands(call));
  return cublas_.prepare(call.operation, operands(call), call.algorithm);
}

std::vector<std::string> CudaBackend::library_algorithms(const LibraryCall& call) {
  use_device();
  return cublas_.algorithms(call.operation, operands(call));
}

Expected<KernelArgument, Failure> CudaBackend::argument(const LaunchArgument& argument) const {
  if (const auto* region = std::get_if<Region>(&argument)) return packed(memory(*region, 0));
  if (const auto* tensor = std::get_if<Tensor>(&argument)) {
    return packed(tensor->layout, memory(tensor->region, 0));
  }
  if (const auto* array = std::get_if<ArrayValue>(&argument)) {
    return KernelArgument{.size_bytes = array->bytes.size(), .array = array->bytes};
  }
  return std::visit([](auto value) { return packed(value); }, std::get<family::Scalar>(argument));
}

int require_cuda_devices() {
  const CudaDevices devices = find_cuda_devices();
  if (devices.count > 0) return devices.count;
  throw Error(ErrorCode::no_device,
              devices.problem +
                  ". `query`, `report` and `space` still work; `--backend cpu` tunes on the CPU; "
                  "`tune doctor` explains.");
}

}  // namespace

std::vector<space::DeviceInfo> list_cuda_devices() {
  std::vector<space::DeviceInfo> devices;
  const int count = require_cuda_devices();
  devices.reserve(static_cast<std::size_t>(count));
  for (int ordinal = 0; ordinal < count; ++ordinal) devices.push_back(cuda_device_info(ordinal));
  return devices;
}

std::unique_ptr<Backend> open_cuda_backend(int ordinal) {
  const int count = require_cuda_devices();
  if (ordinal < 0 || ordinal >= count) {
    throw Error(ErrorCode::no_device,
                fmt::format("there is no GPU {}: this machine has {}, counted from 0. `tune "
                            "doctor` lists them.",
                            ordinal, count));
  }
  if (const cudaError_t result = cudaSetDevice(ordinal); result != cudaSuccess) {
    throw Error(ErrorCode::no_device,
                fmt::format("GPU {} cannot be used: {}. `nvidia-smi` shows who uses it and in "
                            "which compute mode it is.",
                            ordinal, describe(result)));
  }
  return std::make_unique<CudaBackend>(ordinal);
}

}  // namespace tuner::backend
