// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/application.hpp"

#include <mutex>

namespace tuner::backend {

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
