// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/family_section.hpp"

#include "tuner/report/format.hpp"
#include "tuner/report/metric.hpp"
#include "tuner/report/size_sections.hpp"
#include "tuner/report/table.hpp"
#include "tuner/report/verdict.hpp"
#include "tuner/store/best_line.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace tuner::report {
namespace {

constexpr double kSquare = 2;   // the longest extent over the shortest, up to this
constexpr double kOblong = 16;  // up to this; beyond it a size is skinny
constexpr std::string_view kColdGain = "× default, cold";

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

// ---- what its numbers are of --------------------------------------------------------------------

/// "4.274 TB/s" of work per nanosecond.
std::string rate_in_words(double rate, std::string_view unit) {
  constexpr double kThousand = 1000;
  return rate >= kThousand ? fmt::format("{}\u00a0T{}", format_number(rate / kThousand), unit)
                           : fmt::format("{}\u00a0G{}", format_number(rate), unit);
}

/// The roofs below which the family's sizes are, with what reached them; empty where no work is
/// known.
std::string roofs_in_words(const std::vector<Row>& rows, const std::vector<OfType>& types,
                           const Roofs& roofs) {
  const auto any_has = [&](const OfType* of, double store::BestRecord::*work) {
    return std::ranges::any_of(rows, [&](const Row& row) {
      const store::BestRecord* demand = demand_of(row);
      return demand != nullptr && demand->*work > 0 && (of == nullptr || row.type == of->type);
    });
  };
  std::vector<std::string> parts;
  if (roofs.bytes > 0 && any_has(nullptr, &store::BestRecord::bytes)) {
    parts.push_back(
        fmt::format("memory {} ({})", rate_in_words(roofs.bytes, "B/s"), roofs.bytes_from));
  }
  for (const OfType& of : types) {
    const auto roof = roofs.flops.find(of.type);
    if (roof == roofs.flops.end() || !any_has(&of, &store::BestRecord::flops)) continue;
    parts.push_back(fmt::format("{} {} ({})", of.type.empty() ? "arithmetic" : of.type,
                                rate_in_words(roof->second, "FLOP/s"),
                                roofs.flops_from.at(of.type)));
  }
  if (parts.empty()) return "";
  return fmt::format("Roof, the highest rate measured on this device: {}.", fmt::join(parts, "; "));
}

/// What imported sizes are, and how many there are of them; empty without any.
std::string imported_in_words(const std::vector<Row>& rows) {
  std::set<std::string> files;
  std::size_t imported = 0, with_result = 0;
  for (const Row& row : rows) {
    if (row.best() == nullptr) continue;
    ++with_result;
    if (!has(row, kImported)) continue;
    ++imported;
    files.insert(row.best()->best->origin.empty() ? "its file"
                                                  : store::published_origin(*row.best()->best));
  }
  if (imported == 0) return "";
  return fmt::format("{}: timed by the program that wrote {}, not verified on this machine.",
                     imported == with_result
                         ? "Imported"
                         : fmt::format("Imported, {} of {} sizes", format_count(imported),
                                       format_count(with_result)),
                     fmt::join(files, ", "));
}

Json notes_of(const std::vector<Row>& rows, const std::vector<OfType>& types, const Roofs& roofs) {
  Json notes = Json::array();
  for (std::string& note :
       std::vector{roofs_in_words(rows, types, roofs), imported_in_words(rows)}) {
    if (!note.empty()) notes.push_back(std::move(note));
  }
  return notes;
}

/// Of all sizes and, where there are several types, of each of them.
Json lists_to_do(const std::vector<Row>& rows, const std::vector<OfType>& types, const Roofs& roofs,
                 const std::string& library) {
  Json list = to_do(rows, "", roofs, library);
  if (types.size() < 2) return list;
  for (const OfType& of : types) {
    if (of.type.empty()) continue;
    for (Json& item : to_do(rows, of.type, roofs, library)) list.push_back(std::move(item));
  }
  return list;
}

}  // namespace

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
              {"notes", notes_of(rows, types, roofs)},
              {"to_do", lists_to_do(rows, types, roofs, library)},
              {"sizes", sizes_table(kernels, rows, metric, roofs, library)}};
}

}  // namespace tuner::report
