// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/session/size_search.hpp"
#include "tuner/worker/compile_pool.hpp"
#include "tuner/worker/device_worker.hpp"

#include <functional>
#include <optional>
#include <set>

namespace tuner::session {

/// Times the library beside a configuration once at each size of a run, in a few rounds, so that
/// the progress line can compare the best with it. Results compare by final rounds alone.
class LibraryGauge {
 public:
  /// All must outlive it.
  LibraryGauge(const family::Family& family, const family::Kernel& kernel,
               worker::CompilePool& pool, worker::DeviceWorker& device,
               const std::function<bool()>& interrupted)
      : family_(family), kernel_(kernel), pool_(pool), device_(device), interrupted_(interrupted) {}

  /// Nanoseconds of the library at a size as a screening would have them, the first time that a
  /// search has a configuration that works; none before and after that, where the family has no
  /// library, and where one of the two fails.
  [[nodiscard]] std::optional<double> time(const SizeSearch& search);

 private:
  const family::Family& family_;
  const family::Kernel& kernel_;
  worker::CompilePool& pool_;
  worker::DeviceWorker& device_;
  const std::function<bool()>& interrupted_;
  std::set<const SizeSearch*> timed_;
};

}  // namespace tuner::session
