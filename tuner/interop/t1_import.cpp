// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/t1_import.hpp"

#include "tuner/core/element_type.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/trust.hpp"
#include "tuner/interop/recording_formats.hpp"
#include "tuner/interop/t1_kernel.hpp"
#include "tuner/interop/t1_space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace tuner::interop {
namespace {

/// The letters, digits and underscores at the beginning of a text, as a name.
std::string name_from(const std::string& text, const std::string& otherwise) {
  constexpr std::size_t kLongest = 64;
  const std::size_t end =
      text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
  const std::string name = text.substr(0, std::min(end, kLongest));
  return space::is_name(name) ? name : otherwise;
}

/// What a kernel moves at least: its buffers, each once.
std::string bytes_of(const Json& arguments) {
  std::vector<std::string> sums;
  for (const Json& argument : arguments) {
    if (!argument.contains("count")) continue;
    std::string type = argument["type"].get<std::string>();
    type.pop_back();
    sums.push_back(fmt::format("{}*({})", size_bytes(*element_type_from_name(type)),
                               argument["count"].get<std::string>()));
  }
  return fmt::format("{}", fmt::join(sums, " + "));
}

Json space_file(const std::string& family, const T1Problem& problem, const Json& arguments,
                const std::string& kernel_name, Json kernel) {
  return {{"format", "space/1"},
          {"family", family},
          {"problem",
           {{"dims", problem.dims},
            {"flops", 0},
            {"bytes", bytes_of(arguments)},
            {"sizes", {{"default", Json::array({problem.size})}}}}},
          {"arguments", arguments},
          {"check", {{"reference", {{"kernel", kernel_name}}}}},
          {"kernels", {{kernel_name, std::move(kernel)}}}};
}

std::vector<std::string> general_notes(const Json& specification, const T1Space& space,
                                       const std::string& kernel) {
  std::vector<std::string> notes;
  const std::string language = name_member(specification, "Language");
  if (language != "CUDA") {
    notes.push_back(fmt::format("the kernel's language is {}; the source must be CUDA C++",
                                language.empty() ? "not stated" : language));
  }
  if (!member(specification, "ProblemSize").is_array()) {
    notes.emplace_back(
        "T1 states no ProblemSize: sizes are constants here; write them with the dimensions of "
        "`problem.dims` to tune more than one");
  }
  if (!space.changed_defaults.empty()) {
    notes.push_back(
        fmt::format("the stated default breaks a condition; the default is changed to {}",
                    fmt::join(space.changed_defaults, " ")));
  }
  notes.emplace_back(
      "T1 does not say how many floating-point operations a size takes: state them in "
      "`problem.flops` to see rates");
  notes.push_back(fmt::format(
      "T1's reference data is ignored: `check.reference` is {} at its default, so configurations "
      "are compared only with each other; name a correct reference kernel, or an operation",
      kernel));
  return notes;
}

std::string source_of(const Json& specification, const std::filesystem::path& folder,
                      std::string_view origin) {
  const std::string file = text_member(specification, "KernelFile");
  if (file.empty()) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: KernelSpecification.KernelFile is missing", origin));
  }
  const auto normal = std::filesystem::path(file).lexically_normal();
  std::error_code missing;
  const auto real = std::filesystem::canonical(folder / normal, missing);
  const bool is_outside =
      missing ? normal.is_absolute() || *normal.begin() == ".." : !lies_below(real, folder);
  if (is_outside && !names_code(missing ? normal : real)) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: KernelSpecification.KernelFile {} is outside of the file's folder "
                            "and does not have the suffix of a source (.cu, .cuh, .cpp, .h, …): "
                            "move the kernel into that folder",
                            origin, in_quotes(missing ? file : real.string())));
  }
  return (folder / normal).lexically_normal().generic_string();
}

}  // namespace

ImportedSpace import_t1(std::string_view text, std::string_view origin,
                        const std::filesystem::path& folder,
                        const space::DeviceAttributes& device) {
  const Json t1 = parse_json(text, origin);
  if (!member(t1, "ConfigurationSpace").is_object()) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: is not a T1 file: 'ConfigurationSpace' is missing", origin));
  }
  const Json& specification = member(t1, "KernelSpecification");
  const T1Space space = read_t1_space(t1, origin, device);
  const T1Problem problem = read_t1_problem(specification);
  const space::SpaceDefinition definition = space::parse_space_definition(
      {{"parameters", space.parameters}}, space::Dimensions(problem.dims), origin);
  const T1Part arguments = read_t1_arguments(specification, problem, definition);
  const T1Part launch = read_t1_launch(specification, problem, definition);
  const T1Part options = read_t1_options(specification);
  const std::string entry = text_member(specification, "KernelName");
  const std::string name = name_from(entry, "kernel");
  Json kernel = {{"source", source_of(specification, folder, origin)},
                 {"entry", entry.empty() ? name : entry}};
  if (!options.json.empty()) kernel["options"] = options.json;
  kernel["parameters"] = space.parameters;
  kernel["constraints"] = space.constraints;
  kernel["launch"] = launch.json;
  const std::string family = name_from(text_member(member(t1, "General"), "BenchmarkName"), name);
  const Json document = space_file(family, problem, arguments.json, name, std::move(kernel));
  ImportedSpace imported{.text = document.dump(2) + "\n",
                         .notes = general_notes(specification, space, name)};
  for (const T1Part* part : {&options, &arguments, &launch}) {
    std::ranges::copy(part->notes, std::back_inserter(imported.notes));
  }
  return imported;
}

}  // namespace tuner::interop
