// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/cpu_device.hpp"

#include "tuner/backend/cpu/block_runner.hpp"
#include "tuner/backend/cpu/cpu_backend.hpp"
#include "tuner/core/environment.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <thread>
#include <unistd.h>
#include <utility>

namespace tuner::backend {
namespace {

std::string processor_name() {
  if (std::string given = environment_variable("TUNER_CPU_NAME"); !given.empty()) return given;
  std::ifstream information("/proc/cpuinfo");
  for (std::string line; std::getline(information, line);) {
    if (!line.starts_with("model name")) continue;
    const auto value = line.find_first_not_of(" \t", line.find(':') + 1);
    if (value != std::string::npos) return line.substr(value);
  }
  return "CPU";
}

std::string architecture() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "unknown";
#endif
}

std::int64_t system_value(int name) {
  return std::max<std::int64_t>(0, ::sysconf(name));
}

}  // namespace

space::DeviceInfo cpu_device() {
  const space::DeviceAttributes attributes{
      .compute_capability = 0,
      .sm_count = std::max(1u, std::thread::hardware_concurrency()),
      .warp_size = 32,
      .max_threads_per_block = kMaxThreadsPerBlock,
      .max_threads_per_sm = 2048,
      .max_blocks_per_sm = 32,
      .max_smem_per_block = kMaxStaticSharedBytes,
      .max_smem_per_block_optin = kMaxDynamicSharedBytes,
      .smem_per_sm = 233472,
      .registers_per_block = 65536,
      .registers_per_sm = 65536,
      .l2_bytes = system_value(_SC_LEVEL2_CACHE_SIZE),
      .memory_bytes = system_value(_SC_PHYS_PAGES) * system_value(_SC_PAGESIZE),
  };
  return {.backend = "cpu",
          .name = processor_name(),
          .uuid = "",
          .architecture = architecture(),
          .attributes = attributes};
}

std::vector<space::DeviceInfo> cpu_devices() {
  const std::string variable = environment_variable("TUNER_CPU_DEVICES");
  if (variable.empty()) return {cpu_device()};
  constexpr int kMostOfAModel = 64;
  std::vector<space::DeviceInfo> devices;
  std::istringstream words(variable);
  int model = 0;
  for (std::string word; std::getline(words, word, '+'); ++model) {
    int count = 0;
    const char* const end = word.data() + word.size();
    const auto [after, error] = std::from_chars(word.data(), end, count);
    if (error != std::errc{} || after != end || count < 1 || count > kMostOfAModel) {
      throw Error(
          ErrorCode::usage,
          fmt::format("TUNER_CPU_DEVICES={}: write numbers of devices of one model, 1 … {}, "
                      "such as 2 or 2+1",
                      variable, kMostOfAModel));
    }
    for (int i = 0; i < count; ++i) {
      space::DeviceInfo device = cpu_device();
      if (model > 0) device.name += fmt::format(" (model {})", model + 1);
      device.uuid = fmt::format("CPU-{}", devices.size());
      devices.push_back(std::move(device));
    }
  }
  return devices;
}

double timestamp_mhz() {
#if defined(__x86_64__)
  using Clock = std::chrono::steady_clock;
  constexpr auto kWindow = std::chrono::milliseconds(20);
  const auto begin = Clock::now();
  const std::uint64_t first = __builtin_ia32_rdtsc();
  while (Clock::now() - begin < kWindow) continue;
  const std::uint64_t last = __builtin_ia32_rdtsc();
  const std::chrono::duration<double, std::micro> elapsed = Clock::now() - begin;
  return static_cast<double>(last - first) / elapsed.count();
#else
  return 0;
#endif
}

int vector_bits() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") != 0) return 512;
  if (__builtin_cpu_supports("avx") != 0) return 256;
#endif
  return 128;
}

namespace {

double host_clock_ns() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

std::string CpuApplication::device_name(int) const {
  return cpu_device().name;
}

std::optional<StreamMark> CpuApplication::begin(StreamHandle, std::uint64_t tag) {
  return StreamMark{.tag = tag, .host_ns = host_clock_ns()};
}

void CpuApplication::end(const StreamMark& mark, StreamHandle) {
  const double ns = host_clock_ns() - mark.host_ns;
  const std::scoped_lock lock(mutex_);
  finished_.push_back({.tag = mark.tag, .ns = ns});
}

std::vector<StreamTime> CpuApplication::finished() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(finished_, {});
}

}  // namespace tuner::backend
