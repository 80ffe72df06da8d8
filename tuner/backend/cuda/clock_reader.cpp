// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/clock_reader.hpp"

#include "tuner/backend/cuda/backend_kernels.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/quantile.hpp"

namespace tuner::backend {
namespace {

std::span<const ClockReading> reading(const std::vector<ClockReading>& all, std::size_t index,
                                      std::size_t multiprocessors) {
  return std::span(all).subspan(index * multiprocessors, multiprocessors);
}

}  // namespace

std::optional<double> clock_between(std::span<const ClockReading> before,
                                    std::span<const ClockReading> after,
                                    std::int64_t timer_step_ns) {
  constexpr std::int64_t kFewestSteps = 100;
  std::vector<double> clocks_mhz;
  for (std::size_t sm = 0; sm < before.size(); ++sm) {
    if (before[sm].time_ns == 0 || after[sm].time_ns == 0) continue;
    const std::int64_t time_ns = after[sm].time_ns - before[sm].time_ns;
    if (time_ns <= 0 || time_ns < kFewestSteps * timer_step_ns) continue;
    const auto cycles = static_cast<double>(after[sm].cycles - before[sm].cycles);
    clocks_mhz.push_back(1e3 * cycles / static_cast<double>(time_ns));
  }
  return quantile(clocks_mhz, 0.5);
}

ClockReader::ClockReader(const Compiler& compiler, cudaStream_t stream, int multiprocessors)
    : stream_(stream),
      multiprocessors_(static_cast<std::size_t>(multiprocessors)),
      kernel_(load_backend_kernel(compiler, "read_clocks")),
      timer_step_ns_(measure_timer_step(compiler)) {}

std::int64_t ClockReader::measure_timer_step(const Compiler& compiler) {
  const PinnedMemory result = make_pinned_memory(sizeof(std::int64_t));
  CudaKernel kernel = load_backend_kernel(compiler, "measure_timer_step");
  const auto launch = kernel.functions().front().launch({}, {packed(result.get())}, stream_);
  if (!launch) throw Error(ErrorCode::failure, launch.error().message);
  if (const auto done = (*launch)(); !done) throw Error(ErrorCode::failure, done.error().message);
  check(cudaStreamSynchronize(stream_), "measure the GPU's timer");
  return *reinterpret_cast<const std::int64_t*>(result.get());
}

Expected<void, Failure> ClockReader::prepare(std::size_t count) {
  const std::size_t size_bytes = 2 * count * multiprocessors_ * sizeof(ClockReading);
  if (count > capacity_) {
    memory_ = make_device_memory(size_bytes);
    capacity_ = count;
  }
  spans_ = count;
  return attempt(cudaMemsetAsync(memory_.get(), 0, size_bytes, stream_));
}

Expected<void, Failure> ClockReader::read(std::size_t index) {
  const std::byte* const slots = memory_.get() + index * multiprocessors_ * sizeof(ClockReading);
  const auto launch = kernel_.functions().front().launch(
      {.grid = {static_cast<std::uint32_t>(multiprocessors_), 1, 1}},
      {packed(slots), packed(std::int64_t(multiprocessors_))}, stream_);
  if (!launch) return Unexpected(launch.error());
  return (*launch)();
}

Expected<std::vector<std::optional<double>>, Failure> ClockReader::clocks() const {
  std::vector<ClockReading> all(2 * spans_ * multiprocessors_);
  if (auto done =
          attempt(cudaMemcpyAsync(all.data(), memory_.get(), all.size() * sizeof(ClockReading),
                                  cudaMemcpyDeviceToHost, stream_));
      !done) {
    return Unexpected(done.error());
  }
  if (auto finished = finish(stream_); !finished) return Unexpected(finished.error());
  std::vector<std::optional<double>> clocks_mhz;
  for (std::size_t i = 0; i < spans_; ++i) {
    clocks_mhz.push_back(clock_between(reading(all, 2 * i, multiprocessors_),
                                       reading(all, 2 * i + 1, multiprocessors_), timer_step_ns_));
  }
  return clocks_mhz;
}

}  // namespace tuner::backend
