// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/cuda/driver.hpp"
#include "tuner/backend/executor.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace tuner::backend {

/// What is captured on a stream from the construction of this on.
class CapturedWork {
 public:
  /// The driver must outlive this.
  CapturedWork(const DriverApi& driver, CUstream stream);

  /// Whether a replay may use memory of `size_bytes` at `begin`. No only where the work consists of
  /// kernels all of whose parameters could be read and none of whose words, at any multiple of four
  /// bytes, is an address there, or where the capture was invalidated and becomes no graph.
  [[nodiscard]] bool may_use(CUdeviceptr begin, std::size_t size_bytes) const;

 private:
  using Nodes = std::vector<CUgraphNode>;
  /// The nodes that the stream's next one will depend on; none where the driver does not tell.
  [[nodiscard]] std::optional<Nodes> latest() const;
  [[nodiscard]] std::optional<Nodes> dependencies(CUgraphNode node) const;
  [[nodiscard]] bool node_may_use(CUgraphNode node, CUdeviceptr begin,
                                  std::size_t size_bytes) const;

  const DriverApi& driver_;
  CUstream stream_;
  std::optional<Nodes> before_;
};

/// As Executor::record, in the current context. The driver must outlive what is returned.
[[nodiscard]] Expected<StreamWork, Failure> record_work(const DriverApi& driver,
                                                        const StreamWork& work);

}  // namespace tuner::backend
