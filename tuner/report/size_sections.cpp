// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/size_sections.hpp"

#include "tuner/report/format.hpp"
#include "tuner/report/table.hpp"
#include "tuner/report/verdict.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace tuner::report {
namespace {

std::vector<double> times_of(const SizeHistory& size) {
  std::vector<double> times;
  for (const ReportedTrial& evaluation : size.evaluations) {
    if (evaluation.time) times.push_back(evaluation.time->median_ns);
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

std::string distribution_answer(const std::vector<double>& times) {
  if (times.empty()) return "No trial succeeded.";
  const auto near =
      std::upper_bound(times.begin(), times.end(), kNear * times.front()) - times.begin();
  const double typical = times[times.size() / 2] / times.front();
  const auto count = static_cast<std::uint64_t>(near);
  return fmt::format(
      "{} of {} working trials {} within 5\u00a0% of the fastest; the median one takes {} as "
      "long.",
      format_count(count), format_count(times.size()), count == 1 ? "is" : "are",
      format_factor(typical));
}

/// Which evaluations stand in the page, in the order made.
std::vector<std::size_t> shown_evaluations(const SizeHistory& size) {
  std::vector<std::size_t> all(size.evaluations.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (all.size() <= kTrialLimit) return all;
  const auto ns = [&](std::size_t i) {
    const auto& time = size.evaluations[i].time;
    return time ? time->median_ns : HUGE_VAL;
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

/// A parameter of the shown candidates: its distinct values and, for each candidate, which of them.
Json choice_column(const KernelHistory& kernel, const SizeHistory& size, std::size_t parameter,
                   const std::vector<std::size_t>& shown) {
  std::map<std::uint32_t, std::size_t> index;
  Json values = Json::array(), choices = Json::array();
  for (const std::size_t i : shown) {
    const std::uint32_t place = kernel.configs.place(size.evaluations[i].config, parameter);
    const auto [found, is_new] = index.try_emplace(place, index.size());
    if (is_new) values.push_back(kernel.configs.value_at(parameter, place));
    choices.push_back(found->second);
  }
  return Json{{"name", kernel.parameters[parameter]}, {"values", values}, {"choices", choices}};
}

}  // namespace

Json marks_of(const SizeHistory& size) {
  Json marks = Json::array();
  const auto add = [&](std::string_view role, const std::string& label, double ns) {
    marks.push_back(Json{{"role", role}, {"label", label}, {"ns", rounded(ns)}});
  };
  if (const auto ns = best_ns(size)) add("best", "best", *ns);
  if (!size.best) return marks;
  if (size.best->default_ns) add("default", "default", *size.best->default_ns);
  if (size.best->library_ns) {
    add("library", library_brand(size.best->library_name), *size.best->library_ns);
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
  Json section = make_section("distribution", "Distribution of all working trials",
                              distribution_answer(times), std::move(table));
  section["marks"] = marks_of(size);
  return section;
}

Json trial_columns(const KernelHistory& kernel, const SizeHistory& size) {
  const std::vector<std::size_t> shown = shown_evaluations(size);
  Json columns = {{"total", size.evaluations.size()},
                  {"shown", shown.size()},
                  {"run", Json::array()},
                  {"trial", Json::array()},
                  {"elapsed_s", Json::array()},
                  {"median_ns", Json::array()},
                  {"outcome", Json::array()},
                  {"parameters", Json::array()}};
  for (const std::size_t i : shown) {
    const ReportedTrial& evaluation = size.evaluations[i];
    const auto& time = evaluation.time;
    columns["run"].push_back(evaluation.run);
    columns["trial"].push_back(evaluation.number);
    columns["elapsed_s"].push_back(rounded(evaluation.elapsed_s));
    columns["median_ns"].push_back(time ? Json(rounded(time->median_ns)) : Json());
    columns["outcome"].push_back(name(evaluation.outcome));
  }
  for (std::size_t parameter = 0; parameter < kernel.parameters.size(); ++parameter) {
    columns["parameters"].push_back(choice_column(kernel, size, parameter, shown));
  }
  return columns;
}

}  // namespace tuner::report
