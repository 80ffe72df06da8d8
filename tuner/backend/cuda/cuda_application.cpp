// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/cuda_backend.hpp"
#include "tuner/backend/cuda/driver.hpp"

#include <array>
#include <deque>
#include <map>
#include <mutex>

namespace tuner::backend {
namespace {

/// What is timed and not yet done: an application that enqueues so far ahead is not timed further.
constexpr std::size_t kMostInFlight = 256;

class CudaApplication final : public Application {
 public:
  int device_count() const override { return count_; }
  std::optional<int> current_device() const override;
  std::string device_name(int device) const override;
  bool is_capturing(StreamHandle stream) const override;
  std::optional<StreamMark> begin(StreamHandle stream, std::uint64_t tag) override;
  void end(const StreamMark& mark, StreamHandle stream) override;
  std::vector<StreamTime> finished() override;

 private:
  static int count_of(const DriverApi& driver) {
    int count = 0;
    return driver.device_count(&count) == CUDA_SUCCESS ? count : 0;
  }
  /// Of the current context: used before, or new; none where the driver refuses.
  [[nodiscard]] std::optional<StreamMark> take();

  DriverApi driver_;
  int count_ = count_of(driver_);
  std::mutex mutex_;                                 // of what follows
  std::map<void*, std::vector<StreamMark>> unused_;  // by context
  std::deque<StreamMark> in_flight_;
};

std::optional<int> CudaApplication::current_device() const {
  CUdevice device = 0;
  if (driver_.current_device(&device) != CUDA_SUCCESS) return std::nullopt;
  return device;
}

std::string CudaApplication::device_name(int device) const {
  std::array<char, 256> name{};
  CUdevice number = 0;
  if (driver_.device_get(&number, device) != CUDA_SUCCESS) return "";
  return driver_.device_name(name.data(), name.size() - 1, number) == CUDA_SUCCESS ? name.data()
                                                                                   : "";
}

bool CudaApplication::is_capturing(StreamHandle stream) const {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult result = driver_.capture_info(stream, &status, nullptr, nullptr, nullptr, nullptr);
  return result != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

std::optional<StreamMark> CudaApplication::take() {
  CUcontext context = nullptr;
  if (driver_.current_context(&context) != CUDA_SUCCESS || context == nullptr) return std::nullopt;
  {
    const std::scoped_lock lock(mutex_);
    if (in_flight_.size() >= kMostInFlight) return std::nullopt;
    auto& unused = unused_[context];
    if (!unused.empty()) {
      const StreamMark mark = unused.back();
      unused.pop_back();
      return mark;
    }
  }
  CUevent begin = nullptr;
  CUevent end = nullptr;
  if (driver_.create_event(&begin, CU_EVENT_DEFAULT) != CUDA_SUCCESS) return std::nullopt;
  if (driver_.create_event(&end, CU_EVENT_DEFAULT) == CUDA_SUCCESS) {
    return StreamMark{.context = context, .begin = begin, .end = end};
  }
  driver_.destroy_event(begin);
  return std::nullopt;
}

std::optional<StreamMark> CudaApplication::begin(StreamHandle stream, std::uint64_t tag) {
  const CaptureBystander bystander(driver_);
  auto mark = take();
  if (!mark) return std::nullopt;
  mark->tag = tag;
  if (driver_.record_event(static_cast<CUevent>(mark->begin), stream) == CUDA_SUCCESS) return mark;
  const std::scoped_lock lock(mutex_);
  unused_[mark->context].push_back(*mark);
  return std::nullopt;
}

void CudaApplication::end(const StreamMark& mark, StreamHandle stream) {
  const CaptureBystander bystander(driver_);
  const bool recorded =
      driver_.record_event(static_cast<CUevent>(mark.end), stream) == CUDA_SUCCESS;
  const std::scoped_lock lock(mutex_);
  if (recorded) {
    in_flight_.push_back(mark);
  } else {
    unused_[mark.context].push_back(mark);
  }
}

std::vector<StreamTime> CudaApplication::finished() {
  const CaptureBystander bystander(driver_);
  const std::scoped_lock lock(mutex_);
  std::vector<StreamTime> times;
  while (!in_flight_.empty()) {
    const StreamMark mark = in_flight_.front();
    const CUresult state = driver_.query_event(static_cast<CUevent>(mark.end));
    if (state == CUDA_ERROR_NOT_READY) break;
    in_flight_.pop_front();
    float ms = 0;
    if (state == CUDA_SUCCESS &&
        driver_.elapsed_time(&ms, static_cast<CUevent>(mark.begin),
                             static_cast<CUevent>(mark.end)) == CUDA_SUCCESS) {
      times.push_back({.tag = mark.tag, .ns = double{ms} * 1e6});
    }
    unused_[mark.context].push_back(mark);
  }
  return times;
}

}  // namespace

std::unique_ptr<Application> open_cuda_application() {
  return std::make_unique<CudaApplication>();
}

}  // namespace tuner::backend
