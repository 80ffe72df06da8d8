// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/sizes.hpp"
#include "tuner/cli/slow_notice.hpp"
#include "tuner/cli/table.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/core/shell_words.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/family/candidate.hpp"
#include "tuner/family/check_promises.hpp"
#include "tuner/family/family.hpp"
#include "tuner/interop/t1_export.hpp"
#include "tuner/interop/t1_import.hpp"
#include "tuner/verify/problem_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

namespace tuner::cli {
namespace {

using Align = Table::Align;

/// A kernel's space bound as the options ask.
struct Bound {
  const family::Kernel& kernel;
  space::Size size;
  space::Space space;
};

space::DeviceInfo chosen_device(const SpaceOptions& options) {
  if (auto device = space::device_profile(options.device)) return std::move(*device);
  throw Error(ErrorCode::usage,
              fmt::format("--device: there is no device '{}'{}", options.device,
                          did_you_mean(options.device, space::device_profile_names())));
}

std::vector<Bound> bind(const family::Family& family, const SpaceOptions& options) {
  const space::DeviceInfo device = chosen_device(options);
  const space::Size wanted = options.size.empty()
                                 ? family.sizes("default").front()
                                 : space::parse_size(options.size, family.problem.dims);
  std::vector<Bound> bound;
  for (const family::Kernel& kernel : family.kernels) {
    if (!options.kernel.empty() && kernel.name != options.kernel) continue;
    space::Size size = wanted;
    // A kernel may be for some sizes alone: it is right if it is at one of those that are listed.
    if (options.action == "check" && options.size.empty()) {
      size = listed_size_for(family, kernel, device.attributes).value_or(wanted);
    }
    bound.push_back({.kernel = kernel,
                     .size = size,
                     .space = space::Space(kernel.space, device.attributes, size)});
  }
  if (bound.empty()) static_cast<void>(family.kernel(options.kernel));  // throws, with a suggestion
  return bound;
}

int check(const family::Family& family, const std::vector<Bound>& bound, const std::string& file) {
  for (const Bound& each : bound) {
    if (each.space.size() == 0) {
      throw Error(
          ErrorCode::no_valid_config,
          fmt::format("{}: kernel {} has no valid configuration; `{}` shows why", file,
                      each.kernel.name,
                      shell_line(std::vector<std::string>{"tune", "space", "count", file})));
    }
    if (const auto violation = each.space.violation(each.space.default_config())) {
      throw Error(ErrorCode::usage,
                  fmt::format("{}: kernels.{}: the default configuration is not valid: {}", file,
                              each.kernel.name, violation->message));
    }
    fmt::print("{}: {}, {}, {} at {}; the default is valid\n", each.kernel.name,
               quantity::count(each.kernel.space->parameters.size(), "parameter"),
               quantity::count(each.kernel.space->constraints.size(), "constraint"),
               quantity::count(each.space.size(), "valid configuration"),
               space::display(each.size, each.kernel.space->dims));
    // Throws where it could not be launched.
    for (std::size_t step = 0; step < each.kernel.steps.size(); ++step) {
      static_cast<void>(family::geometry(
          each.kernel, step, each.space.expression_values(each.space.default_config())));
    }
    const std::string caution = check_sizes_caution(family, each.kernel, each.space, each.size);
    if (!caution.empty()) tell(caution + "\n");
  }
  if (const auto* files = std::get_if<family::NpyReference>(&family.check.reference)) {
    verify::check_files(family, files->size);
  }
  for (const std::string& promise : family::check_promises(family)) fmt::print("{}\n", promise);
  for (const std::string& caution : family::check_cautions(family, bound.front().size)) {
    tell(fmt::format("warning: {}\n", caution));
  }
  return 0;
}

Json count_json(const Bound& bound, const space::Waterfall& waterfall) {
  Json steps = Json::array();
  for (const space::WaterfallStep& step : waterfall.steps) {
    steps.push_back({{"constraint", step.expression},
                     {"why", step.why},
                     {"removed", step.removed},
                     {"left", step.left}});
  }
  return {{"kernel", bound.kernel.name},
          {"size", space::size_json(bound.size, bound.kernel.space->dims)},
          {"cartesian", waterfall.cartesian},
          {"duplicates", waterfall.collapsed},
          {"steps", steps},
          {"valid", bound.space.size()}};
}

int count(const std::vector<Bound>& bound, const CommonOptions& common,
          const SpaceOptions& options) {
  Json document = {
      {"schema", "tune.space/1"}, {"device", options.device}, {"kernels", Json::array()}};
  for (const Bound& each : bound) {
    const space::Waterfall waterfall = each.space.waterfall();
    document["kernels"].push_back(count_json(each, waterfall));
    if (common.json) continue;
    Table table({{fmt::format("{} at {} on {}", each.kernel.name,
                              space::display(each.size, each.kernel.space->dims), options.device)},
                 {"removed", Align::right},
                 {"left", Align::right},
                 {"why"}});
    table.add({"every combination", "", quantity::count(waterfall.cartesian), ""});
    if (waterfall.collapsed > 0) {
      table.add({"inactive parameters", quantity::count(waterfall.collapsed),
                 quantity::count(waterfall.cartesian - waterfall.collapsed),
                 "`when` is false: one default instead"});
    }
    for (const space::WaterfallStep& step : waterfall.steps) {
      table.add({step.expression, quantity::count(step.removed), quantity::count(step.left),
                 step.removed == 0 ? step.why + " (removes nothing here)" : step.why});
    }
    fmt::print("{}{} valid configurations\n\n", table.text(), quantity::count(each.space.size()));
  }
  if (common.json) fmt::print("{}", json_text(document));
  return 0;
}

int show(const family::Family& family, const std::vector<Bound>& bound) {
  fmt::print("family {} ({}), sizes as {}\n", family.name, printable(family.path),
             fmt::join(family.problem.dims.names(), ", "));
  for (const Bound& each : bound) {
    fmt::print("\n{}: {}\n", each.kernel.name, each.kernel.doc);
    Table table({{"parameter"}, {"values"}, {"default", Align::right}, {"meaning"}});
    for (const space::Parameter& parameter : each.kernel.space->parameters) {
      std::vector<std::string> values;
      for (const space::ParameterValue& value : parameter.values) values.push_back(value.text);
      table.add({parameter.name, fmt::format("{}", fmt::join(values, " ")),
                 parameter.values[parameter.default_index].text, parameter.doc});
    }
    fmt::print("{}", table.text());
  }
  return 0;
}

int why(const std::vector<Bound>& bound, const SpaceOptions& options) {
  if (options.config.empty()) {
    throw Error(ErrorCode::usage,
                "which configuration? Write tune space why FILE TILE_M=64,TILE_N=32,…");
  }
  if (bound.size() > 1) {
    throw Error(ErrorCode::usage, "the file has several kernels; name one with --kernel");
  }
  const Bound& each = bound.front();
  const space::SpaceDefinition& definition = each.space.definition();
  const space::Config config =
      each.space.canonical(space::config_from_text(definition, options.config));
  const auto violation = each.space.violation(config);
  fmt::print("{}\n", space::canonical_json(definition, config));
  if (!violation) {
    fmt::print("is valid at {} on {}\n", space::display(each.size, each.kernel.space->dims),
               options.device);
    return 0;
  }
  fmt::print("is rejected by constraint {} of {}: {}\n", violation->constraint + 1,
             definition.constraints.size(), violation->message);
  return static_cast<int>(ErrorCode::no_valid_config);
}

/// Counting and showing look at the space file alone, so that one can begin with it before there is
/// a kernel.
family::Family load_without_sources(const std::filesystem::path& path) {
  constexpr std::size_t kLargestFile = std::size_t{1} << 20;
  const std::string text = read_file(path, kLargestFile);
  const Json document = parse_json(text, path.string());
  std::map<std::string, family::KernelSource> sources;
  if (document.is_object() && document.contains("kernels") && document["kernels"].is_object()) {
    for (const auto& kernel : document["kernels"].items()) sources[kernel.key()] = {};
  }
  return family::parse_family(text, path.string(), sources);
}

/// The way from the folder of the file that is written to that of the file that is read.
std::filesystem::path folder_between(const SpaceOptions& options) {
  namespace fs = std::filesystem;
  const fs::path from = fs::absolute(options.file).parent_path();
  const fs::path to =
      options.output.empty() ? fs::current_path() : fs::absolute(options.output).parent_path();
  return from.lexically_normal().lexically_relative(to.lexically_normal());
}

void write_result(const std::string& text, const SpaceOptions& options) {
  if (options.output.empty()) {
    fmt::print("{}", text);
  } else {
    write_file(options.output, text);
  }
}

int import_space(const CommonOptions& common, const SpaceOptions& options) {
  constexpr std::size_t kLargestFile = std::size_t{1} << 20;
  const interop::ImportedSpace imported =
      interop::import_t1(read_file(options.file, kLargestFile), options.file,
                         folder_between(options), chosen_device(options).attributes);
  write_result(imported.text, options);
  if (common.quiet) return 0;
  for (const std::string& note : imported.notes) tell(fmt::format("note: {}\n", printable(note)));
  return 0;
}

int export_space(const std::vector<Bound>& bound, const family::Family& family,
                 const SpaceOptions& options) {
  if (bound.size() > 1) {
    throw Error(ErrorCode::usage,
                "a T1 file holds one kernel and this file has several; name one with --kernel");
  }
  const Bound& each = bound.front();
  write_result(
      interop::export_t1(family.text, each.kernel.name, *each.kernel.space,
                         chosen_device(options).attributes, each.size, folder_between(options)),
      options);
  return 0;
}

}  // namespace

int space(const CommonOptions& common, const SpaceOptions& options) {
  if (options.action == "import") return import_space(common, options);
  const family::Family family = options.action == "check" ? family::load_family(options.file)
                                                          : load_without_sources(options.file);
  std::optional<SlowNotice> notice;
  if (!common.quiet) {
    notice.emplace(fmt::format("finding the valid configurations of {}; Ctrl-C ends it",
                               printable(options.file)));
  }
  const std::vector<Bound> bound = bind(family, options);
  if (options.action == "export") return export_space(bound, family, options);
  if (options.action == "check") return check(family, bound, options.file);
  if (options.action == "count") return count(bound, common, options);
  if (options.action == "show") return show(family, bound);
  return why(bound, options);
}

}  // namespace tuner::cli
