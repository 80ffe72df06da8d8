// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/device.hpp"

#include <array>

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

constexpr std::int64_t kMiB = std::int64_t{1024} * 1024;
constexpr std::int64_t kGiB = 1024 * kMiB;

/// What cudaGetDeviceProperties reports for compute capability 9.0, without what differs between
/// its cards (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
DeviceAttributes hopper() {
  return {.compute_capability = 90,
          .sm_count = 132,
          .warp_size = 32,
          .max_threads_per_block = 1024,
          .max_threads_per_sm = 2048,
          .max_blocks_per_sm = 32,
          .max_smem_per_block = 49152,
          .max_smem_per_block_optin = 232448,
          .smem_per_sm = 233472,
          .registers_per_block = 65536,
          .registers_per_sm = 65536};
}

DeviceInfo h200() {
  DeviceAttributes attributes = hopper();
  attributes.l2_bytes = 60 * kMiB;
  attributes.memory_bytes = 150'754'820'096;
  return {"cuda", "NVIDIA H200", "", "sm_90", attributes};
}

DeviceInfo h100() {
  DeviceAttributes attributes = hopper();
  attributes.l2_bytes = 50 * kMiB;
  attributes.memory_bytes = 85'028'765'696;
  return {"cuda", "NVIDIA H100 80GB HBM3", "", "sm_90", attributes};
}

DeviceInfo a100() {
  DeviceAttributes attributes = hopper();
  attributes.compute_capability = 80;
  attributes.sm_count = 108;
  attributes.max_smem_per_block_optin = 166912;
  attributes.smem_per_sm = 167936;
  attributes.l2_bytes = 40 * kMiB;
  attributes.memory_bytes = 85'024'112'640;
  return {"cuda", "NVIDIA A100-SXM4-80GB", "", "sm_80", attributes};
}

/// The limits that the cpu backend sets itself: those of a GPU, so that the same configurations are
/// legal, on two cores.
DeviceInfo cpu() {
  DeviceAttributes attributes = hopper();
  attributes.compute_capability = 0;
  attributes.sm_count = 2;
  attributes.l2_bytes = kMiB;
  attributes.memory_bytes = 8 * kGiB;
  return {"cpu", "CPU", "", "x86_64", attributes};
}

struct Profile {
  std::string_view name;
  DeviceInfo (*make)();
};
constexpr std::array kProfiles = {Profile{"h200", h200}, Profile{"h100", h100},
                                  Profile{"a100", a100}, Profile{"cpu", cpu}};

}  // namespace

std::span<const AttributeField> attribute_fields() {
  return kFields;
}

std::optional<DeviceInfo> device_profile(std::string_view name) {
  for (const Profile& profile : kProfiles) {
    if (profile.name == name) return profile.make();
  }
  return std::nullopt;
}

std::vector<std::string> device_profile_names() {
  std::vector<std::string> names;
  for (const Profile& profile : kProfiles) names.emplace_back(profile.name);
  return names;
}

}  // namespace tuner::space
