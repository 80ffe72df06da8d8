// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/isolated_compiler.hpp"

#include "tuner/backend/registry.hpp"
#include "tuner/worker/confinement.hpp"
#include "tuner/worker/process_compiler.hpp"

namespace tuner::worker {

std::unique_ptr<const backend::Compiler> make_isolated_compiler(const space::DeviceInfo& device,
                                                                std::chrono::seconds deadline) {
  // A program that is started anew for each compilation is confined then.
  if (backend::backend_traits(device.backend).compiles_by_program) {
    return backend::make_compiler(
        device.backend, device.architecture, deadline,
        worker_sandbox().active ? worker_command({"confined"}) : WorkerCommand());
  }
  return std::make_unique<ProcessCompiler>(
      worker_command({"compile", device.backend, device.architecture}), deadline);
}

}  // namespace tuner::worker
