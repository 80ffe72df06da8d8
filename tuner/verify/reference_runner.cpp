// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/reference_runner.hpp"

#include "tuner/core/error.hpp"
#include "tuner/verify/npy.hpp"
#include "tuner/verify/scratch.hpp"

#include <fmt/format.h>

#include <utility>

namespace tuner::verify {

ReferenceRunner::ReferenceRunner(backend::Backend& backend, const ProblemData& problem)
    : backend_(backend), problem_(problem) {
  const family::Family& family = problem.family();
  if (const auto* reference = std::get_if<family::KernelReference>(&family.check.reference)) {
    load(family.kernel(reference->kernel));
  }
}

void ReferenceRunner::load(const family::Kernel& kernel) {
  const space::Space space(kernel.space, backend_.device().attributes, problem_.recipe().size);
  const space::Config config = space.default_config();
  const auto binary = backend_.compiler().compile(family::compile_job(kernel, space, config));
  if (!binary) fail(binary.error());
  const auto loaded = backend_.load(*binary);
  if (!loaded) fail(loaded.error());
  kernel_.emplace(Loaded{.kernel = &kernel,
                         .values = space.expression_values(config),
                         .loaded = backend::LoadedKernel(backend_, *loaded),
                         .scratch = {}});
  for (const CheckedData& data : scratch_data(kernel, kernel_->values)) {
    kernel_->scratch.emplace_back(backend_, data.size_bytes());
  }
}

void ReferenceRunner::run(const std::vector<backend::Region>& buffers, const InputValues& values) {
  if (kernel_) {
    run_kernel(buffers, values);
    return;
  }
  if (const auto* files = std::get_if<family::NpyReference>(&problem_.family().check.reference)) {
    write_files(*files, buffers);
    return;
  }
  const auto done = backend_.run(*problem_.library_call(buffers, values));
  if (!done) fail(done.error());
}

void ReferenceRunner::write_files(const family::NpyReference& reference,
                                  const std::vector<backend::Region>& buffers) {
  for (const CheckedData& data : problem_.data()) {
    const auto file = reference.files.find(data.name);
    if (file == reference.files.end()) continue;
    backend_.write(buffers[data.argument],
                   read_npy(problem_.family(), file->second, data.name, data.type, data.used));
  }
}

void ReferenceRunner::run_kernel(const std::vector<backend::Region>& buffers,
                                 const InputValues& values) {
  const auto& [kernel, its_values, loaded, scratch] = *kernel_;
  std::vector<backend::LaunchArgument> all = problem_.arguments(buffers, values);
  for (const backend::Buffer& buffer : scratch) {
    backend_.fill(buffer.id(), 0, buffer.size_bytes());
    all.emplace_back(backend::Region(buffer.id()));
  }
  all = with_tensors(std::move(all), family::tensor_layouts(*kernel, its_values));
  const backend::Launch launch = launch_of(*kernel, its_values, loaded.id(), all);
  if (const auto done = backend_.run(launch); !done) fail(done.error());
}

void ReferenceRunner::fail(const Failure& failure) const {
  const family::Family& family = problem_.family();
  const std::string size = space::display(problem_.recipe().size, family.problem.dims);
  const auto* const reference = std::get_if<family::KernelReference>(&family.check.reference);
  if (reference == nullptr) {
    throw Error(ErrorCode::failure,
                fmt::format("{} cannot compute the reference at {}: {}",
                            backend_.environment().library, size, failure.message));
  }
  throw Error(ErrorCode::failure,
              fmt::format("the reference kernel {} cannot run at {}: {}: {}", reference->kernel,
                          size, name(failure.outcome), failure.message));
}

}  // namespace tuner::verify
