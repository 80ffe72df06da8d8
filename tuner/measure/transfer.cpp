// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/transfer.hpp"

#include "tuner/backend/owned.hpp"
#include "tuner/measure/statistics.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace tuner::measure {
namespace {

constexpr std::array<std::pair<HostPlace, std::string_view>, 3> kNames = {
    {{HostPlace::pageable, "pageable"},
     {HostPlace::pinned, "pinned"},
     {HostPlace::mapped, "mapped"}}};

/// Data as the host has them.
class HostData {
 public:
  HostData(backend::Backend& backend, const TransferData& data) : backend_(backend), data_(data) {
    if (data.place == HostPlace::pageable) {
      pageable_.resize(data.size_bytes);
      bytes_ = pageable_;
    } else {
      // As far from an aligned address as on the device, of which kernels may make use.
      constexpr std::size_t kAlignment = 256;
      offset_ = data.region.offset_bytes % kAlignment;
      const backend::PinnedBuffer pinned = backend.allocate_pinned(offset_ + data.size_bytes);
      pinned_.emplace_back(backend, pinned.id, pinned.bytes.size());
      bytes_ = pinned.bytes.subspan(offset_);
    }
    if (data.role != family::BufferRole::output) backend.read(data.region, bytes_);
    if (data.role == family::BufferRole::inout) original_.assign(bytes_.begin(), bytes_.end());
  }

  /// Restores what the previous transfer updated.
  void restore() { std::ranges::copy(original_, bytes_.begin()); }

  void take_there() {
    if (data_.role != family::BufferRole::output && !is_mapped())
      backend_.write(data_.region, bytes_);
  }
  void bring_back() {
    if (data_.role != family::BufferRole::input && !is_mapped())
      backend_.read(data_.region, bytes_);
  }
  /// Puts what the host got where the device would have it.
  void deliver() const {
    if (data_.role != family::BufferRole::input) backend_.write(data_.region, bytes_);
  }
  /// Where work finds the data that it has in `region`.
  [[nodiscard]] backend::Region place_of(backend::Region region) const {
    return is_mapped() && region == data_.region ? backend::Region(pinned_.front().id(), offset_)
                                                 : region;
  }

 private:
  [[nodiscard]] bool is_mapped() const { return data_.place == HostPlace::mapped; }

  backend::Backend& backend_;
  TransferData data_;
  std::vector<std::byte> pageable_;
  std::vector<std::byte> original_;      // of what is updated
  std::vector<backend::Buffer> pinned_;  // at most one
  std::size_t offset_ = 0;               // of the data in it
  std::span<std::byte> bytes_;
};

template <class Place>
void move_regions(backend::Launch& launch, const Place& place) {
  for (backend::StepLaunch& step : launch.steps) {
    for (backend::LaunchArgument& argument : step.arguments) {
      if (auto* region = std::get_if<backend::Region>(&argument)) *region = place(*region);
      if (auto* tensor = std::get_if<backend::Tensor>(&argument))
        tensor->region = place(tensor->region);
    }
  }
}

template <class Call, class Place>
void move_regions(Call& call, const Place& place) {
  for (backend::Region* region : {&call.a, &call.b, &call.c}) *region = place(*region);
}

/// The work on the data where they are.
backend::Work on_host_data(backend::Work work, const std::vector<HostData>& all) {
  const auto place = [&](backend::Region region) {
    for (const HostData& data : all) region = data.place_of(region);
    return region;
  };
  std::visit([&](auto& one) { move_regions(one, place); }, work);
  return work;
}

double median(const std::vector<double>& samples) {
  return *quantile(samples, 0.5);
}

}  // namespace

std::string_view name(HostPlace place) {
  return std::ranges::find(kNames, place, &std::pair<HostPlace, std::string_view>::first)->second;
}

std::optional<HostPlace> host_place(std::string_view name) {
  const auto found =
      std::ranges::find(kNames, name, &std::pair<HostPlace, std::string_view>::second);
  return found == kNames.end() ? std::nullopt : std::optional(found->first);
}

Expected<TransferTimes, Failure> time_transfers(backend::Backend& backend,
                                                const backend::Work& work,
                                                std::span<const TransferData> data, int samples) {
  using Clock = std::chrono::steady_clock;
  const auto nanoseconds = [](Clock::duration duration) {
    return std::chrono::duration<double, std::nano>(duration).count();
  };
  std::vector<HostData> all;
  all.reserve(data.size());
  for (const TransferData& one : data) all.emplace_back(backend, one);
  const backend::Work moved = on_host_data(work, all);
  std::vector<double> to_device_ns, work_ns, to_host_ns;
  for (int i = 0; i <= samples; ++i) {
    for (HostData& one : all) one.restore();
    const auto begin = Clock::now();
    for (HostData& one : all) one.take_there();
    const auto there = Clock::now();
    const auto timed_ns = backend.time_call(moved);
    if (!timed_ns) return Unexpected(timed_ns.error());
    const auto done = Clock::now();
    for (HostData& one : all) one.bring_back();
    const auto back = Clock::now();
    if (i == 0) continue;
    to_device_ns.push_back(nanoseconds(there - begin));
    work_ns.push_back(*timed_ns);
    to_host_ns.push_back(nanoseconds(back - done));
  }
  for (const HostData& one : all) one.deliver();
  return TransferTimes{.to_device_ns = median(to_device_ns),
                       .work_ns = median(work_ns),
                       .to_host_ns = median(to_host_ns)};
}

}  // namespace tuner::measure
