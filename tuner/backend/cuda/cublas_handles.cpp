// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/cublas_handles.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace tuner {
namespace {

constexpr std::ptrdiff_t kSpares = 2;  // in each context

}  // namespace

CublasHandles::~CublasHandles() {
  for (const auto& handle : handles_) api_.destroy(handle->handle);
}

CUcontext CublasHandles::context() const {
  CUcontext current = nullptr;
  driver_.current_context(&current);
  return current;
}

Expected<CublasHandles::Handle*, Failure> CublasHandles::make() {
  const CaptureBystander bystander(driver_);
  const auto made = make_cublas_handle(api_);
  if (!made) return Unexpected(made.error());
  handles_.push_back(std::make_unique<Handle>(Handle{context(), *made}));
  return handles_.back().get();
}

Expected<void, Failure> CublasHandles::prepare() {
  const std::scoped_lock lock(mutex_);
  const auto here = [current = context()](const Handle* spare) {
    return spare->context == current;
  };
  while (std::ranges::count_if(spare_, here) < kSpares) {
    const auto made = make();
    if (!made) return Unexpected(made.error());
    spare_.push_back(*made);
  }
  return {};
}

CublasHandles::Handle* CublasHandles::take_spare() {
  const auto found = std::ranges::find(spare_, context(), &Handle::context);
  if (found == spare_.end()) return nullptr;
  Handle* const taken = *found;
  spare_.erase(found);
  return taken;
}

Expected<cublasHandle_t, Failure> CublasHandles::on(const StreamState& state, CUstream stream) {
  const std::array<std::int64_t, 2> key = {
      static_cast<std::int64_t>(state.id),
      state.capture ? static_cast<std::int64_t>(*state.capture) : -1};
  if (const Handle* const known = by_stream_.find(key)) return known->handle;
  const std::scoped_lock lock(mutex_);
  if (const Handle* const known = by_stream_.find(key)) return known->handle;
  Handle* handle = state.capture ? take_spare() : nullptr;
  if (handle == nullptr && state.capture) {
    return Unexpected(
        Failure{Outcome::launch_error,
                "no cuBLAS handle is left for another capture: prepare() makes some"});
  }
  if (handle == nullptr) {
    const auto made = make();
    if (!made) return Unexpected(made.error());
    handle = *made;
  }
  if (auto set = attempt(api_, api_.set_stream(handle->handle, stream)); !set) {
    return Unexpected(set.error());
  }
  by_stream_.put(key, handle);
  return handle->handle;
}

}  // namespace tuner
