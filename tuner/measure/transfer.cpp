// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/transfer.hpp"

#include "tuner/backend/moved_work.hpp"
#include "tuner/backend/owned.hpp"
#include "tuner/measure/statistics.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>

namespace tuner::measure {
namespace {

using Clock = std::chrono::steady_clock;

double nanoseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::nano>(duration).count();
}

/// Data as the host has them, and the device's memory for them during a transfer.
class HostData {
 public:
  HostData(backend::Backend& backend, const TransferData& data)
      : backend_(backend), data_(data), offset_(data.region.offset_bytes % kAlignment) {
    if (data.place == HostPlace::pageable) {
      pageable_.resize(data.size_bytes);
      bytes_ = pageable_;
    } else {
      const auto begin = Clock::now();
      const backend::PinnedBuffer pinned = backend.allocate_pinned(offset_ + data.size_bytes);
      pin_ns_ = nanoseconds(Clock::now() - begin);
      pinned_.emplace(backend, pinned.id, pinned.bytes.size());
      bytes_ = pinned.bytes.subspan(offset_);
    }
    backend.read(data.region, bytes_);
    if (data.role != family::BufferRole::input) original_.assign(bytes_.begin(), bytes_.end());
  }

  /// Restores what the previous transfer wrote.
  void restore() { std::ranges::copy(original_, bytes_.begin()); }

  void allocate() {
    if (!is_mapped()) device_.emplace(backend_, offset_ + data_.size_bytes);
  }
  /// An output holds what it must before the work: not timed.
  void prepare_output() {
    if (data_.role == family::BufferRole::output && !is_mapped())
      backend_.copy(place(), data_.region, data_.size_bytes);
  }
  void take_there() {
    if (data_.role != family::BufferRole::output && !is_mapped()) backend_.write(place(), bytes_);
  }
  void bring_back() {
    if (data_.role != family::BufferRole::input && !is_mapped()) backend_.read(place(), bytes_);
  }
  void free() { device_.reset(); }

  /// Puts what the host got where the device would have it.
  void deliver() const {
    if (data_.role != family::BufferRole::input) backend_.write(data_.region, bytes_);
  }
  /// Where work finds the data that it has in `region`.
  [[nodiscard]] backend::Region place_of(backend::Region region) const {
    return region == data_.region ? place() : region;
  }
  [[nodiscard]] double pin_ns() const { return pin_ns_; }

 private:
  // As far from an aligned address as on the device, of which kernels may make use.
  static constexpr std::size_t kAlignment = 256;

  [[nodiscard]] bool is_mapped() const { return data_.place == HostPlace::mapped; }
  [[nodiscard]] backend::Region place() const {
    return {is_mapped() ? pinned_->id() : device_->id(), offset_};
  }

  backend::Backend& backend_;
  TransferData data_;
  std::size_t offset_;  // of the data in their memory
  double pin_ns_ = 0;
  std::vector<std::byte> pageable_;
  std::vector<std::byte> original_;  // of what is written
  std::optional<backend::Buffer> pinned_;
  std::optional<backend::Buffer> device_;  // during a transfer
  std::span<std::byte> bytes_;
};

/// The work on the data where they are.
backend::Work on_host_data(const backend::Work& work, const std::vector<HostData>& all) {
  return backend::moved(work, [&](backend::Region region) {
    // A place is not looked up again: it may be equal to the region of other data.
    for (const HostData& data : all) {
      if (const backend::Region moved = data.place_of(region); !(moved == region)) return moved;
    }
    return region;
  });
}

double median_after_first(std::vector<double> samples) {
  samples.erase(samples.begin());
  return *quantile(samples, 0.5);
}

}  // namespace

Expected<TransferTimes, Failure> time_transfers(backend::Backend& backend,
                                                const backend::Work& work,
                                                std::span<const TransferData> data, int samples) {
  std::vector<HostData> all;
  all.reserve(data.size());
  for (const TransferData& one : data) all.emplace_back(backend, one);
  std::vector<double> allocate_ns, to_device_ns, work_ns, to_host_ns, free_ns;
  const auto time_each = [&](std::vector<double>& times_ns, void (HostData::*step)()) {
    const auto begin = Clock::now();
    for (HostData& one : all) std::invoke(step, one);
    times_ns.push_back(nanoseconds(Clock::now() - begin));
  };
  for (int i = 0; i <= samples; ++i) {
    for (HostData& one : all) one.restore();
    time_each(allocate_ns, &HostData::allocate);
    for (HostData& one : all) one.prepare_output();
    time_each(to_device_ns, &HostData::take_there);
    const auto timed_ns = backend.time_call(on_host_data(work, all));
    if (!timed_ns) return Unexpected(timed_ns.error());
    work_ns.push_back(*timed_ns);
    time_each(to_host_ns, &HostData::bring_back);
    time_each(free_ns, &HostData::free);
  }
  for (const HostData& one : all) one.deliver();
  double pin_ns = 0;
  for (const HostData& one : all) pin_ns += one.pin_ns();
  return TransferTimes{.allocate_ns = median_after_first(allocate_ns),
                       .to_device_ns = median_after_first(to_device_ns),
                       .work_ns = median_after_first(work_ns),
                       .to_host_ns = median_after_first(to_host_ns),
                       .free_ns = median_after_first(free_ns),
                       .pin_ns = pin_ns};
}

}  // namespace tuner::measure
