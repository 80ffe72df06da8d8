// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/snippet.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

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

std::int64_t value_at(const Expression& expression, const std::string& name, const Slots& slots) {
  const auto value = expression.evaluate(slots);
  if (value) return *value;
  throw Error(ErrorCode::usage, fmt::format("argument '{}' = {} has no value at this size: {}",
                                            name, expression.text(), tuner::name(value.error())));
}

/// Another machine's text in a comment of one line.
std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r' || c == '\\'; }, ' ');
  return text;
}

std::string dim3_text(const std::array<std::uint32_t, 3>& extent) {
  return fmt::format("dim3({}, {}, {})", extent[0], extent[1], extent[2]);
}

}  // namespace

Snippet::Snippet(const KernelRecord& record, const DeviceInfo& device, std::string_view config_json,
                 const std::vector<std::int64_t>& size)
    : kernel_(record.kernel), source_name_(record.source_name) {
  const Family family = stored_family(record);
  const Kernel& kernel = family.kernel(record.kernel);
  const Space space(kernel.space, device.attributes, size);
  const Config config = config_from_json(*kernel.space, config_json);
  const CompileJob job = compile_job(kernel, space, config);
  const Slots slots = space.slots(config);
  subject_ = fmt::format("{} on {}", display(size, family.problem.dims), one_line(device.name));
  entry_ = job.entry;
  options_ = job.options;
  geometry_ = geometry(kernel, slots);
  add_arguments(family, slots);
  add_scratch(kernel, slots);
  for (std::size_t i = 0; i < kernel.space->parameters.size(); ++i) {
    const Parameter& parameter = kernel.space->parameters[i];
    definitions_.push_back(
        fmt::format("-D{}={}", parameter.name, parameter.values[config.choice[i]].text));
  }
}

void Snippet::add_arguments(const Family& family, const Slots& slots) {
  for (const auto& [name, what] : family.arguments) {
    arguments_.push_back(name);
    if (const auto* buffer = std::get_if<BufferArgument>(&what)) {
      parameters_.push_back(fmt::format("{}{}* {}",
                                        buffer->role == BufferRole::input ? "const " : "",
                                        tuner::name(buffer->type), name));
      continue;
    }
    const auto& scalar = std::get<ScalarArgument>(what);
    if (scalar.value.slots().empty()) {  // the same at every size: the caller's to choose
      parameters_.push_back(fmt::format("{} {}", tuner::name(scalar.type), name));
    } else {
      constants_.push_back(fmt::format("const {} {} = {}", tuner::name(scalar.type), name,
                                       value_at(scalar.value, name, slots)));
    }
  }
}

void Snippet::add_scratch(const Kernel& kernel, const Slots& slots) {
  for (const ScratchBuffer& buffer : kernel.scratch) {
    arguments_.push_back(buffer.name);
    parameters_.push_back(fmt::format("{}* {}", name(buffer.type), buffer.name));
    const std::int64_t count =
        std::max<std::int64_t>(1, value_at(buffer.count, buffer.name, slots));
    scratch_.push_back(fmt::format("{} ({} x {})", buffer.name, count, name(buffer.type)));
  }
}

std::string Snippet::compiler_arguments() const {
  return fmt::format("{}", fmt::join(definitions_, " "));
}

std::string Snippet::heading() const {
  std::string text = fmt::format("// {} at {}; nvcc finds {} in a folder named with -I", kernel_,
                                 subject_, source_name_);
  if (!options_.empty()) text += fmt::format(", compile with {}", fmt::join(options_, " "));
  text += fmt::format("\n#include \"{}\"\n\n#include <cuda_runtime.h>\n\n", source_name_);
  if (!scratch_.empty()) {
    text += fmt::format(
        "// Of the kernel's own, zero before the first call, not shared by launches that overlap:\n"
        "// {}\n",
        fmt::join(scratch_, ", "));
  }
  return text;
}

std::string Snippet::body() const {
  std::string text;
  for (const std::string& constant : constants_) text += fmt::format("  {};\n", constant);
  text += fmt::format("  const auto kernel = {};\n", entry_);
  if (geometry_.dynamic_shared_bytes > kSharedBytesWithoutOptIn) {
    text += fmt::format(
        "  if (const cudaError_t error = cudaFuncSetAttribute(\n"
        "          kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, {});\n"
        "      error != cudaSuccess) {{\n"
        "    return error;\n"
        "  }}\n",
        geometry_.dynamic_shared_bytes);
  }
  return text + fmt::format("  kernel<<<{}, {}, {}, stream>>>({});\n", dim3_text(geometry_.grid),
                            dim3_text(geometry_.block), geometry_.dynamic_shared_bytes,
                            fmt::join(arguments_, ", "));
}

std::string Snippet::cpp() const {
  return fmt::format(
      "{}inline cudaError_t launch_{}({}, cudaStream_t stream) {{\n{}  return "
      "cudaGetLastError();\n}}\n",
      heading(), kernel_, fmt::join(parameters_, ", "), body());
}

}  // namespace tuner::cli
