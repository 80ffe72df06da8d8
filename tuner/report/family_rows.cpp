// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/family_rows.hpp"

#include "tuner/report/metric.hpp"
#include "tuner/report/size_sections.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tuner::report {
namespace {

struct BySize {
  bool operator()(std::string_view a, std::string_view b) const { return comes_before(a, b); }
};

}  // namespace

double Row::ns_of(const Entry& entry) const {
  return is_back_to_back ? *ranking_ns(*entry.size) : *best_ns(*entry.size);
}

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
    row.is_back_to_back = std::ranges::all_of(row.entries, [](const Entry& entry) {
      return entry.size->best && ranking_measure(*entry.size) == kBackToBack;
    });
    std::ranges::stable_sort(row.entries, {}, [&](const Entry& it) { return row.ns_of(it); });
    row.problem = problem;
    rows.push_back(std::move(row));
  }
  return rows;
}

const store::BestRecord* demand_of(const Row& row) {
  for (const Entry& entry : row.entries) {
    if (entry.size->best && (entry.size->best->flops > 0 || entry.size->best->bytes > 0)) {
      return &*entry.size->best;
    }
  }
  return nullptr;
}

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

std::optional<double> share_of_peak(const Row& row, const Roofs& roofs) {
  const store::BestRecord* demand = demand_of(row);
  const auto peak = roofs.nominal_flops.find(row.type);
  if (demand == nullptr || demand->flops <= 0 || peak == roofs.nominal_flops.end()) {
    return std::nullopt;
  }
  return demand->flops / *ranking_ns(*row.best()) / peak->second;
}

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

std::optional<double> ratio_of(const SizeHistory& size) {
  return size.best ? size.best->ratio_to_library : std::nullopt;
}

}  // namespace tuner::report
