// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/error.hpp"
#include "tuner/core/shell_words.hpp"
#include "tuner/report/device_report.hpp"
#include "tuner/report/family_section.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/kernel_sections.hpp"
#include "tuner/report/reproduce.hpp"
#include "tuner/report/size_sections.hpp"
#include "tuner/report/standing.hpp"
#include "tuner/report/sweep.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <string_view>
#include <utility>

namespace tuner::report {
namespace {

/// What the results of the kernels were measured with: each value once, "13.0, 12.8".
std::string each_value(const std::vector<KernelHistory>& kernels,
                       std::string space::EnvironmentInfo::*member) {
  std::vector<std::string> values;
  for (const KernelHistory& kernel : kernels) {
    if (kernel.environments.empty()) continue;
    const std::string& value = kernel.environments.front().*member;
    const bool is_new = std::ranges::find(values, value) == values.end();
    if (!value.empty() && is_new) values.push_back(value);
  }
  return fmt::format("{}", fmt::join(values, ", "));
}

/// The clocks of the winners in their final rounds: "1,980 MHz", "1,755 to 1,980 MHz".
std::string clocks_of(const std::vector<KernelHistory>& kernels) {
  std::optional<double> low, high;
  for (const KernelHistory& kernel : kernels) {
    for (const SizeHistory& size : kernel.sizes) {
      const store::FinalistRecord* winner = winner_of(size.finalists);
      if (winner == nullptr || winner->clock_mhz.value_or(0) <= 0) continue;
      low = std::min(low.value_or(*winner->clock_mhz), *winner->clock_mhz);
      high = std::max(high.value_or(*winner->clock_mhz), *winner->clock_mhz);
    }
  }
  if (!low) return "";
  const auto shown = [](double mhz) {
    return format_count(static_cast<std::uint64_t>(std::lround(mhz)));
  };
  return (shown(*low) == shown(*high) ? "" : shown(*low) + " to ") + shown(*high) + "\u00a0MHz";
}

/// The median over all results of the quartiles' distance over the median time.
std::string noise_of(const std::vector<KernelHistory>& kernels) {
  std::vector<double> spreads;
  for (const KernelHistory& kernel : kernels) {
    for (const SizeHistory& size : kernel.sizes) {
      if (!size.best || size.best->time.median_ns <= 0) continue;
      const TimeSummary& time = size.best->time;
      spreads.push_back((time.q3_ns - time.q1_ns) / time.median_ns);
    }
  }
  if (spreads.empty()) return "";
  const auto middle = spreads.begin() + static_cast<std::ptrdiff_t>(spreads.size() / 2);
  std::ranges::nth_element(spreads, middle);
  return format_percent(*middle);
}

/// The facts of the header as pairs of a label and a value; what is not known is left out.
Json facts_of(const space::DeviceInfo& device, const std::vector<KernelHistory>& kernels) {
  Json facts = Json::array();
  const auto add = [&](std::string_view label, const std::string& value) {
    if (!value.empty()) facts.push_back({label, value});
  };
  const space::DeviceAttributes& has = device.attributes;
  const bool is_host = space::runs_on_host(device.backend);
  add("Architecture", device.architecture);
  if (has.sm_count > 0) {
    add(is_host ? "Cores" : "Multiprocessors", std::to_string(has.sm_count));
  }
  if (has.memory_bytes > 0) add("Memory", format_bytes(static_cast<double>(has.memory_bytes)));
  if (has.l2_bytes > 0) {
    add(is_host ? "Last-level cache" : "L2 cache", format_bytes(static_cast<double>(has.l2_bytes)));
  }
  add("Driver", each_value(kernels, &space::EnvironmentInfo::driver));
  add("Compiler", each_value(kernels, &space::EnvironmentInfo::compiler));
  add("Library", each_value(kernels, &space::EnvironmentInfo::library));
  add("tune", each_value(kernels, &space::EnvironmentInfo::tool));
  add("Clock", clocks_of(kernels));
  add("Noise (quartiles)", noise_of(kernels));
  return facts;
}

/// The first and last day that something was measured: "2025-11-21" or "2025-11-20 to 2025-11-21".
std::string period_of(const std::vector<KernelHistory>& kernels) {
  std::vector<std::string> days;
  const auto add = [&days](const std::string& when) {
    if (!when.empty()) days.push_back(when.substr(0, 10));
  };
  for (const KernelHistory& kernel : kernels) {
    for (const store::RunRecord& run : kernel.runs) add(run.started_at);
    for (const SizeHistory& size : kernel.sizes) add(size.best ? size.best->recorded_at : "");
  }
  if (days.empty()) return "";
  const auto [first, last] = std::minmax_element(days.begin(), days.end());
  return *first == *last ? *first : fmt::format("{} to {}", *first, *last);
}

/// `launched`: as `stored`, null where no launch code is wanted.
Json size_document(const KernelHistory& kernel, const SizeHistory& size, const Metric& metric,
                   const Importances& ranked, const space::DeviceInfo& device,
                   const SnippetKernel* stored, const SnippetKernel* launched) {
  Json sections = Json::array();
  // An imported result has no trials: there is nothing that they could show.
  if (!size.evaluations.empty() || !size.best || size.best->verified) {
    sections = {convergence_section(kernel, size), distribution_section(size), search_section(size),
                importance_section(kernel, size, ranked),
                heatmap_section(kernel, size, metric, ranked)};
  }
  sections.push_back(finalists_section(kernel, size, default_config(size, device, stored)));
  if (size.explanation) {
    sections.push_back(explanation_section(kernel, size, device.attributes));
  }
  return Json{
      {"problem", size.problem},           {"label", format_size(size.problem)},
      {"result", result_of(size, metric)}, {"use", how_to_use(kernel, size, device, launched)},
      {"sections", std::move(sections)},   {"trials", trial_columns(kernel, size)}};
}

/// Of now, UTC: "10:21:05".
std::string time_of_day() {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("{:%H:%M:%S}", now);
}

Json commands_of(const KernelHistory& kernel) {
  Json commands = Json::array();
  for (const auto& run : std::views::reverse(kernel.runs)) {
    const std::string command = repeatable(run.command);
    const bool listed = std::find(commands.begin(), commands.end(), command) != commands.end();
    if (!command.empty() && !listed) commands.push_back(command);
  }
  return commands;
}

/// A kernel without the details of its sizes.
Json kernel_document(const KernelHistory& kernel, const Metric& metric,
                     const KernelImportances& ranked, const std::string& backend) {
  Json sizes = Json::array();
  for (const SizeHistory& size : kernel.sizes) sizes.push_back(Json{{"problem", size.problem}});
  Json sections = Json::array({performance_section(kernel, metric)});
  if (!kernel.runs.empty()) {  // imported results have no trials that these could show
    for (Json section : {importance_over_sizes(kernel, ranked), importance_by_size(kernel, ranked),
                         failures_section(kernel), budget_section(kernel)}) {
      sections.push_back(std::move(section));
    }
  }
  Json environments = Json::array();
  for (const space::EnvironmentInfo& each : kernel.environments) {
    environments.push_back(environment_in_words(each));
  }
  if (Json energy = energy_section(kernel); !energy.is_null()) {
    sections.push_back(std::move(energy));
  }
  return Json{{"family", kernel.family},
              {"kernel", kernel.kernel},
              {"hash", kernel.hash},
              {"unproven", kernel.unproven},
              {"largest", largest_result(kernel, metric)},
              {"types", ranges_by_type(kernel)},
              {"sections", std::move(sections)},
              {"sizes", sizes},
              {"commands", commands_of(kernel)},
              {"options", program_options(kernel, backend)},
              {"environments", std::move(environments)}};
}

/// By family, in the order of the kernels, which stand together.
Json families_of(const std::vector<KernelHistory>& kernels, const space::DeviceInfo& device) {
  Json families = Json::array();
  for (auto first = kernels.begin(); first != kernels.end();) {
    const auto last = std::find_if(first, kernels.end(), [&](const KernelHistory& kernel) {
      return kernel.family != first->family;
    });
    families.push_back(family_section({first, last}, roofs_of(kernels, first->family, device)));
    first = last;
  }
  return families;
}

/// What launch code is made of; null where it cannot be.
std::unique_ptr<const SnippetKernel> snippets_of(const KernelHistory& kernel) {
  if (!kernel.record) return nullptr;
  try {
    return std::make_unique<const SnippetKernel>(*kernel.record);
  } catch (const Error&) {  // `tune query` says why
    return nullptr;
  }
}

/// The kernels that the tables of sizes name, by their places, each with the problem.
std::set<std::pair<std::size_t, std::string>> best_of_families(
    const std::vector<KernelHistory>& kernels, const Json& families) {
  std::set<std::pair<std::size_t, std::string>> found;
  for (const Json& family : families) {
    const Json& table = family.at("sizes");
    const auto column = [&](std::string_view key) {
      const Json& columns = table.at("columns");
      return static_cast<std::size_t>(
          std::ranges::find(columns, key, [](const Json& it) { return it.at("key"); }) -
          columns.begin());
    };
    for (const Json& row : table.at("rows")) {
      const Json& best = row.at(column("best"));
      for (std::size_t k = 0; k < kernels.size(); ++k) {
        if (kernels[k].family != family.at("family") || kernels[k].kernel != best) continue;
        found.emplace(k, row.at(column("problem")).get<std::string>());
      }
    }
  }
  return found;
}

Json comparisons_of(const store::Store& store, const std::string& device_name,
                    const Additions& additions) {
  store::ResultFilter filter;
  filter.device = device_name;
  const std::vector<store::StoredBest> bests = store.bests(filter);
  std::vector<Comparison> comparisons = comparisons_with_latest(bests);
  if (additions.environments == Additions::Environments::latest && comparisons.size() > 1) {
    comparisons.erase(comparisons.begin() + 1, comparisons.end());
  }
  for (ComparedResults other : additions.compared) {
    std::erase_if(other.bests, [&](const store::StoredBest& one) {
      return one.subject->device.name != device_name;
    });
    Comparison comparison =
        compare(std::move(other), {.name = store.path().filename().string(), .bests = bests},
                ComparedBy::time);
    if (!comparison.sizes.empty()) comparisons.push_back(std::move(comparison));
  }
  Json parts = Json::array();
  for (const Comparison& comparison : comparisons) parts.push_back(comparison_part(comparison));
  return parts;
}

}  // namespace

space::DeviceInfo device_named(const store::Store& store, const std::string& name) {
  std::vector<std::string> known;
  for (space::DeviceInfo& device : store.devices()) {
    if (device.name == name) return std::move(device);
    known.push_back(device.name);
  }
  throw Error(
      ErrorCode::nothing_found,
      fmt::format("no results for the device '{}' in {} (known: {})", name, store.path().string(),
                  known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
}

DeviceReport::DeviceReport(const store::Store& store, const space::DeviceInfo& device,
                           std::vector<KernelHistory> kernels, const Additions& additions)
    : device_(device), kernels_(std::move(kernels)) {
  overview_ = {{"format", "tune.report/3"},     {"device", device.name},
               {"backend", device.backend},     {"facts", facts_of(device, kernels_)},
               {"period", period_of(kernels_)}, {"families", families_of(kernels_, device)},
               {"kernels", Json::array()}};
  best_ = best_of_families(kernels_, overview_["families"]);
  for (const KernelHistory& kernel : kernels_) {
    metrics_.push_back(metric_of(kernel));
    stored_.push_back(snippets_of(kernel));
    ranked_.push_back(importances(kernel));
    overview_["kernels"].push_back(
        kernel_document(kernel, metrics_.back(), ranked_.back(), device_.backend));
  }
  overview_["sweeps"] = Json::array();
  for (const Json& sweep : additions.sweeps) {
    if (sweep_device(sweep) == device_.name) overview_["sweeps"].push_back(sweep);
  }
  overview_["comparisons"] = comparisons_of(store, device_.name, additions);
  if (additions.reloaded_every_s > 0) {
    overview_["live"] = {{"every_s", additions.reloaded_every_s}, {"at", time_of_day()}};
  }
}

Json DeviceReport::size(std::size_t kernel, std::size_t size) const {
  const KernelHistory& history = kernels_[kernel];
  const bool is_best = best_.contains({kernel, history.sizes[size].problem});
  const SnippetKernel* const stored = stored_[kernel].get();
  return size_document(history, history.sizes[size], metrics_[kernel],
                       ranked_[kernel].of_sizes[size], device_, stored, is_best ? stored : nullptr);
}

std::vector<PlainKernel> DeviceReport::bests() const {
  std::vector<PlainKernel> all;
  for (const KernelHistory& kernel : kernels_) {
    PlainKernel one{.family = kernel.family,
                    .kernel = kernel.kernel,
                    .parameters = kernel.parameters,
                    .bests = {}};
    for (const SizeHistory& size : kernel.sizes) {
      if (!best_ns(size)) continue;
      one.bests.push_back({.size = format_size(size.problem),
                           .ns = *ranking_ns(size),
                           .values = best_values(kernel, size)});
    }
    if (!one.bests.empty()) all.push_back(std::move(one));
  }
  return all;
}

void fail_without_results(const store::Store& store, const std::optional<std::string>& device) {
  const std::vector<store::RunRecord> runs = store.runs();
  const auto last = std::ranges::find_if(
      runs, [&](const store::RunRecord& run) { return !device || run.device == *device; });
  std::string next = "tune a kernel first, such as `tune --space spaces/transpose.json`";
  if (last != runs.end()) {
    next = fmt::format("no trial has ended yet; the last run was `{}`",
                       last->merged ? foreign_command(last->command) : own_command(last->command));
  }
  throw Error(ErrorCode::nothing_found,
              fmt::format("{} holds no results to report{}: {}", store.path().string(),
                          device ? " of " + *device : "", next));
}

Json report_document(const store::Store& store, const std::string& device_name,
                     const Additions& additions) {
  const space::DeviceInfo device = device_named(store, device_name);
  std::vector<KernelHistory> kernels = kernel_histories(store, device_name);
  if (kernels.empty()) {
    fail_without_results(store, device_name);
  }
  const DeviceReport report(store, device, std::move(kernels), additions);
  Json document = report.overview();
  for (std::size_t k = 0; k < document["kernels"].size(); ++k) {
    Json& sizes = document["kernels"][k]["sizes"];
    for (std::size_t s = 0; s < sizes.size(); ++s) sizes[s] = report.size(k, s);
  }
  return document;
}

}  // namespace tuner::report
