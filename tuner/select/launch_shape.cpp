// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/launch_shape.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tuner::select {
namespace {

/// No dimension is taken to be tiled by more than this.
constexpr std::int64_t kWidestTile = 1024;
/// For this model a rough number will do; most elements have this many bytes.
constexpr double kBytesOfAnElement = 4;
constexpr std::int64_t kRegistersOfAWarpStep = 256;

/// An expression without a value ends the look at a launch.
struct NoValue {};

std::int64_t value(const space::Expression& expression, const space::ExpressionValues& values) {
  const auto result = expression.evaluate(values);
  if (!result) throw NoValue();
  return *result;
}

double product(const std::vector<space::Expression>& expressions,
               const space::ExpressionValues& values) {
  double result = 1;
  for (const space::Expression& expression : expressions) {
    result *= static_cast<double>(std::max<std::int64_t>(1, value(expression, values)));
  }
  return result;
}

std::vector<std::int64_t> extents(const std::vector<space::Expression>& expressions,
                                  const space::ExpressionValues& values) {
  std::vector<std::int64_t> result;
  for (const space::Expression& expression : expressions)
    result.push_back(value(expression, values));
  return result;
}

/// The grid as a function of the problem's dimensions.
class Grid {
 public:
  Grid(const RankedKernel& kernel, std::size_t step, space::ExpressionValues values)
      : kernel_(kernel), step_(step), slots_(std::move(values)) {
    extents_ = extents(grid(), slots_);
  }

  [[nodiscard]] double blocks() const { return product(grid(), slots_); }

  /// The largest value of a dimension that leaves the grid as it is; as it is where no tile of at
  /// most kWidestTile explains the grid.
  [[nodiscard]] std::int64_t padded(std::size_t slot) {
    const std::int64_t own = slots_[slot];
    if (!same(slot, own + 1)) return own;
    if (same(slot, own + kWidestTile)) return own;
    std::int64_t low = own + 1;
    std::int64_t high = own + kWidestTile;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (same(slot, middle) ? low : high) = middle;
    }
    return low;
  }

  /// Whether a problem many times as large would have the same grid.
  [[nodiscard]] bool is_limited() const {
    constexpr std::int64_t kManyTimes = 64;
    space::ExpressionValues there = slots_;
    for (const std::size_t slot : kernel_.flops().slots()) there[slot] *= kManyTimes;
    derive(there);
    return extents(grid(), there) == extents_;
  }

  /// The values on a device with so many multiprocessors that it limits no grid.
  [[nodiscard]] space::ExpressionValues unlimited() const {
    constexpr std::int64_t kUnlimited = 1 << 20;
    const auto fields = space::attribute_fields();
    const auto count = std::ranges::find(fields, "sm_count", &space::AttributeField::name);
    space::ExpressionValues there = slots_;
    there[static_cast<std::size_t>(count - fields.begin())] = kUnlimited;
    derive(there);
    return there;
  }

 private:
  [[nodiscard]] const std::vector<space::Expression>& grid() const {
    return kernel_.kernel().steps[step_].grid;
  }
  [[nodiscard]] bool same(std::size_t slot, std::int64_t number) {
    space::ExpressionValues there = slots_;
    there[slot] = number;
    derive(there);
    return extents(grid(), there) == extents_;
  }
  void derive(space::ExpressionValues& there) const {
    for (const std::size_t derived : kernel_.grid_derived()[step_]) {
      const space::Derived& it = kernel_.definition().derived[derived];
      there[it.slot] = value(it.expression, there);
    }
  }

  const RankedKernel& kernel_;
  std::size_t step_;
  space::ExpressionValues slots_;
  std::vector<std::int64_t> extents_;  // each for itself: their product may be another's too
};

double padded_flops(const RankedKernel& kernel, Grid& grid, const space::ExpressionValues& values) {
  space::ExpressionValues there = values;
  for (const std::size_t slot : kernel.flops().slots()) there[slot] = grid.padded(slot);
  return static_cast<double>(value(kernel.flops(), there));
}

double resident_blocks(const space::DeviceAttributes& device, std::int64_t threads,
                       std::int64_t shared, int registers) {
  const std::int64_t warps = (threads + 31) / 32;
  std::int64_t most = std::max<std::int64_t>(1, device.max_blocks_per_sm);
  const auto limit = [&](std::int64_t there, std::int64_t each) {
    if (there > 0 && each > 0) most = std::min(most, there / each);
  };
  limit(device.max_threads_per_sm, threads);
  limit(device.smem_per_sm, shared);
  const std::int64_t of_a_warp = (std::int64_t{registers} * 32 + kRegistersOfAWarpStep - 1) /
                                 kRegistersOfAWarpStep * kRegistersOfAWarpStep;
  limit(device.registers_per_sm, of_a_warp * warps);
  return static_cast<double>(std::max<std::int64_t>(1, most));
}

/// The step that represents all: the one with the most threads.
std::size_t main_step(const RankedKernel& kernel, const space::ExpressionValues& values) {
  const auto& steps = kernel.kernel().steps;
  const auto most = std::ranges::max_element(steps, {}, [&](const family::KernelStep& step) {
    return product(step.grid, values) * product(step.block, values);
  });
  return static_cast<std::size_t>(most - steps.begin());
}

LaunchShape shape(const RankedKernel& kernel, const space::DeviceAttributes& device,
                  const space::ExpressionValues& values, int registers) {
  constexpr std::int64_t kSharedOfTheSystem = 1024;  // that CUDA reserves in each block
  const std::size_t main = main_step(kernel, values);
  const family::KernelStep& step = kernel.kernel().steps[main];
  Grid grid(kernel, main, values);
  LaunchShape result;
  result.blocks = grid.blocks();
  const double threads = product(step.block, values);
  result.warps = std::ceil(threads / 32);
  result.resident =
      resident_blocks(device, std::llround(threads),
                      value(step.dynamic_shared_bytes, values) + kSharedOfTheSystem, registers);
  result.flops = static_cast<double>(value(kernel.flops(), values));
  result.block_flops = padded_flops(kernel, grid, values) / result.blocks;
  double scratch = 0;
  for (const family::ScratchBuffer& buffer : kernel.kernel().scratch) {
    scratch += kBytesOfAnElement * static_cast<double>(value(buffer.count, values));
  }
  result.scratch = scratch > 0;
  result.bytes = static_cast<double>(value(kernel.bytes(), values)) + 2 * scratch;
  std::vector<std::int64_t> variant;
  for (const std::size_t slot : kernel.entry_slots()) variant.push_back(values[slot]);
  result.variant = fmt::format("{}", fmt::join(variant, ","));
  return result;
}

double imbalance(const RankedKernel& kernel, const space::DeviceAttributes& device,
                 space::ExpressionValues values) {
  const std::size_t main = main_step(kernel, values);
  if (const Grid own(kernel, main, values); own.is_limited()) values = own.unlimited();
  Grid grid(kernel, main, values);
  const auto flops = static_cast<double>(value(kernel.flops(), values));
  if (flops <= 0) return 0;
  const auto multiprocessors = static_cast<double>(std::max<std::int64_t>(1, device.sm_count));
  const double blocks = grid.blocks();
  const double of_busiest = std::ceil(blocks / multiprocessors) / blocks;
  return std::max(0.0,
                  1 - flops / multiprocessors / (of_busiest * padded_flops(kernel, grid, values)));
}

}  // namespace

std::optional<LaunchShape> launch_shape(const RankedKernel& kernel,
                                        const space::DeviceAttributes& device,
                                        const space::BoundDefinition& at_size,
                                        const space::Config& config, int registers) {
  if (kernel.kernel().steps.empty()) return std::nullopt;
  try {
    return shape(kernel, device, at_size.expression_values(config), registers);
  } catch (const NoValue&) {
    return std::nullopt;
  } catch (const Error&) {  // a derived value has none
    return std::nullopt;
  }
}

double launch_imbalance(const RankedKernel& kernel, const space::DeviceAttributes& device,
                        const space::BoundDefinition& at_size, const space::Config& config) {
  if (kernel.kernel().steps.empty() || kernel.flops().slots().empty()) return 0;
  try {
    return imbalance(kernel, device, at_size.expression_values(config));
  } catch (const NoValue&) {
    return 0;
  } catch (const Error&) {  // a derived value has none
    return 0;
  }
}

}  // namespace tuner::select
