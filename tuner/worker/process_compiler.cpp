// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/process_compiler.hpp"

#include "tuner/backend/registry.hpp"
#include "tuner/worker/calls.hpp"
#include "tuner/worker/confinement.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace tuner::worker {
namespace {

/// A kernel that needs more is no candidate; NVRTC takes some 200 MB for one that is.
constexpr std::uint64_t kAddressSpace = std::uint64_t{4} << 30;
/// Of each file that a compiler which the worker starts writes: it has the worker's limits.
constexpr std::uint64_t kFileBytes = std::uint64_t{256} << 20;

}  // namespace

ProcessCompiler::ProcessCompiler(WorkerCommand command, std::chrono::seconds deadline)
    : command_(std::move(command)), deadline_(deadline) {}

ProcessCompiler::~ProcessCompiler() = default;

void ProcessCompiler::start() {
  give_back(started());
}

std::unique_ptr<WorkerProcess> ProcessCompiler::started() const {
  return std::make_unique<WorkerProcess>(
      command_,
      ProcessLimits{
          .processor_time = {}, .address_space_bytes = kAddressSpace, .file_bytes = kFileBytes});
}

std::unique_ptr<WorkerProcess> ProcessCompiler::take() const {
  {
    const std::scoped_lock lock(mutex_);
    while (!idle_.empty()) {
      auto worker = std::move(idle_.back());
      idle_.pop_back();
      if (worker->alive()) return worker;
    }
  }
  return started();
}

void ProcessCompiler::give_back(std::unique_ptr<WorkerProcess> worker) const {
  const std::scoped_lock lock(mutex_);
  idle_.push_back(std::move(worker));
}

Expected<backend::Binary, Failure> ProcessCompiler::compile(const family::CompileJob& job) const {
  auto worker = take();
  worker->send(to_message(job));
  auto answer = worker->receive(deadline_);
  if (const auto* lost = std::get_if<WorkerLost>(&answer)) {
    const Outcome outcome = lost->late ? Outcome::compile_timeout : Outcome::compile_error;
    return Unexpected(Failure{outcome, "the compiler " + lost->how});
  }
  const Json& message = std::get<Json>(answer);
  if (message.contains("error")) throw error_from(message.at("error"));
  auto compiled = result_in<backend::Binary>(message);
  give_back(std::move(worker));
  return compiled;
}

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
