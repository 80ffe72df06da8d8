// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/kernel_sections.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/shell_words.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/standing.hpp"
#include "tuner/report/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>

namespace tuner::report {
namespace {

constexpr std::size_t kMessageLimit = 600;  // bytes
constexpr std::size_t kLibraryColumn = 5;   // of the table of performance

std::string query_command(const KernelHistory& kernel, const SizeHistory& size,
                          const std::string& device_name) {
  std::vector<std::string> words = {"tune",   "query",      "--kernel", kernel.kernel,
                                    "--size", size.problem, "--device", device_name};
  // Code is written from the kernel's files, which an imported result lacks.
  if (!size.best || size.best->verified) words.insert(words.end(), {"--format", "cpp"});
  return shell_line(words);
}

/// Null where there is none.
Json launch_code(const SizeHistory& size, const space::DeviceInfo& device,
                 const SnippetKernel* stored) {
  if (stored == nullptr || !size.best || space::runs_on_host(device.backend)) return {};
  try {
    const Snippet snippet(*stored, device, size.best->config_json,
                          space::parse_size(size.problem, stored->family().problem.dims));
    return snippet.is_cuda() ? Json(snippet.cpp()) : Json();
  } catch (const Error&) {  // `tune query` says why
    return {};
  }
}

/// The arguments that the dispatcher takes: those that the size does not determine.
std::vector<std::string> dispatched_arguments(const family::Family& family) {
  std::vector<std::string> names;
  for (const family::Argument& argument : family.arguments) {
    const auto* const scalar = std::get_if<family::ScalarArgument>(&argument.what);
    if (scalar == nullptr || scalar->value.slots().empty()) names.push_back(argument.name);
  }
  return names;
}

/// Calls that launch whatever serves the size best; null where the kernel is for processors alone.
Json dispatcher_calls(const SizeHistory& size, const space::DeviceInfo& device,
                      const SnippetKernel* stored) {
  if (stored == nullptr || space::runs_on_host(device.backend)) return {};
  const family::Family& family = stored->family();
  return fmt::format(
      "tuner::Dispatcher dispatcher(tuner::Table::database());\n"
      "const tuner::FamilyId family = dispatcher.family(\"{}\");\n"
      "const std::vector<tuner::Size> sizes = {{dispatcher.parse_size(family, \"{}\")}};\n"
      "dispatcher.prepare(family, sizes);  // at start-up: compiles\n"
      "const tuner::DispatchArgument arguments[] = {{{}}};\n"
      "dispatcher.launch(family, sizes[0], arguments, stream);\n",
      family.name, size.problem, fmt::join(dispatched_arguments(family), ", "));
}

/// "The size is M×N×K, matrices are row-major.": of the library's operations, which take such.
Json layout_of(const SnippetKernel* stored) {
  if (stored == nullptr) return {};
  const family::Family& family = stored->family();
  const std::vector<std::string> names = family.problem.dims.names();
  const std::span<const std::string> required(names.data(), family.problem.dims.required());
  const bool has_matrices = family::library_arguments(family.check) != nullptr;
  return fmt::format("The size is {}{}.", fmt::join(required, "×"),
                     has_matrices ? "; matrices are row-major" : "");
}

/// "kernels/gemm/gemm_tiled.cu", as the space file, whose path is relative too, names it; without
/// such a path the file's name.
Json source_path(const KernelHistory& kernel, const SnippetKernel* stored) {
  if (stored == nullptr) return {};
  const std::filesystem::path space(kernel.space_path);
  const Json file = Json::parse(kernel.record->space_text, nullptr, false, true);
  std::string named;
  if (file.is_object() && file.contains("kernels")) {
    named = file["kernels"].value(kernel.kernel, Json::object()).value("source", std::string());
  }
  const std::filesystem::path source = (space.parent_path() / named).lexically_normal();
  const bool is_inside = source.is_relative() && !source.empty() && *source.begin() != "..";
  return is_inside && space.has_parent_path() && source.filename() == stored->source_name()
             ? source.generic_string()
             : stored->source_name();
}

/// The trials of one outcome at one size.
struct Cause {
  std::uint64_t count = 0;
  const ReportedTrial* sample = nullptr;
};

std::map<Outcome, Cause> causes_of(const SizeHistory& size) {
  std::map<Outcome, Cause> causes;
  for (const ReportedTrial& evaluation : size.evaluations) {
    Cause& cause = causes[evaluation.outcome];
    if (cause.count++ == 0) cause.sample = &evaluation;
  }
  return causes;
}

}  // namespace

Json how_to_use(const KernelHistory& kernel, const SizeHistory& size,
                const space::DeviceInfo& device, const SnippetKernel* stored) {
  if (!best_ns(size)) return {};
  return Json{{"config", config_text(kernel.parameters, best_values(kernel, size))},
              {"command", query_command(kernel, size, device.name)},
              {"dispatch", dispatcher_calls(size, device, stored)},
              {"code", launch_code(size, device, stored)},
              {"layout", layout_of(stored)},
              {"source", source_path(kernel, stored)}};
}

std::string default_config(const SizeHistory& size, const space::DeviceInfo& device,
                           const SnippetKernel* stored) {
  if (stored == nullptr) return "";
  try {
    const std::vector<std::int64_t> numbers =
        space::parse_size(size.problem, stored->family().problem.dims);
    const auto& definition = stored->kernel().space;
    const space::BoundDefinition space(definition, device.attributes, numbers);
    return space::canonical_json(*definition, space.default_config());
  } catch (const Error&) {  // of another version of the space file
    return "";
  }
}

std::string program_options(const KernelHistory& kernel, const std::string& backend) {
  const std::string space =
      kernel.space_path.empty() ? "FILE" : shell_line(std::vector<std::string>{kernel.space_path});
  return fmt::format("--kernel {} --space {}{}", shell_word(kernel.kernel), space,
                     space::runs_on_host(backend) ? " --backend " + backend : "");
}

ConfigValues best_values(const KernelHistory& kernel, const SizeHistory& size) {
  return size.best ? config_values(kernel.parameters, size.best->config_json)
                   : kernel.configs.values(fastest(size)->config);
}

namespace {

struct Scale {
  std::string_view prefix;
  double one;  ///< work of one unit
};

/// What suits the largest size: an axis of small problems has no row of zeros.
Scale scale_of_work(const KernelHistory& kernel, const Metric& metric) {
  double most = 0;
  for (const SizeHistory& size : kernel.sizes) {
    most = std::max(most, metric.work_of(size).value_or(0));
  }
  if (most >= 1e9) return {"G", 1e9};
  if (most >= 1e6) return {"M", 1e6};
  return {"k", 1e3};
}

}  // namespace

Json performance_section(const KernelHistory& kernel, const Metric& metric) {
  const bool rated = metric.work != Metric::Work::none;
  const std::string_view kind = rated ? "number" : "time";
  const Scale scale = scale_of_work(kernel, metric);
  const std::string extent_label =
      rated ? fmt::format("Problem size ({}{})", scale.prefix,
                          metric.work == Metric::Work::flops ? "FLOP" : "B")
            : std::string(kMeanOfDimensions);
  Json table = make_table({{"size", "Size", "text"},
                           {"type", "Type", "text"},
                           {"extent", extent_label, "number"},
                           {"best", "Best", kind},
                           {"default", "Default", kind},
                           {"library", "Library", kind},
                           {"ratio", "% of the library", "share"}});
  const auto value = [&](const SizeHistory& size, const std::optional<double>& ns) {
    if (!ns) return Json();
    return rated ? cell(metric.rate(size, *ns)) : Json(rounded(*ns));
  };
  std::string library;
  for (const SizeHistory& size : kernel.sizes) {
    const auto work = metric.work_of(size);
    if (!ranking_ns(size) || (rated && !work)) continue;
    if (library_ns(size)) library = size.best->library_name;
    table["rows"].push_back({format_size(size.problem), kernel.types.at(size.problem),
                             rounded(rated ? *work / scale.one : mean_extent(size.problem)),
                             value(size, ranking_ns(size)), value(size, default_ns(size)),
                             value(size, library_ns(size)),
                             cell(size.best ? size.best->ratio_to_library : std::nullopt)});
  }
  const auto extent_of = [](const Json& row) { return row[2].get<double>(); };
  std::ranges::stable_sort(table["rows"].get_ref<Json::array_t&>(), {}, extent_of);
  if (!library.empty()) table["columns"][kLibraryColumn]["label"] = library;
  Json section = make_section("performance", std::move(table));
  section["unit"] = metric.unit;
  section["library"] = library.empty() ? "" : library_brand(library);
  return section;
}

Json failures_section(const KernelHistory& kernel) {
  Json table = make_table({{"size", "Size", "text"},
                           {"outcome", "Outcome", "code"},
                           {"count", "Trials", "count"},
                           {"share", "Share", "share"},
                           {"message", "For example", "text"},
                           {"config", "With", "code"}});
  std::size_t tried = 0;
  for (const SizeHistory& size : kernel.sizes) {
    tried += size.evaluations.size();
    for (const auto& [outcome, cause] : causes_of(size)) {
      if (outcome == Outcome::ok) continue;
      const double share =
          static_cast<double>(cause.count) / static_cast<double>(size.evaluations.size());
      table["rows"].push_back(
          {format_size(size.problem), name(outcome), cause.count, rounded(share),
           cause.sample->message ? shareable(*cause.sample->message) : "",
           config_text(kernel.parameters, kernel.configs.values(cause.sample->config))});
    }
  }
  Json section = make_section("failures", std::move(table));
  section["tried"] = tried;
  return section;
}

Json budget_section(const KernelHistory& kernel) {
  Json table = make_table({{"run", "Run", "code"},
                           {"started_at", "Began", "text"},
                           {"strategy", "Strategy", "text"},
                           {"seed", "Seed", "code"},
                           {"state", "Ended", "text"},
                           {"compile_s", "Compile", "duration"},
                           {"verify_s", "Verify", "duration"},
                           {"measure_s", "Measure", "duration"},
                           {"wall_s", "Wall clock", "duration"}});
  for (const store::RunRecord& run : kernel.runs) {
    table["rows"].push_back({run.uuid.substr(0, 8), run.started_at, run.strategy,
                             std::to_string(run.seed), store::state_text(run),
                             rounded(run.compile_s), rounded(run.verify_s), rounded(run.measure_s),
                             rounded(run.wall_s)});
  }
  return make_section("budget", std::move(table));
}

std::string shareable(std::string_view message) {
  std::string text;
  const auto ends_path = [](char c) {
    return std::isspace(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("'\"()<>:,;").find(c) != std::string_view::npos;
  };
  for (std::size_t i = 0; i < message.size();) {
    const bool begins_path = message[i] == '/' && (i == 0 || ends_path(message[i - 1]));
    if (!begins_path) {
      text += message[i++];
      continue;
    }
    const std::size_t start = i;
    while (i < message.size() && !ends_path(message[i])) ++i;
    const std::string_view path = message.substr(start, i - start);
    text += path.substr(path.rfind('/') + 1);
  }
  if (text.size() <= kMessageLimit) return text;
  std::size_t end = kMessageLimit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
    --end;  // inside UTF-8
  return text.substr(0, end) + "…";
}

}  // namespace tuner::report
