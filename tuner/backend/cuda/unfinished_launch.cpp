// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/unfinished_launch.hpp"

#include "tuner/backend/cuda/backend_kernels.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace tuner::backend {
namespace {

/// As in backend_kernels.cu.
struct WordRange {
  std::byte* words;
  std::int64_t count;
};
constexpr std::size_t kMostRanges = 64;

KernelArgument ranges_of(std::span<const std::span<std::byte>> memory) {
  std::array<WordRange, kMostRanges> ranges{};
  for (std::size_t i = 0; i < std::min(memory.size(), kMostRanges); ++i) {
    ranges[i] = {memory[i].data(), static_cast<std::int64_t>(memory[i].size() / 4)};
  }
  KernelArgument argument{.size_bytes = sizeof ranges,
                          .array = std::vector<std::byte>(sizeof ranges)};
  std::memcpy(argument.array.data(), ranges.data(), sizeof ranges);
  return argument;
}

}  // namespace

// Blocks on a quarter of the multiprocessors leave the others to the launch that must wait.
UnfinishedLaunch::UnfinishedLaunch(const Compiler& compiler, cudaStream_t stream,
                                   const space::DeviceAttributes& device)
    : kernel_(load_backend_kernel(compiler, "invert_memory")),
      stream_(stream),
      blocks_(std::max(static_cast<std::uint32_t>(device.sm_count) / 4, 1U)) {}

Expected<void, Failure> UnfinishedLaunch::enqueue(std::span<const std::span<std::byte>> memory) {
  constexpr std::int64_t kDelay_ns = 50'000;  // blocks begin within some microseconds
  for (const std::int64_t delay_ns : {std::int64_t{0}, kDelay_ns}) {
    const auto enqueue =
        kernel_.functions().front().launch({.grid = {blocks_, 1, 1}, .block = {1024, 1, 1}},
                                           {ranges_of(memory), packed(delay_ns)}, stream_);
    if (!enqueue) return Unexpected(enqueue.error());
    if (auto done = (*enqueue)(); !done) return done;
  }
  return {};
}

}  // namespace tuner::backend
