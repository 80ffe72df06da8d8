// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/submission.hpp"

#include "tuner/cli/data_file.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/family/family.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>

namespace tuner::cli {
namespace {

/// Half of the samples of a quiet device lie within 1 %; beyond this a ranking is a matter of luck.
constexpr double kLargestSpread = 0.05;
constexpr int kFewestSamples = 5;
/// Of the highest clock. Where power limits it, most cards run matrix products at 60 to 90 %.
constexpr double kLowestClock = 0.5;

/// The distance of the quartiles as a share of the median.
double spread(const TimeSummary& time) {
  return (time.q3_ns - time.q1_ns) / time.median_ns;
}

using Defect = std::function<bool(const select::Entry&)>;

struct Rule {
  std::string one, several;  ///< the verb: "was", "were"
  std::string text;          ///< behind "3 tuned sizes were "
  Defect is_broken;
};

std::vector<Rule> rules() {
  return {{"was", "were", "measured beside other processes: end these and tune again with --fresh",
           [](const select::Entry& entry) { return entry.best.shared; }},
          {"has", "have", "no spread: an older version exported them; export them again",
           [](const select::Entry& entry) { return entry.best.time.samples == 0; }},
          {"has", "have",
           fmt::format("fewer than {} samples: `tune finalize` re-times them", kFewestSamples),
           [](const select::Entry& entry) {
             return entry.best.time.samples > 0 && entry.best.time.samples < kFewestSamples;
           }},
          {"has", "have",
           fmt::format("quartiles over {:.0f} % apart: end what else uses the machine and tune "
                       "again with --fresh",
                       100 * kLargestSpread),
           [](const select::Entry& entry) {
             return entry.best.time.samples > 0 && spread(entry.best.time) > kLargestSpread;
           }},
          {"is", "are", "imported and not verified on this card: tune them",
           [](const select::Entry& entry) { return !entry.best.verified; }},
          {"was", "were",
           fmt::format("measured by another version than {}: tune them again", TUNER_VERSION),
           [](const select::Entry& entry) { return entry.environment.tool != TUNER_VERSION; }}};
}

/// "3 tuned sizes were TEXT (gemm_tiled 16,16,16; …)"; none where no entry is concerned.
std::optional<std::string> objection(const select::Catalogue& known, const Rule& rule) {
  constexpr std::size_t kMostNamed = 3;
  std::vector<std::string> named;
  std::size_t count = 0;
  for (const select::CatalogueKernel& kernel : known.kernels) {
    for (const select::Entry& entry : kernel.entries) {
      if (!rule.is_broken(entry)) continue;
      ++count;
      if (named.size() < kMostNamed) named.push_back(kernel.record->kernel + " " + entry.size.text);
    }
  }
  if (count == 0) return std::nullopt;
  return fmt::format("{} {} {} ({}{})", quantity::count(count, "tuned size"),
                     count == 1 ? rule.one : rule.several, rule.text, fmt::join(named, "; "),
                     count > named.size() ? "; …" : "");
}

/// The included family of that name; none where there is none.
std::optional<family::Family> included_family(const std::string& name) {
  const auto file = data_file("spaces/" + name + ".json");
  if (!file) return std::nullopt;
  return family::load_family(*file);
}

/// Why a kernel's results say nothing of an included kernel; empty: they do.
std::string why_not_included(const store::KernelRecord& kernel,
                             const std::optional<family::Family>& family) {
  if (!family) return fmt::format("the family {} is not an included one", kernel.family);
  const auto found = std::ranges::find(family->kernels, kernel.kernel, &family::Kernel::name);
  if (found == family->kernels.end()) {
    return fmt::format("the kernel {} is not an included one", kernel.kernel);
  }
  if (found->hash == kernel.hash) return "";
  return fmt::format("the kernel {} has other code than the included one: read it, or tune again",
                     kernel.kernel);
}

bool is_slowed_down(const select::Entry& entry) {
  const std::optional<double>& clock = entry.best.clock_mhz;
  const std::optional<double>& highest = entry.best.clock_limit.max_clock_mhz;
  return clock && highest && *clock < kLowestClock * *highest;
}

}  // namespace

void Range::add(const std::optional<double>& value) {
  if (!value) return;
  low = std::min(low.value_or(*value), *value);
  high = std::max(high.value_or(*value), *value);
}

TableClocks clocks_of(const select::Catalogue& known) {
  TableClocks clocks;
  for (const select::CatalogueKernel& kernel : known.kernels) {
    for (const select::Entry& entry : kernel.entries) {
      ++clocks.results;
      if (!entry.best.clock_mhz) ++clocks.unknown;
      clocks.mhz.add(entry.best.clock_mhz);
      clocks.max_mhz.add(entry.best.clock_limit.max_clock_mhz);
      clocks.power_limit_w.add(entry.best.clock_limit.power_limit_w);
    }
  }
  clocks.warning =
      objection(known, {"was", "were",
                        fmt::format("timed below {:.0f} % of the card's highest clock: "
                                    "`nvidia-smi -q -d PERFORMANCE` says what holds it down",
                                    100 * kLowestClock),
                        is_slowed_down})
          .value_or("");
  return clocks;
}

std::vector<std::string> objections_to(const select::Catalogue& known) {
  std::vector<std::string> objections;
  for (const Rule& rule : rules()) {
    if (auto text = objection(known, rule)) objections.push_back(*std::move(text));
  }
  std::map<std::string, std::optional<family::Family>> families;
  for (const select::CatalogueKernel& kernel : known.kernels) {
    const std::string& name = kernel.record->family;
    if (!families.contains(name)) families.emplace(name, included_family(name));
    std::string why = why_not_included(*kernel.record, families.at(name));
    if (!why.empty() && std::ranges::count(objections, why) == 0) {
      objections.push_back(std::move(why));
    }
  }
  return objections;
}

}  // namespace tuner::cli
