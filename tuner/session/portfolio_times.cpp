// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/portfolio_times.hpp"

#include "tuner/core/error.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/session/fault_guard.hpp"
#include "tuner/session/kernel_record.hpp"
#include "tuner/session/library_time.hpp"
#include "tuner/session/trial_record.hpp"
#include "tuner/verify/problem_data.hpp"
#include "tuner/worker/compile_pool.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <utility>

namespace tuner::session {
namespace {

using Seconds = std::chrono::duration<double>;

/// What runs trials of one kernel and stores them in a run of their own, which begins with the
/// first that the database does not have.
class KernelTrials {
 public:
  KernelTrials(const family::Family& family, const family::Kernel& kernel,
               const PortfolioPlan& plan, worker::DeviceWorker& device, worker::CompilePool& pool,
               store::Store& store)
      : kernel_(kernel),
        plan_(plan),
        device_(device),
        pool_(pool),
        store_(store),
        subject_{.device = device.device(),
                 .environment = device.environment(),
                 .kernel = kernel_record(family, kernel),
                 .check_hash = family::check_hash(family, kernel)},
        began_(plan.now()) {}

  [[nodiscard]] const family::Kernel& kernel() const { return kernel_; }
  [[nodiscard]] std::size_t count() const { return count_; }

  [[nodiscard]] space::BoundDefinition space_at(const space::Size& size) const {
    return {kernel_.space, device_.device().attributes, size};
  }

  /// The trial that the database has; null where it has none.
  [[nodiscard]] const store::TrialRecord* known(const space::Size& size, const std::string& json) {
    const std::string problem = space::canonical_size(size, kernel_.space->dims);
    const auto [at, added] = known_.try_emplace(problem);
    if (added) at->second = store_.known_trials(subject_, problem);
    const auto found = at->second.find(json);
    return found == at->second.end() ? nullptr : &found->second;
  }

  /// Has it compiled while others are on the device.
  void compile_ahead(const space::Size& size, const space::Config& config) {
    const space::BoundDefinition space = space_at(size);
    try {
      static_cast<void>(pool_.submit(family::compile_job(kernel_, space, config)));
    } catch (const Error&) {  // which run() finds, too
    }
  }

  /// Verifies and times a configuration that is valid at the size.
  store::TrialRecord run(const space::Size& size, const space::Config& config,
                         std::optional<double> best_ns) {
    const std::string json = space::canonical_json(*kernel_.space, config);
    begin();
    ++count_;
    store::TrialRecord trial = judged(size, config, json, best_ns);
    store_.record_trial(run_, trial, Seconds(plan_.now() - began_).count());
    if (trial.outcome != Outcome::quarantined) {
      guard_->ended(0, json, trial.outcome, trial.message);
    }
    known_[trial.problem][json] = trial;
    return trial;
  }

  void end(store::RunState state) {
    if (!guard_) return;
    store::RunRecord run;
    run.state = state;
    run.wall_s = Seconds(plan_.now() - began_).count();
    run.respawns = device_.respawns();
    store_.end_run(run_, run);
    guard_.reset();
  }

 private:
  void begin() {
    if (guard_) return;
    store::RunRecord run;
    run.uuid = new_uuid();
    for (const space::Size& size : plan_.sizes) {
      run.problems.push_back(space::canonical_size(size, kernel_.space->dims));
    }
    run.strategy = "portfolio";
    run.seed = plan_.seed;
    run.command = plan_.command;
    run.valid = run.cartesian = 1;
    run_ = store_.begin_run(subject_, run);
    guard_ = std::make_unique<FaultGuard>(store_, subject_, run_,
                                          [] { return std::set<std::size_t>{0}; });
  }

  store::TrialRecord judged(const space::Size& size, const space::Config& config,
                            const std::string& json, std::optional<double> best_ns) {
    const space::BoundDefinition space = space_at(size);
    store::TrialRecord trial;
    trial.problem = space::canonical_size(size, kernel_.space->dims);
    trial.config_json = json;
    trial.check_seed = plan_.seed;
    if (guard_->quarantined(0, json)) {
      return with_failure(std::move(trial),
                          {Outcome::quarantined, "it has crashed or hung before"});
    }
    std::optional<backend::Binary> binary;
    try {
      family::CompileJob job = family::compile_job(kernel_, space, config);
      const std::string key = job.key;
      const worker::Compiled compiled = pool_.submit(std::move(job)).get();
      if (pool_.count_once(key)) trial.compile_ms = compiled.compile_ms;
      if (!compiled.binary) return with_failure(std::move(trial), compiled.binary.error());
      binary = *compiled.binary;
    } catch (const Error& error) {
      // A value that the entry or the options need does not exist for this configuration.
      return with_failure(std::move(trial), {Outcome::compile_error, error.what()});
    }
    store_.begin_attempt(run_, {.problem = trial.problem, .config_json = json});
    const worker::EvaluatedCandidate evaluation = device_.evaluate(
        {.kernel = kernel_, .space = space, .config = config, .binary = *std::move(binary)}, size,
        best_ns);
    return with_evaluation(std::move(trial), evaluation, kernel_, space.expression_values(config));
  }

  const family::Kernel& kernel_;
  const PortfolioPlan& plan_;
  worker::DeviceWorker& device_;
  worker::CompilePool& pool_;
  store::Store& store_;
  store::Subject subject_;
  std::chrono::steady_clock::time_point began_;
  std::map<std::string, std::map<std::string, store::TrialRecord>> known_;  // by size
  std::int64_t run_ = 0;
  std::unique_ptr<FaultGuard> guard_;  // while the run is open
  std::size_t count_ = 0;
};

class PortfolioTiming {
 public:
  PortfolioTiming(const family::Family& family, const PortfolioPlan& plan,
                  worker::DeviceWorker& device, const backend::Compiler& compiler,
                  store::Store& store, const std::function<void(const PortfolioSizeTimed&)>& heard,
                  const std::function<bool()>& stop)
      : family_(family),
        plan_(plan),
        device_(device),
        store_(store),
        heard_(heard),
        stop_(stop),
        pool_(compiler, plan.compile_threads),
        began_(plan.now()) {
    for (const PortfolioCandidate& it : plan.candidates) add(it, kDropFactor);
  }

  PortfolioTimes run() {
    try {
      for (const family::Kernel* const kernel : plan_.unknown) search(*kernel);
      const std::vector<space::Size> sizes = far_apart(plan_.sizes);
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (stop_() || (i > 0 && is_over())) break;
        const double shares = static_cast<double>(sizes.size() - i);
        const double share = std::min(1.0, (i == 0 ? kFirstShares : kShares) / shares);
        at_size(i, sizes[i], spent_s() + share * (most_s() - spent_s()));
      }
    } catch (...) {
      end(store::RunState::interrupted);
      throw;
    }
    end(stop_() ? store::RunState::interrupted : store::RunState::complete);
    return result();
  }

 private:
  struct Entrant {
    PortfolioCandidate candidate;
    std::string json;
    double prior_loss;                                 // until it was timed: what comes first
    std::vector<std::optional<double>> times_ns = {};  // by finished size
    bool is_dropped = false;
  };

  /// The share of the time that searches of unknown kernels may take.
  static constexpr double kSearchShare = 0.3;
  static constexpr std::size_t kSearchedSizes = 3;
  static constexpr std::size_t kSearchPatience = 40;  // trials without a faster one
  /// A candidate is dropped after so many sizes at which it ran, if it was nowhere within the
  /// factor.
  static constexpr std::size_t kSizesToDrop = 3;
  static constexpr double kDropFactor = 1.25;
  /// How many equal shares of the time left a size may take: some take longer than others, and at
  /// the first most is compiled.
  static constexpr double kFirstShares = 4;
  static constexpr double kShares = 2;
  static constexpr std::size_t kFewestInTime = 4;  // candidates that are kept whatever they take

  [[nodiscard]] double spent_s() const { return Seconds(plan_.now() - began_).count(); }
  [[nodiscard]] double most_s() const { return Seconds(plan_.max_time).count(); }
  [[nodiscard]] bool is_over() const { return stop_() || spent_s() >= most_s(); }

  KernelTrials& trials_of(const family::Kernel& kernel) {
    auto& trials = trials_[&kernel];
    if (!trials) {
      trials = std::make_unique<KernelTrials>(family_, kernel, plan_, device_, pool_, store_);
    }
    return *trials;
  }

  void add(const PortfolioCandidate& candidate, double prior_loss) {
    std::string json = candidate.config_json();
    const bool is_known = std::ranges::any_of(entrants_, [&](const Entrant& it) {
      return it.candidate.kernel == candidate.kernel && it.json == json;
    });
    if (is_known) return;
    entrants_.push_back(
        {.candidate = candidate, .json = std::move(json), .prior_loss = prior_loss});
  }

  void end(store::RunState state) {
    for (auto& [kernel, trials] : trials_) trials->end(state);
  }

  /// The sizes at which an unknown kernel is searched, each in its share of the time.
  void search(const family::Kernel& kernel) {
    const double share_s = kSearchShare * most_s() / static_cast<double>(plan_.unknown.size());
    const double until_s = spent_s() + share_s;
    std::size_t left = kSearchedSizes;
    for (const space::Size& size : far_apart(plan_.sizes)) {
      if (left == 0 || is_over()) return;
      if (problem_of(size)) continue;
      try {
        const space::Space space(kernel.space, device_.device().attributes, size);
        if (space.size() == 0) continue;
        const double now_s = spent_s();
        search_at(kernel, space, size, now_s + (until_s - now_s) / static_cast<double>(left));
        --left;
      } catch (const Error& error) {
        if (error.code() != ErrorCode::usage) throw;  // the space cannot be enumerated here
      }
    }
  }

  void search_at(const family::Kernel& kernel, const space::Space& space, const space::Size& size,
                 double until_s) {
    const auto strategy =
        search::make_strategy(search::strategy_names().front(), space, plan_.seed);
    std::optional<double> best_ns;
    std::optional<space::Config> best;
    std::size_t without_gain = 0;
    while (!is_over() && spent_s() < until_s && without_gain < kSearchPatience) {
      const std::vector<space::Config> asked = strategy->ask(1, {.spent = spent_s() / until_s});
      if (asked.empty()) break;
      const store::TrialRecord trial = trial_of(kernel, size, asked.front(), best_ns);
      const auto ns = trial.time ? std::optional(trial.time->median_ns) : std::nullopt;
      strategy->tell(asked.front(), trial.outcome, ns);
      ++without_gain;
      if (!ns || (best_ns && *ns >= *best_ns)) continue;
      best_ns = ns;
      best = asked.front();
      without_gain = 0;
    }
    if (best) add({.kernel = &kernel, .config = *best}, 1);
  }

  store::TrialRecord trial_of(const family::Kernel& kernel, const space::Size& size,
                              const space::Config& config, std::optional<double> best_ns) {
    KernelTrials& trials = trials_of(kernel);
    const auto* const known = trials.known(size, space::canonical_json(*kernel.space, config));
    if (known != nullptr) return *known;
    store::TrialRecord trial = trials.run(size, config, best_ns);
    if (trial.outcome != Outcome::ok) ++failures_[trial.outcome];
    return trial;
  }

  /// Why nothing can be timed at a size; none where it can.
  [[nodiscard]] std::optional<std::string> problem_of(const space::Size& size) const {
    try {
      verify::check_size(family_, device_.device().attributes, size);
      return std::nullopt;
    } catch (const Error& error) {
      return error.what();
    }
  }

  [[nodiscard]] bool is_valid(const Entrant& entrant, const space::Size& size) {
    return trials_of(*entrant.candidate.kernel).space_at(size).contains(entrant.candidate.config);
  }

  /// The candidates to be timed at a size, the best so far first; their compilation has begun.
  std::vector<Entrant*> entrants_at(const space::Size& size) {
    std::vector<Entrant*> here;
    for (Entrant& it : entrants_) {
      if (!it.is_dropped && is_valid(it, size)) here.push_back(&it);
    }
    std::ranges::stable_sort(here, {}, [&](const Entrant* it) { return mean_loss(*it); });
    for (const Entrant* const it : here) {
      KernelTrials& trials = trials_of(*it->candidate.kernel);
      if (trials.known(size, it->json) == nullptr) trials.compile_ahead(size, it->candidate.config);
    }
    return here;
  }

  /// Times the candidates at a size, the best so far first. Those that its time does not reach are
  /// dropped. A size that is not finished does not count, unless it is the first.
  void at_size(std::size_t index, const space::Size& size, double until_s) {
    PortfolioSizeTimed timed{.number = index + 1, .size = size};
    if (auto problem = problem_of(size)) {
      timed.problem = *std::move(problem);
      return heard_(timed);
    }
    std::map<const Entrant*, double> times_ns;
    const std::size_t before = trial_count();
    for (Entrant* const it : entrants_at(size)) {
      if (is_over() && !(sizes_.empty() && times_ns.empty())) break;
      if (spent_s() >= until_s && times_ns.size() >= kFewestInTime) {
        it->is_dropped = true;
        continue;
      }
      const store::TrialRecord trial =
          trial_of(*it->candidate.kernel, size, it->candidate.config, timed.best_ns);
      if (!trial.time) continue;
      times_ns[it] = trial.time->median_ns;
      timed.best_ns =
          std::min(timed.best_ns.value_or(trial.time->median_ns), trial.time->median_ns);
    }
    timed.trials = trial_count() - before;
    timed.timed = times_ns.size();
    if (is_over() && !sizes_.empty()) return;
    timed.library_ns = library_ns(size);
    finish(size, times_ns, timed);
  }

  void finish(const space::Size& size, const std::map<const Entrant*, double>& times_ns,
              const PortfolioSizeTimed& timed) {
    heard_(timed);
    if (times_ns.empty() && !timed.library_ns) return;
    sizes_.push_back(size);
    library_ns_.push_back(timed.library_ns);
    for (Entrant& it : entrants_) {
      const auto found = times_ns.find(&it);
      it.times_ns.push_back(found == times_ns.end() ? std::nullopt : std::optional(found->second));
    }
    drop();
  }

  [[nodiscard]] std::optional<double> library_ns(const space::Size& size) {
    if (family::library_arguments(family_.check) == nullptr) return std::nullopt;
    const auto library = time_library(device_, size);
    if (!library || !*library) return std::nullopt;
    return (*library)->time.median_ns;
  }

  /// The losses of a candidate beside the fastest one, by size at which it ran.
  [[nodiscard]] std::vector<double> losses(const Entrant& entrant) const {
    std::vector<double> all;
    for (std::size_t size = 0; size < sizes_.size(); ++size) {
      if (!entrant.times_ns[size]) continue;
      double best = *entrant.times_ns[size];
      for (const Entrant& it : entrants_) {
        if (it.times_ns[size]) best = std::min(best, *it.times_ns[size]);
      }
      all.push_back(*entrant.times_ns[size] / best);
    }
    return all;
  }
  [[nodiscard]] double mean_loss(const Entrant& entrant) const {
    const std::vector<double> all = losses(entrant);
    double sum = 0;
    for (const double loss : all) sum += std::log(loss);
    return all.empty() ? std::log(entrant.prior_loss) : sum / static_cast<double>(all.size());
  }

  void drop() {
    std::vector<Entrant*> losers;
    std::size_t kept = 0;
    for (Entrant& it : entrants_) {
      if (it.is_dropped) continue;
      const std::vector<double> all = losses(it);
      const bool loses = all.size() >= kSizesToDrop && std::ranges::min(all) > kDropFactor;
      if (loses) losers.push_back(&it);
      ++kept;
    }
    std::ranges::stable_sort(losers, std::greater(),
                             [&](const Entrant* it) { return mean_loss(*it); });
    for (Entrant* const it : losers) {
      if (kept <= plan_.fewest) break;
      it->is_dropped = true;
      --kept;
    }
  }

  [[nodiscard]] std::size_t trial_count() const {
    std::size_t count = 0;
    for (const auto& [kernel, trials] : trials_) count += trials->count();
    return count;
  }

  [[nodiscard]] PortfolioTimes result() {
    PortfolioTimes times{.candidates = {}, .sizes = std::move(sizes_), .matrix = {}};
    times.matrix.library_ns = std::move(library_ns_);
    times.matrix.weights.assign(times.sizes.size(), 1.0);
    for (Entrant& it : entrants_) {
      if (it.is_dropped) ++times.dropped;
      times.candidates.push_back(std::move(it.candidate));
      times.matrix.times_ns.push_back(std::move(it.times_ns));
    }
    times.trials = trial_count();
    times.failures = std::move(failures_);
    return times;
  }

  const family::Family& family_;
  const PortfolioPlan& plan_;
  worker::DeviceWorker& device_;
  store::Store& store_;
  const std::function<void(const PortfolioSizeTimed&)>& heard_;
  const std::function<bool()>& stop_;
  worker::CompilePool pool_;
  std::chrono::steady_clock::time_point began_;
  std::map<const family::Kernel*, std::unique_ptr<KernelTrials>> trials_;
  std::vector<Entrant> entrants_;
  std::vector<space::Size> sizes_;  // finished
  std::vector<std::optional<double>> library_ns_;
  std::map<Outcome, std::uint64_t> failures_;
};

double distance(const space::Size& a, const space::Size& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference =
        std::log((static_cast<double>(a[i]) + 1) / (static_cast<double>(b[i]) + 1));
    sum += difference * difference;
  }
  return sum;
}

}  // namespace

std::vector<space::Size> far_apart(std::vector<space::Size> sizes) {
  std::vector<space::Size> ordered;
  std::vector<double> distances(sizes.size(), std::numeric_limits<double>::infinity());
  const auto sum_to_others = [&](const space::Size& size) {
    double sum = 0;
    for (const space::Size& other : sizes) sum += distance(size, other);
    return sum;
  };
  std::size_t next = 0;
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    if (sum_to_others(sizes[i]) < sum_to_others(sizes[next])) next = i;
  }
  while (ordered.size() < sizes.size()) {
    ordered.push_back(sizes[next]);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      distances[i] = std::min(distances[i], distance(sizes[i], ordered.back()));
    }
    next = static_cast<std::size_t>(std::ranges::max_element(distances) - distances.begin());
  }
  return ordered;
}

PortfolioTimes time_portfolio(const family::Family& family, const PortfolioPlan& plan,
                              worker::DeviceWorker& device, const backend::Compiler& compiler,
                              store::Store& store,
                              const std::function<void(const PortfolioSizeTimed&)>& heard,
                              const std::function<bool()>& stop) {
  return PortfolioTiming(family, plan, device, compiler, store, heard, stop).run();
}

}  // namespace tuner::session
