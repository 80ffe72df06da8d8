// SPDX-License-Identifier: Apache-2.0
// Of random databases every number of every sentence of the page follows from its document.
#include "trial_database.hpp"
#include "tuner/report/format.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

namespace tuner::report {
namespace {

using testing::HasSubstr;

/// A random database: kernels, sizes, runs, outcomes, final rounds with and without a library.
Database random_database(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t limit) { return static_cast<int>(random() % limit); };
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  Database database;
  const bool typed = seed % 2 == 0;
  if (typed) database.use_types();
  const int kernels = 1 + below(3), sizes = 1 + below(9);
  for (int k = 0; k < kernels; ++k) {
    database.use_kernel(fmt::format("kernel_{}", static_cast<char>('a' + k)));
    for (int run = 1 + below(5); run > 0; --run) {
      database.begin_run(fmt::format("{:08x}", random() & 0xffffffffU));
      for (int s = 0; s < sizes; ++s) {
        const std::string type = typed && below(2) == 0 ? ",TYPE=bf16" : "";
        const std::string problem = fmt::format("{0},{0},{1}{2}", 128 << s, 64 << below(2), type);
        std::map<int, double> times;
        for (int i = below(90); i > 0; --i) {
          const int a = below(40);
          const bool failed = below(4) == 0;
          const double ns = uniform(1e4, 1e5) * (1 + a);
          const Outcome outcome =
              failed ? kOutcomes[static_cast<std::size_t>(1 + below(11))] : Outcome::ok;
          database.add_trial(a, 0, failed ? std::optional<double>() : ns, outcome, 32 + below(3),
                             problem);
          if (failed) {
            times.erase(a);
          } else {
            times[a] = ns;
          }
        }
        if (times.empty() || below(4) == 0) continue;
        std::vector<store::FinalistRecord> finalists;
        const auto winner = times.begin();
        for (const auto& [a, ns] : times) {
          const double ratio = a == winner->first ? 1 : uniform(0.99, 1.3);
          const double half = a == winner->first ? 0 : uniform(0.001, 0.02);
          finalists.push_back(Database::finalist(below(5) == 0 ? "incumbent" : "candidate", a,
                                                 ratio * winner->second, ratio, ratio - half,
                                                 ratio + half));
          if (finalists.size() == 6) break;
        }
        database.add_final(finalists, below(3),
                           below(3) == 0 ? std::nullopt : std::optional(uniform(0.5, 1.8)),
                           problem);
      }
    }
  }
  return database;
}

/// A number as a sentence shows it; of what was rounded before, the last digit may differ.
struct Shown {
  std::string text;
  bool exact = false;
};
Shown exactly(std::uint64_t count) {
  return {format_count(count), true};
}
Shown about(std::string text) {
  return {std::move(text), false};
}

/// The numbers of a text, each with the weight of its last digit.
std::vector<std::pair<double, double>> numbers_of(std::string_view text) {
  std::vector<std::pair<double, double>> found;
  for (std::size_t i = 0; i < text.size();) {
    if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) {
      ++i;
      continue;
    }
    std::string digits;
    int fraction = -1;
    for (; i < text.size(); ++i) {
      const bool more =
          i + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[i + 1])) != 0;
      if (std::isdigit(static_cast<unsigned char>(text[i])) != 0) {
        if (fraction >= 0) ++fraction;
      } else if (text[i] == '.' && more && fraction < 0) {
        fraction = 0;
      } else if (text[i] != ',' || !more) {
        break;
      }
      if (text[i] != ',') digits += text[i];
    }
    found.emplace_back(std::strtod(digits.c_str(), nullptr),
                       std::pow(10.0, -std::max(0, fraction)));
  }
  return found;
}

/// That the numbers of a sentence, without these words of it, are the expected ones in order.
void expect_numbers(std::string sentence, std::vector<std::string> words,
                    const std::vector<Shown>& expected) {
  SCOPED_TRACE(sentence);
  words.insert(words.end(), {"f32", "bf16"});
  std::ranges::sort(words, std::greater(), &std::string::size);  // one may begin as another
  for (const std::string& word : words) {
    for (std::size_t at = sentence.find(word); !word.empty() && at != std::string::npos;
         at = sentence.find(word)) {
      sentence.erase(at, word.size());
    }
  }
  std::vector<std::pair<double, bool>> wanted;
  for (const Shown& one : expected) {
    for (const auto& [value, digit] : numbers_of(one.text)) wanted.emplace_back(value, one.exact);
  }
  const auto shown = numbers_of(sentence);
  ASSERT_EQ(shown.size(), wanted.size());
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const double slack = wanted[i].second ? 0 : 1.01 * std::max(shown[i].second, 0.0);
    EXPECT_NEAR(shown[i].first, wanted[i].first, slack) << "number " << i + 1;
  }
}

/// A table by the keys of its columns.
class Rows {
 public:
  explicit Rows(const Json& table) : table_(table) {}
  [[nodiscard]] const Json& table() const { return table_; }
  [[nodiscard]] std::size_t size() const { return table_.at("rows").size(); }
  [[nodiscard]] const Json& at(std::size_t row, std::string_view key) const {
    const Json& columns = table_.at("columns");
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].at("key") == key) return table_.at("rows").at(row).at(i);
    }
    throw std::out_of_range(std::string(key));
  }
  [[nodiscard]] double number(std::size_t row, std::string_view key) const {
    return at(row, key).get<double>();
  }
  [[nodiscard]] std::string text(std::size_t row, std::string_view key) const {
    return at(row, key).is_null() ? "" : at(row, key).get<std::string>();
  }

 private:
  const Json& table_;
};

/// States and shares of the peak follow from the other columns.
void check_family(const Json& family) {
  const Rows sizes(family.at("sizes"));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bool is_behind = !sizes.at(i, "high").is_null() && sizes.number(i, "high") < 1;
    EXPECT_EQ(is_behind, sizes.text(i, "state").find("behind") != std::string::npos);
    if (sizes.at(i, "peak").is_null()) continue;
    const Json& nominal = family.at("peak").at("gflops").at(sizes.text(i, "type"));
    const bool in_series = !sizes.at(i, "sustained_ns").is_null();
    const double rate =
        1e9 * sizes.number(i, "work") / sizes.number(i, in_series ? "sustained_ns" : "median_ns");
    EXPECT_NEAR(sizes.number(i, "peak"), rate / nominal.get<double>(),
                1e-4 * sizes.number(i, "peak"));
  }
}

/// The trials of a size that worked, by time.
std::vector<double> working(const Json& trials) {
  std::vector<double> times;
  for (const Json& ns : trials.at("ns")) {
    if (!ns.is_null()) times.push_back(ns.get<double>());
  }
  std::sort(times.begin(), times.end());
  return times;
}

void check_convergence(const Json& section) {
  const Rows steps(section.at("table"));
  const Json& runs = section.at("runs");
  double best = HUGE_VAL;
  for (std::size_t i = 0; i < steps.size(); ++i) best = std::min(best, steps.number(i, "ns"));
  std::vector<Shown> expected;
  std::vector<std::string> words;
  for (const Json& run : runs) words.push_back("run " + run.at("run").get<std::string>());
  if (best < HUGE_VAL) {
    expected.push_back(exactly(5));
    for (std::size_t r = runs.size(); r-- > runs.size() - std::min<std::size_t>(3, runs.size());) {
      const Json& run = runs[r];
      std::optional<std::size_t> near;
      for (std::size_t i = 0; i < steps.size() && !near; ++i) {
        const bool own = steps.text(i, "run") == run.at("run");
        if (own && steps.number(i, "ns") <= 1.05 * best) near = i;
      }
      if (near) expected.push_back(exactly(steps.at(*near, "trial").get<std::uint64_t>()));
      expected.push_back(exactly(run.at("trials").get<std::uint64_t>()));
      if (!near) continue;
      expected.push_back(about(format_duration(steps.number(*near, "elapsed_s"))));
      expected.push_back(about(format_duration(run.at("elapsed_s").get<double>())));
    }
    if (runs.size() > 3) expected.push_back(exactly(runs.size() - 3));
    if (runs.back().at("state") == "few_trials") expected.push_back(exactly(30));
  }
  expect_numbers(section.at("answer"), words, expected);
}

void check_distribution(const Json& section, const Json& trials) {
  const std::vector<double> times = working(trials);
  if (times.empty()) return expect_numbers(section.at("answer"), {}, {});
  const auto near = std::upper_bound(times.begin(), times.end(), 1.05 * times.front());
  expect_numbers(section.at("answer"), {},
                 {exactly(static_cast<std::uint64_t>(near - times.begin())), exactly(times.size()),
                  exactly(5), about(format_factor(times[times.size() / 2] / times.front()))});
}

/// Of a table of shares, from so many trials.
std::vector<Shown> importance_of(const Rows& rows, std::uint64_t trials) {
  std::vector<Shown> expected;
  if (trials < 30) return {exactly(30), exactly(trials)};
  if (rows.size() == 0) return {};
  const auto share = [&](std::size_t row, const char* key) {
    return about(format_percent(rows.number(row, key)));
  };
  expected = {share(0, "share"), exactly(95), share(0, "low"), share(0, "high")};
  if (rows.size() > 1) {
    expected.insert(expected.end(), {share(1, "share"), share(1, "low"), share(1, "high")});
  }
  expected.push_back(exactly(trials));
  return expected;
}

void check_importance(const Json& section, const Json& trials) {
  const std::uint64_t count = working(trials).size();
  EXPECT_EQ(section.at("trials"), count);
  expect_numbers(section.at("answer"), {}, importance_of(Rows(section.at("table")), count));
}

/// The parameter of the highest share of each row is counted.
void check_importance_by_size(const Json& section, std::size_t sizes) {
  const Json& table = section.at("table");
  std::map<std::string, std::uint64_t> first;
  for (const Json& row : table.at("rows")) {
    const auto share = [&](std::size_t i) { return row[i].is_null() ? 0 : row[i].get<double>(); };
    std::size_t most = 1;
    for (std::size_t i = 2; i < row.size(); ++i) most = share(i) > share(most) ? i : most;
    if (share(most) > 0) ++first[table.at("columns").at(most).at("label")];
  }
  std::vector<std::uint64_t> counts;
  for (const auto& [parameter, count] : first) counts.push_back(count);
  std::sort(counts.rbegin(), counts.rend());
  std::vector<Shown> expected;
  for (const std::uint64_t count : counts) expected.push_back(exactly(count));
  const std::size_t unknown = sizes - table.at("rows").size();
  if (unknown > 0) expected.insert(expected.end(), {exactly(unknown), exactly(30)});
  expect_numbers(section.at("answer"), {}, expected);
}

void check_finalists(const Json& section) {
  const Rows rows(section.at("table"));
  std::vector<Shown> expected;
  if (rows.size() > 0) {
    std::optional<std::size_t> chosen, fastest, next;
    std::uint64_t close = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows.text(i, "standing") == "library") continue;
      if (rows.text(i, "standing").find("chosen") == 0) {
        chosen = i;
        continue;
      }
      if (!next || rows.number(i, "ratio") < rows.number(*next, "ratio")) next = i;
      close += rows.number(i, "ratio_low") <= 1 ? 1U : 0U;
    }
    ASSERT_TRUE(chosen);
    expected.insert(expected.end(), {exactly(rows.size()), exactly(30)});
    const auto percent = [](double share) { return about(format_percent(share)); };
    if (next && rows.number(*next, "ratio") < 1) fastest = next;
    EXPECT_EQ(fastest.has_value(), rows.text(*chosen, "standing") == "chosen");
    if (fastest) {
      expected.push_back(exactly(section.at("ties").get<std::uint64_t>() + 1));
      const Json &mine = rows.at(*chosen, "registers"), &other = rows.at(*fastest, "registers");
      if (rows.text(*chosen, "role") != "incumbent" && !mine.is_null() && !other.is_null() &&
          mine != other) {
        expected.push_back(exactly(mine.get<std::uint64_t>()));
        expected.push_back(exactly(other.get<std::uint64_t>()));
      }
      if (rows.number(*fastest, "ratio_high") < 1) {
        expected.push_back(percent(1 / rows.number(*fastest, "ratio") - 1));
        expected.push_back(exactly(95));
        expected.push_back(percent(1 / rows.number(*fastest, "ratio_high") - 1));
        expected.push_back(percent(1 / rows.number(*fastest, "ratio_low") - 1));
      } else {
        expected.push_back(exactly(95));
      }
    } else if (close > 0) {
      expected.insert(expected.end(), {exactly(close), exactly(95)});
    } else if (next) {
      expected.push_back(percent(rows.number(*next, "ratio") - 1));
      expected.push_back(exactly(95));
      expected.push_back(percent(rows.number(*next, "ratio_low") - 1));
      expected.push_back(percent(rows.number(*next, "ratio_high") - 1));
    }
  }
  expect_numbers(section.at("answer"), {}, expected);
}

void check_search(const Json& section) {
  const Rows rows(section.at("table"));
  std::vector<Shown> expected;
  std::set<std::uint64_t> run_counts;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 0) expected.push_back(exactly(3));
    const auto runs = rows.at(i, "runs").get<std::uint64_t>();
    run_counts.insert(runs);
    const auto reached = rows.at(i, "reached_3").get<std::uint64_t>();
    if (!rows.at(i, "candidates_3").is_null()) {
      expected.push_back(exactly(rows.at(i, "candidates_3").get<std::uint64_t>()));
      expected.push_back(about(format_duration(rows.number(i, "seconds_3"))));
    } else if (reached > 0) {
      expected.insert(expected.end(), {exactly(reached), exactly(runs)});
    }
  }
  if (run_counts.size() == 1 && *run_counts.begin() > 1) {
    expected.push_back(exactly(*run_counts.begin()));
  }
  for (const Json& count : section.at("left_out")) {
    if (count != 0) expected.push_back(exactly(count.get<std::uint64_t>()));
  }
  expect_numbers(section.at("answer"), {}, expected);
}

void check_size(const Json& size) {
  const Json& trials = size.at("trials");
  for (const Json& section : size.at("sections")) {
    const std::string kind = section.at("kind");
    SCOPED_TRACE(kind);
    if (kind == "convergence") {
      check_convergence(section);
    } else if (kind == "distribution") {
      check_distribution(section, trials);
    } else if (kind == "importance") {
      check_importance(section, trials);
    } else if (kind == "finalists") {
      check_finalists(section);
    } else if (kind == "search") {
      check_search(section);
    } else {
      ASSERT_EQ(kind, "heatmap");
      const std::size_t axes = section.at("parameters").size();
      EXPECT_EQ(section.at("pairs").size(), axes * (axes - (axes > 0 ? 1 : 0)) / 2);
      expect_numbers(section.at("answer"), {},
                     axes < 2 ? std::vector<Shown>() : std::vector<Shown>{exactly(axes)});
    }
  }
}

void check_kernel(const Json& kernel) {
  std::map<std::string, const Json*> sections;
  for (const Json& section : kernel.at("sections")) sections[section.at("kind")] = &section;
  const auto percent = [](double share) { return about(format_percent(share)); };
  const Rows failures(sections.at("failures")->at("table"));
  std::map<std::string, std::uint64_t> counts;
  std::uint64_t tried = 0, lost = 0;
  for (const Json& size : kernel.at("sizes")) {
    tried += size.at("trials").at("total").get<std::uint64_t>();
  }
  for (std::size_t i = 0; i < failures.size(); ++i) {
    counts[failures.text(i, "outcome")] += failures.at(i, "count").get<std::uint64_t>();
    lost += failures.at(i, "count").get<std::uint64_t>();
  }
  std::vector<std::uint64_t> sorted;
  for (const auto& [outcome, count] : counts) sorted.push_back(count);
  std::sort(sorted.rbegin(), sorted.rend());
  std::vector<Shown> expected;
  if (lost > 0) {
    expected = {exactly(lost), exactly(tried),
                percent(static_cast<double>(lost) / static_cast<double>(tried))};
    for (const std::uint64_t count : sorted) expected.push_back(exactly(count));
  } else if (tried > 0) {
    expected = {exactly(tried)};
  }
  expect_numbers(sections.at("failures")->at("answer"), {}, expected);

  const Rows runs(sections.at("budget")->at("table"));
  double wall = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) wall += runs.number(i, "wall_s");
  expect_numbers(sections.at("budget")->at("answer"), {},
                 {about(format_duration(wall)), exactly(runs.size()), about(format_duration(0)),
                  about(format_duration(0)), about(format_duration(0))});

  const Rows shares(sections.at("importance_over_sizes")->at("table"));
  std::uint64_t trials = 0, tried_sizes = 0;
  for (const Json& size : kernel.at("sizes")) {
    const std::size_t times = working(size.at("trials")).size();
    trials += times;
    tried_sizes += times > 0 ? 1U : 0U;
  }
  std::vector<Shown> importance = importance_of(shares, trials);
  if (shares.size() > 0) importance.push_back(exactly(tried_sizes));
  expect_numbers(sections.at("importance_over_sizes")->at("answer"), {}, importance);
  check_importance_by_size(*sections.at("importance_by_size"), kernel.at("sizes").size());
}

TEST(Statements, EveryNumberOfEverySentenceFollowsFromTheDocument) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const Json document = random_database(seed).document();
    for (const Json& family : document.at("families")) check_family(family);
    for (const Json& kernel : document.at("kernels")) {
      check_kernel(kernel);
      for (const Json& size : kernel.at("sizes")) check_size(size);
    }
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace tuner::report
