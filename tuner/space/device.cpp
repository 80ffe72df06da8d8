// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/device.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>

namespace tuner::space {
namespace {

constexpr std::array kFields = {
    AttributeField{"compute_capability", &DeviceAttributes::compute_capability},
    AttributeField{"sm_count", &DeviceAttributes::sm_count},
    AttributeField{"warp_size", &DeviceAttributes::warp_size},
    AttributeField{"max_threads_per_block", &DeviceAttributes::max_threads_per_block},
    AttributeField{"max_threads_per_sm", &DeviceAttributes::max_threads_per_sm},
    AttributeField{"max_blocks_per_sm", &DeviceAttributes::max_blocks_per_sm},
    AttributeField{"max_smem_per_block", &DeviceAttributes::max_smem_per_block},
    AttributeField{"max_smem_per_block_optin", &DeviceAttributes::max_smem_per_block_optin},
    AttributeField{"smem_per_sm", &DeviceAttributes::smem_per_sm},
    AttributeField{"registers_per_block", &DeviceAttributes::registers_per_block},
    AttributeField{"registers_per_sm", &DeviceAttributes::registers_per_sm},
    AttributeField{"l2_bytes", &DeviceAttributes::l2_bytes},
    AttributeField{"memory_bytes", &DeviceAttributes::memory_bytes},
};

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;
constexpr std::int64_t kGiB = 1024 * kMiB;

/// What cudaGetDeviceProperties reports, of which the compute capability decides all but the number
/// of multiprocessors, the L2 cache and the memory (CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability").
struct Card {
  std::string_view profile;
  std::string_view name;
  int compute_capability;
  int sm_count;
  std::int64_t l2_bytes;
  std::int64_t memory_bytes;
};

constexpr std::array kCards = {
    Card{"h200", "NVIDIA H200", 90, 132, 60 * kMiB, 150'754'820'096},
    Card{"h100", "NVIDIA H100 80GB HBM3", 90, 132, 50 * kMiB, 85'028'765'696},
    Card{"a100", "NVIDIA A100-SXM4-80GB", 80, 108, 40 * kMiB, 85'024'112'640},
    // Data sheets: without what the driver reserves of the memory.
    Card{"t4", "Tesla T4", 75, 40, 4 * kMiB, 15 * kGiB},
    Card{"rtx3090", "NVIDIA GeForce RTX 3090", 86, 82, 6 * kMiB, 24 * kGiB},
    Card{"rtx4090", "NVIDIA GeForce RTX 4090", 89, 128, 72 * kMiB, 24 * kGiB},
    Card{"l40s", "NVIDIA L40S", 89, 142, 96 * kMiB, 45 * kGiB},
    Card{"b200", "NVIDIA B200", 100, 148, 126 * kMiB, 179 * kGiB},
    Card{"b300", "NVIDIA B300", 103, 148, 126 * kMiB, 268 * kGiB},
    Card{"rtx5090", "NVIDIA GeForce RTX 5090", 120, 170, 96 * kMiB, 32 * kGiB}};

/// Per multiprocessor.
struct Limits {
  int first_compute_capability;
  int threads, blocks;
  std::int64_t smem_bytes;
};

/// From which compute capability on which limits hold.
constexpr std::array kLimits = {
    Limits{75, 1024, 16, 64 * kKiB},  Limits{80, 2048, 32, 164 * kKiB},
    Limits{86, 1536, 16, 100 * kKiB}, Limits{89, 1536, 24, 100 * kKiB},
    Limits{90, 2048, 32, 228 * kKiB}, Limits{120, 1536, 24, 100 * kKiB}};

DeviceAttributes attributes_of(const Card& card) {
  const auto above = std::ranges::find_if(kLimits, [&](const Limits& each) {
    return each.first_compute_capability > card.compute_capability;
  });
  const Limits& limits = *std::prev(above);
  // From 8.0 on the system takes 1 KiB of each block's.
  const std::int64_t reserved = card.compute_capability < 80 ? 0 : kKiB;
  return {.compute_capability = card.compute_capability,
          .sm_count = card.sm_count,
          .warp_size = 32,
          .max_threads_per_block = 1024,
          .max_threads_per_sm = limits.threads,
          .max_blocks_per_sm = limits.blocks,
          .max_smem_per_block = 48 * kKiB,
          .max_smem_per_block_optin = limits.smem_bytes - reserved,
          .smem_per_sm = limits.smem_bytes,
          .registers_per_block = 65536,
          .registers_per_sm = 65536,
          .l2_bytes = card.l2_bytes,
          .memory_bytes = card.memory_bytes};
}

/// The limits that the cpu backend sets itself: those of a GPU, so that the same configurations are
/// legal, on two cores.
DeviceInfo cpu() {
  DeviceAttributes attributes = attributes_of(kCards.front());
  attributes.compute_capability = 0;
  attributes.sm_count = 2;
  attributes.l2_bytes = kMiB;
  attributes.memory_bytes = 8 * kGiB;
  return {"cpu", "CPU", "", "x86_64", attributes};
}

constexpr std::string_view kCpu = "cpu";

}  // namespace

bool runs_on_host(std::string_view backend) {
  const auto* const found = std::ranges::find(kBackends, backend, &BackendTraits::name);
  return found != kBackends.end() && found->runs_on_host;
}

std::span<const AttributeField> attribute_fields() {
  return kFields;
}

std::optional<DeviceInfo> device_profile(std::string_view name) {
  if (name == kCpu) return cpu();
  const auto card = std::ranges::find(kCards, name, &Card::profile);
  if (card == kCards.end()) return std::nullopt;
  return DeviceInfo{"cuda", std::string(card->name), "",
                    "sm_" + std::to_string(card->compute_capability), attributes_of(*card)};
}

std::vector<std::string> device_profile_names() {
  std::vector<std::string> names;
  for (const Card& card : kCards) names.emplace_back(card.profile);
  names.emplace_back(kCpu);
  return names;
}

}  // namespace tuner::space
