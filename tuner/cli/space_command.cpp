// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/coverage.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/sizes.hpp"
#include "tuner/cli/table.hpp"
#include "tuner/cli/time_limit.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/file_errors.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/core/shell_words.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/family/awkward_sizes.hpp"
#include "tuner/family/check_entries.hpp"
#include "tuner/family/check_promises.hpp"
#include "tuner/family/data_files.hpp"
#include "tuner/family/family.hpp"
#include "tuner/family/space_draft.hpp"
#include "tuner/interop/t1.hpp"
#include "tuner/source/source.hpp"
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

constexpr std::size_t kLargestSpaceFile = std::size_t{1} << 20;

/// A kernel's space bound as the options ask.
struct Bound {
  const family::Kernel& kernel;
  space::Size size;
  space::Space space;
  std::string device;  ///< as the user named it
};

space::DeviceInfo chosen_device(const SpaceOptions& options) {
  if (auto device = space::device_profile(options.device)) return std::move(*device);
  throw Error(ErrorCode::usage,
              fmt::format("--device: there is no device '{}'{}", options.device,
                          did_you_mean(options.device, space::device_profile_names())));
}

/// Shows why a kernel has no configuration.
std::string count_command(const Bound& each, const std::string& file) {
  return shell_line(std::vector<std::string>{"tune", "space", "count", file, "--kernel",
                                             each.kernel.name, "--device", each.device});
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
                     .space = space::Space(kernel.space, device.attributes, size),
                     .device = options.device});
  }
  if (bound.empty()) static_cast<void>(family.kernel(options.kernel));  // throws, with a suggestion
  return bound;
}

/// A kernel as `check` reports it.
Json checked_kernel(const Bound& each) {
  return {{"kernel", each.kernel.name},
          {"unproven", each.kernel.unproven},
          {"size", space::size_json(each.size, each.kernel.space->dims)},
          {"parameters", each.kernel.space->parameters.size()},
          {"constraints", each.kernel.space->constraints.size()},
          {"valid", each.space.size()}};
}

/// Of one whose default can be launched; throws otherwise. An unproven one may be for other
/// devices.
Json checked(const family::Family& family, const Bound& each, const std::string& file) {
  if (each.space.size() == 0) {
    if (!each.kernel.unproven.empty()) return checked_kernel(each);
    throw Error(ErrorCode::no_valid_config,
                fmt::format("{}: kernel {} has no valid configuration; `{}` shows why", file,
                            each.kernel.name, count_command(each, file)));
  }
  if (const auto violation = each.space.violation(each.space.default_config())) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: kernels.{}: the default configuration is not valid: {}", file,
                            each.kernel.name, violation->message));
  }
  const std::string why =
      why_no_launch(family, each.kernel, each.space, each.space.default_config(), each.size);
  if (!why.empty()) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: at {}, default configuration: {}", file,
                            space::display(each.size, each.kernel.space->dims), why));
  }
  return checked_kernel(each);
}

/// Throws where an array file does not fit a size at which it is needed; the files that are not
/// there, unless they hold the results.
std::vector<std::string> check_npy_files(const family::Family& family,
                                         const std::vector<Bound>& bound) {
  if (const auto* files = std::get_if<family::NpyReference>(&family.check.reference)) {
    verify::check_files(family, files->size);
    return {};
  }
  const std::vector<std::filesystem::path> files = family::npy_files(family);
  if (files.empty()) return {};
  std::vector<std::string> cautions;
  for (const std::filesystem::path& file : files) {
    if (std::filesystem::exists(file)) continue;
    cautions.push_back(fmt::format("the file {} is not there: save the array by numpy.save",
                                   printable_name(file.string())));
  }
  if (!cautions.empty()) return cautions;
  for (const Bound& each : bound) {
    std::vector<space::Size> sizes = family::awkward_sizes(family, each.kernel, each.space,
                                                           each.space.default_config(), each.size)
                                         .sizes;
    sizes.push_back(each.size);
    for (const space::Size& size : sizes) verify::check_files(family, size);
  }
  return {};
}

/// At the size that the options name, else the first that would be tuned.
std::optional<verify::Coverage> coverage(const family::Family& family,
                                         const SpaceOptions& options) {
  DeviceOptions device;
  device.backend = options.backend;
  return reference_coverage(family, device, options.size, TuneOptions().seed);
}

/// What `--coverage` adds to the lines and the warnings.
void add_coverage(const family::Family& family, const SpaceOptions& options, Json& document) {
  const auto found = coverage(family, options);
  document["coverage"] = found ? coverage_json(*found) : Json();
  if (!found) {
    document["checks"].push_back(
        "coverage: the reference is no kernel of the file, so there is no source to cover");
    return;
  }
  for (const std::string& line : coverage_warning(*found)) {
    const bool is_first = line.front() != ' ';
    document["warnings"].push_back((is_first ? "warning: " : "") + line);
  }
  if (!found->problem.empty() || !found->gaps.empty()) return;
  document["checks"].push_back(fmt::format("coverage: the checks reach all of the reference: {}",
                                           quantity::count(found->conditions, "condition")));
}

int check(const family::Family& family, const std::vector<Bound>& bound,
          const SpaceOptions& options, const CommonOptions& common) {
  const std::string& file = options.file;
  Json document = {{"schema", "tune.space-check/1"},
                   {"kernels", Json::array()},
                   {"checks", Json::array()},
                   {"warnings", Json::array()}};
  for (const Bound& each : bound) {
    family::check_entries(family, each.kernel);
    document["kernels"].push_back(checked(family, each, file));
    const std::string caution = check_sizes_caution(family, each.kernel, each.space, each.size);
    if (!caution.empty()) document["warnings"].push_back(caution);
  }
  for (const std::string& caution : check_npy_files(family, bound)) {
    document["warnings"].push_back(fmt::format("warning: {}", caution));
  }
  for (const std::string& promise : family::check_promises(family)) {
    document["checks"].push_back(promise);
  }
  for (const std::string& caution : family::check_cautions(family, bound.front().size)) {
    document["warnings"].push_back(fmt::format("warning: {}", caution));
  }
  if (options.coverage) add_coverage(family, options, document);
  if (common.json) {
    fmt::print("{}", json_text(document));
    return 0;
  }
  const Output output(common);
  for (const Bound& each : bound) {
    output.tell("{}: {}, {}, {} at {}{}{}\n", each.kernel.name,
                quantity::count(each.kernel.space->parameters.size(), "parameter"),
                quantity::count(each.kernel.space->constraints.size(), "constraint"),
                quantity::count(each.space.size(), "valid configuration"),
                space::display(each.size, each.kernel.space->dims),
                each.space.size() > 0 ? "; the default is valid" : "",
                each.kernel.unproven.empty() ? "" : "; " + each.kernel.unproven);
  }
  for (const Json& promise : document["checks"]) {
    output.tell("{}\n", promise.get<std::string>());
  }
  for (const Json& warning : document["warnings"]) {
    tell(fmt::format("{}\n", warning.get<std::string>()));
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
                 {"why", Align::left, Table::Place::below}});
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
    const Output output(common);
    output.table(table);
    output.print("{}\n\n", quantity::count(each.space.size(), "valid configuration"));
  }
  if (common.json) fmt::print("{}", json_text(document));
  return 0;
}

Json kernel_json(const Bound& bound) {
  const space::SpaceDefinition& definition = *bound.kernel.space;
  Json parameters = Json::array(), constraints = Json::array();
  const space::Config by_default = bound.space.default_config();
  for (std::size_t i = 0; i < definition.parameters.size(); ++i) {
    const space::Parameter& parameter = definition.parameters[i];
    Json values = Json::array();
    for (const space::ParameterValue& value : parameter.values) values.push_back(value.text);
    parameters.push_back({{"parameter", parameter.name},
                          {"values", std::move(values)},
                          {"default", parameter.values[by_default.choice[i]].text},
                          {"doc", parameter.doc}});
  }
  for (const space::WaterfallStep& step : bound.space.waterfall().steps) {
    constraints.push_back({{"constraint", step.expression}, {"why", step.why}});
  }
  return {{"kernel", bound.kernel.name},
          {"doc", bound.kernel.doc},
          {"unproven", bound.kernel.unproven},
          {"parameters", std::move(parameters)},
          {"constraints", std::move(constraints)}};
}

int show(const family::Family& family, const std::vector<Bound>& bound,
         const CommonOptions& common) {
  if (common.json) {
    Json document = {{"schema", "tune.space-show/1"},
                     {"family", family.name},
                     {"dims", family.problem.dims.names()},
                     {"kernels", Json::array()}};
    for (const Bound& each : bound) document["kernels"].push_back(kernel_json(each));
    fmt::print("{}", json_text(document));
    return 0;
  }
  const Output output(common);
  output.tell("family {} ({}), sizes as {}\n", family.name, printable_name(family.path),
              fmt::join(family.problem.dims.names(), ", "));
  for (const Bound& each : bound) {
    output.tell("\n{}{}{}\n", each.kernel.name, each.kernel.doc.empty() ? "" : ": ",
                each.kernel.doc);
    if (!each.kernel.unproven.empty()) {
      output.tell("only where --kernel names it: {}\n", each.kernel.unproven);
    }
    Table table({{"parameter"},
                 {"values"},
                 {"default", Align::right},
                 {"meaning", Align::left, Table::Place::below}});
    const space::Config by_default = each.space.default_config();
    for (std::size_t i = 0; i < by_default.choice.size(); ++i) {
      const space::Parameter& parameter = each.kernel.space->parameters[i];
      std::vector<std::string> values;
      for (const space::ParameterValue& value : parameter.values) values.push_back(value.text);
      table.add({parameter.name, fmt::format("{}", fmt::join(values, " ")),
                 parameter.values[by_default.choice[i]].text, parameter.doc});
    }
    if (table.is_empty()) {
      output.tell("it has no parameters\n");
    } else {
      output.table(table);
    }
  }
  return 0;
}

int why(const family::Family& family, const std::vector<Bound>& bound, const CommonOptions& common,
        const SpaceOptions& options) {
  if (options.config.empty()) {
    throw Error(ErrorCode::usage,
                "which configuration? Write tune space why FILE TILE_M=64,TILE_N=32,…");
  }
  if (bound.size() > 1) {
    std::vector<std::string> names;
    for (const Bound& one : bound) names.push_back(one.kernel.name);
    throw Error(ErrorCode::usage, fmt::format("the file has several kernels; name one with "
                                              "--kernel: {}",
                                              fmt::join(names, ", ")));
  }
  const Bound& each = bound.front();
  const space::SpaceDefinition& definition = each.space.definition();
  const space::Config config =
      each.space.canonical(space::config_from_text(definition, options.config));
  const auto violation = each.space.violation(config);
  const std::string config_json = space::canonical_json(definition, config);
  const std::string reason =
      violation ? violation->message
                : why_no_launch(family, each.kernel, each.space, config, each.size);
  const int code = reason.empty() ? 0 : static_cast<int>(ErrorCode::no_valid_config);
  if (common.json) {
    fmt::print("{}",
               json_text({{"schema", "tune.space-why/1"},
                          {"config", parse_json(config_json, "a configuration")},
                          {"valid", reason.empty()},
                          {"constraint", violation ? Json(violation->constraint + 1) : Json()},
                          {"why", reason.empty() ? Json() : Json(reason)}}));
    return code;
  }
  const Output output(common);
  output.print("{}\n", config_json);
  if (violation) {
    output.tell("is rejected by constraint {} of {}: {}\n", violation->constraint + 1,
                definition.constraints.size(), violation->message);
  } else if (!reason.empty()) {
    output.tell("has no launch at {}: {}\n", space::display(each.size, each.kernel.space->dims),
                reason);
  } else {
    output.tell("is valid at {} on {}\n", space::display(each.size, each.kernel.space->dims),
                options.device);
  }
  return code;
}

/// Counting and showing look at the space file alone, so that one can begin with it before there is
/// a kernel.
family::Family load_without_sources(const std::filesystem::path& path) {
  const std::string text = read_file(path, kLargestSpaceFile);
  const Json document = parse_json(text, path.string());
  std::map<std::string, source::KernelSource> sources;
  if (document.is_object() && document.contains("kernels") && document["kernels"].is_object()) {
    for (const auto& kernel : document["kernels"].items()) sources[kernel.key()] = {};
  }
  try {
    return family::parse_family(text, path.string(), sources);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::usage) throw;
    throw with_places(error, text, path.string());
  }
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
  const interop::ImportedSpace imported =
      interop::import_t1(read_file(options.file, kLargestSpaceFile), options.file,
                         folder_between(options), chosen_device(options).attributes);
  write_result(imported.text, options);
  if (common.quiet) return 0;
  for (const std::string& note : imported.notes) tell(fmt::format("note: {}\n", printable(note)));
  return 0;
}

/// Writes a draft and says what comes next. A file that exists was edited: it is not replaced.
int init_space(const CommonOptions& common, const SpaceOptions& options) {
  constexpr std::size_t kLargestSource = std::size_t{16} << 20;
  if (std::filesystem::is_regular_file(options.output)) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: exists already and is not replaced by a draft; remove it, or name "
                            "another file with -o",
                            options.output));
  }
  const std::filesystem::path name =
      folder_between(options) / std::filesystem::path(options.file).filename();
  const std::string text =
      family::space_draft(as_utf8(read_file(options.file, kLargestSource)),
                          name.lexically_normal().generic_string(), options.kernel);
  write_result(text, options);
  if (common.quiet || options.output.empty()) return 0;
  const std::string check =
      shell_line(std::vector<std::string>{"tune", "space", "check", options.output});
  const std::string run = shell_line(std::vector<std::string>{"tune", "--space", options.output});
  tell(fmt::format("next: edit the lines below TODO, then\n  {}\n  {}\n", check, run));
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
  if (options.action == "init") return init_space(common, options);
  const family::Family family = options.action == "check" ? family::load_family(options.file)
                                                          : load_without_sources(options.file);
  std::optional<SlowNotice> notice;
  if (!common.quiet) {
    notice.emplace(fmt::format("finding the valid configurations of {}; Ctrl-C ends it",
                               printable_name(options.file)));
  }
  const std::vector<Bound> bound = bind(family, options);
  if (options.action == "export") return export_space(bound, family, options);
  if (options.action == "check") return check(family, bound, options, common);
  if (options.action == "count") return count(bound, common, options);
  if (options.action == "show") return show(family, bound, common);
  return why(family, bound, common, options);
}

}  // namespace tuner::cli
