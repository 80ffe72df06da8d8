// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/cublas_handles.hpp"

#include "tuner/backend/cuda/captured_work.hpp"

#include <array>
#include <cstdint>
#include <utility>

namespace tuner::backend {
namespace {

/// What cuBLAS takes by itself: "cublasSetWorkspace" in its documentation.
std::size_t usual_workspace_bytes(std::int64_t compute_capability) {
  return std::size_t{compute_capability >= 90 ? 32U : 4U} << 20;
}

}  // namespace

CublasHandles::CublasHandles(const DriverApi& driver, GraphMemory& memory,
                             std::int64_t compute_capability)
    : driver_(driver),
      memory_(memory),
      workspace_bytes_(usual_workspace_bytes(compute_capability)) {}

CublasHandles::~CublasHandles() {
  for (const auto& handle : handles_) api_.destroy(handle->handle);
}

Expected<CublasHandles::Handle*, Failure> CublasHandles::make() {
  const CaptureBystander bystander(driver_);
  const auto made = make_cublas_handle(api_);
  if (!made) return Unexpected(made.error());
  handles_.push_back(std::make_unique<Handle>(Handle{*made}));
  return handles_.back().get();
}

Expected<CublasHandles::Captures*, Failure> CublasHandles::captures() {
  CUcontext current = nullptr;
  driver_.current_context(&current);
  Captures& here = captures_[current];
  if (here.handle == nullptr) {
    const auto made = make();
    if (!made) return Unexpected(made.error());
    here.handle = *made;
  }
  return &here;
}

Expected<void, Failure> CublasHandles::prepare() {
  const std::scoped_lock lock(mutex_);
  const auto here = captures();
  if (!here) return Unexpected(here.error());
  return {};
}

Expected<CublasHandles::Handle*, Failure> CublasHandles::handle_on(const StreamState& state,
                                                                   CUstream stream) {
  const std::array<std::int64_t, 1> key = {static_cast<std::int64_t>(state.id)};
  if (Handle* const known = by_stream_.find(key)) return known;
  const std::scoped_lock lock(mutex_);
  if (Handle* const known = by_stream_.find(key)) return known;
  const auto made = make();
  if (!made) return Unexpected(made.error());
  if (auto set = attempt(api_, api_.set_stream((*made)->handle, stream)); !set) {
    return Unexpected(set.error());
  }
  by_stream_.put(key, *made);
  return *made;
}

Expected<cublasHandle_t, Failure> CublasHandles::on(const StreamState& state, CUstream stream) {
  const auto its = handle_on(state, stream);
  if (!its) return Unexpected(its.error());
  return (*its)->handle;
}

Expected<void, Failure> CublasHandles::with_workspace(const StreamState& state, CUstream stream,
                                                      const WorkspaceCall& call) {
  if (state.capture) {
    return capture_with(state, stream,
                        [&](const Captures&, void* workspace) { return call(workspace); });
  }
  const auto its = handle_on(state, stream);
  if (!its) return Unexpected(its.error());
  const std::scoped_lock lock(mutex_);
  auto& workspace = (*its)->lt_workspace;
  if (workspace == nullptr) {
    const auto taken = memory_.take(workspace_bytes_);
    if (!taken) return Unexpected(taken.error());
    workspace = *taken;
  }
  return call(reinterpret_cast<void*>(workspace->address));
}

Expected<void, Failure> CublasHandles::capture(const StreamState& state, CUstream stream,
                                               const CublasCall& call) {
  return capture_with(state, stream, [&](const Captures& here, void* workspace) {
    cublasHandle_t const handle = here.handle->handle;
    // In this order: setting the stream takes the workspace away.
    auto done = attempt(api_, api_.set_stream(handle, stream));
    if (done) done = attempt(api_, api_.set_workspace(handle, workspace, workspace_bytes_));
    return done ? call(handle) : done;
  });
}

Expected<void, Failure> CublasHandles::capture_with(
    const StreamState& state, CUstream stream,
    const std::function<Expected<void, Failure>(const Captures&, void* workspace)>& call) {
  const std::scoped_lock lock(mutex_);
  const auto found = captures();
  if (!found) return Unexpected(found.error());
  Captures& here = **found;
  if (void* const own = here.workspaces.find(state)) return call(here, own);
  if (here.spare == nullptr) {
    const auto taken = memory_.take(workspace_bytes_);
    if (!taken) return Unexpected(taken.error());
    here.spare = *taken;
  }
  const CUdeviceptr address = here.spare->address;
  auto* const workspace = reinterpret_cast<void*>(address);
  const CapturedWork work(driver_, stream);
  const auto done = call(here, workspace);
  if (!work.may_use(address, workspace_bytes_)) return done;
  const auto tied = memory_.tie(std::exchange(here.spare, nullptr), stream);
  if (tied) here.workspaces.put(state, workspace);
  return done ? tied : done;
}

}  // namespace tuner::backend
