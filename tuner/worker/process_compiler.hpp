// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/worker/worker_process.hpp"

#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

namespace tuner::worker {

/// Compiles in child processes, one for each job under way: what hangs, eats memory or crashes in a
/// compiler costs its candidate. A child is used again as long as it lives.
class ProcessCompiler : public backend::Compiler {
 public:
  /// `command` starts a worker that compiles (serve_compilations). A compilation that misses the
  /// deadline is a compile_timeout.
  ProcessCompiler(WorkerCommand command, std::chrono::seconds deadline);
  ~ProcessCompiler() override;

  /// Starts a child now: a process that may soon start none has one then.
  void start();
  [[nodiscard]] Expected<backend::Binary, Failure> compile(
      const family::CompileJob& job) const override;

 private:
  [[nodiscard]] std::unique_ptr<WorkerProcess> started() const;
  [[nodiscard]] std::unique_ptr<WorkerProcess> take() const;
  void give_back(std::unique_ptr<WorkerProcess> worker) const;

  WorkerCommand command_;
  std::chrono::seconds deadline_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<WorkerProcess>> idle_;
};

/// The compiler for a device, every compilation in a process of its own: what hangs, eats memory or
/// crashes in a compiler costs its candidate. A compilation that misses the deadline is a
/// compile_timeout. Throws Error(no_device) when there is no compiler.
[[nodiscard]] std::unique_ptr<const backend::Compiler> make_isolated_compiler(
    const space::DeviceInfo& device, std::chrono::seconds deadline);

}  // namespace tuner::worker
