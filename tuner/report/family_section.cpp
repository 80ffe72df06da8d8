// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/family_section.hpp"

#include "tuner/core/element_type.hpp"
#include "tuner/core/flop_rates.hpp"
#include "tuner/core/shell_words.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/kernel_sections.hpp"
#include "tuner/report/metric.hpp"
#include "tuner/report/nominal_memory.hpp"
#include "tuner/report/size_sections.hpp"
#include "tuner/report/table.hpp"
#include "tuner/report/verdict.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <ranges>
#include <string>
#include <vector>

namespace tuner::report {
namespace {

constexpr double kSquare = 2;   // the longest extent over the shortest, up to this
constexpr double kOblong = 16;  // up to this; beyond it a size is skinny
constexpr std::size_t kMostNamed = 5;
constexpr std::string_view kColdGain = "× default, cold";

struct BySize {
  bool operator()(std::string_view a, std::string_view b) const { return comes_before(a, b); }
};

/// One kernel at one size.
struct Entry {
  const KernelHistory* kernel = nullptr;
  const SizeHistory* size = nullptr;
};

/// A size with the kernels that have a result there, the fastest first.
struct Row {
  std::string problem;
  std::string type;  // empty: not known
  std::vector<Entry> entries;
  bool is_back_to_back = false;  // all entries have such times, which rank them

  [[nodiscard]] const SizeHistory* best() const {
    return entries.empty() ? nullptr : entries.front().size;
  }
  /// The time that ranks an entry.
  [[nodiscard]] double ns_of(const Entry& entry) const {
    return is_back_to_back ? *ranking_ns(*entry.size) : *best_ns(*entry.size);
  }
};

std::vector<Row> rows_of(std::span<const KernelHistory> kernels) {
  std::map<std::string, Row, BySize> by_size;
  for (const KernelHistory& kernel : kernels) {
    for (const SizeHistory& size : kernel.sizes) {
      Row& row = by_size[size.problem];
      if (row.type.empty()) row.type = kernel.types.at(size.problem);
      if (best_ns(size)) row.entries.push_back({&kernel, &size});
    }
  }
  std::vector<Row> rows;
  for (auto& [problem, row] : by_size) {
    row.is_back_to_back = std::ranges::all_of(
        row.entries, [](const Entry& it) { return it.size->best && it.size->best->sustained_ns; });
    std::ranges::stable_sort(row.entries, {}, [&](const Entry& it) { return row.ns_of(it); });
    row.problem = problem;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string_view shape_class(std::string_view problem) {
  const std::vector<double> numbers = extents(problem);
  const auto [low, high] = std::ranges::minmax_element(numbers);
  if (numbers.size() < 2) return "line";
  if (*high <= kSquare * *low) return "square";
  return *high <= kOblong * *low ? "oblong" : "skinny";
}

/// Work done in a time, in the family's unit.
struct FamilyMetric {
  Metric metric;

  explicit FamilyMetric(std::span<const KernelHistory> kernels) {
    for (const KernelHistory& kernel : kernels) {
      const Metric one = metric_of(kernel);
      if (metric.work == Metric::Work::none || one.scale > metric.scale) metric = one;
    }
  }
  [[nodiscard]] std::optional<double> work(const Row& row) const {
    for (const Entry& entry : row.entries) {
      if (const auto amount = metric.work_of(*entry.size)) return amount;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::optional<double> rate(const Row& row) const {
    const auto amount = work(row);
    if (!amount) return std::nullopt;
    return *amount / *ranking_ns(*row.best()) / metric.scale;
  }
};

/// Floating-point operations and bytes of a size, of whichever kernel knows them.
const store::BestRecord* demand_of(const Row& row) {
  for (const Entry& entry : row.entries) {
    if (entry.size->best && (entry.size->best->flops > 0 || entry.size->best->bytes > 0)) {
      return &*entry.size->best;
    }
  }
  return nullptr;
}

/// The time at the roof over the time taken. A faster one is of work that was not done: none.
std::optional<double> share_of_roof(const Row& row, const Roofs& roofs) {
  const store::BestRecord* demand = demand_of(row);
  if (demand == nullptr) return std::nullopt;
  const auto roof = roofs.flops.find(row.type);
  const double compute = roof == roofs.flops.end() ? 0 : demand->flops / roof->second;
  const double memory = roofs.bytes > 0 ? demand->bytes / roofs.bytes : 0;
  const double share = std::max(compute, memory) / *ranking_ns(*row.best());
  constexpr double kRounding = 1e-6;
  return share > 1 + kRounding ? std::nullopt : std::optional(share);
}

/// The rate over the nominal one.
std::optional<double> share_of_peak(const Row& row, const Roofs& roofs) {
  const store::BestRecord* demand = demand_of(row);
  const auto peak = roofs.nominal_flops.find(row.type);
  if (demand == nullptr || demand->flops <= 0 || peak == roofs.nominal_flops.end()) {
    return std::nullopt;
  }
  return demand->flops / *ranking_ns(*row.best()) / peak->second;
}

/// What a reader should know before using a size's result; empty when there is nothing.
std::vector<std::string_view> warnings(const Row& row) {
  if (row.entries.empty()) return {"no result"};
  const SizeHistory& size = *row.best();
  std::vector<std::string_view> found;
  if (!size.best) found.emplace_back("screened");
  if (size.best && size.best->ratio_to_library_high.value_or(1) < 1) found.emplace_back("behind");
  if (size.best && !size.best->verified) found.emplace_back("imported");
  if (!row.entries.front().kernel->unproven.empty()) found.emplace_back("unproven");
  if (!size.searches.empty()) {
    const Convergence ended = convergence_of(size.searches.back());
    if (ended == Convergence::few_trials) found.emplace_back("few trials");
    if (ended == Convergence::improving) found.emplace_back("improving");
  }
  return found;
}

bool has(const Row& row, std::string_view warning) {
  return std::ranges::count(warnings(row), warning) > 0;
}

/// The library's name where the sizes were compared with one.
std::string library_of(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    for (const Entry& entry : row.entries) {
      if (entry.size->best && entry.size->best->ratio_to_library) {
        return library_brand(entry.size->best->library_name);
      }
    }
  }
  return "";
}

std::optional<double> ratio_of(const SizeHistory& size) {
  return size.best ? size.best->ratio_to_library : std::nullopt;
}

/// A kernel's cell: the best kernel's ratio to the library, or 1 without one, times the best
/// kernel's time over its own. Ratios of other runs, in which the library took another time, would
/// contradict the ranking.
std::optional<double> kernel_ratio(const Row& row, const KernelHistory& kernel, bool has_library) {
  for (const Entry& entry : row.entries) {
    if (entry.kernel != &kernel) continue;
    const auto of_best = has_library ? ratio_of(*row.best()) : std::optional(1.0);
    if (!of_best) return std::nullopt;
    return *of_best * row.ns_of(row.entries.front()) / row.ns_of(entry);
  }
  return std::nullopt;
}

/// What the names of several kernels begin with, up to their last underscore in common: "gemm_".
std::size_t common_prefix(std::span<const KernelHistory> kernels) {
  if (kernels.size() < 2) return 0;
  std::string_view common = kernels.front().kernel;
  for (const KernelHistory& kernel : kernels) {
    const auto differs = std::ranges::mismatch(common, kernel.kernel);
    common = common.substr(0, static_cast<std::size_t>(differs.in1 - common.begin()));
  }
  const std::size_t end = common.rfind('_');
  return end == std::string_view::npos ? 0 : end + 1;
}

/// "1.036 to 1.050"; null where it is not known.
Json interval_of(const store::BestRecord& best) {
  if (!best.ratio_to_library_low || !best.ratio_to_library_high) return {};
  return fmt::format("{:.3f} to {:.3f}", *best.ratio_to_library_low, *best.ratio_to_library_high);
}

/// What matters most stands first: narrow screens show the first columns.
Json sizes_header(std::span<const KernelHistory> kernels, const FamilyMetric& metric,
                  const std::string& library) {
  const bool is_bytes = metric.metric.work == Metric::Work::bytes;
  Json table = make_table({{"size", "Size", "text"},
                           {"problem", "As --size takes it", "code"},
                           {"type", "Type", "text"},
                           {"best", "Best kernel", "code"},
                           {"ratio", library.empty() ? "× library" : "× " + library, "factor"},
                           {"low", "95\u00a0% from", "factor"},
                           {"high", "to", "factor"},
                           {"interval", "95\u00a0% interval", "text"},
                           {"default", kColdGain, "factor"},
                           {"sustained_ns", "Back to back", "time"},
                           {"median_ns", "Cold", "time"},
                           {"rate", metric.metric.unit, "number"},
                           {"roof", "% of roof", "share"},
                           {"peak", "% of peak", "share"},
                           {"state", "State", "text"},
                           {"explained", "Explained", "text"},
                           {"shape", "Shape", "text"},
                           {"work", is_bytes ? "GB" : "GFLOP", "number"},
                           {"intensity", "FLOP/byte", "number"}});
  const std::size_t prefix = common_prefix(kernels);
  for (const KernelHistory& kernel : kernels) {
    table["columns"].push_back(Json{{"key", "kernel"},
                                    {"label", kernel.kernel.substr(prefix)},
                                    {"kind", "factor"},
                                    {"kernel", kernel.kernel}});
  }
  return table;
}

Json sizes_table(std::span<const KernelHistory> kernels, const std::vector<Row>& rows,
                 const FamilyMetric& metric, const Roofs& roofs, const std::string& library) {
  Json table = sizes_header(kernels, metric, library);
  for (const Row& row : rows) {
    const SizeHistory* best = row.best();
    const store::BestRecord* demand = demand_of(row);
    const store::BestRecord record =
        best != nullptr && best->best ? *best->best : store::BestRecord{};
    const auto work = metric.work(row);
    const bool balanced = demand != nullptr && demand->flops > 0 && demand->bytes > 0;
    const auto state = warnings(row);
    Json cells = {format_size(row.problem),
                  row.problem,
                  row.type,
                  best == nullptr ? Json() : Json(row.entries.front().kernel->kernel),
                  cell(record.ratio_to_library),
                  cell(record.ratio_to_library_low),
                  cell(record.ratio_to_library_high),
                  interval_of(record),
                  cell(best == nullptr ? std::nullopt : cold_gain(*best)),
                  cell(record.sustained_ns),
                  cell(best == nullptr ? std::nullopt : best_ns(*best)),
                  cell(best == nullptr ? std::nullopt : metric.rate(row)),
                  cell(best == nullptr ? std::nullopt : share_of_roof(row, roofs)),
                  cell(best == nullptr ? std::nullopt : share_of_peak(row, roofs)),
                  state.empty() ? std::string("ok") : fmt::format("{}", fmt::join(state, ", ")),
                  best != nullptr && best->explanation ? Json("yes") : Json(),
                  shape_class(row.problem),
                  cell(work ? std::optional(*work / 1e9) : std::nullopt),
                  cell(balanced ? std::optional(demand->flops / demand->bytes) : std::nullopt)};
    for (const KernelHistory& kernel : kernels) {
      cells.push_back(cell(kernel_ratio(row, kernel, !library.empty())));
    }
    table["rows"].push_back(std::move(cells));
  }
  return table;
}

// ---- the verdict --------------------------------------------------------------------------------

/// How the best kernels of some sizes stand beside the library.
struct Standing {
  double logs = 0;
  std::vector<double> ratios = {};
  std::uint64_t count = 0, ahead = 0, behind = 0;

  void add(const Row& row) {
    const auto ratio = row.best() == nullptr ? std::nullopt : ratio_of(*row.best());
    if (!ratio) return;
    const store::BestRecord& best = *row.best()->best;
    logs += std::log(*ratio);
    ratios.push_back(*ratio);
    ++count;
    if (best.ratio_to_library_low.value_or(*ratio) > 1) ++ahead;
    if (best.ratio_to_library_high.value_or(*ratio) < 1) ++behind;
  }
  [[nodiscard]] double mean() const { return std::exp(logs / static_cast<double>(count)); }
};

/// The sizes of one element type.
struct OfType {
  std::string type;
  std::uint64_t sizes = 0;
  Standing standing = {};
  double default_logs = 0;  // of the gains over the default
  std::uint64_t with_default = 0;
  std::vector<double> roof_shares = {};
  const Row* highest = nullptr;  // of the highest rate
  std::map<const KernelHistory*, std::uint64_t> wins = {};
};

/// By name.
std::vector<OfType> by_type(const std::vector<Row>& rows, const FamilyMetric& metric,
                            const Roofs& roofs) {
  std::vector<OfType> types;
  for (const Row& row : rows) {
    auto of = std::ranges::find(types, row.type, &OfType::type);
    if (of == types.end()) of = types.insert(types.end(), OfType{.type = row.type});
    ++of->sizes;
    of->standing.add(row);
    if (row.best() == nullptr) continue;
    ++of->wins[row.entries.front().kernel];
    if (const auto gain = cold_gain(*row.best())) {
      of->default_logs += std::log(*gain);
      ++of->with_default;
    }
    if (const auto share = share_of_roof(row, roofs)) of->roof_shares.push_back(*share);
    const auto rate = metric.rate(row);
    if (rate && (of->highest == nullptr || *rate > *metric.rate(*of->highest))) of->highest = &row;
  }
  std::ranges::sort(types, {}, &OfType::type);
  return types;
}

std::optional<double> median_of(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::string against_library(const Standing& all, const std::string& library) {
  if (all.count == 0) return "No library was timed beside the best kernels.";
  std::string text = fmt::format(
      "The best kernel of each size is {:.2f}× as fast as {} (geometric mean of {}; median "
      "{:.2f}×): ahead at {}, behind at {}",
      all.mean(), library, format_plural(all.count, "size", "sizes"), *median_of(all.ratios),
      format_count(all.ahead), format_count(all.behind));
  if (all.ahead + all.behind < all.count) {
    text += fmt::format(", tied at {}", format_count(all.count - all.ahead - all.behind));
  }
  return text + ".";
}

/// Of one type in sentences; of several the table of types has what differs.
Json verdict_of(std::span<const KernelHistory> kernels, const std::vector<OfType>& types,
                const FamilyMetric& metric, const Roofs& roofs, const std::string& library) {
  std::uint64_t sizes = 0;
  for (const OfType& of : types) sizes += of.sizes;
  const std::string counted = fmt::format("{}, {}.", format_plural(sizes, "size", "sizes"),
                                          format_plural(kernels.size(), "kernel", "kernels"));
  if (types.size() > 1) {
    return {fmt::format("{}, {}", format_plural(types.size(), "type", "types"), counted)};
  }
  const OfType& of = types.front();
  Json verdict = {of.type.empty() ? counted : of.type + ": " + counted,
                  against_library(of.standing, library)};
  if (of.highest != nullptr) {
    const auto share = share_of_peak(*of.highest, roofs);
    verdict.push_back(
        fmt::format("Highest rate: {}\u00a0{} at {}{}.", format_number(*metric.rate(*of.highest)),
                    metric.metric.unit, format_size(of.highest->problem),
                    share ? fmt::format(", {} of the nominal peak", format_percent(*share)) : ""));
  }
  return verdict;
}

/// The kernels of a type by the number of sizes at which they are best, and that number.
std::vector<std::pair<std::uint64_t, const KernelHistory*>> winners_of(
    const OfType& of, std::span<const KernelHistory> kernels) {
  std::vector<std::pair<std::uint64_t, const KernelHistory*>> winners;
  for (const KernelHistory& kernel : kernels) {
    const auto won = of.wins.find(&kernel);
    winners.emplace_back(won == of.wins.end() ? 0 : won->second, &kernel);
  }
  std::ranges::stable_sort(winners, std::greater(), [](const auto& it) { return it.first; });
  return winners;
}

/// Geometric.
std::optional<double> mean_to_default(const OfType& of) {
  if (of.with_default == 0) return std::nullopt;
  return std::exp(of.default_logs / static_cast<double>(of.with_default));
}

Json types_table(std::span<const KernelHistory> kernels, const std::vector<OfType>& types,
                 const FamilyMetric& metric, const Roofs& roofs, const std::string& library) {
  Json table = make_table({{"type", "Type", "text"},
                           {"sizes", "Sizes", "count"},
                           {"ratio", library.empty() ? "× library" : "× " + library, "factor"},
                           {"median", "median", "factor"},
                           {"ahead", "Ahead at", "count"},
                           {"behind", "Behind at", "count"},
                           {"equal", "Tied at", "count"},
                           {"default", kColdGain, "factor"},
                           {"roof", "% of roof (median)", "share"},
                           {"rate", "Highest " + metric.metric.unit, "number"},
                           {"peak", "% of peak", "share"},
                           {"wins", "Best kernel", "text"}});
  for (const OfType& of : types) {
    const Standing& all = of.standing;
    const bool compared = all.count > 0;
    const auto counted = [&](std::uint64_t count) { return compared ? Json(count) : Json(); };
    std::vector<std::string> wins;
    for (const auto& [count, kernel] : winners_of(of, kernels)) {
      if (count > 0) wins.push_back(fmt::format("{} {}", kernel->kernel, format_count(count)));
    }
    table["rows"].push_back(
        {of.type.empty() ? "not known" : of.type, of.sizes,
         cell(compared ? std::optional(all.mean()) : std::nullopt), cell(median_of(all.ratios)),
         counted(all.ahead), counted(all.behind), counted(all.count - all.ahead - all.behind),
         cell(mean_to_default(of)), cell(median_of(of.roof_shares)),
         cell(of.highest == nullptr ? std::nullopt : metric.rate(*of.highest)),
         cell(of.highest == nullptr ? std::nullopt : share_of_peak(*of.highest, roofs)),
         fmt::format("{}", fmt::join(wins, ", "))});
  }
  return table;
}

Json wins_table(std::span<const KernelHistory> kernels, const std::vector<OfType>& types) {
  Json table = make_table({{"type", "Type", "text"},
                           {"kernel", "Kernel", "code"},
                           {"wins", "Best at", "count"},
                           {"sizes", "Of its sizes", "count"}});
  for (const OfType& of : types) {
    for (const auto& [count, kernel] : winners_of(of, kernels)) {
      const auto sizes = std::ranges::count_if(kernel->sizes, [&](const SizeHistory& size) {
        return kernel->types.at(size.problem) == of.type;
      });
      if (sizes > 0) table["rows"].push_back({of.type, kernel->kernel, count, sizes});
    }
  }
  return table;
}

// ---- what to do next ----------------------------------------------------------------------------

/// A command for each kernel that is best at one of these sizes: a run, or another command of tune.
Json commands_for(const std::vector<const Row*>& rows, std::string_view command = "") {
  std::map<const KernelHistory*, std::string> sizes;
  std::vector<const KernelHistory*> order;
  for (const Row* row : rows) {
    const KernelHistory* kernel = row->entries.front().kernel;
    const auto [at, is_new] = sizes.try_emplace(kernel);
    if (is_new) order.push_back(kernel);
    at->second += " --size " + row->problem;
  }
  Json commands = Json::array();
  for (const KernelHistory* kernel : order) {
    // A final round is for each size that lacks one.
    const bool on_cpu = !kernel->runs.empty() && kernel->runs.back().backend == "cpu";
    commands.push_back(fmt::format(
        "tune {}--kernel {} --space {}{}{}", command, shell_word(kernel->kernel),
        space_file(*kernel), on_cpu ? " --backend cpu" : "", command.empty() ? sizes[kernel] : ""));
  }
  return commands;
}

std::vector<const Row*> with(const std::vector<Row>& rows, std::string_view warning) {
  std::vector<const Row*> found;
  for (const Row& row : rows) {
    if (!row.entries.empty() && has(row, warning)) found.push_back(&row);
  }
  return found;
}

std::string behind_text(const std::vector<const Row*>& rows, const std::string& library) {
  std::vector<std::string> named;
  for (const Row* row : rows) {
    if (named.size() == kMostNamed) break;
    named.push_back(fmt::format("{} {:.3f}×", format_size(row->problem), *ratio_of(*row->best())));
  }
  const std::size_t others = rows.size() - named.size();
  return fmt::format(
      "{} behind {}, which the dispatcher calls there: {}{}. A longer search{}, or another kernel, "
      "may change that.",
      format_plural(rows.size(), "size is", "sizes are"), library, fmt::join(named, "; "),
      others > 0 ? fmt::format("; and {} more", format_count(others)) : "",
      others > 0 ? " (commands: of the sizes named)" : "");
}

Json to_do(const std::vector<Row>& rows, const std::string& library) {
  Json list = Json::array();
  const auto add = [&](const std::vector<const Row*>& concerned, const std::string& text,
                       Json commands) {
    if (concerned.empty()) return;
    list.push_back(Json{{"text", text}, {"commands", std::move(commands)}});
  };
  const auto screened = with(rows, "screened");
  add(screened,
      fmt::format("{} screening times only: re-time the fastest.",
                  format_plural(screened.size(), "size has", "sizes have")),
      commands_for(screened, "finalize "));
  const auto few = with(rows, "few trials");
  add(few,
      fmt::format("{} fewer than {} trials in the latest run: search longer.",
                  format_plural(few.size(), "size has", "sizes have"), kFewestTrials),
      commands_for(few));
  const auto improving = with(rows, "improving");
  add(improving,
      fmt::format("{} still improving in the last fifth of the latest run: search longer.",
                  format_plural(improving.size(), "size was", "sizes were")),
      commands_for(improving));
  auto behind = with(rows, "behind");
  std::ranges::stable_sort(behind, {}, [](const Row* row) { return *ratio_of(*row->best()); });
  const std::vector<const Row*> named(
      behind.begin(),
      behind.begin() + std::min(std::ssize(behind), static_cast<std::ptrdiff_t>(kMostNamed)));
  add(behind, behind.empty() ? "" : behind_text(behind, library), commands_for(named));
  return list;
}

/// The nominal rate between the device and its memory in bytes per nanosecond, as `explain` read it
/// or by the device's name; without either no rate is too high.
double most_bytes_of(std::span<const KernelHistory> kernels, const space::DeviceInfo& device) {
  for (const KernelHistory& kernel : kernels) {
    for (const SizeHistory& size : kernel.sizes) {
      const auto rate = size.explanation ? size.explanation->peak_bytes_per_s : std::nullopt;
      if (rate && *rate > 0) return *rate / 1e9;
    }
  }
  return nominal_bytes_per_ns(device.name).value_or(std::numeric_limits<double>::infinity());
}

}  // namespace

Roofs roofs_of(std::span<const KernelHistory> kernels, std::string_view family,
               const space::DeviceInfo& device) {
  Roofs roofs;
  const double most_bytes = most_bytes_of(kernels, device);
  for (const KernelHistory& kernel : kernels) {
    for (const SizeHistory& size : kernel.sizes) {
      if (!size.best) continue;
      const double own_ns = *ranking_ns(size);
      const double ns = std::min(own_ns, library_ns(size).value_or(own_ns));
      if (ns <= 0) continue;
      const std::string type = kernel.types.at(size.problem);
      if (size.best->flops > 0 && (!type.empty() || kernel.family == family)) {
        double& flops = roofs.flops[type];
        flops = std::max(flops, size.best->flops / ns);
      }
      // A higher rate than the memory's is of data that was not read, or of a cache.
      if (const double rate = size.best->bytes / ns; rate <= most_bytes) {
        roofs.bytes = std::max(roofs.bytes, rate);
      }
      for (const store::FinalistRecord& finalist : size.finalists) {
        roofs.clock_mhz = std::max(roofs.clock_mhz, finalist.clock_mhz.value_or(0));
      }
    }
  }
  for (auto& [type, measured] : roofs.flops) {
    const auto known = element_type_from_name(type);
    if (!known || roofs.clock_mhz == 0) continue;
    const space::DeviceAttributes& has = device.attributes;
    const auto rate = nominal_flops_per_cycle(has.compute_capability, *known);
    if (!rate || has.sm_count == 0) continue;
    const double nominal =
        *rate * static_cast<double>(has.sm_count) * roofs.clock_mhz / 1e3;  // of a nanosecond
    roofs.nominal_flops[type] = nominal;
    measured = std::min(measured, nominal);  // a higher rate is of operations that were left out
  }
  return roofs;
}

Json family_section(std::span<const KernelHistory> kernels, const Roofs& roofs) {
  const std::vector<Row> rows = rows_of(kernels);
  const FamilyMetric metric(kernels);
  const std::string library = library_of(rows);
  const std::vector<OfType> types = by_type(rows, metric, roofs);
  Json gflops = Json::object(), nominal = Json::object();
  for (const OfType& of : types) {
    const auto roof = roofs.flops.find(of.type);
    if (roof != roofs.flops.end()) gflops[of.type] = rounded(roof->second);
    const auto peak = roofs.nominal_flops.find(of.type);
    if (peak != roofs.nominal_flops.end()) nominal[of.type] = rounded(peak->second);
  }
  return Json{{"family", kernels.front().family},
              {"verdict", verdict_of(kernels, types, metric, roofs, library)},
              {"types", types_table(kernels, types, metric, roofs, library)},
              {"library", library},
              {"unit", metric.metric.unit},
              {"roofs", {{"gflops", std::move(gflops)}, {"gbytes", rounded(roofs.bytes)}}},
              {"peak", {{"gflops", std::move(nominal)}, {"clock_mhz", rounded(roofs.clock_mhz)}}},
              {"wins", wins_table(kernels, types)},
              {"to_do", to_do(rows, library)},
              {"sizes", sizes_table(kernels, rows, metric, roofs, library)}};
}

}  // namespace tuner::report
