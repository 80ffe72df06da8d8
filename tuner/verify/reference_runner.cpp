// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/reference_runner.hpp"

#include "tuner/core/error.hpp"
#include "tuner/verify/double_precision.hpp"
#include "tuner/verify/npy.hpp"
#include "tuner/verify/scratch.hpp"

#include <fmt/format.h>

#include <utility>

namespace tuner::verify {

ReferenceRunner::ReferenceRunner(backend::Backend& backend, CheckKernels& kernels,
                                 const ProblemData& problem, StoredResults* results,
                                 Arithmetic arithmetic)
    : backend_(backend), kernels_(kernels), problem_(problem), arithmetic_(arithmetic) {
  const family::Family& family = problem.family();
  if (std::holds_alternative<family::ResultsReference>(family.check.reference)) results_ = results;
  if (const auto* reference = std::get_if<family::KernelReference>(&family.check.reference)) {
    load(family.kernel(reference->kernel));
  }
}

ReferenceRunner::ReferenceRunner(backend::Backend& backend, CheckKernels& kernels,
                                 const ProblemData& problem, ReferenceCoverage& coverage)
    : backend_(backend),
      kernels_(kernels),
      problem_(problem),
      arithmetic_(Arithmetic::as_written),
      coverage_(&coverage) {
  const auto& reference = std::get<family::KernelReference>(problem.family().check.reference);
  load(problem.family().kernel(reference.kernel));
}

bool ReferenceRunner::can_run() const {
  if (results_ != nullptr && arithmetic_ == Arithmetic::in_double) {
    return has_double_form(problem_.family());
  }
  return kernel_ || must_run();
}

Expected<backend::KernelId, Failure> ReferenceRunner::load(const family::CompileJob& job) {
  const auto binary = backend_.compiler().compile(job);
  if (!binary) return Unexpected(binary.error());
  return backend_.load(*binary);
}

Expected<backend::KernelId, Failure> ReferenceRunner::load_probed(const family::CompileJob& job) {
  auto loaded = load(coverage_->probed(job));
  while (!loaded && coverage_->retry_with_fewer()) loaded = load(coverage_->probed(job));
  if (!loaded) coverage_->fail(loaded.error());
  return loaded;
}

void ReferenceRunner::load(const family::Kernel& kernel) {
  const space::BoundDefinition space(kernel.space, backend_.device().attributes,
                                     problem_.recipe().size);
  const space::Config config = space.default_config();
  std::optional<family::CompileJob> job = family::compile_job(kernel, space, config);
  const bool as_written = arithmetic_ == Arithmetic::as_written;
  if (!as_written) job = in_double(problem_.family(), kernel, *std::move(job));
  if (!job) return;
  const auto loaded = coverage_ != nullptr ? load_probed(*job) : load(*job);
  if (!loaded && must_run()) fail(loaded.error());
  if (!loaded) return;
  kernel_.emplace(Loaded{.kernel = &kernel,
                         .values = space.expression_values(config),
                         .loaded = backend::LoadedKernel(backend_, *loaded),
                         .scratch = {}});
  for (const CheckedData& data : scratch_data(kernel, kernel_->values)) {
    // A double takes as much as two floats.
    kernel_->scratch.emplace_back(backend_, (as_written ? 1 : 2) * data.size_bytes());
  }
}

family::ElementType ReferenceRunner::passed_type(const CheckedData& data) const {
  if (arithmetic_ == Arithmetic::in_double && family::is_floating(data.type)) {
    return family::ElementType::f64;
  }
  const family::Check& check = problem_.family().check;
  const auto* const library = family::library_arguments(check);
  if (library != nullptr && (data.name == library->a || data.name == library->b)) {
    return blas::wider_operand(data.type);
  }
  // A library that sums in parts may round to fewer bits more than once.
  const bool is_sum = library != nullptr && data.name == library->c &&
                      problem_.is_rounded(data.type) &&
                      blas::library_multiplies(data.type, family::ElementType::f32);
  return is_sum ? family::ElementType::f32 : problem_.reference_type(data.type);
}

void ReferenceRunner::run(const std::vector<backend::Region>& buffers, const InputValues& values) {
  struct Converted {
    CheckKernels::Elements own, passed;
    bool is_written;
  };
  std::vector<backend::Buffer> memory;
  std::vector<Converted> converted;
  std::vector<backend::Region> passed = buffers;
  for (const CheckedData& data : problem_.data()) {
    const family::ElementType type = passed_type(data);
    if (type == data.type) continue;
    const auto before = family::bytes_of(type, data.offset);
    const std::size_t bytes = family::bytes_of(type, data.count);
    passed[data.argument] = {memory.emplace_back(backend_, before + bytes).id(), before};
    converted.push_back({.own = {buffers[data.argument], data.type, data.count},
                         .passed = {passed[data.argument], type, data.count},
                         .is_written = data.role != family::BufferRole::input});
    kernels_.convert(converted.back().passed, converted.back().own);
  }
  run_as_it_is(passed, values);
  for (const Converted& each : converted) {
    if (each.is_written) kernels_.convert(each.own, each.passed);
  }
}

void ReferenceRunner::run_as_it_is(const std::vector<backend::Region>& buffers,
                                   const InputValues& values) {
  if (kernel_) {
    run_kernel(buffers, values);
    return;
  }
  if (const auto* files = std::get_if<family::NpyReference>(&problem_.family().check.reference)) {
    write_files(*files, buffers);
    return;
  }
  if (results_ != nullptr) {
    write_results(buffers, values);
    return;
  }
  const auto* const names = family::library_arguments(problem_.family().check);
  ProblemData::LibraryVariant types;
  for (const CheckedData& data : problem_.data()) {
    if (data.name == names->a) types.operands = passed_type(data);
    if (data.name == names->c) types.result = passed_type(data);
  }
  const backend::Work work = *problem_.library_call(buffers, values, types);
  const auto& call = std::get<backend::LibraryCall>(work);
  // Libraries have few operations on integers, in some layouts only.
  if (!family::is_floating(call.operation.result_type())) return kernels_.compute(call);
  const auto done = backend_.run(work);
  if (!done) fail(done.error());
  finish_product(call, buffers, values);
}

void ReferenceRunner::finish_product(const backend::LibraryCall& call,
                                     const std::vector<backend::Region>& buffers,
                                     const InputValues& values) {
  Epilogue epilogue = problem_.epilogue();
  // Magnitudes bound the errors of a sum, which an activation follows.
  if (values.kind == InputValues::absolute) epilogue.activation = Activation::none;
  if (epilogue.is_none()) return;
  const family::Family& family = problem_.family();
  const auto& names = *std::get<family::GemmReference>(family.check.reference).epilogue;
  const auto given = [&](const std::string& argument) {
    for (const CheckedData& data : problem_.data()) {
      if (data.name == argument) {
        return CheckKernels::Elements{buffers[data.argument], data.type, data.count};
      }
    }
    return CheckKernels::Elements{call.operands[blas::kC], call.operation.result_type(), 0};
  };
  kernels_.finish_product(call, epilogue, given(names.bias), given(names.residual));
}

void ReferenceRunner::write_files(const family::NpyReference& reference,
                                  const std::vector<backend::Region>& buffers) {
  for (const CheckedData& data : problem_.data()) {
    const auto file = reference.files.find(data.name);
    if (file == reference.files.end()) continue;
    NpyFile(problem_.family(), file->second, data.name, data.type, data.used,
            problem_.recipe().size)
        .copy_to(backend_, buffers[data.argument]);
  }
}

void ReferenceRunner::run_kernel(const std::vector<backend::Region>& buffers,
                                 const InputValues& values) {
  const auto& [kernel, its_values, loaded, scratch] = *kernel_;
  std::vector<backend::LaunchArgument> all = problem_.arguments(buffers, values);
  if (arithmetic_ == Arithmetic::in_double) {
    for (backend::LaunchArgument& argument : all) {
      auto* const scalar = std::get_if<family::Scalar>(&argument);
      if (scalar == nullptr || !std::holds_alternative<float>(*scalar)) continue;
      *scalar = static_cast<double>(std::get<float>(*scalar));
    }
  }
  for (const backend::Buffer& buffer : scratch) {
    backend_.fill(buffer.id(), 0, buffer.size_bytes());
    all.emplace_back(backend::Region(buffer.id()));
  }
  std::optional<backend::Launch> launch;
  try {
    all = with_tensors(std::move(all), family::tensor_layouts(*kernel, its_values));
    launch = launch_of(*kernel, its_values, loaded.id(), all);
  } catch (const Error& error) {
    fail({Outcome::launch_error, error.what()});
  }
  if (coverage_ != nullptr) return run_probed(*std::move(launch));
  if (const auto done = backend_.run(*launch); !done) fail(done.error());
}

void ReferenceRunner::run_probed(backend::Launch launch) {
  if (coverage_->notes_bytes() == 0) return;
  std::vector<std::byte> notes(coverage_->notes_bytes());
  const backend::Buffer buffer(backend_, notes.size());
  launch.steps.push_back(ReferenceCoverage::reading(buffer.id()));
  if (const auto done = backend_.run(launch); !done) return coverage_->fail(done.error());
  backend_.read(buffer.id(), notes);
  coverage_->add(notes);
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
