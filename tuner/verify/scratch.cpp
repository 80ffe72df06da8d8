// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/scratch.hpp"

#include "tuner/core/error.hpp"
#include "tuner/family/candidate.hpp"
#include "tuner/verify/memory_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tuner::verify {
namespace {

[[noreturn]] void fail(const family::Kernel& kernel, const family::ScratchBuffer& buffer,
                       const std::string& why) {
  throw Error(ErrorCode::usage, fmt::format("kernel {}: the count of scratch '{}' = {} {}",
                                            kernel.name, buffer.name, buffer.count.text(), why));
}

}  // namespace

std::vector<CheckedData> scratch_data(const family::Kernel& kernel,
                                      const space::ExpressionValues& values) {
  constexpr std::int64_t kMost = std::int64_t{1} << 50;  // so that sums of bytes do not overflow
  std::vector<CheckedData> all;
  for (const family::ScratchBuffer& buffer : kernel.scratch) {
    const auto count = buffer.count.evaluate(values);
    if (!count) fail(kernel, buffer, fmt::format("has no value: {}", space::name(count.error())));
    if (*count < 0 || *count > kMost) fail(kernel, buffer, fmt::format("is {}", *count));
    CheckedData data;
    data.name = buffer.name;
    data.type = buffer.type.at(values);
    data.used = std::max<std::int64_t>(1, *count);
    data.count = in_whole_words(data.type, data.used);
    data.role = family::BufferRole::output;
    all.push_back(std::move(data));
  }
  return all;
}

std::vector<backend::LaunchArgument> with_tensors(
    std::vector<backend::LaunchArgument> arguments,
    const std::vector<family::TensorLayout>& tensors) {
  for (const family::TensorLayout& layout : tensors) {
    const backend::Region begin = std::get<backend::Region>(arguments[layout.argument]);
    arguments.emplace_back(backend::Tensor{.region = begin, .layout = layout});
  }
  return arguments;
}

backend::Launch launch_of(const family::Kernel& kernel, const space::ExpressionValues& values,
                          backend::KernelId loaded,
                          const std::vector<backend::LaunchArgument>& arguments) {
  backend::Launch launch{.kernel = loaded, .steps = {}};
  const std::size_t own = kernel.scratch.size() + kernel.tensor_maps.size();
  for (std::size_t i = 0; i < kernel.steps.size(); ++i) {
    backend::StepLaunch step{.geometry = family::geometry(kernel, i, values), .arguments = {}};
    for (const family::TakenArgument& each :
         family::taken_arguments(kernel, i, arguments.size() - own, values)) {
      const auto* const place = std::get_if<std::size_t>(&each);
      step.arguments.push_back(place != nullptr
                                   ? arguments[*place]
                                   : backend::LaunchArgument(std::get<family::Scalar>(each)));
    }
    launch.steps.push_back(std::move(step));
  }
  for (const family::SymbolArgument& symbol : kernel.symbols) {
    launch.symbols.push_back({.name = symbol.name,
                              .image_name = symbol.image_name,
                              .value = std::get<backend::ArrayValue>(arguments[symbol.argument])});
  }
  return launch;
}

Scratch::Scratch(backend::Backend& backend, CheckKernels& kernels, CheckedMemory memory)
    : backend_(&backend), kernels_(&kernels), memory_(std::move(memory)) {
  restore();
}

void Scratch::restore() {
  for (const CheckedData& data : memory_.plan().data) {
    backend_->fill(memory_.candidate(data.candidate), 0, data.size_bytes());
  }
  const unsigned long long next = poison_.seed + 1;
  poison_ = {.kind = static_cast<int>(next % kPoisonKinds), .seed = next};
  kernels_->prepare(memory_, poison_);
}

std::vector<backend::Region> Scratch::regions() const {
  std::vector<backend::Region> regions;
  for (const CheckedData& data : memory_.plan().data) {
    regions.push_back(memory_.candidate(data.candidate));
  }
  return regions;
}

std::optional<std::string> Scratch::overrun() {
  const auto reports = kernels_->inspect(memory_, poison_, CheckKernels::Repeats::ignored);
  const std::vector<CheckPart>& parts = memory_.plan().parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].kind != CheckPart::guard || reports[i].wrong == 0) continue;
    return overrun_text(memory_.plan(), parts[i], reports[i]);
  }
  return std::nullopt;
}

}  // namespace tuner::verify
