// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/record.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::space {

/// The limits and counts of a device that a space file may ask for as `dev.<name>`.
struct DeviceAttributes {
  std::int64_t compute_capability = 0;  ///< 90 for 9.0; 0 for a CPU
  std::int64_t sm_count = 0;            ///< multiprocessors; cores on a CPU
  std::int64_t warp_size = 0;           ///< threads
  std::int64_t max_threads_per_block = 0;
  std::int64_t max_threads_per_sm = 0;
  std::int64_t max_blocks_per_sm = 0;
  std::int64_t max_smem_per_block = 0;        ///< bytes, without opting in
  std::int64_t max_smem_per_block_optin = 0;  ///< bytes
  std::int64_t smem_per_sm = 0;               ///< bytes
  std::int64_t registers_per_block = 0;       ///< 32-bit registers
  std::int64_t registers_per_sm = 0;          ///< 32-bit registers
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;

  bool operator==(const DeviceAttributes&) const = default;
};

/// One attribute: its name in a space file and where it is kept.
struct AttributeField {
  std::string_view name;
  std::int64_t DeviceAttributes::*member;
};

/// All attributes, in a fixed order.
[[nodiscard]] std::span<const AttributeField> attribute_fields();

/// What holds for all devices of a backend.
struct BackendTraits {
  std::string_view name;     ///< in options and space files
  bool compiles_by_program;  ///< its compiler is a program, started anew for each compilation
  /// Devices are the processors of a machine, which have cores and run other programs, too; kernels
  /// are code of the process that drives the device. Else devices are GPUs.
  bool runs_on_host;
};

/// In the order in which `auto` prefers them. The functions of each: tuner/backend/registry.cpp.
inline constexpr std::array kBackends = {
    BackendTraits{.name = "cuda", .compiles_by_program = false, .runs_on_host = false},
    BackendTraits{.name = "cpu", .compiles_by_program = true, .runs_on_host = true}};

/// BackendTraits::runs_on_host; false for a name that no backend has.
[[nodiscard]] bool runs_on_host(std::string_view backend);

/// The identity of a device. Results are stored under `backend` and `name` and used for no other.
struct DeviceInfo {
  std::string backend;       ///< a name of kBackends
  std::string name;          ///< "NVIDIA H200", or the CPU's model name
  std::string uuid;          ///< of this one card; empty on a CPU
  std::string architecture;  ///< "sm_90", "x86_64"
  DeviceAttributes attributes;
};

/// The versions that a compiled kernel and its time depend on.
struct EnvironmentInfo {
  std::string driver;    ///< "580.159.04", empty on a CPU
  std::string compiler;  ///< "NVRTC 13.0", "g++ 12.2.0"
  std::string library;   ///< "cuBLAS 13.0.2", "OpenBLAS 0.3.21"
  std::string tool;      ///< version of this program

  bool operator==(const EnvironmentInfo&) const = default;

  static constexpr auto fields() {
    return std::tuple(
        Field("driver", &EnvironmentInfo::driver), Field("compiler", &EnvironmentInfo::compiler),
        Field("library", &EnvironmentInfo::library), Field("tool", &EnvironmentInfo::tool));
  }
};

/// A known device that need not be present, to count and inspect spaces on any machine:
/// "h200", "h100", "a100" or "cpu". None when the name is not one of `device_profile_names()`.
[[nodiscard]] std::optional<DeviceInfo> device_profile(std::string_view name);
[[nodiscard]] std::vector<std::string> device_profile_names();

}  // namespace tuner::space
