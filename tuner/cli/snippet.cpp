// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/snippet.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace tuner::cli {
namespace {

/// The family of a stored kernel. Its space file names the sources of the family's other kernels
/// too, which are not stored with this one; nobody looks at them here.
Family stored_family(const KernelRecord& record) {
  std::map<std::string, KernelSource> sources;
  const Json document = parse_json(record.space_text, record.family);
  if (const auto kernels = document.find("kernels"); kernels != document.end()) {
    for (const auto& [kernel, value] : kernels->items()) {
      sources[kernel] = {.name = record.source_name, .text = record.source_text, .headers = {}};
    }
  }
  return parse_family(record.space_text, "the stored space file of " + record.family, sources);
}

constexpr std::uint32_t kSharedBytesWithoutOptIn = 48 * 1024;

}  // namespace

Snippet::Snippet(const KernelRecord& record, const DeviceInfo& device, std::string_view config_json,
                 const std::vector<std::int64_t>& size)
    : source_name_(record.source_name) {
  const Family family = stored_family(record);
  const Kernel& kernel = family.kernel(record.kernel);
  const Space space(kernel.space, device.attributes, size);
  const Config config = config_from_json(*kernel.space, config_json);
  const CompileJob job = compile_job(kernel, space, config);
  entry_ = job.entry;
  options_ = job.options;
  geometry_ = geometry(kernel, space.slots(config));
  for (const Argument& argument : family.arguments) arguments_.push_back(argument.name);
  for (std::size_t i = 0; i < kernel.space->parameters.size(); ++i) {
    const Parameter& parameter = kernel.space->parameters[i];
    definitions_.push_back(
        fmt::format("-D{}={}", parameter.name, parameter.values[config.choice[i]].text));
  }
}

std::string Snippet::compiler_arguments() const {
  return fmt::format("{}", fmt::join(definitions_, " "));
}

std::string Snippet::cpp() const {
  const auto dim3 = [](const std::array<std::uint32_t, 3>& extent) {
    return fmt::format("{}, {}, {}", extent[0], extent[1], extent[2]);
  };
  std::string text = fmt::format("// {}", source_name_);
  if (!options_.empty()) text += fmt::format(", compiled with {}", fmt::join(options_, " "));
  text += fmt::format("\nconst auto kernel = {};\n", entry_);
  if (geometry_.dynamic_shared_bytes > kSharedBytesWithoutOptIn) {
    text += fmt::format(
        "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, {});\n",
        geometry_.dynamic_shared_bytes);
  }
  text += fmt::format("kernel<<<dim3({}), dim3({}), {}, stream>>>({});\n", dim3(geometry_.grid),
                      dim3(geometry_.block), geometry_.dynamic_shared_bytes,
                      fmt::join(arguments_, ", "));
  return text;
}

}  // namespace tuner::cli
