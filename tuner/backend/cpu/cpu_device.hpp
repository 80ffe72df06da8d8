// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/application.hpp"
#include "tuner/space/device.hpp"

#include <mutex>
#include <string>
#include <vector>

namespace tuner::backend {

/// This machine's processor with the limits of a GPU of the Hopper generation, so that a space has
/// the same configurations here as there; cores, level-2 cache and memory are the machine's own.
/// The device's name is the processor's, or TUNER_CPU_NAME: machines of one processor may differ.
[[nodiscard]] space::DeviceInfo cpu_device();

/// The devices of the cpu backend: one, the processor, without a uuid; or the simulated devices of
/// TUNER_CPU_DEVICES, to test runs on several cards without a GPU. "3" is three of one model, "2+1"
/// two of one and one of another. Each uses all cores. Throws Error(usage) when the variable is
/// invalid.
[[nodiscard]] std::vector<space::DeviceInfo> cpu_devices();

/// A process whose device is the processor: what it enqueues is done when the call returns.
class CpuApplication final : public Application {
 public:
  [[nodiscard]] int device_count() const override { return 1; }
  [[nodiscard]] std::optional<int> current_device() const override { return 0; }
  [[nodiscard]] std::string device_name(int device) const override;
  [[nodiscard]] bool is_capturing(StreamHandle) const override { return false; }
  [[nodiscard]] std::optional<StreamMark> begin(StreamHandle stream, std::uint64_t tag) override;
  void end(const StreamMark& mark, StreamHandle stream) override;
  [[nodiscard]] std::vector<StreamTime> finished() override;

 private:
  std::mutex mutex_;
  std::vector<StreamTime> finished_;
};

}  // namespace tuner::backend
