// SPDX-License-Identifier: Apache-2.0
#include "tuner/cublas/server.hpp"

#include "tuner/cublas/call_log.hpp"
#include "tuner/cublas/settings.hpp"
#include "tuner/dispatch/gemm_kernel.hpp"

#include <fmt/format.h>

#include <exception>

namespace tuner::cublas {
namespace {

dispatch::KernelUse multiply_by_rows(Dispatcher& dispatcher, const ProductCall& call,
                                     backend::StreamHandle stream) {
  const blas::GemmTypeRow& type = *gemm_type(call);
  const blas::GemmShape shape = by_rows(call);
  const GemmProblem problem{.type = type.type,
                            .trans_a = shape.trans_a,
                            .trans_b = shape.trans_b,
                            .m = shape.m,
                            .n = shape.n,
                            .k = shape.k,
                            .lda = shape.a.ld,
                            .ldb = shape.b.ld,
                            .ldc = shape.c.ld,
                            .batch = shape.batch,
                            .stride_a = shape.a.stride,
                            .stride_b = shape.b.stride,
                            .stride_c = shape.c.stride,
                            .epilogue = epilogue_of(call.epilogue, call.a.type).value(),
                            .bias = call.bias};
  return dispatch::gemm_by_kernel(dispatcher, stream, problem, factor(type, call.alpha),
                                  call.b.data, call.a.data, factor(type, call.beta),
                                  const_cast<void*>(call.c.data));
}

std::optional<PassReason> reason_of(dispatch::KernelEnd end) {
  using dispatch::KernelEnd;
  switch (end) {
    case KernelEnd::launched:
      return std::nullopt;
    case KernelEnd::library:
      return PassReason::library;
    case KernelEnd::untuned:
      return PassReason::untuned;
    case KernelEnd::unprepared:
      return PassReason::capture;
    case KernelEnd::unsuited:
      return PassReason::strides;
    case KernelEnd::failed:
      break;
  }
  return PassReason::failed;
}

}  // namespace

Server::Server() : Server(backend::open_application(settings().backend)) {}

void Server::note_created(const void* handle) {
  const auto device = application_->current_device();
  const std::scoped_lock lock(mutex_);
  if (device) handles_[handle] = *device;
}

void Server::note_destroyed(const void* handle) {
  const std::scoped_lock lock(mutex_);
  handles_.erase(handle);
}

std::optional<int> Server::device_of(const void* handle) const {
  const auto current = application_->current_device();
  if (application_->device_count() == 1) return current;
  const std::shared_lock lock(mutex_);
  const auto known = handles_.find(handle);
  if (known == handles_.end() || known->second != current) return std::nullopt;
  return current;
}

Dispatcher* Server::dispatcher(int device) {
  if (device < 0 || static_cast<std::size_t>(device) >= kMostDevices) return nullptr;
  Device& it = devices_.at(static_cast<std::size_t>(device));
  std::call_once(it.once, [&] {
    try {
      it.dispatcher = std::make_unique<Dispatcher>(
          Table::database(), DispatchOptions{.backend = settings().backend, .device = device});
    } catch (const std::exception& error) {
      write_line_once(
          fmt::format("all calls are passed to cuBLAS on device {}: {}", device, error.what()));
    }
  });
  return it.dispatcher.get();
}

std::optional<PassReason> Server::take(const ProductCall& call) {
  const auto device = device_of(call.handle);
  if (!device) return PassReason::device;
  Dispatcher* const tuned = dispatcher(*device);
  if (tuned == nullptr) return PassReason::untuned;
  const dispatch::KernelUse use = multiply_by_rows(*tuned, call, call.stream.value());
  const auto reason = reason_of(use.end);
  if (!reason) call_counts().add_taken(use.saved_ns);
  return reason;
}

}  // namespace tuner::cublas
