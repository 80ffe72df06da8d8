// SPDX-License-Identifier: Apache-2.0
// How good is what a portfolio chooses for a size that it does not have? Its sizes are hidden, each
// in turn, and in five parts with members chosen anew; what is chosen from the others is compared
// with the times that are known; then the last quarter of the sizes, chosen from ever more of the
// others. With --fit, the parameters of the model that make the times most
// likely.
//   portfolio_benchmark FILE FAMILY [--fit]    FILE: a database, or a table of `tune export
//                                              --format json`, which has no candidates but members
#include "tuner/core/file.hpp"
#include "tuner/select/catalogue_json.hpp"
#include "tuner/select/gain_model.hpp"
#include "tuner/select/launch_shape.hpp"
#include "tuner/select/portfolio.hpp"
#include "tuner/select/portfolio_candidates.hpp"
#include "tuner/select/rank.hpp"
#include "tuner/store/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <exception>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tuner {
namespace {

using Clock = std::chrono::steady_clock;

/// A configuration with a time at some size of the portfolio.
struct Candidate {
  std::size_t kernel = 0;
  std::size_t config = 0;
};

/// The known times of a portfolio's sizes.
struct Times {
  store::PortfolioRecord portfolio;
  std::vector<Candidate> candidates;
  select::TimeMatrix matrix;

  [[nodiscard]] const std::string& size(std::size_t i) const { return portfolio.sizes[i].problem; }
};

const select::KnownConfig& config_of(const select::Catalogue& known, const Candidate& it) {
  return known.kernels[it.kernel].configs[it.config];
}

/// Back to back, or of a portfolio without such times by single launches.
Times times_of(const select::Catalogue& known, const store::PortfolioRecord& portfolio) {
  Times times{.portfolio = portfolio, .candidates = {}, .matrix = {}};
  const bool is_cold = std::ranges::none_of(portfolio.sizes, [](const store::PortfolioSize& it) {
    return it.library_ns || it.member_ns;
  });
  std::map<std::string, std::size_t> places;
  for (const store::PortfolioSize& it : portfolio.sizes) {
    places.emplace(it.problem, places.size());
    times.matrix.library_ns.push_back(is_cold ? it.library_cold_ns : it.library_ns);
    times.matrix.weights.push_back(it.weight);
  }
  for (std::size_t k = 0; k < known.kernels.size(); ++k) {
    const select::CatalogueKernel& kernel = known.kernels[k];
    for (std::size_t c = 0; c < kernel.configs.size(); ++c) {
      std::vector<std::optional<double>> ns(places.size());
      for (const select::Timing& timing : kernel.configs[c].timings) {
        const auto place = places.find(kernel.sizes[timing.size].text);
        if (place == places.end() || timing.cold_ns == 0) continue;
        ns[place->second] = is_cold ? timing.cold_ns : timing.ns;
      }
      if (std::ranges::none_of(ns, [](const auto& it) { return it.has_value(); })) continue;
      times.candidates.push_back({k, c});
      times.matrix.times_ns.push_back(std::move(ns));
    }
  }
  return times;
}

/// Of the members alone, times are known before.
void add_imbalances(select::Catalogue& known) {
  for (select::CatalogueKernel& kernel : known.kernels) {
    if (!kernel.stored) continue;
    for (select::KnownConfig& config : kernel.configs) {
      for (select::Timing& timing : config.timings) {
        if (!config.config || timing.cold_ns == 0) continue;
        const auto at =
            kernel.stored->at(known.device.attributes, kernel.sizes[timing.size].numbers);
        timing.imbalance =
            select::launch_imbalance(*kernel.stored, known.device.attributes, at, *config.config);
      }
    }
  }
}

/// As if the sizes had never been timed.
select::Catalogue without(select::Catalogue known, const Times& times,
                          const std::set<std::string>& hidden,
                          const std::optional<std::vector<std::size_t>>& members) {
  store::PortfolioRecord portfolio = times.portfolio;
  std::erase_if(portfolio.sizes,
                [&](const store::PortfolioSize& it) { return hidden.contains(it.problem); });
  if (members) {
    portfolio.members.clear();
    for (const std::size_t member : *members) {
      const Candidate& it = times.candidates[member];
      const store::KernelRecord& kernel = *known.kernels[it.kernel].record;
      portfolio.members.push_back({kernel.kernel, kernel.hash, config_of(known, it).json});
    }
  }
  known.portfolios = {std::move(portfolio)};
  for (select::CatalogueKernel& kernel : known.kernels) {
    std::erase_if(kernel.entries,
                  [&](const select::Entry& it) { return hidden.contains(it.size.text); });
    for (select::KnownConfig& config : kernel.configs) {
      std::erase_if(config.timings, [&](const select::Timing& it) {
        return hidden.contains(kernel.sizes[it.size].text);
      });
    }
  }
  return known;
}

/// Root mean squares and shares within one and two standard errors.
struct Errors {
  double squares = 0, within_one = 0, within_two = 0, count = 0;

  void add(double error, double deviation) {
    squares += error * error;
    within_one += std::abs(error) <= deviation ? 1 : 0;
    within_two += std::abs(error) <= 2 * deviation ? 1 : 0;
    ++count;
  }
  [[nodiscard]] std::string text() const {
    if (count == 0) return fmt::format("{:>22}", "");
    return fmt::format("{:>8.1f} {:>6.0f} {:>6.0f}", 100 * std::sqrt(squares / count),
                       100 * within_one / count, 100 * within_two / count);
  }
};

/// Of the sizes of one class.
struct Row {
  double ln_gain = 0, ln_oracle = 0, worst = 1, served = 0, sizes = 0;
  std::string worst_size = {};
  Errors gains, members, library;

  void print(const std::string& name) const {
    const double count = std::max(1.0, sizes);
    fmt::print("{:<20} {:>5} {:>8.3f} {:>7.3f} {:>6.3f} {:>5.0f} % |{} |{} |{}  {}\n", name, sizes,
               std::exp(ln_gain / count), std::exp(ln_oracle / count), worst, 100 * served / count,
               gains.text(), members.text(), library.text(), worst_size);
  }
};

class Evaluation {
 public:
  Evaluation(const select::Catalogue& known, const Times& times) : known_(known), times_(times) {}

  void each_in_turn() {
    for (std::size_t i = 0; i < times_.matrix.sizes(); ++i) hide({i}, std::nullopt);
    print("each size in turn, with the portfolio's members");
  }

  /// Every fifth size of those in ascending order.
  void in_parts(std::size_t k) {
    constexpr std::size_t kParts = 5;
    std::vector<std::size_t> order(times_.matrix.sizes());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return numbers(i); });
    for (std::size_t part = 0; part < kParts; ++part) {
      std::vector<std::size_t> hidden;
      for (std::size_t i = part; i < order.size(); i += kParts) hidden.push_back(order[i]);
      hide(hidden, select::choose_portfolio(matrix_without(hidden), k).members);
    }
    print("five parts in turn, members chosen for the others");
  }

  /// What more sizes are worth: all but the first ones are hidden.
  void from_ever_more() {
    const std::size_t all = times_.matrix.sizes();
    const std::size_t kept = all - all / 4;
    std::vector<std::size_t> counts;
    for (std::size_t count = kept; count >= 6; count /= 2) counts.insert(counts.begin(), count);
    for (const std::size_t count : counts) {
      std::set<std::string> hidden;
      for (std::size_t i = count; i < all; ++i) hidden.insert(times_.size(i));
      const select::Catalogue others = without(known_, times_, hidden, std::nullopt);
      for (std::size_t i = kept; i < all; ++i) {
        if (times_.matrix.library_ns[i]) evaluate(others, i);
      }
      print(fmt::format("the last {} sizes from the first {}", all - kept, count));
    }
  }

 private:
  [[nodiscard]] space::Size numbers(std::size_t size) const {
    return select::known_size(times_.size(size), known_.kernels.front()).value().numbers;
  }

  [[nodiscard]] select::TimeMatrix matrix_without(const std::vector<std::size_t>& hidden) const {
    const auto rest = [&](const auto& values) {
      auto kept = values;
      kept.clear();
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (std::ranges::count(hidden, i) == 0) kept.push_back(values[i]);
      }
      return kept;
    };
    select::TimeMatrix matrix = times_.matrix;
    for (auto& ns : matrix.times_ns) ns = rest(ns);
    matrix.library_ns = rest(matrix.library_ns);
    matrix.weights = rest(matrix.weights);
    return matrix;
  }

  void hide(const std::vector<std::size_t>& hidden,
            const std::optional<std::vector<std::size_t>>& members) {
    std::set<std::string> names;
    for (const std::size_t i : hidden) names.insert(times_.size(i));
    const select::Catalogue others = without(known_, times_, names, members);
    for (const std::size_t i : hidden) {
      if (!times_.matrix.library_ns[i]) continue;
      evaluate(others, i);
    }
  }

  [[nodiscard]] std::optional<double> time_of(const std::string& kernel, const std::string& json,
                                              std::size_t size) const {
    for (std::size_t c = 0; c < times_.candidates.size(); ++c) {
      const Candidate& it = times_.candidates[c];
      if (known_.kernels[it.kernel].record->kernel == kernel &&
          config_of(known_, it).json == json) {
        return times_.matrix.times_ns[c][size];
      }
    }
    return std::nullopt;
  }

  /// Of a size whose answer has no known time, only the predictions count.
  void evaluate(const select::Catalogue& others, std::size_t size) {
    const double library_ns = *times_.matrix.library_ns[size];
    const store::PortfolioRecord& portfolio = others.portfolios.front();
    const select::RankQuestion question{.family = portfolio.family, .size = times_.size(size)};
    Row here;
    bool is_first = true;
    for (const select::Selection& it : select::rank(others, question).answers) {
      const auto ns = it.kernel ? time_of(it.kernel->kernel, it.config_json, size) : library_ns;
      const double ln_gain = ns ? std::log(library_ns / *ns) : 0;
      if (is_first && ns) {
        here.sizes = 1;
        here.ln_gain = ln_gain;
        here.served = it.kernel ? 1 : 0;
        here.worst = std::min(1.0, std::exp(ln_gain));
        if (ln_gain < 0) here.worst_size = times_.size(size);
      }
      is_first = false;
      if (here.sizes > 0) here.ln_oracle = std::max(here.ln_oracle, ln_gain);
    }
    add_predictions(others, size, here);
    add(rows_["all"], here);
    add(rows_[class_of(size)], here);
  }

  void add_predictions(const select::Catalogue& others, std::size_t size, Row& here) const {
    const double library_ns = *times_.matrix.library_ns[size];
    std::vector<select::AskedKernel> asked;
    for (const select::CatalogueKernel& kernel : others.kernels) {
      asked.push_back({.kernel = &kernel, .size = select::known_size(times_.size(size), kernel)});
    }
    const select::Nearest found =
        select::portfolio_candidates(asked, others.device.attributes, others.portfolios.front());
    for (const select::NearCandidate& it : found.candidates) {
      const select::CatalogueKernel& kernel = *it.asked->kernel;
      const auto ns = time_of(kernel.record->kernel, kernel.configs[it.config].json, size);
      if (!ns) continue;
      here.members.add(std::log(it.expected->ns / *ns), it.expected->error);
      here.gains.add(it.gain->ln_ratio - std::log(library_ns / *ns), it.gain->error);
    }
    if (found.library) {
      here.library.add(std::log(found.library->time.ns / library_ns), found.library->time.error);
    }
  }

  [[nodiscard]] std::string class_of(std::size_t size) const {
    const select::CatalogueKernel& kernel = known_.kernels.front();
    const auto m = kernel.stored->dims().find("M");
    if (!m) return "without M";
    const std::int64_t rows = numbers(size)[*m];
    if (rows <= 16) return "M 1 to 16";
    if (rows < 64) return "M 17 to 63";
    return rows <= 2000 ? "M 64 to 2000" : "M above 2000";
  }

  static void add(Row& row, const Row& size) {
    row.ln_gain += size.ln_gain;
    row.ln_oracle += size.ln_oracle;
    if (size.worst < row.worst) row.worst_size = size.worst_size;
    row.worst = std::min(row.worst, size.worst);
    row.served += size.served;
    row.sizes += size.sizes;
    const auto add_errors = [](Errors& to, const Errors& it) {
      to.squares += it.squares;
      to.within_one += it.within_one;
      to.within_two += it.within_two;
      to.count += it.count;
    };
    add_errors(row.gains, size.gains);
    add_errors(row.members, size.members);
    add_errors(row.library, size.library);
  }

  void print(const std::string& what) {
    fmt::print("\n{}; errors in %, then the % within one and two standard errors\n", what);
    fmt::print("{:<20} {:>5} {:>8} {:>7} {:>6} {:>7} | {:<21} | {:<21} | {}\n", "", "sizes",
               "/library", "oracle", "worst", "kernels", "gain", "member's time", "library's time");
    for (const auto& [name, row] : rows_) row.print(name);
    rows_.clear();
  }

  const select::Catalogue& known_;
  const Times& times_;
  std::map<std::string, Row> rows_;
};

/// The gains of all members at one size from those at the others.
class Likelihood {
 public:
  Likelihood(const select::Catalogue& known, const Times& times) {
    const select::Catalogue members = members_of(known, times.portfolio);
    for (std::size_t i = 0; i < times.matrix.sizes(); ++i) {
      if (!times.matrix.library_ns[i]) continue;
      HiddenSize& hidden = hidden_.emplace_back();
      hidden.size = times.size(i);
      hidden.others = without(members, times, {hidden.size}, std::nullopt);
      for (std::size_t c = 0; c < times.candidates.size(); ++c) {
        const Candidate& it = times.candidates[c];
        if (const auto& ns = times.matrix.times_ns[c][i]) {
          hidden.ln_gains[{it.kernel, config_of(known, it).json}] =
              std::log(*times.matrix.library_ns[i] / *ns);
        }
      }
    }
  }

  /// The negative logarithm, a gain.
  [[nodiscard]] double of(const select::GainParameters& parameters) const {
    double sum = 0, count = 0;
    for (const HiddenSize& hidden : hidden_) {
      const select::Catalogue& others = hidden.others;
      std::vector<select::AskedKernel> asked;
      for (const select::CatalogueKernel& kernel : others.kernels) {
        asked.push_back({.kernel = &kernel, .size = select::known_size(hidden.size, kernel)});
      }
      const select::Nearest found = select::portfolio_candidates(
          asked, others.device.attributes, others.portfolios.front(), parameters);
      for (const select::NearCandidate& it : found.candidates) {
        const auto kernel = static_cast<std::size_t>(it.asked->kernel - others.kernels.data());
        const auto gain = hidden.ln_gains.find({kernel, it.asked->kernel->configs[it.config].json});
        if (gain == hidden.ln_gains.end()) continue;
        const double error = (gain->second - it.gain->ln_ratio) / it.gain->error;
        sum += std::log(it.gain->error) + error * error / 2;
        ++count;
      }
    }
    return sum / std::max(1.0, count);
  }

  /// One parameter after the other, in ever smaller steps.
  void fit() const {
    select::GainParameters best;
    double least = of(best);
    fmt::print("\nnegative ln likelihood of a gain {:.4f}\n", least);
    for (const double step : {1.5, 1.25, 1.1}) {
      for (int round = 0; round < 3; ++round) {
        for (double select::GainParameters::*member : kFitted) {
          for (const double factor : {step, 1 / step}) {
            select::GainParameters there = best;
            there.*member *= factor;
            const double value = of(there);
            if (value >= least) continue;
            least = value;
            best = there;
          }
        }
      }
    }
    fmt::print(
        "fitted {:.4f}: trend {:.3g} reach {:.3g}, rough {:.3g} reach {:.3g}, imbalance "
        "{:.3g}, noise {:.3g}\n",
        least, best.trend, best.reach_of_trend, best.rough, best.reach_of_rough, best.imbalance,
        best.noise);
  }

 private:
  struct HiddenSize {
    std::string size;
    select::Catalogue others;
    std::map<std::pair<std::size_t, std::string>, double> ln_gains;  // by kernel, configuration
  };
  static constexpr std::array kFitted = {
      &select::GainParameters::trend,     &select::GainParameters::reach_of_trend,
      &select::GainParameters::rough,     &select::GainParameters::reach_of_rough,
      &select::GainParameters::imbalance, &select::GainParameters::noise};

  /// What is asked of a catalogue here: it is copied for each size.
  static select::Catalogue members_of(select::Catalogue known,
                                      const store::PortfolioRecord& portfolio) {
    for (select::CatalogueKernel& kernel : known.kernels) {
      kernel.entries.clear();
      std::erase_if(kernel.configs, [&](const select::KnownConfig& it) {
        return !select::is_member(portfolio, *kernel.record, it.json);
      });
    }
    return known;
  }

  std::vector<HiddenSize> hidden_;
};

/// Of the family alone.
select::Catalogue catalogue_of(const std::string& file, const std::string& family) {
  if (!file.ends_with(".json")) {
    return select::catalogue(store::Store(file, store::Store::Mode::read_only), {.family = family});
  }
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  select::Catalogue known = select::parse_catalogue(read_file(file, kMostBytes), file);
  std::erase_if(known.kernels,
                [&](const select::CatalogueKernel& it) { return it.record->family != family; });
  std::erase_if(known.portfolios,
                [&](const store::PortfolioRecord& it) { return it.family != family; });
  return known;
}

int run(const std::string& file, const std::string& family, bool fit) {
  const auto begin = Clock::now();
  select::Catalogue known = catalogue_of(file, family);
  const auto opened = Clock::now();
  const select::Catalogue as_opened = known;
  add_imbalances(known);
  for (const store::PortfolioRecord& portfolio : as_opened.portfolios) {
    const Times times = times_of(known, portfolio);
    fmt::print("{} {} on {}, driver {}, {}, {}: {} members of {} candidates, {} sizes\n", family,
               portfolio.types, known.device.name, portfolio.environment.driver,
               portfolio.environment.library, portfolio.recorded_at, portfolio.members.size(),
               times.candidates.size(), portfolio.sizes.size());
    Evaluation evaluation(known, times);
    evaluation.each_in_turn();
    evaluation.in_parts(portfolio.members.size());
    evaluation.from_ever_more();
    if (fit) Likelihood(known, times).fit();
    const auto asked = Clock::now();
    static_cast<void>(
        select::rank(as_opened, {.family = family, .size = portfolio.sizes.front().problem}));
    fmt::print("\ncatalogue {:.1f} ms; one ranking {:.2f} ms\n",
               std::chrono::duration<double, std::milli>(opened - begin).count(),
               std::chrono::duration<double, std::milli>(Clock::now() - asked).count());
  }
  return 0;
}

}  // namespace
}  // namespace tuner

int main(int argc, char** argv) {
  const bool fit = argc == 4 && std::string(argv[3]) == "--fit";
  if (argc != 3 && !fit) {
    fmt::print(stderr, "portfolio_benchmark FILE FAMILY [--fit]\n");
    return 2;
  }
  try {
    return tuner::run(argv[1], argv[2], fit);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
