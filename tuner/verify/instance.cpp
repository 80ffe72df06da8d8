// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/instance.hpp"

#include "tuner/backend/owned.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/failpoint.hpp"
#include "tuner/core/hash.hpp"
#include "tuner/verify/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

namespace tuner {
namespace {

/// Throws when the reference wrote nothing to an output: then a candidate that does nothing would
/// be right. `intact` is an inspection of outputs that nobody wrote to.
void check_reference(const PosedProblem& problem, const MemoryPlan& plan,
                     const std::vector<CheckReport>& intact) {
  if (!std::holds_alternative<KernelReference>(problem.family().check.reference)) return;
  for (std::size_t i = 0; i < plan.parts.size(); ++i) {
    const CheckPart& part = plan.parts[i];
    if (part.kind != CheckPart::output || part.initial >= 0 || intact[i].wrong > 0) continue;
    const auto data = std::ranges::find(plan.data, static_cast<std::size_t>(part.offset),
                                        &CheckedData::candidate);
    throw Error(ErrorCode::failure,
                fmt::format("the reference writes nothing to its output {} ({})", data->name,
                            problem.circumstances()));
  }
}

}  // namespace

Instance::Instance(Backend& backend, CheckKernels& kernels, const Family& family, Recipe recipe)
    : backend_(backend),
      kernels_(kernels),
      problem_(backend, family, std::move(recipe)),
      memory_(backend, plan_memory(problem_.data())) {
  make_data();
  // Whole numbers are compared exactly, as integer results are: no magnitudes needed.
  if (problem_.recipe().fill == Fill::normal) make_magnitudes();
  kernels_.lay_guards(memory_);
  intact_ = kernels_.inspect(memory_, 0, CheckKernels::Repeats::ignored);
  check_reference(problem_, memory_.plan(), intact_);
  failpoint("verify.instance_made");
}

void Instance::make_data() {
  problem_.make_arrays(kernels_);
  std::vector<Region> buffers = candidate_buffers();
  for (const CheckedData& data : memory_.plan().data) {
    if (data.role == BufferRole::input) {
      problem_.fill(kernels_, memory_.candidate(data.candidate), data);
      continue;
    }
    const Region expected = memory_.reference(*data.expected);
    if (data.initial) {
      problem_.fill(kernels_, memory_.reference(*data.initial), data);
      backend_.copy(expected, memory_.reference(*data.initial), data.size_bytes());
    } else {
      backend_.fill(expected, kUnwritten, data.size_bytes());
    }
    buffers[data.argument] = expected;
  }
  problem_.run_reference(buffers, Values::as_they_are);
}

void Instance::make_magnitudes() {
  std::vector<Region> buffers(problem_.family().arguments.size());
  std::vector<Buffer> absolutes;
  for (const CheckedData& data : memory_.plan().data) {
    if (data.role == BufferRole::input) {
      absolutes.emplace_back(backend_, data.offset_bytes() + data.size_bytes());
      buffers[data.argument] = {absolutes.back().id(), data.offset_bytes()};
      kernels_.absolute(buffers[data.argument], memory_.candidate(data.candidate), data.type,
                        data.count);
      continue;
    }
    buffers[data.argument] = memory_.reference(*data.magnitude);
    if (data.initial) {
      kernels_.absolute(buffers[data.argument], memory_.reference(*data.initial), data.type,
                        data.count);
    }
  }
  problem_.run_reference(buffers, Values::absolute);
}

std::vector<Region> Instance::candidate_buffers() const {
  std::vector<Region> buffers(problem_.family().arguments.size());
  for (const CheckedData& data : memory_.plan().data) {
    buffers[data.argument] = memory_.candidate(data.candidate);
  }
  return buffers;
}

std::vector<Instance::Operand> Instance::operands() const {
  std::vector<Operand> operands;
  for (const CheckedData& data : memory_.plan().data) {
    operands.push_back({.name = data.name,
                        .region = memory_.candidate(data.candidate),
                        .size_bytes = data.size_bytes(),
                        .role = data.role});
  }
  return operands;
}

std::string Instance::result_hash() const {
  std::vector<std::string> results;
  for (const CheckedData& data : memory_.plan().data) {
    if (data.role != BufferRole::output) continue;
    std::string& result = results.emplace_back(data.size_bytes(), '\0');
    backend_.read(memory_.reference(*data.expected), std::as_writable_bytes(std::span(result)));
  }
  return content_hash(std::vector<std::string_view>(results.begin(), results.end()));
}

std::vector<LaunchArgument> Instance::arguments() const {
  return problem_.arguments(candidate_buffers(), Values::as_they_are);
}

void Instance::prepare_launch() {
  kernels_.prepare(memory_, ++launches_);
}

Expected<double, Failure> Instance::inspect() {
  using enum CheckKernels::Repeats;
  const Findings findings({.backend = backend_,
                           .kernels = kernels_,
                           .problem = problem_,
                           .memory = memory_,
                           .intact = intact_,
                           .poison = launches_},
                          kernels_.inspect(memory_, launches_, outputs_kept_ ? compared : ignored));
  reference_changed_ = findings.reference_changed();
  if (auto failure = findings.failure()) return Unexpected(std::move(*failure));
  return findings.worst_share();
}

void Instance::keep_outputs() {
  for (const CheckedData& data : memory_.plan().data) {
    if (!data.repeat) continue;
    backend_.copy(memory_.reference(*data.repeat), memory_.candidate(data.candidate),
                  data.size_bytes());
  }
  outputs_kept_ = true;
}

std::optional<Work> Instance::library_work() const {
  return problem_.library_call(candidate_buffers(), Values::as_they_are);
}

}  // namespace tuner
