// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/candidate.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/hash.hpp"
#include "tuner/family/entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <span>

namespace tuner::family {
namespace {

/// The least and the greatest value that a quantity of a launch may have.
struct Range {
  std::int64_t minimum;
  std::int64_t maximum;
};

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
constexpr std::array<Range, 3> kGridRange = {{{1, 2147483647}, {1, 65535}, {1, 65535}}};
constexpr std::array<Range, 3> kBlockRange = {{{1, 1024}, {1, 1024}, {1, 64}}};
constexpr std::int64_t kMaximumThreads = 1024;
constexpr Range kSharedRange = {0, std::numeric_limits<std::int32_t>::max()};
// CUDA Driver API, cuTensorMapEncodeTiled; strides there are in bytes.
constexpr Range kExtentRange = {1, std::int64_t{1} << 32};
constexpr std::int64_t kStrideEndBytes = std::int64_t{1} << 40;
constexpr Range kBoxRange = {1, 256};
constexpr Range kSwizzleRange = {0, 128};
constexpr Range kAnyNumber = {std::numeric_limits<std::int64_t>::min(),
                              std::numeric_limits<std::int64_t>::max()};

/// The text that replaces ${name}: a parameter's chosen value, a derived value or a type in C++.
std::string replacement(std::string_view name, const space::SpaceDefinition& definition,
                        const space::Config& config, const space::ExpressionValues& values) {
  for (std::size_t i = 0; i < definition.parameters.size(); ++i) {
    const space::Parameter& parameter = definition.parameters[i];
    if (parameter.name == name) return parameter.values[config.choice[i]].text;
  }
  if (const auto type = type_named(definition.dims, name)) {
    return std::string(row(type->at(values)).cpp_name);
  }
  const std::int64_t value = values[definition.scope.find(name)->slot];
  const auto dimension = definition.dims.find(name);
  return dimension ? definition.dims[*dimension].text_of(value) : fmt::format("{}", value);
}

std::string expand(std::string_view entry, const space::SpaceDefinition& definition,
                   const space::ExpressionValues& values, const space::Config& config) {
  std::string result;
  for (const EntryPiece& piece : split_entry(entry)) {
    result += piece.literal;
    if (!piece.name.empty()) result += replacement(piece.name, definition, config, values);
  }
  return result;
}

/// The source after the headers of types, so that one which is compiled for several types includes
/// none of them.
std::string with_headers(const std::vector<std::string_view>& headers, const std::string& source) {
  if (headers.empty()) return source;
  std::string text;
  for (const std::string_view header : headers) text += fmt::format("#include <{}>\n", header);
  return text + "#line 1\n" + source;
}

/// What the chosen values of parameters make of the compiler's options.
std::vector<std::string> chosen_options(const space::SpaceDefinition& definition,
                                        const space::Config& config) {
  std::vector<std::string> options;
  for (std::size_t i = 0; i < definition.parameters.size(); ++i) {
    const space::Parameter& parameter = definition.parameters[i];
    const space::ParameterValue& value = parameter.values[config.choice[i]];
    if (parameter.kind == space::ParameterKind::define) {
      options.push_back(fmt::format("-D{}={}", parameter.name, value.text));
    } else if (parameter.kind == space::ParameterKind::option && value.number != 0) {
      options.push_back(value.text == "true" ? parameter.option
                                             : fmt::format("{}={}", parameter.option, value.text));
    }
  }
  return options;
}

/// Labels divide the lists, so that nothing can move from one to the next unnoticed.
std::string key_of(const CompileJob& job) {
  std::vector<std::string_view> parts = {"source", job.source.name, job.source.text, "headers"};
  for (const source::Header& header : job.source.headers) {
    parts.insert(parts.end(), {header.name, header.text});
  }
  parts.emplace_back("entry");
  parts.insert(parts.end(), job.entries.begin(), job.entries.end());
  parts.emplace_back("options");
  parts.insert(parts.end(), job.options.begin(), job.options.end());
  return content_hash(parts);
}

/// Evaluates one expression of a kernel; `what` names it in messages, or a list whose element
/// `index` it is.
std::int64_t value_in(Range range, const Kernel& kernel, const space::Expression& expression,
                      const space::ExpressionValues& values, std::string_view what,
                      std::optional<std::size_t> index = std::nullopt) {
  const auto value = expression.evaluate(values);
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorCode::usage,
                fmt::format("kernel {}: {}{} = {} {}", kernel.name, what,
                            index ? fmt::format("[{}]", *index) : "", expression.text(), why));
  };
  if (!value) {
    const bool is_fraction = value.error() == space::Fault::not_an_integer;
    fail(fmt::format("has no value: {}{}", space::name(value.error()),
                     is_fraction ? "; ceil_div(a, b) rounds a/b up, a // b down" : ""));
  }
  if (*value < range.minimum || *value > range.maximum) {
    fail(fmt::format("is {}, outside of {} … {}", *value, range.minimum, range.maximum));
  }
  return *value;
}

std::vector<std::int64_t> values_in(Range range, const Kernel& kernel,
                                    std::span<const space::Expression> expressions,
                                    const space::ExpressionValues& values,
                                    const std::string& what) {
  std::vector<std::int64_t> results;
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    results.push_back(value_in(range, kernel, expressions[i], values, what, i));
  }
  return results;
}

std::array<std::uint32_t, 3> extents(const Kernel& kernel,
                                     std::span<const space::Expression> expressions,
                                     const space::ExpressionValues& values,
                                     std::span<const Range, 3> ranges, std::string_view what) {
  std::array<std::uint32_t, 3> result{1, 1, 1};
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    result[i] =
        static_cast<std::uint32_t>(value_in(ranges[i], kernel, expressions[i], values, what, i));
  }
  return result;
}

/// Throws Error(usage) where a number or an array has no value, or one that cannot be passed.
void check_argument(const Argument& argument, const space::ExpressionValues& values) {
  if (const auto* const number = std::get_if<ScalarArgument>(&argument.what)) {
    static_cast<void>(scalar_value(*number, argument.name, values));
  } else if (const auto* const array = std::get_if<ArrayArgument>(&argument.what)) {
    static_cast<void>(array_bytes(*array, argument.name, values));
  }
}

/// "launch", or "steps[1].launch": the place of a step's launch in the space file.
std::string launch_path(const Kernel& kernel, std::size_t step) {
  return kernel.steps.size() == 1 ? "launch" : fmt::format("steps[{}].launch", step);
}

}  // namespace

space::ExpressionValues family_values(const space::Size& size) {
  space::ExpressionValues values(space::attribute_fields().size(), 0);
  values.insert(values.end(), size.begin(), size.end());
  return values;
}

std::vector<std::string_view> type_headers(const Kernel& kernel,
                                           const space::ExpressionValues& values) {
  std::set<std::string_view> headers;
  for (const KernelStep& step : kernel.steps) {
    for (const EntryPiece& piece : split_entry(step.entry)) {
      const auto type = type_named(kernel.space->dims, piece.name);
      if (type) headers.insert(row(type->at(values)).header);
    }
  }
  headers.erase("");
  return {headers.begin(), headers.end()};
}

CompileJob compile_job(const Kernel& kernel, const space::BoundDefinition& space,
                       const space::Config& config) {
  return compile_job(kernel, space.expression_values(config), config);
}

CompileJob compile_job(const Kernel& kernel, const space::ExpressionValues& values,
                       const space::Config& config) {
  CompileJob job;
  job.source = kernel.source;
  job.source.text = with_headers(type_headers(kernel, values), kernel.source.text);
  for (const KernelStep& step : kernel.steps) {
    job.entries.push_back(expand(step.entry, *kernel.space, values, config));
  }
  job.options = kernel.options;
  for (std::string& option : chosen_options(*kernel.space, config)) {
    job.options.push_back(std::move(option));
  }
  for (const MacroDefinition& macro : kernel.defines) {
    job.options.push_back(fmt::format(
        "-D{}={}", macro.name,
        value_in(kAnyNumber, kernel, macro.value, values, fmt::format("defines.{}", macro.name))));
  }
  job.key = key_of(job);
  return job;
}

Geometry geometry(const Kernel& kernel, std::size_t step, const space::ExpressionValues& values) {
  const KernelStep& launched = kernel.steps.at(step);
  const std::string path = launch_path(kernel, step);
  Geometry result;
  result.grid = extents(kernel, launched.grid, values, kGridRange, path + ".grid");
  result.block = extents(kernel, launched.block, values, kBlockRange, path + ".block");
  result.dynamic_shared_bytes = static_cast<std::uint32_t>(value_in(
      kSharedRange, kernel, launched.dynamic_shared_bytes, values, path + ".dynamic_shared_bytes"));
  if (launched.programmatic) {
    constexpr Range kZeroOrOne = {0, 1};
    result.programmatic =
        value_in(kZeroOrOne, kernel, *launched.programmatic, values, path + ".programmatic") == 1;
  }
  const std::int64_t threads = std::int64_t{result.block[0]} * result.block[1] * result.block[2];
  if (threads > kMaximumThreads) {
    throw Error(ErrorCode::usage,
                fmt::format("kernel {}: {}.block is {}x{}x{} = {} threads; a block has at most {}",
                            kernel.name, path, result.block[0], result.block[1], result.block[2],
                            threads, kMaximumThreads));
  }
  return result;
}

std::vector<TensorLayout> tensor_layouts(const Kernel& kernel,
                                         const space::ExpressionValues& values) {
  std::vector<TensorLayout> layouts;
  for (const TensorMap& map : kernel.tensor_maps) {
    const auto each_of = [&](Range range, const std::vector<space::Expression>& expressions,
                             std::string_view what) {
      return values_in(range, kernel, expressions, values,
                       fmt::format("tensor map {}: {}", map.name, what));
    };
    const ElementType type = map.type.at(values);
    const auto bytes = static_cast<std::int64_t>(element_bytes(type));
    const Range stride_range = {1, (kStrideEndBytes - 1) / bytes};
    const Range offset_range = {0, stride_range.maximum};
    const std::int64_t offset = value_in(offset_range, kernel, map.offset, values,
                                         fmt::format("tensor map {}: offset", map.name));
    const auto extents = each_of(kExtentRange, map.extents, "extents");
    const auto strides = each_of(stride_range, map.strides, "strides");
    const auto box = each_of(kBoxRange, map.box, "box");
    const std::int64_t swizzle = value_in(kSwizzleRange, kernel, map.swizzle_bytes, values,
                                          fmt::format("tensor map {}: swizzle", map.name));
    layouts.push_back({.argument = map.argument,
                       .type = type,
                       .offset = static_cast<std::uint64_t>(offset),
                       .extents = {extents.begin(), extents.end()},
                       .strides = {strides.begin(), strides.end()},
                       .box = {box.begin(), box.end()},
                       .swizzle_bytes = static_cast<std::uint32_t>(swizzle)});
  }
  return layouts;
}

std::vector<TakenArgument> taken_arguments(const Kernel& kernel, std::size_t step,
                                           std::size_t family_arguments,
                                           const space::ExpressionValues& values) {
  const auto& parameters = kernel.steps.at(step).parameters;
  std::vector<TakenArgument> taken;
  if (!parameters) {
    const std::size_t count = family_arguments + kernel.scratch.size() + kernel.tensor_maps.size();
    for (std::size_t place = 0; place < count; ++place) taken.emplace_back(place);
    return taken;
  }
  for (const KernelParameter& parameter : *parameters) {
    if (const auto* place = std::get_if<std::size_t>(&parameter)) {
      taken.emplace_back(*place);
      continue;
    }
    const auto& [name, number] = std::get<KernelNumber>(parameter);
    taken.emplace_back(scalar_value(number, name, values));
  }
  return taken;
}

std::optional<std::string> why_no_launch(const std::vector<Argument>& arguments,
                                         const Kernel& kernel,
                                         const space::ExpressionValues& values) {
  try {
    for (std::size_t step = 0; step < kernel.steps.size(); ++step) {
      static_cast<void>(geometry(kernel, step, values));
      for (const TakenArgument& taken : taken_arguments(kernel, step, arguments.size(), values)) {
        const auto* const place = std::get_if<std::size_t>(&taken);
        if (place != nullptr && *place < arguments.size())
          check_argument(arguments[*place], values);
      }
    }
    static_cast<void>(tensor_layouts(kernel, values));
  } catch (const Error& error) {
    return error.what();
  }
  return std::nullopt;
}

space::ExpressionValues values_at_size(const Kernel& kernel, const space::BoundDefinition& space,
                                       const space::Config& config, const space::Size& size) {
  const space::SpaceDefinition& definition = space.definition();
  space::ExpressionValues values = space.expression_values(config);
  const std::span extents =
      std::span(values).subspan(space::attribute_fields().size(), size.size());
  if (std::ranges::equal(extents, size)) return values;
  std::ranges::copy(size, extents.begin());
  for (const space::Derived& derived : definition.derived) {
    const auto value = derived.expression.evaluate(values);
    if (!value) {
      throw Error(
          ErrorCode::usage,
          fmt::format("kernel {}: the derived value {} = {} has no value at the size {}: {}",
                      kernel.name, derived.name, derived.expression.text(),
                      space::display(size, definition.dims), space::name(value.error())));
    }
    values[derived.slot] = *value;
  }
  return values;
}

}  // namespace tuner::family
