// SPDX-License-Identifier: Apache-2.0
// What the page says of databases of which an earlier page said something wrong, and, of random
// databases, that every number of every sentence follows from the document.
#include "sample_store.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/importance.hpp"
#include "tuner/report/report.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace tuner::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kProblem = "512,512,512";

/// A database of one kernel, filled trial by trial.
class Database {
 public:
  void begin_run(const std::string& uuid) {
    store::RunRecord record;
    record.uuid = uuid;
    record.device = subject_.device.name;
    record.backend = "cuda";
    record.family = "gemm";
    record.kernel = subject_.kernel.kernel;
    record.kernel_hash = subject_.kernel.hash;
    record.strategy = "auto";
    record.command = "tune --kernel gemm_shared --space spaces/gemm.json";
    run_ = store_.begin_run(subject_, record);
    uuid_ = uuid;
    elapsed_s_ = 0;
    record.state = store::RunState::budget_spent;
    record.wall_s = 100;
    store_.end_run(run_, record);
  }
  void add_trial(int a, int b, std::optional<double> ns, Outcome outcome = Outcome::ok,
                 int registers = 64, const std::string& problem = kProblem) {
    store::TrialRecord trial;
    trial.problem = problem;
    trial.config_json = config(a, b);
    trial.outcome = outcome;
    trial.registers = registers;
    if (ns) trial.time = store::TimeRecord{*ns, *ns, *ns, *ns, 5};
    store_.record_trial(run_, trial, elapsed_s_ += 1);
  }
  static std::string config(int a, int b) { return fmt::format(R"({{"A":{},"B":{}}})", a, b); }
  static store::FinalistRecord finalist(const std::string& role, int a, double ns, double ratio,
                                        double low, double high) {
    const bool library = role == "library";
    return {role, library ? "" : config(a, 0), {ns, ns, ns, ns, 30}, ratio, low, high, {}};
  }
  /// The finalist whose ratio is 1 is what the final round chose.
  void add_final(const std::vector<store::FinalistRecord>& finalists, int ties,
                 std::optional<double> library_ratio = {}, const std::string& problem = kProblem) {
    store::BestRecord best;
    best.problem = problem;
    for (const store::FinalistRecord& one : finalists) {
      if (one.role == "library" || one.ratio_low != 1 || one.ratio_high != 1) continue;
      best.config_json = one.config_json;
      best.time = one.time;
    }
    best.ties = ties;
    best.flops = 2e9;
    best.bytes = 3e6;
    best.library_name = "cuBLAS 13.0.2";
    if (library_ratio) {
      best.library_ns = *library_ratio * best.time.median_ns;
      best.ratio_to_library = *library_ratio;
      best.ratio_to_library_low = 0.99 * *library_ratio;
      best.ratio_to_library_high = 1.01 * *library_ratio;
    }
    best.run_uuid = uuid_;
    best.recorded_at = "2025-11-21T09:00:00Z";
    store_.record_final(run_, best, finalists);
  }
  /// The size is tuned on this card from now on.
  void add_card(const std::string& problem, const std::string& uuid) {
    store_.record_card(run_, {.problem = problem, .uuid = uuid});
  }
  void use_kernel(const std::string& name) { subject_.kernel.kernel = name; }
  [[nodiscard]] Json document() const { return report_document(store_, subject_.device.name); }
  [[nodiscard]] Json section(const std::string& kind) const {
    const Json whole = document();
    for (const Json& one : whole.at("kernels").at(0).at("sizes").at(0).at("sections")) {
      if (one.at("kind") == kind) return one;
    }
    return {};
  }

 private:
  store::Subject subject_ = sample_subject("gemm_shared");
  store::Store store_ = store::Store::in_memory();
  std::int64_t run_ = 0;
  std::string uuid_;
  double elapsed_s_ = 0;
};

// ---- the chosen and the fastest -----------------------------------------------------------------

TEST(Statements, TheChosenAndTheFastestAreToldApartWithTheRuleThatChose) {
  Database database;
  database.begin_run("aaaaaaaa");
  database.add_trial(1, 0, 99.3e3, Outcome::ok, 128);
  database.add_trial(2, 0, 100e3, Outcome::ok, 96);
  database.add_final({Database::finalist("candidate", 1, 99.3e3, 0.993, 0.991, 0.995),
                      Database::finalist("candidate", 2, 100e3, 1, 1, 1),
                      Database::finalist("candidate", 3, 103e3, 1.03, 1.02, 1.04)},
                     1);
  const Json section = database.section("finalists");
  EXPECT_EQ(section.at("answer"),
            "3 contenders timed in turns. Chosen among 2 within 1\u00a0% of the fastest, by this "
            "rule: fewer registers, 96 instead of 128. The fastest is 0.70\u00a0% ahead of it "
            "(95\u00a0%: 0.50\u00a0% to 0.91\u00a0%).");
  EXPECT_EQ(section.at("table").at("rows").at(0).at(1), "fastest");
  EXPECT_EQ(section.at("table").at("rows").at(1).at(1), "chosen");
}

TEST(Statements, SayWhichCardWonASizeOfARunThatHadSeveral) {
  Database database;
  database.begin_run("aaaaaaaa");
  database.add_trial(1, 0, 100e3, Outcome::ok, 128);
  database.add_card(kProblem, "GPU-1");
  database.add_card(kProblem, "GPU-2");
  database.add_final({Database::finalist("candidate", 1, 100e3, 1, 1, 1)}, 0);
  const auto answer = [&] { return database.section("finalists").at("answer").get<std::string>(); };
  EXPECT_THAT(answer(), testing::StartsWith("1 contender timed in turns. "));
  database.add_card("4096,4096,4096", "GPU-3");
  EXPECT_THAT(answer(), testing::StartsWith("1 contender timed in turns on card GPU-2. "));
}

TEST(Statements, WhatWasBestBeforeIsChosenForThat) {
  Database database;
  database.begin_run("aaaaaaaa");
  database.add_trial(1, 0, 99.5e3);
  database.add_trial(2, 0, 100e3);
  database.add_final({Database::finalist("candidate", 1, 99.5e3, 0.998, 0.99, 1.003),
                      Database::finalist("incumbent", 2, 100e3, 1, 1, 1)},
                     1);
  EXPECT_EQ(database.section("finalists").at("answer"),
            "2 contenders timed in turns. Chosen among 2 within 1\u00a0% of the fastest, by this "
            "rule: what was best before. The fastest cannot be told from it (95\u00a0%).");
}

TEST(Statements, TheDefaultIsChosenForThat) {
  Database database;
  database.begin_run("aaaaaaaa");
  database.add_trial(1, 0, 99.5e3);
  database.add_trial(2, 0, 100e3);
  database.add_final({Database::finalist("candidate", 1, 99.5e3, 0.998, 0.99, 1.003),
                      Database::finalist("default", 2, 100e3, 1, 1, 1)},
                     1);
  EXPECT_THAT(database.section("finalists").at("answer").get<std::string>(),
              HasSubstr("by this rule: the default."));
}

TEST(Statements, AWinnerThatIsTheFastestSaysByHowMuch) {
  Database database;
  database.begin_run("aaaaaaaa");
  database.add_trial(1, 0, 100e3);
  database.add_final({Database::finalist("library", 0, 90e3, 0.9, 0.89, 0.91),
                      Database::finalist("candidate", 1, 100e3, 1, 1, 1),
                      Database::finalist("default", 2, 150e3, 1.5, 1.49, 1.52)},
                     0);
  EXPECT_EQ(database.section("finalists").at("answer"),
            "3 contenders timed in turns. The winner is the fastest; the next takes 50.0\u00a0% "
            "longer (95\u00a0%: 49.0\u00a0% to 52.0\u00a0%).");
}

// ---- outcomes -----------------------------------------------------------------------------------

TEST(Statements, EveryOutcomeIsCountedAmongTheFailures) {
  Database database;
  database.begin_run("aaaaaaaa");
  int a = 0;
  for (const Outcome outcome : kOutcomes) {
    if (outcome == Outcome::ok) continue;
    database.add_trial(++a, 0, {}, outcome);
  }
  const Json kernel = database.document().at("kernels").at(0);
  for (const Json& section : kernel.at("sections")) {
    if (section.at("kind") != "failures") continue;
    EXPECT_EQ(section.at("table").at("rows").size(), kOutcomes.size() - 1);
    EXPECT_THAT(section.at("answer").get<std::string>(), HasSubstr("11 of 11 candidates failed"));
  }
}

// ---- convergence --------------------------------------------------------------------------------

TEST(Statements, ConvergenceIsCountedInTheTrialsOfEachRun) {
  Database database;
  database.begin_run("aaaaaaaa");
  for (int i = 0; i < 100; ++i) database.add_trial(i, 0, 200e3);
  database.begin_run("bbbbbbbb");
  for (int i = 0; i < 40; ++i) database.add_trial(i, 1, i == 9 ? 100e3 : 150e3);
  EXPECT_EQ(database.section("convergence").at("answer"),
            "Within 5\u00a0% of the fastest: run bbbbbbbb after 10 of 40 trials (9.0\u00a0s of "
            "39\u00a0s); run aaaaaaaa not in 100 trials.");
}

TEST(Statements, ASearchThatImprovedAtItsEndIsSaidToBeUnfinished) {
  Database database;
  database.begin_run("aaaaaaaa");
  for (int i = 0; i < 50; ++i) database.add_trial(i, 0, i < 45 ? 200e3 : 150e3);
  const Json section = database.section("convergence");
  EXPECT_EQ(section.at("runs").at(0).at("state"), "improving");
  EXPECT_THAT(section.at("answer").get<std::string>(),
              HasSubstr("still improved in the last fifth of the trials"));
}

// ---- importance ---------------------------------------------------------------------------------

TEST(Statements, NoImportanceIsClaimedFromFewTrials) {
  Database database;
  database.begin_run("aaaaaaaa");
  for (int i = 0; i < 29; ++i) database.add_trial(i % 4, i, 100e3 * (1 + i % 4));
  EXPECT_EQ(database.section("importance").at("answer"),
            "Unknown: it takes 30 working trials, and there are 29.");
  EXPECT_THAT(database.section("importance").at("table").at("rows"), IsEmpty());
  EXPECT_THAT(database.section("heatmap").at("pairs"), IsEmpty());
  database.add_trial(1, 29, 200e3);
  EXPECT_THAT(database.section("importance").at("answer").get<std::string>(),
              HasSubstr("A explains 100\u00a0% of the variance of log time"));
}

/// Trials at which one of two parameters decides and the other does nothing but noise.
KernelHistory two_parameters(SizeHistory& size, std::size_t trials, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0, 0.3);
  KernelHistory kernel;
  kernel.parameters = {"NOTHING", "DECIDES"};
  for (std::size_t i = 0; i < trials; ++i) {
    const std::uint64_t a = random() % 4, b = random() % 3;
    store::TrialRecord trial;
    const double ns = 1e5 * std::exp(0.5 * static_cast<double>(b) + noise(random));
    trial.time = store::TimeRecord{ns, ns, ns, ns, 5};
    size.evaluations.push_back({0, i + 1, 0, {std::to_string(a), std::to_string(b)}, trial});
  }
  return kernel;
}

TEST(Importance, IntervalsHoldTheTrueShareAboutAsOftenAsTheySay) {
  // The variance of 0.5·b, b uniform of {0, 1, 2}, over itself and the noise's.
  const double truth = 0.25 * (2.0 / 3) / (0.25 * (2.0 / 3) + 0.09);
  int held = 0;
  constexpr int kStudies = 200;
  for (std::uint64_t seed = 0; seed < kStudies; ++seed) {
    SizeHistory size;
    const KernelHistory kernel = two_parameters(size, 200, seed);
    const auto found = importances(kernel, size);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->front().parameter, 1U);
    EXPECT_LT(found->back().share, 0.1);
    held += found->front().low <= truth && truth <= found->front().high ? 1 : 0;
  }
  EXPECT_GE(held, kStudies * 88 / 100);
}

TEST(Importance, EqualTimesHaveNone) {
  SizeHistory size;
  KernelHistory kernel = two_parameters(size, 40, 1);
  for (ReportedTrial& trial : size.evaluations) trial.trial.time = store::TimeRecord{5, 5, 5, 5, 5};
  EXPECT_FALSE(importances(kernel, size));
}

// ---- every number of every sentence -------------------------------------------------------------

/// A random database: kernels, sizes, runs, outcomes, final rounds with and without a library.
Database random_database(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t limit) { return static_cast<int>(random() % limit); };
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  Database database;
  const int kernels = 1 + below(3), sizes = 1 + below(9);
  for (int k = 0; k < kernels; ++k) {
    database.use_kernel(fmt::format("kernel_{}", static_cast<char>('a' + k)));
    for (int run = 1 + below(5); run > 0; --run) {
      database.begin_run(fmt::format("{:08x}", random() & 0xffffffffU));
      for (int s = 0; s < sizes; ++s) {
        const std::string problem = fmt::format("{0},{0},{1}", 128 << s, 64 << below(2));
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
void expect_numbers(std::string sentence, const std::vector<std::string>& words,
                    const std::vector<Shown>& expected) {
  SCOPED_TRACE(sentence);
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

void check_family(const Json& family, const Json& kernels) {
  const Rows sizes(family.at("sizes"));
  std::uint64_t named = 0;
  for (const Json& kernel : kernels) named += kernel.at("family") == family.at("family") ? 1U : 0U;
  expect_numbers(family.at("verdict").at(0), {}, {exactly(sizes.size()), exactly(named)});

  double logs = 0;
  std::uint64_t count = 0, ahead = 0, behind = 0;
  std::map<std::string, std::uint64_t> states, wins;
  std::vector<Shown> behind_ratios;
  std::vector<std::string> labels;
  std::size_t fastest = sizes.size();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    labels.push_back(sizes.text(i, "size"));
    ++wins[sizes.text(i, "best")];
    for (const char* state : {"screened", "few trials", "improving", "behind"}) {
      if (sizes.text(i, "state").find(state) == std::string::npos) continue;
      ++states[state];
    }
    const bool is_behind = !sizes.at(i, "high").is_null() && sizes.number(i, "high") < 1;
    EXPECT_EQ(is_behind, sizes.text(i, "state").find("behind") != std::string::npos);
    if (is_behind && behind_ratios.size() < 5) {
      behind_ratios.push_back(about(fmt::format("{:.3f}", sizes.number(i, "ratio"))));
    }
    const bool rated = !sizes.at(i, "rate").is_null();
    if (rated &&
        (fastest == sizes.size() || sizes.number(i, "rate") > sizes.number(fastest, "rate"))) {
      fastest = i;
    }
    if (sizes.at(i, "ratio").is_null()) continue;
    logs += std::log(sizes.number(i, "ratio"));
    ++count;
    ahead += sizes.number(i, "low") > 1 ? 1U : 0U;
    behind += is_behind ? 1U : 0U;
  }
  std::vector<Shown> verdict;
  if (count > 0) {
    verdict = {about(fmt::format("{:.2f}", std::exp(logs / static_cast<double>(count)))),
               exactly(count), exactly(ahead), exactly(behind)};
    if (ahead + behind < count) verdict.push_back(exactly(count - ahead - behind));
  }
  expect_numbers(family.at("verdict").at(1), {}, verdict);
  if (family.at("verdict").size() > 2) {
    ASSERT_LT(fastest, sizes.size());
    const std::string sentence = family["verdict"][2];
    EXPECT_THAT(sentence, HasSubstr(labels[fastest]));
    expect_numbers(sentence, labels, {about(format_number(sizes.number(fastest, "rate")))});
  }
  const Rows won(family.at("wins"));
  for (std::size_t i = 0; i < won.size(); ++i) {
    EXPECT_EQ(won.table().at("rows").at(i).at(1), wins[won.text(i, "kernel")]);
  }
  for (const Json& item : family.at("to_do")) {
    const std::string text = item.at("text");
    const bool few = text.find("fewer than") != std::string::npos;
    const std::string state = few                                           ? "few trials"
                              : text.find("improving") != std::string::npos ? "improving"
                              : text.find("screening") != std::string::npos ? "screened"
                                                                            : "behind";
    std::vector<Shown> expected = {exactly(states[state])};
    if (few) expected.push_back(exactly(30));
    if (state == "behind") {
      expected.insert(expected.end(), behind_ratios.begin(), behind_ratios.end());
      if (behind > behind_ratios.size()) expected.push_back(exactly(behind - behind_ratios.size()));
    }
    expect_numbers(text, labels, expected);
  }
}

/// The trials of a size that worked, by time.
std::vector<double> working(const Json& trials) {
  std::vector<double> times;
  for (const Json& ns : trials.at("median_ns")) {
    if (!ns.is_null()) times.push_back(ns.get<double>());
  }
  std::sort(times.begin(), times.end());
  return times;
}

void check_convergence(const Json& section) {
  const Rows steps(section.at("table"));
  const Json& runs = section.at("runs");
  double best = HUGE_VAL;
  for (std::size_t i = 0; i < steps.size(); ++i)
    best = std::min(best, steps.number(i, "median_ns"));
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
        if (own && steps.number(i, "median_ns") <= 1.05 * best) near = i;
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

void check_importance(const Json& section, const Json& trials) {
  const Rows rows(section.at("table"));
  const std::uint64_t count = working(trials).size();
  EXPECT_EQ(section.at("trials"), count);
  std::vector<Shown> expected;
  if (count < 30) {
    expected = {exactly(30), exactly(count)};
  } else if (rows.size() > 0) {
    const auto share = [&](std::size_t row, const char* key) {
      return about(format_percent(rows.number(row, key)));
    };
    expected = {share(0, "share"), exactly(95), share(0, "low"), share(0, "high")};
    if (rows.size() > 1) {
      expected.insert(expected.end(), {share(1, "share"), share(1, "low"), share(1, "high")});
    }
    expected.push_back(exactly(count));
  }
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
    expected.push_back(exactly(rows.size()));
    const auto percent = [](double share) { return about(format_percent(share)); };
    if (next && rows.number(*next, "ratio") < 1) fastest = next;
    EXPECT_EQ(fastest.has_value(), rows.text(*chosen, "standing") == "chosen");
    if (fastest) {
      expected.push_back(exactly(section.at("ties").get<std::uint64_t>() + 1));
      expected.push_back(exactly(1));
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

/// "runs at 20.00 TFLOP/s, 50.0 % of cuBLAS; 2 other finalists are within 1 %": of a row of bests.
std::vector<Shown> verdict_of(const Rows& bests, std::size_t row) {
  std::vector<Shown> expected = {bests.at(row, "rate").is_null()
                                     ? about(format_time(bests.number(row, "median_ns")))
                                     : about(format_number(bests.number(row, "rate")))};
  if (bests.text(row, "measured_in") != "final") return expected;
  if (!bests.at(row, "ratio_to_library").is_null()) {
    expected.push_back(about(format_percent(bests.number(row, "ratio_to_library"))));
  }
  const auto ties = bests.at(row, "ties").get<std::uint64_t>();
  if (ties > 0) expected.insert(expected.end(), {exactly(ties), exactly(1)});
  return expected;
}

void check_kernel(const Json& kernel) {
  std::map<std::string, const Json*> sections;
  for (const Json& section : kernel.at("sections")) sections[section.at("kind")] = &section;
  const Rows bests(sections.at("best")->at("table"));
  expect_numbers(sections.at("best")->at("answer"), {}, {exactly(bests.size())});
  std::vector<std::string> labels;
  for (const Json& size : kernel.at("sizes")) labels.push_back(size.at("label"));
  std::vector<std::pair<double, std::string>> ratios;
  for (std::size_t i = 0; i < bests.size(); ++i) {
    if (bests.at(i, "ratio_to_library").is_null()) continue;
    ratios.emplace_back(bests.number(i, "ratio_to_library"), bests.text(i, "size"));
  }
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  const auto percent = [](double share) { return about(format_percent(share)); };
  if (bests.size() > 0) {
    std::vector<Shown> expected = verdict_of(bests, bests.size() - 1);
    if (ratios.size() > 1) {
      expected.insert(expected.end(), {exactly(kernel.at("sizes").size()), percent(low->first),
                                       percent(high->first)});
    }
    expect_numbers(kernel.at("verdict"), labels, expected);
  }
  std::vector<Shown> performance;
  if (ratios.size() == 1) performance = {percent(high->first)};
  if (ratios.size() > 1) {
    const auto wins =
        std::count_if(ratios.begin(), ratios.end(), [](auto& it) { return it.first > 1; });
    if (wins > 0) {
      performance = {exactly(static_cast<std::uint64_t>(wins)), exactly(ratios.size())};
    }
    performance.insert(performance.end(), {percent(high->first), percent(low->first)});
  }
  expect_numbers(sections.at("performance")->at("answer"), labels, performance);

  const Rows failures(sections.at("failures")->at("table"));
  std::map<std::string, std::uint64_t> counts;
  std::uint64_t tried = 0;
  for (std::size_t i = 0; i < failures.size(); ++i) {
    counts[failures.text(i, "outcome")] += failures.at(i, "count").get<std::uint64_t>();
    tried += failures.at(i, "count").get<std::uint64_t>();
  }
  const std::uint64_t lost = tried - counts["ok"];
  counts.erase("ok");
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
  std::vector<Shown> importance = {exactly(30)};
  if (shares.size() > 0) {
    importance = {exactly(sections["importance_over_sizes"]->at("sizes").get<std::uint64_t>()),
                  percent(shares.number(0, "share"))};
  }
  expect_numbers(sections.at("importance_over_sizes")->at("answer"), {}, importance);
}

TEST(Statements, EveryNumberOfEverySentenceFollowsFromTheDocument) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const Json document = random_database(seed).document();
    for (const Json& family : document.at("families")) {
      check_family(family, document.at("kernels"));
    }
    for (const Json& kernel : document.at("kernels")) {
      check_kernel(kernel);
      for (const Json& size : kernel.at("sizes")) check_size(size);
    }
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace tuner::report
