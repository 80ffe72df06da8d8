// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/snippet.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/shell_words.hpp"
#include "tuner/select/stored_family.hpp"
#include "tuner/source/parameter_type.hpp"
#include "tuner/source/signature.hpp"
#include "tuner/space/required_value.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <type_traits>

namespace tuner::report {
namespace {

constexpr std::uint32_t kSharedBytesWithoutOptIn = 48 * 1024;

/// Another machine's text in a comment of one line.
std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r' || c == '\\'; }, ' ');
  return text;
}

/// The driver's map as whatever type of the same bytes the kernel takes.
constexpr std::string_view kTensorMaps =
    "#include <cuda.h>\n#include <cstdint>\n#include <cstring>\n\n"
    "struct AnyTensorMap {\n"
    "  CUtensorMap map;\n"
    "  template <class Map>\n"
    "  operator Map() const {\n"
    "    static_assert(sizeof(Map) == sizeof map, \"a tensor map has 128 bytes\");\n"
    "    Map same;\n"
    "    std::memcpy(&same, &map, sizeof map);\n"
    "    return same;\n"
    "  }\n"
    "};\n\n"
    "// The map of a tensor, from the last multiple of 16 bytes before it on; strides in bytes.\n"
    "template <class T, unsigned RANK, unsigned STRIDES>\n"
    "CUresult make_tensor_map(AnyTensorMap& to, CUtensorMapDataType type, const T* begin,\n"
    "                         const cuuint64_t (&extents)[RANK], const cuuint64_t "
    "(&strides)[STRIDES],\n"
    "                         const cuuint32_t (&box)[RANK], CUtensorMapSwizzle swizzle) {\n"
    "  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(begin), before = address % "
    "16;\n"
    "  cuuint64_t widened[RANK];\n"
    "  std::memcpy(widened, extents, sizeof extents);\n"
    "  widened[0] += before / sizeof(T);\n"
    "  const cuuint32_t steps[] = {1, 1, 1, 1, 1};\n"
    "  return cuTensorMapEncodeTiled(&to.map, type, RANK, reinterpret_cast<void*>(address - "
    "before),\n"
    "                                widened, strides, box, steps, "
    "CU_TENSOR_MAP_INTERLEAVE_NONE,\n"
    "                                swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,\n"
    "                                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);\n"
    "}\n\n";

/// An array as whatever struct of the same bytes the kernel takes.
constexpr std::string_view kArrays =
    "#include <cstring>\n\n"
    "template <class T, unsigned COUNT>\n"
    "struct AnyArray {\n"
    "  const T (&elements)[COUNT];\n"
    "  template <class Array>\n"
    "  operator Array() const {\n"
    "    static_assert(sizeof(Array) == sizeof elements, \"the kernel takes as many bytes\");\n"
    "    Array same;\n"
    "    std::memcpy(&same, elements, sizeof same);\n"
    "    return same;\n"
    "  }\n"
    "};\n\n";

/// Memory as whatever elements the kernel takes: float2 for floats, a struct, or whichever of
/// `long` and `long long` it has.
constexpr std::string_view kElements =
    "struct AnyElements {\n"
    "  const void* begin;\n"
    "  template <class Element>\n"
    "  operator Element*() const {\n"
    "    return static_cast<Element*>(const_cast<void*>(begin));\n"
    "  }\n"
    "};\n\n";

/// The arguments and scratch buffers, counted as in steps, that a function of the kernel takes as
/// pointers to other types than those that are built in, as far as its source tells.
std::set<std::size_t> taken_as_other_types(const family::Kernel& kernel) {
  std::set<std::size_t> found;
  const std::vector<source::Token> tokens = source::tokens_of(kernel.source.text);
  const source::DeclaredKernels declared(tokens);
  for (const family::KernelStep& step : kernel.steps) {
    const std::string function = source::entry_function(step.entry);
    if (std::ranges::count(declared.names(), function) == 0) continue;
    const source::KernelPlace& place = declared.places(function).front();
    const source::Signature signature = source::signature_at(tokens, place);
    const std::vector<source::Tokens> parameters = source::kernel_parameters(tokens, place);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const source::Declared& parameter = signature.parameters[i];
      const std::string type = fmt::format("{}", fmt::join(parameter.type, " "));
      if (parameter.pointers != 1 || type == "void" ||
          source::parameter_type(parameters[i], {}, {}) ||
          std::ranges::count(signature.of_template, type, &source::Declared::name) > 0) {
        continue;
      }
      if (!step.parameters) {
        found.insert(i);
      } else if (i < step.parameters->size()) {
        const auto* const listed = std::get_if<std::size_t>(&(*step.parameters)[i]);
        if (listed != nullptr) found.insert(*listed);
      }
    }
  }
  return found;
}

/// A name of the source as the printed function, which has variables, has it.
std::string global(const std::string& name) {
  return name.find("::") < name.find('<') ? name : "::" + name;
}

std::set<std::string> variables_of_its_own(std::size_t steps) {
  std::set<std::string> names = {"stream",        "kernel", "programmatic",
                                 "configuration", "error",  "dim3"};
  for (std::size_t step = 0; step < steps; ++step) names.insert(fmt::format("kernel_{}", step));
  return names;
}

/// What the printed function names beside the arguments.
std::set<std::string> names_of_its_own(const family::Kernel& kernel,
                                       const family::CompileJob& job) {
  std::set<std::string> names = variables_of_its_own(job.entries.size());
  for (std::size_t step = 0; step < job.entries.size(); ++step) {
    for (const source::Token& token : source::tokens_of(job.entries[step])) {
      names.emplace(token.text);
    }
  }
  for (const family::SymbolArgument& symbol : kernel.symbols) names.insert(symbol.name);
  return names;
}

bool is_long_integer(family::ElementType type) {
  return type == family::ElementType::s64 || type == family::ElementType::u64;
}

std::string_view cpp_name(family::ElementType type) {
  return family::row(type).cpp_name;
}

/// A number of its very type, in C++.
std::string number_text(const family::Scalar& scalar) {
  return std::visit(
      [](auto number) {
        if constexpr (std::is_floating_point_v<decltype(number)>) {
          constexpr std::string_view kType =
              std::is_same_v<decltype(number), float> ? "float" : "double";
          return fmt::format("static_cast<{}>({})", kType, number);
        } else if constexpr (sizeof number == sizeof(std::int64_t)) {
          return fmt::format("{}LL", number);
        } else {
          return fmt::format("{}{}", number, std::is_signed_v<decltype(number)> ? "" : "u");
        }
      },
      scalar);
}

std::string dim3_text(const std::array<std::uint32_t, 3>& extent) {
  return fmt::format("dim3({}, {}, {})", extent[0], extent[1], extent[2]);
}

}  // namespace

SnippetKernel::SnippetKernel(const store::KernelRecord& record)
    : name_(record.kernel),
      source_name_(record.source_name),
      family_(select::stored_family(record)) {
  select::require_own_code(record, family_);
  other_types_ = taken_as_other_types(kernel());
}

Snippet::Snippet(const SnippetKernel& stored, const space::DeviceInfo& device,
                 std::string_view config_json, const std::vector<std::int64_t>& size)
    : kernel_(stored.kernel().name), source_name_(stored.source_name()) {
  const family::Family& family = stored.family();
  const family::Kernel& kernel = stored.kernel();
  const space::BoundDefinition space(kernel.space, device.attributes, size);
  const space::Config config = space::config_from_json(*kernel.space, config_json);
  const family::CompileJob job = family::compile_job(kernel, space, config);
  const space::ExpressionValues values = space.expression_values(config);
  subject_ =
      fmt::format("{} on {}", space::display(size, family.problem.dims), one_line(device.name));
  is_cuda_ = kernel.runs_on("cuda");
  // What was measured may use what only this very architecture has, as NVRTC compiled it.
  if (const auto capability = device.attributes.compute_capability; capability >= 90) {
    const std::string target = fmt::format("arch=compute_{0}a,code=sm_{0}a", capability);
    options_ = {"-gencode", target};
  }
  for (const std::string_view header : family::type_headers(kernel, values)) {
    type_headers_ += fmt::format("#include <{}>\n", header);
  }
  has_shared_headers_ = std::ranges::any_of(
      kernel.source.headers,
      [](const source::Header& header) { return header.name.starts_with("common/"); });
  other_types_ = stored.other_types();
  taken_names_ = names_of_its_own(kernel, job);
  for (const family::Argument& each : family.arguments) given_names_.insert(each.name);
  for (const family::ScratchBuffer& each : kernel.scratch) given_names_.insert(each.name);
  for (const family::TensorMap& each : kernel.tensor_maps) given_names_.insert(each.name);
  add_arguments(family, values);
  add_scratch(kernel, values);
  add_tensor_maps(kernel, values);
  add_steps(family, kernel, job, values);
  for (const family::SymbolArgument& symbol : kernel.symbols) {
    symbols_.push_back(
        fmt::format("  if (const cudaError_t error = cudaMemcpyToSymbolAsync(\n"
                    "          {}, {}, sizeof {}, 0, cudaMemcpyHostToDevice, stream);\n"
                    "      error != cudaSuccess) {{\n"
                    "    return error;\n"
                    "  }}\n",
                    global(symbol.name), local(family.arguments[symbol.argument].name),
                    local(family.arguments[symbol.argument].name)));
  }
  for (const family::MacroDefinition& macro : kernel.defines) {
    definitions_.push_back(fmt::format(
        "-D{}={}", macro.name, space::required_value(macro.value, values, macro.name + " =")));
  }
  for (std::size_t i = 0; i < kernel.space->parameters.size(); ++i) {
    const space::Parameter& parameter = kernel.space->parameters[i];
    definitions_.push_back(
        fmt::format("-D{}={}", parameter.name, parameter.values[config.choice[i]].text));
  }
  for (const std::string& option : job.options) {
    if (std::ranges::count(definitions_, option) == 0) {
      options_.push_back(option);
      continue;
    }
    const std::size_t name = std::string_view("-D").size(), equals = option.find('=');
    macros_.emplace_back(option.substr(name, equals - name), option.substr(equals + 1));
  }
}

std::string Snippet::local(const std::string& name) const {
  std::string free = name;
  while (taken_names_.contains(free) || (free != name && given_names_.contains(free))) free += '_';
  return free;
}

void Snippet::add_arguments(const family::Family& family, const space::ExpressionValues& values) {
  for (const auto& [given, what] : family.arguments) {
    const std::string name = local(given);
    if (const auto* array = std::get_if<family::ArrayArgument>(&what)) {
      const std::string_view type = cpp_name(array->type.at(values));
      const std::size_t count =
          family::elements_in(array->type.at(values), family::array_bytes(*array, given, values));
      parameters_.push_back(fmt::format("const {} (&{})[{}]", type, name, count));
      arguments_.push_back(fmt::format("AnyArray<{}, {}>{{{}}}", type, count, name));
      passed_.push_back(arguments_.back());
      has_arrays_ = has_arrays_ || array->symbol.empty();
      continue;
    }
    arguments_.push_back(name);
    const auto* const buffer = std::get_if<family::BufferArgument>(&what);
    passed_.push_back(buffer != nullptr ? passed(name, buffer->type.at(values)) : name);
    if (buffer != nullptr) {
      parameters_.push_back(fmt::format("{}{}* {}",
                                        buffer->role == family::BufferRole::input ? "const " : "",
                                        cpp_name(buffer->type.at(values)), name));
      if (buffer->initial == family::InitialContent::zero) zeroed_.push_back(name);
      continue;
    }
    const auto& scalar = std::get<family::ScalarArgument>(what);
    if (scalar.value.slots().empty()) {  // the same at every size: the caller's to choose
      parameters_.push_back(fmt::format("{} {}", cpp_name(scalar.type.at(values)), name));
    } else {
      static_cast<void>(family::scalar_value(scalar, given, values));  // that it fits
      constants_.emplace_back(
          name, fmt::format("  const {} {} = {};\n", cpp_name(scalar.type.at(values)), name,
                            space::required_value(scalar.value, values, given + " =")));
    }
  }
}

std::string Snippet::passed(const std::string& pointer, family::ElementType type) {
  if (!other_types_.contains(passed_.size()) && !is_long_integer(type)) return pointer;
  has_other_types_ = true;
  return fmt::format("AnyElements{{{}}}", pointer);
}

void Snippet::add_scratch(const family::Kernel& kernel, const space::ExpressionValues& values) {
  for (const family::ScratchBuffer& buffer : kernel.scratch) {
    const std::string name = local(buffer.name);
    arguments_.push_back(name);
    passed_.push_back(passed(name, buffer.type.at(values)));
    parameters_.push_back(fmt::format("{}* {}", cpp_name(buffer.type.at(values)), name));
    const std::int64_t count = std::max<std::int64_t>(
        1, space::required_value(buffer.count, values, buffer.name + ": count"));
    scratch_.push_back(fmt::format("{} ({} x {})", name, count, cpp_name(buffer.type.at(values))));
  }
}

void Snippet::add_tensor_maps(const family::Kernel& kernel, const space::ExpressionValues& values) {
  const std::vector<family::TensorLayout> layouts = family::tensor_layouts(kernel, values);
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    const family::TensorLayout& layout = layouts[i];
    const std::string name = local(kernel.tensor_maps[i].name);
    passed_.push_back(name);
    std::vector<std::uint64_t> strides;  // in bytes; a tensor of one extent has none
    for (const std::uint64_t stride : layout.strides) {
      strides.push_back(family::bytes_of(layout.type, static_cast<std::int64_t>(stride)));
    }
    if (strides.empty()) strides.push_back(0);
    arguments_.push_back(name);
    tensor_maps_.push_back(fmt::format(
        "  AnyTensorMap {0};\n"
        "  if (make_tensor_map({0}, {1}, {2} + {3},\n"
        "                      {{{4}}}, {{{5}}}, {{{6}}},\n"
        "                      CU_TENSOR_MAP_SWIZZLE_{7}) != CUDA_SUCCESS) {{\n"
        "    return cudaErrorInvalidValue;\n"
        "  }}\n",
        name, family::row(layout.type).tensor_map.name, arguments_[layout.argument], layout.offset,
        fmt::join(layout.extents, ", "), fmt::join(strides, ", "), fmt::join(layout.box, ", "),
        layout.swizzle_bytes == 0 ? "NONE" : fmt::format("{}B", layout.swizzle_bytes)));
  }
}

/// Of the arguments that were added each function takes some, in an order of its own.
void Snippet::add_steps(const family::Family& family, const family::Kernel& kernel,
                        const family::CompileJob& job, const space::ExpressionValues& values) {
  for (std::size_t i = 0; i < kernel.steps.size(); ++i) {
    Step step{
        .entry = job.entries[i], .geometry = family::geometry(kernel, i, values), .arguments = {}};
    for (const family::TakenArgument& each :
         family::taken_arguments(kernel, i, family.arguments.size(), values)) {
      const auto* const place = std::get_if<std::size_t>(&each);
      step.arguments.push_back(place != nullptr ? passed_[*place]
                                                : number_text(std::get<family::Scalar>(each)));
    }
    steps_.push_back(std::move(step));
  }
}

std::string Snippet::compiler_arguments() const {
  std::vector<std::string> arguments = definitions_;
  arguments.insert(arguments.end(), options_.begin(), options_.end());
  return shell_line(arguments);
}

std::string Snippet::heading() const {
  std::string text = fmt::format("// {} at {}; nvcc needs -I with the folder of {}", kernel_,
                                 subject_, source_name_);
  if (has_shared_headers_) text += ", and with its parent folder for common/";
  if (!options_.empty()) text += fmt::format(", compile with {}", one_line(shell_line(options_)));
  if (!tensor_maps_.empty()) text += ", link with -lcuda";
  text += "\n" + type_headers_;
  for (const auto& [name, value] : macros_) text += fmt::format("#define {} {}\n", name, value);
  text += fmt::format("#include \"{}\"\n", source_name_);
  for (const auto& [name, value] : macros_) text += fmt::format("#undef {}\n", name);
  text += "\n#include <cuda_runtime.h>\n\n";
  if (!tensor_maps_.empty()) text += kTensorMaps;
  if (has_arrays_) text += kArrays;
  if (has_other_types_) text += kElements;
  if (!zeroed_.empty()) {
    text += fmt::format("// Zero before each call: {}\n", fmt::join(zeroed_, ", "));
  }
  if (!scratch_.empty()) {
    text += fmt::format(
        "// Scratch memory: zero before the first call, not shared by concurrent launches:\n// "
        "{}\n",
        fmt::join(scratch_, ", "));
  }
  return text;
}

std::string Snippet::body() const {
  std::string text;
  for (const auto& [name, constant] : constants_) {
    const auto takes_it = [&](const Step& step) {
      return std::ranges::count(step.arguments, name) > 0;
    };
    if (std::ranges::any_of(steps_, takes_it)) text += constant;
  }
  for (const std::string& map : tensor_maps_) text += map;
  for (const std::string& symbol : symbols_) text += symbol;
  for (std::size_t step = 0; step < steps_.size(); ++step) text += launch(step);
  return text;
}

std::string Snippet::launch(std::size_t step) const {
  const auto& [entry, geometry, arguments] = steps_[step];
  const std::string kernel = steps_.size() == 1 ? "kernel" : fmt::format("kernel_{}", step);
  const bool is_hidden =
      variables_of_its_own(steps_.size()).contains(source::entry_function(entry));
  std::string text =
      fmt::format("  const auto {} = {};\n", kernel, is_hidden ? global(entry) : entry);
  if (geometry.dynamic_shared_bytes > kSharedBytesWithoutOptIn) {
    text += fmt::format(
        "  if (const cudaError_t error = cudaFuncSetAttribute(\n"
        "          {}, cudaFuncAttributeMaxDynamicSharedMemorySize, {});\n"
        "      error != cudaSuccess) {{\n"
        "    return error;\n"
        "  }}\n",
        kernel, geometry.dynamic_shared_bytes);
  }
  if (geometry.programmatic) {
    return text + fmt::format(
                      "  {{\n"
                      "    cudaLaunchAttribute programmatic = {{}};\n"
                      "    programmatic.id = cudaLaunchAttributeProgrammaticStreamSerialization;\n"
                      "    programmatic.val.programmaticStreamSerializationAllowed = 1;\n"
                      "    cudaLaunchConfig_t configuration = {{}};\n"
                      "    configuration.gridDim = {};\n"
                      "    configuration.blockDim = {};\n"
                      "    configuration.dynamicSmemBytes = {};\n"
                      "    configuration.stream = stream;\n"
                      "    configuration.attrs = &programmatic;\n"
                      "    configuration.numAttrs = 1;\n"
                      "    cudaLaunchKernelEx(&configuration, {}, {});\n"
                      "  }}\n",
                      dim3_text(geometry.grid), dim3_text(geometry.block),
                      geometry.dynamic_shared_bytes, kernel, fmt::join(arguments, ", "));
  }
  return text + fmt::format("  {}<<<{}, {}, {}, stream>>>({});\n", kernel, dim3_text(geometry.grid),
                            dim3_text(geometry.block), geometry.dynamic_shared_bytes,
                            fmt::join(arguments, ", "));
}

std::string Snippet::cpp() const {
  return fmt::format(
      "{}[[maybe_unused]] static cudaError_t launch_{}({}, cudaStream_t stream) {{\n{}  return "
      "cudaGetLastError();\n}}\n",
      heading(), kernel_, fmt::join(parameters_, ", "), body());
}

}  // namespace tuner::report
