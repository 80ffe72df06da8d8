// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/application.hpp"
#include "tuner/cublas/product.hpp"
#include "tuner/dispatch/dispatcher.hpp"

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>

namespace tuner::cublas {

/// The tuned kernels in place of cuBLAS: a dispatcher for each device, opened when it is first
/// needed.
class Server {
 public:
  /// As the settings say. Throws Error where there is no driver.
  Server();
  explicit Server(std::unique_ptr<backend::Application> application)
      : application_(std::move(application)) {}

  /// Enqueues the product by a tuned kernel, or says why cuBLAS must do it. A size that is new is
  /// compiled first. Throws DispatchError and Error; then nothing was enqueued.
  [[nodiscard]] std::optional<PassReason> take(const ProductCall& call);

  /// Remembers that a handle was made by the calling thread for its device, or is no more.
  void note_created(const void* handle);
  void note_destroyed(const void* handle);

 private:
  struct Device {
    std::once_flag once;
    std::unique_ptr<Dispatcher> dispatcher;  // null: it could not be opened
  };
  static constexpr std::size_t kMostDevices = 64;

  /// The device that a handle is of, if it is also the calling thread's.
  [[nodiscard]] std::optional<int> device_of(const void* handle) const;
  [[nodiscard]] Dispatcher* dispatcher(int device);

  std::unique_ptr<backend::Application> application_;
  std::array<Device, kMostDevices> devices_;
  mutable std::shared_mutex mutex_;  // of what follows
  std::map<const void*, int> handles_;
};

}  // namespace tuner::cublas
