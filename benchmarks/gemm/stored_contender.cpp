// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/stored_contender.hpp"

#include "tuner/core/error.hpp"
#include "tuner/family/candidate.hpp"
#include "tuner/family/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <thread>

namespace tuner::gemm_benchmark {
namespace {

/// What an epilogue reads that the shapes do not have may lie anywhere: where C does.
std::byte* operand(const OperandSet& set, const std::string& argument) {
  if (argument == "A") return set.a;
  if (argument == "B") return set.b;
  if (argument == "C" || argument == "bias" || argument == "residual") return set.c;
  throw Error(ErrorCode::usage,
              fmt::format("the benchmark knows the buffers A, B and C, bias and residual, not '{}'",
                          argument));
}

backend::KernelArgument packed_number(const family::Scalar& number) {
  return std::visit([](auto typed) { return backend::packed(typed); }, number);
}

backend::KernelArgument scalar(const family::Argument& argument,
                               const space::ExpressionValues& values) {
  return packed_number(
      family::scalar_value(std::get<family::ScalarArgument>(argument.what), argument.name, values));
}

std::vector<backend::KernelArgument> arguments(const family::Family& family,
                                               const space::Size& size, const OperandSet& set) {
  const space::ExpressionValues values = family::family_values(size);
  std::vector<backend::KernelArgument> all;
  for (const family::Argument& argument : family.arguments) {
    const bool buffer = std::holds_alternative<family::BufferArgument>(argument.what);
    all.push_back(buffer ? backend::packed(operand(set, argument.name)) : scalar(argument, values));
  }
  return all;
}

/// How large each scratch buffer of a kernel is.
std::vector<std::size_t> scratch_bytes(const family::Kernel& kernel,
                                       const space::ExpressionValues& values) {
  std::vector<std::size_t> all;
  for (const family::ScratchBuffer& buffer : kernel.scratch) {
    const auto count = buffer.count.evaluate(values);
    if (!count || *count < 0) {
      throw Error(ErrorCode::usage, fmt::format("kernel {}: scratch '{}' has no size here",
                                                kernel.name, buffer.name));
    }
    all.push_back(family::bytes_of(buffer.type.at(values), std::max<std::int64_t>(1, *count)));
  }
  return all;
}

/// What a step takes of the arguments of all.
std::vector<backend::KernelArgument> taken_of(const std::vector<backend::KernelArgument>& all,
                                              const std::vector<family::TakenArgument>& taken) {
  std::vector<backend::KernelArgument> of_step;
  for (const family::TakenArgument& argument : taken) {
    const auto* const place = std::get_if<std::size_t>(&argument);
    of_step.push_back(place ? all.at(*place) : packed_number(std::get<family::Scalar>(argument)));
  }
  return of_step;
}

int compile_threads() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

StoredContenders::StoredContenders(const std::filesystem::path& database,
                                   const std::filesystem::path& space,
                                   std::span<const SuiteShape> shapes, Gpu& gpu)
    : gpu_(gpu),
      family_(family::load_family(space)),
      store_(database, store::Store::Mode::read_only),
      pool_(gpu.compiler(), compile_threads()) {
  for (const SuiteShape& each : shapes) {
    Prepared prepared;
    try {
      prepared = prepare(each.shape);
    } catch (const Error& error) {  // the space file no longer fits the configuration
      prepared.notes.emplace_back(error.what());
    }
    prepared_.emplace(display(each.shape), std::move(prepared));
  }
}

std::optional<store::StoredBest> StoredContenders::fastest(const space::Size& size) const {
  std::vector<store::StoredBest> bests =
      store_.bests({.device = gpu_.device().name,
                    .family = family_.name,
                    .kernel = {},
                    .problem = space::canonical_size(size, family_.problem.dims)});
  // A result of another version of a source says nothing of the kernel as it is now.
  std::erase_if(bests, [&](const store::StoredBest& best) {
    const auto kernel =
        std::ranges::find(family_.kernels, best.subject->kernel.hash, &family::Kernel::hash);
    return kernel == family_.kernels.end();
  });
  std::vector<const store::BestRecord*> records;
  for (const store::StoredBest& each : bests) records.push_back(&each.best);
  if (records.empty()) return std::nullopt;
  return bests[store::fastest_first(records).front()];
}

StoredContenders::Prepared StoredContenders::prepare(const Shape& shape) {
  Prepared prepared;
  const auto size = size_of(shape, family_.problem);
  if (!size) {
    prepared.notes.push_back(fmt::format("{} has no dimensions for this shape", family_.path));
    return prepared;
  }
  prepared.size = *size;
  const auto best = fastest(*size);
  if (!best) {
    prepared.notes.push_back(
        fmt::format("not tuned: {} has nothing for it on this device and the "
                    "kernels as they are now",
                    store_.path().string()));
    return prepared;
  }
  const family::Kernel& kernel = family_.kernel(best->subject->kernel.kernel);
  const space::Space space(kernel.space, gpu_.device().attributes, *size);
  const auto enter = [&](Role role, const space::Config& config) {
    const space::ExpressionValues values = space.expression_values(config);
    Candidate candidate{
        .role = role,
        .text = fmt::format("{} {}", kernel.name, tuner::space::display(*kernel.space, config)),
        .kernel = &kernel,
        .geometries = {},
        .taken = {},
        .scratch_bytes = scratch_bytes(kernel, values),
        .tensors = family::tensor_layouts(kernel, values),
        .compiled = pool_.submit(family::compile_job(kernel, space, config))};
    for (std::size_t step = 0; step < kernel.steps.size(); ++step) {
      candidate.geometries.push_back(family::geometry(kernel, step, values));
      candidate.taken.push_back(
          family::taken_arguments(kernel, step, family_.arguments.size(), values));
    }
    prepared.candidates.push_back(std::move(candidate));
  };
  const space::Config ours = space::config_from_json(*kernel.space, best->best.config_json);
  enter(Role::ours, ours);
  const space::Config by_default = space.default_config();
  if (by_default == ours) {
    prepared.notes.emplace_back("the default configuration is the best");
  } else if (const auto violation = space.violation(by_default)) {
    prepared.notes.push_back("the default configuration is invalid here: " + violation->message);
  } else {
    enter(Role::by_default, by_default);
  }
  return prepared;
}

StoredContenders::Found StoredContenders::contenders(const Shape& shape,
                                                     const Operands& operands) const {
  const Prepared& prepared = prepared_.at(display(shape));
  Found found{.contenders = {}, .notes = prepared.notes};
  for (const Candidate& candidate : prepared.candidates) {
    auto loaded = load(candidate, prepared.size, operands);
    if (loaded) {
      found.contenders.push_back(std::move(*loaded));
    } else {
      found.notes.push_back(fmt::format("{}: {}", candidate.text, loaded.error().message));
    }
  }
  return found;
}

Expected<Contender, Failure> StoredContenders::load(const Candidate& candidate,
                                                    const space::Size& size,
                                                    const Operands& operands) const {
  const worker::Compiled& compiled = candidate.compiled.get();
  if (!compiled.binary) return Unexpected(compiled.binary.error());
  auto loaded = backend::CudaKernel::load(*compiled.binary);
  if (!loaded) return Unexpected(loaded.error());
  const auto kernel = std::make_shared<backend::CudaKernel>(std::move(*loaded));
  // One for all sets: launches follow one another, and each leaves the zeros that the next needs.
  const auto scratch = std::make_shared<std::vector<backend::DeviceMemory>>();
  for (const std::size_t bytes : candidate.scratch_bytes) {
    scratch->push_back(backend::make_device_memory(bytes));
    backend::check(cudaMemset(scratch->back().get(), 0, bytes), "cudaMemset");
  }
  const std::size_t steps = candidate.geometries.size();
  std::vector<backend::Enqueue> launches;  // of each set, one behind the other
  for (std::size_t set = 0; set < operands.sets(); ++set) {
    auto values = arguments(family_, size, operands.set(set));
    for (const backend::DeviceMemory& buffer : *scratch)
      values.push_back(backend::packed(buffer.get()));
    for (const family::TensorLayout& layout : candidate.tensors) {
      const std::size_t given = family_.arguments.size();
      auto tensor = backend::packed(
          layout, layout.argument < given
                      ? operand(operands.set(set), family_.arguments[layout.argument].name)
                      : static_cast<std::byte*>(scratch->at(layout.argument - given).get()));
      if (!tensor) return Unexpected(tensor.error());
      values.push_back(*tensor);
    }
    for (std::size_t step = 0; step < steps; ++step) {
      auto launch = kernel->functions()[step].launch(
          candidate.geometries[step], taken_of(values, candidate.taken[step]), gpu_.stream());
      if (!launch) return Unexpected(launch.error());
      launches.push_back(std::move(*launch));
    }
  }
  return Contender{
      .role = candidate.role,
      .kernel = candidate.text,
      // The kernel is held for as long as something may launch it.
      .launch = [kernel, scratch, launches, steps](std::size_t set) -> Expected<void, Failure> {
        for (std::size_t step = 0; step < steps; ++step) {
          if (auto enqueued = launches[set * steps + step](); !enqueued) return enqueued;
        }
        return {};
      }};
}

}  // namespace tuner::gemm_benchmark
