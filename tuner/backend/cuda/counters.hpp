// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/cuda/counter_access.hpp"
#include "tuner/backend/cuda/runtime.hpp"
#include "tuner/core/expected.hpp"
#include "tuner/counters/counters.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::backend {

struct CuptiApi;

/// Why this build counts nothing; empty where it was built with a CUPTI that has the range
/// profiler.
[[nodiscard]] std::string why_built_without_counters();

/// CUPTI, opened. Throws Error(no_device) with a remedy when it is not installed, or this build
/// counts nothing.
[[nodiscard]] std::shared_ptr<const CuptiApi> open_cupti();

/// "CUPTI 13.0".
[[nodiscard]] std::string cupti_version(const CuptiApi& api);

/// Why counters cannot be read, with the remedy where there is one: `code` is a CUptiResult other
/// than success that `call` returned, `name` its name.
[[nodiscard]] std::string why_not_counted(int code, std::string_view name, std::string_view call);

/// How one kind of chip collects metrics, in how many passes, and what it counted then. Needs no
/// GPU. Errors are sentences.
class CounterPlan {
 public:
  /// `chip` as CUPTI calls it: "GH100". `availability` is CUPTI's image of the counters that a
  /// device offers; empty: all of the chip.
  [[nodiscard]] static Expected<CounterPlan, std::string> make(
      const std::shared_ptr<const CuptiApi>& api, const std::string& chip,
      std::span<const std::uint8_t> availability, std::vector<const char*> metrics);
  CounterPlan(CounterPlan&&) noexcept = default;
  CounterPlan& operator=(CounterPlan&&) noexcept = default;

  [[nodiscard]] std::size_t passes() const { return passes_; }
  [[nodiscard]] std::vector<const char*>& metrics() { return metrics_; }
  [[nodiscard]] const std::vector<std::uint8_t>& config_image() const { return config_image_; }
  /// The metrics of the one range in a counter data image, in their order.
  [[nodiscard]] Expected<std::vector<double>, std::string> values(
      std::span<const std::uint8_t> counter_data);

 private:
  struct Host;
  struct DeleteHost {
    void operator()(Host* host) const;
  };

  CounterPlan() = default;
  /// Lays the host's metrics out in passes.
  [[nodiscard]] Expected<void, std::string> schedule();

  std::unique_ptr<Host, DeleteHost> host_;
  std::vector<const char*> metrics_;
  std::vector<std::uint8_t> config_image_;
  std::size_t passes_ = 0;
};

/// The metrics of counter_fields().
[[nodiscard]] std::vector<const char*> counter_metrics();

/// Counts work on a stream of the current device with CUPTI's range profiler: one range, which is
/// repeated for each pass (user range, user replay). Clocks stay as they are.
class CounterReader {
 public:
  CounterReader(int device, cudaStream_t stream) : device_(device), stream_(stream) {}

  /// `prepare` makes the device and its caches as a run must find them, before each pass.
  /// What CUPTI refuses is the reading's problem; fails as `work` and `prepare` do.
  [[nodiscard]] Expected<counters::CounterReading, Failure> count(const Enqueue& work,
                                                                  const Enqueue& prepare);

 private:
  int device_;
  cudaStream_t stream_;
};

}  // namespace tuner::backend
