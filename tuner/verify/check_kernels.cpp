// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/check_kernels.hpp"

#include "embedded/check_kernels_cu.hpp"
#include "embedded/check_parts.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>

namespace tuner {
namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::int64_t kElementsPerThread = 4;
constexpr std::int64_t kMostBlocks = 1024;
constexpr std::size_t kElementValues = 5;  // what the kernel `pick` writes

[[noreturn]] void fail(std::string_view kernel, const Failure& failure) {
  throw Error(ErrorCode::failure,
              fmt::format("the device cannot run the checking kernel {}: {}: {}", kernel,
                          name(failure.outcome), failure.message));
}

std::string of_type(std::string_view kernel, ElementType type) {
  return fmt::format("{}<{}>", kernel, name(type));
}

std::int64_t largest_part(const CheckedMemory& memory) {
  long long words = 0;
  for (const CheckPart& part : memory.plan().parts) words = std::max(words, part.words);
  return words;
}

Scalar bits(std::uint64_t value) {
  return std::bit_cast<std::int64_t>(value);
}

Scalar part_count(const CheckedMemory& memory) {
  return static_cast<std::int32_t>(memory.plan().parts.size());
}

}  // namespace

CheckKernels::CheckKernels(Backend& backend)
    : backend_(backend), element_(backend, kElementValues * sizeof(double)) {}

KernelId CheckKernels::kernel(const std::string& entry) {
  const auto known = kernels_.find(entry);
  if (known != kernels_.end()) return known->second.id();
  const std::string_view text = embedded::check_kernels_cu();
  const std::string_view parts = embedded::check_parts();
  const CompileJob job{
      .source = {.name = "check_kernels.cu",
                 .text = std::string(text),
                 .headers = {{.name = "check_parts.hpp", .text = std::string(parts)}}},
      .entry = entry,
      .options = {},
      .key = content_hash({text, parts, entry})};
  const auto binary = backend_.compiler().compile(job);
  if (!binary) fail(entry, binary.error());
  const auto loaded = backend_.load(*binary);
  if (!loaded) fail(entry, loaded.error());
  return kernels_.emplace(entry, LoadedKernel(backend_, *loaded)).first->second.id();
}

void CheckKernels::launch(const std::string& entry, std::int64_t elements,
                          std::vector<LaunchArgument> arguments) {
  constexpr std::int64_t kElementsPerBlock = kThreads * kElementsPerThread;
  const std::int64_t blocks = std::clamp<std::int64_t>(
      (elements + kElementsPerBlock - 1) / kElementsPerBlock, 1, kMostBlocks);
  const Launch launch{.kernel = kernel(entry),
                      .geometry = {.grid = {static_cast<std::uint32_t>(blocks), 1, 1},
                                   .block = {kThreads, 1, 1},
                                   .dynamic_shared_bytes = 0},
                      .arguments = std::move(arguments)};
  if (const auto done = backend_.run(launch); !done) fail(entry, done.error());
}

void CheckKernels::fill_normal(Region data, ElementType type, std::int64_t count,
                               std::uint64_t seed) {
  launch(of_type("fill_normal", type), count, {data, Scalar(count), bits(seed)});
}

void CheckKernels::fill_whole(Region data, ElementType type, std::int64_t count, std::uint64_t seed,
                              int range) {
  launch(of_type("fill_whole", type), count, {data, Scalar(count), bits(seed), Scalar(range)});
}

void CheckKernels::poison_padding(Region data, ElementType type, std::int64_t count,
                                  std::uint64_t seed, const MatrixElements& used) {
  launch(of_type("poison_padding", type), count,
         {data, Scalar(count), bits(seed), Scalar(used.outer_count), Scalar(used.outer_step),
          Scalar(used.inner_count), Scalar(used.inner_step), Scalar(used.columns)});
}

void CheckKernels::absolute(Region result, Region data, ElementType type, std::int64_t count) {
  launch(of_type("absolute", type), count, {result, data, Scalar(count)});
}

void CheckKernels::lay_guards(const CheckedMemory& memory) {
  prepare(memory, 0, 1);
}

void CheckKernels::prepare(const CheckedMemory& memory, std::uint64_t poison) {
  prepare(memory, poison, 0);
}

void CheckKernels::prepare(const CheckedMemory& memory, std::uint64_t poison,
                           std::int32_t with_guards) {
  launch("prepare", largest_part(memory),
         {memory.candidate(), memory.reference(), memory.table(), part_count(memory), bits(poison),
          Scalar(with_guards)});
}

std::vector<CheckReport> CheckKernels::inspect(const CheckedMemory& memory, std::uint64_t poison,
                                               Repeats repeats) {
  launch("inspect", largest_part(memory),
         {memory.candidate(), memory.reference(), memory.table(), part_count(memory), bits(poison),
          Scalar(repeats == Repeats::compared ? 1 : 0), memory.gathered(), memory.reports(),
          memory.blocks_done()});
  std::vector<CheckReport> reports(memory.plan().parts.size());
  backend_.read(memory.reports(), std::as_writable_bytes(std::span(reports)));
  return reports;
}

CheckKernels::Element CheckKernels::pick(Region result, Region reference,
                                         std::optional<Region> magnitude, ElementType type,
                                         std::int64_t index, std::uint64_t poison) {
  const LaunchArgument no_magnitude = Scalar(std::int64_t{0});  // a null pointer
  launch(of_type("pick", type), 1,
         {result, reference, magnitude ? LaunchArgument(*magnitude) : no_magnitude, Scalar(index),
          bits(poison), element_.id()});
  std::array<double, kElementValues> values{};
  backend_.read(element_.id(), std::as_writable_bytes(std::span(values)));
  return {.result = values[0],
          .reference = values[1],
          .magnitude = values[2],
          .untouched = values[3] != 0,
          .left_out = values[4] != 0};
}

}  // namespace tuner
