// SPDX-License-Identifier: Apache-2.0
// How good is what is chosen for a size that was never tuned? Each tuned size of a database is
// hidden in turn, and an answer is chosen from the others; its time is known where a run tried it.
//   selection_benchmark DATABASE|TABLE.json FAMILY
#include "tuner/core/file.hpp"
#include "tuner/select/catalogue_json.hpp"
#include "tuner/select/rank.hpp"
#include "tuner/store/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace tuner {
namespace {

using Times = std::map<std::tuple<std::string, std::string, std::string>, double>;

/// Of configurations that were best somewhere or timed at many sizes.
Times all_times(const select::Catalogue& known) {
  Times times;
  for (const select::CatalogueKernel& kernel : known.kernels) {
    for (const select::KnownConfig& config : kernel.configs) {
      for (const select::Timing& timing : config.timings) {
        times[{kernel.record->kernel, kernel.sizes[timing.size].text, config.json}] = timing.ns;
      }
    }
  }
  return times;
}

/// What a database or a table knows of a family, and all times of its kernels.
std::pair<select::Catalogue, Times> read(const std::string& file, const std::string& family) {
  constexpr std::size_t kMostBytes = std::size_t{256} << 20;
  if (!file.ends_with(".json")) {
    const store::Store store(file, store::Store::Mode::read_only);
    select::Catalogue known = select::catalogue(store, {.family = family});
    Times times = all_times(known);
    return {std::move(known), std::move(times)};
  }
  select::Catalogue known = select::parse_catalogue(read_file(file, kMostBytes), file);
  std::erase_if(known.kernels, [&](const auto& it) { return it.record->family != family; });
  Times times = all_times(known);
  return {std::move(known), std::move(times)};
}

/// As if one size had never been tuned.
select::Catalogue without(select::Catalogue known, const std::string& size) {
  constexpr std::size_t kManySizes = 4;  // as the catalogue takes them in
  for (select::CatalogueKernel& kernel : known.kernels) {
    std::erase_if(kernel.entries, [&](const select::Entry& it) { return it.size.text == size; });
    std::set<std::size_t> best_elsewhere;
    for (const select::Entry& entry : kernel.entries) best_elsewhere.insert(entry.config);
    for (std::size_t i = 0; i < kernel.configs.size(); ++i) {
      auto& timings = kernel.configs[i].timings;
      std::erase_if(timings,
                    [&](const select::Timing& it) { return kernel.sizes[it.size].text == size; });
      if (!best_elsewhere.contains(i) && timings.size() < kManySizes) timings.clear();
    }
    select::fit_model(kernel, known.device.attributes);
  }
  return known;
}

/// What tuning the size found.
struct Truth {
  std::size_t times = 0;
  double best_ns = std::numeric_limits<double>::infinity();
  std::optional<double> library_ns;  ///< comparable with best_ns: by the ratio in the final
};

Truth truth(const select::Catalogue& known, const Times& times, const std::string& size) {
  Truth result;
  for (const auto& [key, ns] : times) {
    if (std::get<1>(key) != size) continue;
    ++result.times;
    result.best_ns = std::min(result.best_ns, ns);
  }
  for (const select::CatalogueKernel& kernel : known.kernels) {
    for (const select::Entry& entry : kernel.entries) {
      if (entry.size.text != size || !entry.best.ratio_to_library) continue;
      const double ns = result.best_ns * *entry.best.ratio_to_library;
      result.library_ns = std::max(result.library_ns.value_or(0), ns);
    }
  }
  return result;
}

std::optional<double> time_of(const select::Selection& answer, const Times& times,
                              const Truth& at) {
  if (answer.rung == Rung::library) return at.library_ns;
  const auto found = times.find({answer.kernel->kernel, answer.size_text, answer.config_json});
  if (found == times.end()) return std::nullopt;
  return found->second;
}

struct Choice {
  double regret = 1;                 ///< time / the best at this size, the library among it
  std::optional<double> to_library;  ///< time / the library's
  std::optional<double> foretold;    ///< expected / measured
};

struct Column {
  std::string name;
  std::vector<Choice> choices = {};
  std::size_t unmeasured = 0;  ///< of the first answers

  void print() const {
    std::vector<double> regrets, libraries;
    double error = 0, foretold = 0;
    for (const Choice& it : choices) {
      regrets.push_back(it.regret);
      if (it.to_library) libraries.push_back(*it.to_library);
      if (!it.foretold) continue;
      error += std::log(*it.foretold) * std::log(*it.foretold);
      ++foretold;
    }
    const auto mean = [](const std::vector<double>& values) {
      double sum = 0;
      for (const double value : values) sum += std::log(value);
      return std::exp(sum / static_cast<double>(std::max<std::size_t>(1, values.size())));
    };
    std::ranges::sort(regrets);
    std::ranges::sort(libraries);
    if (regrets.empty()) return;
    fmt::print("{:<34} {:>5} {:>8} {:>8.3f} {:>6.3f} {:>6.3f} | {:>7.3f} {:>6.3f} {:>6}\n", name,
               regrets.size(), unmeasured, mean(regrets), regrets[regrets.size() * 9 / 10],
               regrets.back(), mean(libraries), libraries.empty() ? 0 : libraries.back(),
               foretold > 0 ? fmt::format("{:.1f} %", 100 * std::sqrt(error / foretold)) : "");
  }
};

class Evaluation {
 public:
  Evaluation(const select::Catalogue& known, const Times& times, const std::string& family)
      : known_(known), times_(times), family_(family) {}

  void hide(const std::string& size) {
    const Truth at = truth(known_, times_, size);
    // One time of each kernel of gemm: imported, what else was tried there is not known.
    constexpr std::size_t kImported = 3;
    if (at.times <= kImported) return;
    const select::Catalogue others = without(known_, size);
    const select::Ranking ranking = select::rank(others, {.family = family_, .size = size});
    std::vector<select::Selection> kernels = ranking.answers;
    std::erase_if(kernels, [](const select::Selection& it) { return it.rung != Rung::nearest; });
    add(model_, ranking.answers, at, size);
    add(kernels_, kernels, at, {});
    std::ranges::stable_sort(kernels, {}, [](const select::Selection& it) {
      return std::pair(!it.entry.has_value(), it.distance);
    });
    add(nearest_, kernels, at, {});
    const auto ns = [&](const select::Selection& it) {
      return time_of(it, times_, at).value_or(std::numeric_limits<double>::infinity());
    };
    std::ranges::stable_sort(kernels, {}, ns);
    add(oracle_, kernels, at, {});
  }

  void print() const {
    fmt::print("{:<34} {:>5} {:>8} {:>8} {:>6} {:>6} | {:>7} {:>6} {:>6}\n", "", "sizes", "untried",
               "regret", "p90", "worst", "library", "worst", "error");
    for (const Column* it : {&model_, &kernels_, &nearest_, &oracle_}) it->print();
  }

 private:
  /// The first answer whose time is known.
  void add(Column& column, const std::vector<select::Selection>& answers, const Truth& at,
           const std::string& shown) {
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const auto ns = time_of(answers[i], times_, at);
      if (i == 0 && !ns) ++column.unmeasured;
      if (!ns) continue;
      Choice choice{.regret = *ns / std::min(at.best_ns, at.library_ns.value_or(at.best_ns)),
                    .to_library = {},
                    .foretold = {}};
      if (at.library_ns) choice.to_library = *ns / *at.library_ns;
      if (answers[i].expected_ns) choice.foretold = *answers[i].expected_ns / *ns;
      column.choices.push_back(choice);
      if (!shown.empty()) show(shown, answers[i], choice, i);
      return;
    }
  }

  static void show(const std::string& size, const select::Selection& answer, const Choice& choice,
                   std::size_t place) {
    fmt::print("{:<52} {:<8} {:<12} {:>3} {:>6.3f} {:>6.3f} {:>6.3f}\n", size, name(answer.rung),
               answer.kernel ? answer.kernel->kernel : "", place + 1, choice.regret,
               choice.to_library.value_or(0), choice.foretold.value_or(0));
  }

  const select::Catalogue& known_;
  const Times& times_;
  std::string family_;
  Column model_{.name = "the dispatcher's choice"};
  Column kernels_{.name = "the same without the library"};
  Column nearest_{.name = "the nearest size's"};
  Column oracle_{.name = "the best that is transferable"};
};

void print(const select::CostParameters& p) {
  fmt::print(
      "  fixed {:.0f} ns, scratch {:.0f} ns, {:.0f} flops/ns, half at {} warps, {:.0f} B/ns, "
      "{:.3g} "
      "B/ns each, sharpness {}\n",
      p.fixed_ns, p.scratch_ns, p.flops_per_ns, p.half_warps, p.bytes_per_ns, p.sm_bytes_per_ns,
      p.sharpness);
}

int run(const std::string& file, const std::string& family) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto [known, times] = read(file, family);
  const auto opened = Clock::now();
  std::set<std::string> sizes;
  for (const select::CatalogueKernel& kernel : known.kernels) {
    fmt::print("{} {}: {} entries, {} configurations at {} sizes\n", kernel.record->kernel,
               kernel.record->hash, kernel.entries.size(), kernel.configs.size(),
               kernel.sizes.size());
    for (const select::Entry& entry : kernel.entries) sizes.insert(entry.size.text);
    if (kernel.model) print(kernel.model->parameters());
  }
  fmt::print("{:<52} {:<8} {:<12} {:>3} {:>6} {:>6} {:>6}\n", "size hidden", "rung", "kernel", "at",
             "regret", "/lib", "error");
  Evaluation evaluation(known, times, family);
  for (const std::string& size : sizes) evaluation.hide(size);
  evaluation.print();
  const auto ranking = Clock::now();
  static_cast<void>(select::rank(known, {.family = family, .size = "1234,777,3001"}));
  const auto end = Clock::now();
  const auto ms = [](auto from, auto to) {
    return std::chrono::duration<double, std::milli>(to - from).count();
  };
  fmt::print("catalogue and models: {:.1f} ms; one ranking: {:.2f} ms\n", ms(begin, opened),
             ms(ranking, end));
  return 0;
}

}  // namespace
}  // namespace tuner

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "selection_benchmark DATABASE|TABLE.json FAMILY\n");
    return 2;
  }
  try {
    return tuner::run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
