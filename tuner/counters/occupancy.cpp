// SPDX-License-Identifier: Apache-2.0
#include "tuner/counters/occupancy.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tuner::counters {
namespace {

std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// A quarter of the registers belongs to each of four schedulers, which gives them to its warps in
/// units of 256. Whether one block fits is checked as if its warps filled all schedulers evenly.
std::int64_t blocks_by_registers(const Footprint& launch, std::int64_t warps,
                                 const space::DeviceAttributes& device) {
  constexpr std::int64_t kSchedulers = 4, kUnit = 256;
  const std::int64_t of_warp = round_up(launch.registers * device.warp_size, kUnit);
  if (of_warp == 0) return device.max_blocks_per_sm;
  if (of_warp * round_up(warps, kSchedulers) > device.registers_per_block) return 0;
  return device.registers_per_sm / kSchedulers / of_warp * kSchedulers / warps;
}

/// From compute capability 8.0 on the system takes 1 KiB of each block.
std::int64_t blocks_by_shared_memory(const Footprint& launch,
                                     const space::DeviceAttributes& device) {
  const bool is_new = device.compute_capability >= 80;
  const std::int64_t of_block =
      round_up(launch.shared_bytes + (is_new ? 1024 : 0), is_new ? 128 : 256);
  return of_block == 0 ? device.max_blocks_per_sm : device.smem_per_sm / of_block;
}

}  // namespace

std::optional<Occupancy> occupancy(const Footprint& launch, const space::DeviceAttributes& device) {
  if (device.compute_capability == 0 || device.warp_size <= 0 || launch.threads <= 0) {
    return std::nullopt;
  }
  const std::int64_t warps = round_up(launch.threads, device.warp_size) / device.warp_size;
  const std::int64_t most_warps = device.max_threads_per_sm / device.warp_size;
  const std::array<std::pair<std::int64_t, std::string_view>, 4> limits = {
      {{most_warps / warps, "threads"},
       {blocks_by_registers(launch, warps, device), "registers"},
       {blocks_by_shared_memory(launch, device), "shared memory"},
       {device.max_blocks_per_sm, "blocks"}}};
  const auto& [blocks, limit] =
      *std::ranges::min_element(limits, {}, [](const auto& each) { return each.first; });
  if (blocks == 0) return std::nullopt;
  return Occupancy{.blocks = blocks,
                   .warps_percent = 100.0 * static_cast<double>(blocks * warps) /
                                    static_cast<double>(most_warps),
                   .limit = limit};
}

}  // namespace tuner::counters
