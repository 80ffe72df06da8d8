// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/comparison.hpp"

#include "tuner/report/format.hpp"
#include "tuner/report/history.hpp"
#include "tuner/report/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace tuner::report {
namespace {

/// The margin of a tie in a final round.
constexpr double kSame = 1.01;

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return lower;
}

/// Both in lower case.
bool holds_words(std::string_view text, std::string_view words) {
  for (std::size_t at = text.find(words); at != std::string_view::npos;
       at = text.find(words, at + 1)) {
    if (at == 0 || !is_word(text[at - 1])) return true;
  }
  return false;
}

/// A median with its interval. The standard error of a median is 1.2533·σ/√n for normal noise, and
/// the quartiles of normal noise are 1.349·σ apart.
Ratio with_interval(const TimeSummary& time) {
  constexpr double kHalfWidth = 1.96 * 1.2533 / 1.349;
  const double half =
      kHalfWidth * std::log(time.q3_ns / time.q1_ns) / std::sqrt(static_cast<double>(time.samples));
  return {time.median_ns, time.median_ns * std::exp(-half), time.median_ns * std::exp(half)};
}

/// The errors of the two are independent: they add up as squares.
Ratio quotient(const Ratio& over, const Ratio& under) {
  const double value = over.value / under.value;
  const double down =
      std::hypot(std::log(over.value / over.low), std::log(under.high / under.value));
  const double up = std::hypot(std::log(over.high / over.value), std::log(under.value / under.low));
  return {value, value * std::exp(-down), value * std::exp(up)};
}

std::optional<Ratio> ratio_to_library(const store::BestRecord& best) {
  if (!best.ratio_to_library || !best.ratio_to_library_low || !best.ratio_to_library_high) {
    return std::nullopt;
  }
  return Ratio{*best.ratio_to_library, *best.ratio_to_library_low, *best.ratio_to_library_high};
}

bool timed_the_same_library(const store::StoredBest& a, const store::StoredBest& b) {
  return a.best.library_ns && b.best.library_ns && a.best.library_name == b.best.library_name &&
         a.subject->device.name == b.subject->device.name;
}

/// Absent where they cannot be compared so.
std::optional<Ratio> ratio_of(const store::StoredBest& a, const store::StoredBest& b,
                              ComparedBy by) {
  if (by == ComparedBy::time)
    return quotient(with_interval(a.best.time), with_interval(b.best.time));
  const auto before = ratio_to_library(a.best), after = ratio_to_library(b.best);
  if (!before || !after || !timed_the_same_library(a, b)) return std::nullopt;
  return quotient(*after, *before);
}

/// Device, family and problem.
using Key = std::tuple<std::string, std::string, std::string>;

std::set<std::string> devices_of(const std::vector<store::StoredBest>& bests) {
  std::set<std::string> names;
  for (const store::StoredBest& one : bests) names.insert(one.subject->device.name);
  return names;
}

/// Of each kernel the newest result, of those of a family the fastest.
std::map<Key, store::StoredBest> fastest_results(const std::vector<store::StoredBest>& newest_first,
                                                 bool is_by_device) {
  std::set<std::pair<Key, std::string>> seen;
  std::map<Key, store::StoredBest> chosen;
  for (const store::StoredBest& one : newest_first) {
    const store::Subject& of = *one.subject;
    const Key key{is_by_device ? of.device.name : "", of.kernel.family, one.best.problem};
    if (!seen.emplace(key, of.kernel.kernel).second) continue;
    const auto [place, is_first] = chosen.emplace(key, one);
    if (!is_first && one.best.time.median_ns < place->second.best.time.median_ns) {
      place->second = one;
    }
  }
  return chosen;
}

bool stands_before(const ComparedSize& x, const ComparedSize& y) {
  if (x.change != y.change) return x.change < y.change;
  const auto place = [](const ComparedSize& one) {
    return std::tie(one.b.subject->device.name, one.b.subject->kernel.family);
  };
  if (x.change == Change::slower) return x.ratio.value < y.ratio.value;
  if (x.change == Change::faster) return x.ratio.value > y.ratio.value;
  if (place(x) != place(y)) return place(x) < place(y);
  return comes_before(x.b.best.problem, y.b.best.problem);
}

double log_mean(const std::vector<double>& values) {
  const auto add = [](double sum, double value) { return sum + std::log(value); };
  return std::exp(std::accumulate(values.begin(), values.end(), 0.0, add) /
                  static_cast<double>(values.size()));
}

std::string changed(const std::string& a, const std::string& b) {
  return a == b ? a : fmt::format("{} → {}", a, b);
}

std::string sizes_in_words(std::size_t count) {
  return format_plural(count, "size", "sizes");
}

Json comparison_table(const Comparison& comparison) {
  Json table = make_table({{"size", "size", "text"},
                           {"change", "B is", "text"},
                           {"ratio", "speed of B", "factor"},
                           {"low", "from", "factor"},
                           {"high", "to", "factor"},
                           {"library", "library", "factor"},
                           {"a_ns", "cold time in A", "time"},
                           {"b_ns", "cold time in B", "time"},
                           {"kernel", "kernel", "text"},
                           {"device", "device", "text"}});
  for (const ComparedSize& size : comparison.sizes) {
    const store::Subject &a = *size.a.subject, &b = *size.b.subject;
    table["rows"].push_back(Json::array(
        {fmt::format("{} {}", b.kernel.family, format_size(size.b.best.problem)), name(size.change),
         cell(size.ratio.value), cell(size.ratio.low), cell(size.ratio.high), cell(size.library),
         cell(size.a.best.time.median_ns), cell(size.b.best.time.median_ns),
         changed(a.kernel.kernel, b.kernel.kernel), changed(a.device.name, b.device.name)}));
  }
  return table;
}

/// Whether both are copies of one result, as in a database and one it was merged into.
bool are_one_result(const store::StoredBest& a, const store::StoredBest& b) {
  return !a.best.run_uuid.empty() && a.best.run_uuid == b.best.run_uuid &&
         a.best.config_json == b.best.config_json && a.best.time.median_ns == b.best.time.median_ns;
}

}  // namespace

std::string environment_in_words(const space::EnvironmentInfo& environment) {
  std::vector<std::string> words;
  for (const auto& [label, value] : {std::pair{"driver ", environment.driver},
                                     {"", environment.compiler},
                                     {"", environment.library},
                                     {"tune ", environment.tool}}) {
    if (!value.empty()) words.push_back(label + value);
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::vector<store::StoredBest> results_about(std::vector<store::StoredBest> results,
                                             std::string_view words) {
  const std::string wanted = lower_case(words);
  std::erase_if(results, [&](const store::StoredBest& one) {
    const store::Subject& of = *one.subject;
    const space::EnvironmentInfo& environment = of.environment;
    const std::array<std::string_view, 6> texts = {of.device.name,       environment.driver,
                                                   environment.compiler, environment.library,
                                                   environment.tool,     of.kernel.kernel};
    const auto is_about = [&](std::string_view text) {
      return holds_words(lower_case(text), wanted);
    };
    return std::ranges::none_of(texts, is_about) && !of.kernel.hash.starts_with(wanted);
  });
  return results;
}

std::string_view name(Change change) {
  switch (change) {
    case Change::slower:
      return "SLOWER";
    case Change::uncertain:
      return "UNCERTAIN";
    case Change::faster:
      return "FASTER";
    case Change::same:
      return "SAME";
  }
  return "UNCERTAIN";
}

Change change_of(const Ratio& ratio) {
  if (ratio.low >= 1 / kSame && ratio.high <= kSame) return Change::same;
  if (ratio.high < 1) return Change::slower;
  return ratio.low > 1 ? Change::faster : Change::uncertain;
}

Comparison compare(ComparedResults a, ComparedResults b, ComparedBy by) {
  Comparison comparison{.a = std::move(a), .b = std::move(b), .by = by, .sizes = {}};
  const bool is_by_device =
      devices_of(comparison.a.bests).size() > 1 || devices_of(comparison.b.bests).size() > 1;
  const auto before = fastest_results(comparison.a.bests, is_by_device);
  const auto after = fastest_results(comparison.b.bests, is_by_device);
  std::size_t common = 0;
  for (const auto& [key, in_a] : before) {
    const auto found = after.find(key);
    if (found == after.end()) continue;
    ++common;
    const store::StoredBest& in_b = found->second;
    auto ratio = ratio_of(in_a, in_b, by);
    if (!ratio) continue;
    if (are_one_result(in_a, in_b)) ratio = {.value = 1, .low = 1, .high = 1};
    ComparedSize size{.a = in_a, .b = in_b, .ratio = *ratio, .change = change_of(*ratio)};
    if (timed_the_same_library(in_a, in_b)) {
      size.library = *in_a.best.library_ns / *in_b.best.library_ns;
    }
    comparison.sizes.push_back(std::move(size));
  }
  comparison.only_a = before.size() - common;
  comparison.only_b = after.size() - common;
  comparison.without_library = common - comparison.sizes.size();
  std::ranges::stable_sort(comparison.sizes, stands_before);
  return comparison;
}

std::vector<Comparison> comparisons_with_latest(const std::vector<store::StoredBest>& bests) {
  std::vector<ComparedResults> sides;
  for (const store::StoredBest& one : bests) {
    std::string words = environment_in_words(one.subject->environment);
    auto side = std::ranges::find(sides, words, &ComparedResults::name);
    if (side == sides.end()) {
      side = sides.insert(sides.end(), {.name = std::move(words), .bests = {}});
    }
    side->bests.push_back(one);
  }
  std::vector<Comparison> comparisons;
  for (std::size_t i = 1; i < sides.size(); ++i) {
    Comparison comparison = compare(sides[i], sides.front(), ComparedBy::time);
    if (!comparison.sizes.empty()) comparisons.push_back(std::move(comparison));
  }
  return comparisons;
}

std::optional<double> geometric_mean(std::span<const ComparedSize> sizes) {
  if (sizes.empty()) return std::nullopt;
  std::vector<double> ratios;
  for (const ComparedSize& size : sizes) ratios.push_back(size.ratio.value);
  return log_mean(ratios);
}

std::size_t count_of(std::span<const ComparedSize> sizes, Change change) {
  return static_cast<std::size_t>(std::ranges::count(sizes, change, &ComparedSize::change));
}

std::vector<std::string> described_environments(std::span<const store::StoredBest> bests) {
  std::vector<std::string> order;
  std::map<std::string, std::set<std::pair<std::string, std::string>>> sizes;
  for (const store::StoredBest& one : bests) {
    std::string words = fmt::format("{}, {}", one.subject->device.name,
                                    environment_in_words(one.subject->environment));
    sizes[words].emplace(one.subject->kernel.family, one.best.problem);
    if (std::ranges::find(order, words) == order.end()) order.push_back(std::move(words));
  }
  for (std::string& words : order) words += ": " + sizes_in_words(sizes[words].size());
  return order;
}

std::vector<std::string> comparison_sentences(const Comparison& comparison) {
  std::vector<std::string> sentences;
  const bool by_library = comparison.by == ComparedBy::library;
  if (const auto mean = geometric_mean(comparison.sizes)) {
    std::vector<std::string> counts;
    for (const Change change : {Change::slower, Change::uncertain, Change::faster, Change::same}) {
      const std::size_t count = count_of(comparison.sizes, change);
      if (count > 0) counts.push_back(fmt::format("{} {}", count, name(change)));
    }
    sentences.push_back(fmt::format("{}: B has ×{:.3f} of A's speed{} (geometric mean); {}.",
                                    sizes_in_words(comparison.sizes.size()), *mean,
                                    by_library ? " relative to the library" : "",
                                    fmt::join(counts, ", ")));
  }
  std::map<std::string, std::vector<double>> libraries;
  for (const ComparedSize& size : comparison.sizes) {
    if (size.library) libraries[size.b.best.library_name].push_back(*size.library);
  }
  for (const auto& [library, ratios] : libraries) {
    sentences.push_back(fmt::format("The same {} has ×{:.3f} of its speed in A ({}).", library,
                                    log_mean(ratios), sizes_in_words(ratios.size())));
  }
  if (comparison.without_library > 0) {
    sentences.push_back(fmt::format("{} left out: not timed beside the same library.",
                                    sizes_in_words(comparison.without_library)));
  }
  if (comparison.only_a + comparison.only_b > 0) {
    sentences.push_back(
        fmt::format("{} only in A, {} only in B.", comparison.only_a, comparison.only_b));
  }
  return sentences;
}

Json comparison_part(const Comparison& comparison) {
  std::vector<std::string> verdict = comparison_sentences(comparison);
  verdict.emplace_back(
      "A range is the 95 % interval of both final rounds; SAME: within 1 %. Library: the change "
      "of the same library, a measure of the machine.");
  return Json{{"title", fmt::format("{} → {}", comparison.a.name, comparison.b.name)},
              {"sides", {comparison.a.name, comparison.b.name}},
              {"verdict", std::move(verdict)},
              {"table", comparison_table(comparison)}};
}

Json comparison_document(const Comparison& comparison) {
  Json facts = Json::array();
  for (const auto& [label, side] : {std::pair{"A", &comparison.a}, {"B", &comparison.b}}) {
    for (const std::string& words : described_environments(side->bests)) {
      facts.push_back({fmt::format("{}: {}", label, side->name), words});
    }
  }
  return Json{{"format", "tune.report/3"},
              {"device", "Comparison"},
              {"backend", ""},
              {"facts", std::move(facts)},
              {"period", ""},
              {"families", Json::array()},
              {"kernels", Json::array()},
              {"sweeps", Json::array()},
              {"comparisons", Json::array({comparison_part(comparison)})}};
}

}  // namespace tuner::report
