// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/size_sections.hpp"

#include "tuner/report/standing.hpp"
#include "tuner/report/table.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tuner::report {
namespace {

std::vector<double> times_of(const SizeHistory& size) {
  std::vector<double> times;
  for (const ReportedTrial& evaluation : size.evaluations) {
    if (evaluation.time) times.push_back(evaluation.ranking_ns);
  }
  std::sort(times.begin(), times.end());
  return times;
}

/// About the square root of their number, so that a bin keeps enough candidates to have a height.
std::size_t bin_count(std::size_t candidates) {
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::sqrt(candidates)), 6, 40);
}

/// Rows [from, to, count, share up to here] over bins of equal width in log time.
Json histogram_rows(const std::vector<double>& times) {
  Json rows = Json::array();
  if (times.empty()) return rows;
  const double low = std::log(times.front());
  const std::size_t bins = times.front() < times.back() ? bin_count(times.size()) : 1;
  const double width = (std::log(times.back()) - low) / static_cast<double>(bins);
  std::vector<std::uint64_t> counts(bins);
  for (const double ns : times) {
    const auto bin = bins == 1 ? 0 : static_cast<std::size_t>((std::log(ns) - low) / width);
    ++counts[std::min(bin, bins - 1)];
  }
  std::uint64_t so_far = 0;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    so_far += counts[bin];
    const double from = std::exp(low + width * static_cast<double>(bin));
    const double to = std::exp(low + width * static_cast<double>(bin + 1));
    rows.push_back({rounded(from), rounded(to), counts[bin],
                    rounded(static_cast<double>(so_far) / static_cast<double>(times.size()))});
  }
  return rows;
}

/// Which evaluations stand in the page, in the order made.
std::vector<std::size_t> shown_evaluations(const SizeHistory& size) {
  std::vector<std::size_t> all(size.evaluations.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (all.size() <= kTrialLimit) return all;
  const auto ns = [&](std::size_t i) {
    const ReportedTrial& trial = size.evaluations[i];
    return trial.time ? trial.ranking_ns : HUGE_VAL;
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](std::size_t a, std::size_t b) { return ns(a) < ns(b); });
  constexpr std::size_t kFastest = kTrialLimit / 2;
  constexpr std::size_t kSampled = kTrialLimit - kFastest;
  std::vector<std::size_t> shown(all.begin(), all.begin() + kFastest);
  const std::size_t rest = all.size() - kFastest;
  for (std::size_t i = 0; i < kSampled; ++i) shown.push_back(all[kFastest + i * rest / kSampled]);
  std::sort(shown.begin(), shown.end());
  return shown;
}

/// An array of what `value_of` gives for each shown candidate.
template <class ValueOf>
Json column_of(const std::vector<std::size_t>& shown, const ValueOf& value_of) {
  Json::array_t values;
  values.reserve(shown.size());
  for (const std::size_t i : shown) values.emplace_back(value_of(i));
  return values;
}

/// A parameter of the shown candidates: its distinct values and, for each candidate, which of them.
Json choice_column(const KernelHistory& kernel, const SizeHistory& size, std::size_t parameter,
                   const std::vector<std::size_t>& shown) {
  constexpr std::size_t kNew = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> index(kernel.configs.places(parameter), kNew);
  Json values = Json::array();
  Json choices = column_of(shown, [&](std::size_t i) {
    const std::uint32_t place = kernel.configs.place(size.evaluations[i].config, parameter);
    if (index[place] == kNew) {
      index[place] = values.size();
      values.push_back(kernel.configs.value_at(parameter, place));
    }
    return index[place];
  });
  return Json{{"name", kernel.parameters[parameter]},
              {"values", std::move(values)},
              {"choices", std::move(choices)}};
}

}  // namespace

Json marks_of(const SizeHistory& size) {
  Json marks = Json::array();
  const auto add = [&](std::string_view role, const std::string& label, double ns) {
    marks.push_back(Json{{"role", role}, {"label", label}, {"ns", rounded(ns)}});
  };
  const bool by_series = has_series(size);
  if (by_series && ranking_measure(size) == kCold) return marks;  // of another measure
  const auto value = [&](auto by_rank, std::optional<double> cold) {
    return by_series ? by_rank(size) : cold;
  };
  const store::BestRecord best = size.best.value_or(store::BestRecord{});
  if (const auto ns = value(ranking_ns, best_ns(size))) add("best", "best", *ns);
  if (const auto ns = value(default_ns, best.default_ns)) add("default", "default", *ns);
  if (const auto ns = value(library_ns, best.library_ns)) {
    add("library", library_brand(best.library_name), *ns);
  }
  return marks;
}

Json distribution_section(const SizeHistory& size) {
  const std::vector<double> times = times_of(size);
  Json table = make_table({{"from_ns", "From", "time"},
                           {"to_ns", "To", "time"},
                           {"count", "Trials", "count"},
                           {"cumulative", "Up to here", "share"}});
  table["rows"] = histogram_rows(times);
  Json section = make_section("distribution", std::move(table));
  section["near"] =
      std::ranges::count_if(times, [&](double ns) { return ns <= kNear * times.front(); });
  section["median"] = times.empty() ? Json() : Json(rounded(times[times.size() / 2]));
  section["marks"] = marks_of(size);
  section["measure"] = measure_of_trials(size);
  return section;
}

Json trial_columns(const KernelHistory& kernel, const SizeHistory& size) {
  const std::vector<std::size_t> shown = shown_evaluations(size);
  const std::vector<ReportedTrial>& all = size.evaluations;
  const auto ranking_of = [&](std::size_t i) {
    return all[i].time ? Json(rounded(all[i].ranking_ns)) : Json();
  };
  const auto cold_of = [&](std::size_t i) {
    return all[i].time ? Json(rounded(all[i].time->median_ns)) : Json();
  };
  Json columns = {
      {"total", all.size()},
      {"shown", shown.size()},
      {"run", column_of(shown, [&](std::size_t i) { return all[i].run; })},
      {"trial", column_of(shown, [&](std::size_t i) { return all[i].number; })},
      {"elapsed_s", column_of(shown, [&](std::size_t i) { return rounded(all[i].elapsed_s); })},
      {"measure", measure_of_trials(size)},
      {"ns", column_of(shown, ranking_of)},
      {"outcome", column_of(shown, [&](std::size_t i) { return name(all[i].outcome); })},
      {"parameters", Json::array()}};
  if (has_series(size)) columns["cold_ns"] = column_of(shown, cold_of);
  if (shown.empty()) return columns;
  for (std::size_t parameter = 0; parameter < kernel.parameters.size(); ++parameter) {
    columns["parameters"].push_back(choice_column(kernel, size, parameter, shown));
  }
  return columns;
}

}  // namespace tuner::report
