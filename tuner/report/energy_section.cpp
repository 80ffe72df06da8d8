// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/format.hpp"
#include "tuner/report/kernel_sections.hpp"
#include "tuner/report/table.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace tuner::report {
namespace {

using store::FinalistRecord;

/// The contenders of a size whose energy was measured.
std::vector<const FinalistRecord*> with_energy(const SizeHistory& size) {
  std::vector<const FinalistRecord*> found;
  for (const FinalistRecord& finalist : size.finalists) {
    if (finalist.energy) found.push_back(&finalist);
  }
  return found;
}

double time_of(const FinalistRecord& one, const std::vector<const FinalistRecord*>& all) {
  return store::CommonMeasure(all).ns(one);
}

/// Whether no other one takes less of one and no more of the other.
bool is_pareto_optimal(const FinalistRecord& one, const std::vector<const FinalistRecord*>& all) {
  const double own = time_of(one, all);
  return std::ranges::none_of(all, [&](const FinalistRecord* other) {
    const double time = time_of(*other, all), joules = other->energy->joules;
    return time <= own && joules <= one.energy->joules &&
           (time < own || joules < one.energy->joules);
  });
}

double least_time(const std::vector<const FinalistRecord*>& all) {
  const auto time = [&](const auto* it) { return time_of(*it, all); };
  return time(std::ranges::min(all, {}, time));
}

double least_energy(const std::vector<const FinalistRecord*>& all) {
  return std::ranges::min(all, {}, [](const auto* it) { return it->energy->joules; })
      ->energy->joules;
}

std::string energy_label(const FinalistRecord& finalist, const SizeHistory& size) {
  if (!finalist.role.starts_with("library") || !size.best) return finalist.role;
  return size.best->library_name + (finalist.role == "library_tuned" ? ", tuned" : "");
}

/// Floating-point operations per joule, in thousands of millions: GFLOP/s per watt.
std::optional<double> efficiency(const SizeHistory& size, const EnergySummary& energy) {
  constexpr double kGiga = 1e9;
  if (!size.best || size.best->flops <= 0) return std::nullopt;
  return size.best->flops / energy.joules / kGiga;
}

void add_energy_rows(Json& table, const KernelHistory& kernel, const SizeHistory& size) {
  const std::vector<const FinalistRecord*> all = with_energy(size);
  const store::CommonMeasure measure(all);
  for (const FinalistRecord* one : all) {
    const EnergySummary& energy = *one->energy;
    table["rows"].push_back(
        {format_size(size.problem), energy_label(*one, size),
         rounded(time_of(*one, all) / least_time(all)), rounded(energy.joules / least_energy(all)),
         is_pareto_optimal(*one, all) ? "yes" : "no", rounded(measure.ns(*one)),
         measure.is_back_to_back() ? kBackToBack : kCold, rounded(energy.joules),
         rounded(energy.min_joules), rounded(energy.max_joules), rounded(energy.watts),
         cell(energy.idle_watts), cell(efficiency(size, energy)),
         config_text(kernel.parameters, config_values(kernel.parameters, one->config_json))});
  }
}

}  // namespace

Json energy_section(const KernelHistory& kernel) {
  Json table = make_table({{"size", "Size", "text"},
                           {"contender", "Contender", "text"},
                           {"time", "Time", "factor"},
                           {"energy", "Energy", "factor"},
                           {"pareto", "Pareto-optimal", "text"},
                           {"ns", "Time of a run", "time"},
                           {"measure", "Timed", "text"},
                           {"joules", "J a run", "number"},
                           {"min_joules", "from", "number"},
                           {"max_joules", "to", "number"},
                           {"watts", "W", "number"},
                           {"idle_watts", "W idle", "number"},
                           {"gflops_per_watt", "GFLOP/s/W", "number"},
                           {"config", "Configuration", "code"}});
  for (const SizeHistory& size : kernel.sizes) add_energy_rows(table, kernel, size);
  if (table["rows"].empty()) return {};
  return make_section("energy", std::move(table));
}

}  // namespace tuner::report
