// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/family_section.hpp"

#include "tuner/report/family_rows.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/metric.hpp"
#include "tuner/report/size_sections.hpp"
#include "tuner/report/standing.hpp"
#include "tuner/report/table.hpp"
#include "tuner/store/best_line.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <type_traits>
#include <utility>

namespace tuner::report {
namespace {

constexpr double kSquare = 2;   // the longest extent over the shortest, up to this
constexpr double kOblong = 16;  // up to this; beyond it a size is skinny

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
                           {"default", "× default, cold", "factor"},
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

/// The files that imported results of the sizes were read from, each once.
Json imported_from(const std::vector<Row>& rows) {
  std::set<std::string> files;
  for (const Row& row : rows) {
    if (row.best() == nullptr || !row.best()->best || row.best()->best->verified) continue;
    const store::BestRecord& best = *row.best()->best;
    files.insert(best.origin.empty() ? "its file" : store::published_origin(best));
  }
  return files;
}

/// Of numbers or texts by element type those of the sizes' types.
template <class Value>
Json of_types(const std::vector<Row>& rows, const std::map<std::string, Value>& values) {
  Json found = Json::object();
  for (const auto& [type, value] : values) {
    if (std::ranges::find(rows, type, &Row::type) == rows.end()) continue;
    if constexpr (std::is_same_v<Value, double>) {
      found[type] = rounded(value);
    } else {
      found[type] = value;
    }
  }
  return found;
}

}  // namespace

Json family_section(std::span<const KernelHistory> kernels, const Roofs& roofs) {
  const std::vector<Row> rows = rows_of(kernels);
  const FamilyMetric metric(kernels);
  const std::string library = library_of(rows);
  return Json{
      {"family", kernels.front().family},
      {"library", library},
      {"unit", metric.metric.unit},
      {"roofs",
       {{"gflops", of_types(rows, roofs.flops)},
        {"gflops_from", of_types(rows, roofs.flops_from)},
        {"gbytes", rounded(roofs.bytes)},
        {"gbytes_from", roofs.bytes_from}}},
      {"peak",
       {{"gflops", of_types(rows, roofs.nominal_flops)}, {"clock_mhz", rounded(roofs.clock_mhz)}}},
      {"imported_from", imported_from(rows)},
      {"sizes", sizes_table(kernels, rows, metric, roofs, library)}};
}

}  // namespace tuner::report
