// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/check_kernels.hpp"

#include "embedded/check_kernels_cu.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace tuner {
namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::int64_t kMostBlocks = 1024;

[[noreturn]] void fail(std::string_view kernel, const Failure& failure) {
  throw Error(ErrorCode::failure,
              fmt::format("the device cannot run the checking kernel {}: {}: {}", kernel,
                          name(failure.outcome), failure.message));
}

}  // namespace

CheckKernels::CheckKernels(Backend& backend)
    : backend_(backend), report_(backend, 3 * sizeof(std::uint64_t)) {}

KernelId CheckKernels::kernel(const std::string& entry) {
  const auto known = kernels_.find(entry);
  if (known != kernels_.end()) return known->second.id();
  const std::string_view text = embedded::check_kernels_cu();
  const CompileJob job{
      .source = {.name = "check_kernels.cu", .text = std::string(text), .headers = {}},
      .entry = entry,
      .options = {},
      .key = content_hash({text, entry})};
  const auto binary = backend_.compiler().compile(job);
  if (!binary) fail(entry, binary.error());
  const auto loaded = backend_.load(*binary);
  if (!loaded) fail(entry, loaded.error());
  return kernels_.emplace(entry, LoadedKernel(backend_, *loaded)).first->second.id();
}

void CheckKernels::launch(std::string_view kernel_name, ElementType type, std::int64_t count,
                          std::vector<LaunchArgument> arguments) {
  const std::string entry = fmt::format("{}<{}>", kernel_name, name(type));
  const std::int64_t blocks =
      std::clamp<std::int64_t>((count + kThreads - 1) / kThreads, 1, kMostBlocks);
  const Launch launch{.kernel = kernel(entry),
                      .geometry = {.grid = {static_cast<std::uint32_t>(blocks), 1, 1},
                                   .block = {kThreads, 1, 1},
                                   .dynamic_shared_bytes = 0},
                      .arguments = std::move(arguments)};
  if (const auto done = backend_.run(launch); !done) fail(entry, done.error());
}

void CheckKernels::fill_normal(BufferId buffer, ElementType type, std::int64_t count,
                               std::uint64_t seed) {
  launch("fill_normal", type, count,
         {buffer, Scalar(count), Scalar(std::bit_cast<std::int64_t>(seed))});
}

void CheckKernels::fill_whole(BufferId buffer, ElementType type, std::int64_t count,
                              std::uint64_t seed, int range) {
  launch("fill_whole", type, count,
         {buffer, Scalar(count), Scalar(std::bit_cast<std::int64_t>(seed)), Scalar(range)});
}

void CheckKernels::absolute(BufferId result, BufferId data, ElementType type, std::int64_t count) {
  launch("absolute", type, count, {result, data, Scalar(count)});
}

Comparison CheckKernels::compare(BufferId result, BufferId reference, LaunchArgument magnitude,
                                 ElementType type, std::int64_t count, double factor) {
  std::array<std::uint64_t, 3> report{0, ~std::uint64_t{0}, 0};
  backend_.write(report_.id(), std::as_bytes(std::span(report)));
  launch("compare", type, count,
         {result, reference, magnitude, Scalar(count), Scalar(factor), report_.id()});
  backend_.read(report_.id(), std::as_writable_bytes(std::span(report)));
  return {.wrong = report[0],
          .first_wrong = report[1],
          .worst_share =
              static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(report[2])))};
}

Comparison CheckKernels::compare_bounded(BufferId result, BufferId reference, BufferId magnitude,
                                         ElementType type, std::int64_t count, double factor) {
  return compare(result, reference, magnitude, type, count, factor);
}

Comparison CheckKernels::compare_exact(BufferId result, BufferId reference, ElementType type,
                                       std::int64_t count) {
  const LaunchArgument no_magnitude = Scalar(std::int64_t{0});  // a null pointer
  return compare(result, reference, no_magnitude, type, count, 0.0);
}

CheckKernels::Pair CheckKernels::pick(BufferId result, BufferId reference, ElementType type,
                                      std::int64_t index) {
  launch("pick", type, 1, {result, reference, Scalar(index), report_.id()});
  std::array<double, 2> values{};
  backend_.read(report_.id(), std::as_writable_bytes(std::span(values)));
  return {values[0], values[1]};
}

}  // namespace tuner
