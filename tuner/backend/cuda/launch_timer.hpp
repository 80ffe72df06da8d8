// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/cuda/driver.hpp"
#include "tuner/backend/executor.hpp"

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace tuner::backend {

/// Times work of several kinds that runs one after the other, by the driver API alone. While one
/// piece runs the next is enqueued, so that no launch latency lies between its events. Where the
/// host was too slow for that, writes to a filler, which keep the device busy, precede the piece,
/// and it runs again. There is no gate that the host opens: another thread of the application that
/// waits for the device could keep the host from opening it. The filler is a small part of the
/// cache: written lines are written back during the work that follows.
class LaunchTimer {
 public:
  /// In the current context. The driver must outlive it. `filler`: kFillerBytes of memory.
  [[nodiscard]] static Expected<LaunchTimer, Failure> make(const DriverApi& driver,
                                                           std::shared_ptr<void> filler);

  /// As Executor::time.
  [[nodiscard]] Expected<std::vector<double>, Failure> time(std::span<const StreamWork> works);

  static constexpr std::size_t kFillerBytes = std::size_t{16} << 20;

 private:
  using Stream = std::unique_ptr<std::remove_pointer_t<CUstream>, PFN_cuStreamDestroy_v4000>;
  using Event = std::unique_ptr<std::remove_pointer_t<CUevent>, PFN_cuEventDestroy_v4000>;

  LaunchTimer(const DriverApi& driver, Stream stream, std::shared_ptr<void> filler)
      : driver_(&driver), stream_(std::move(stream)), filler_(std::move(filler)) {}

  /// Around a piece of work.
  struct Span {
    Event begin, end;
    bool is_late = false;  ///< the device was ready for it before all of it was enqueued
    int fills = 0;         ///< before it
  };
  [[nodiscard]] Expected<void, Failure> make_spans(std::size_t count);
  [[nodiscard]] Expected<Event, Failure> make_event() const;
  [[nodiscard]] Expected<void, Failure> fill() const;
  [[nodiscard]] Expected<void, Failure> enqueue(const StreamWork& work, Span& span) const;
  /// Waits for what was enqueued; fails as that did, or as the device does.
  [[nodiscard]] Expected<void, Failure> finish(const Expected<void, Failure>& enqueued) const;
  [[nodiscard]] Expected<double, Failure> elapsed_ns(const Span& span) const;
  /// Once more, until it is not late, as far as patience goes.
  [[nodiscard]] Expected<double, Failure> time_again(const StreamWork& work, Span& span);

  const DriverApi* driver_;
  Stream stream_;
  std::shared_ptr<void> filler_;
  std::vector<Span> spans_;
  int fills_ = 0;  // before each piece of work
};

}  // namespace tuner::backend
