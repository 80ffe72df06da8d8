// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/session.hpp"

#include "tuner/core/error.hpp"
#include "tuner/session/final.hpp"
#include "tuner/session/kernel_record.hpp"
#include "tuner/session/size_search.hpp"
#include "tuner/session/trial_record.hpp"
#include "tuner/worker/compile_pool.hpp"
#include "tuner/worker/evaluator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <random>

namespace tuner {
namespace {

using SteadyClock = std::chrono::steady_clock;

std::string problem_key(const Size& size) {
  return fmt::format("{}", fmt::join(size, ","));
}

std::string new_uuid() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

/// One run of run_session: its parts, and the order in which they work.
class Run {
 public:
  Run(const Family& family, const Kernel& kernel, const SessionPlan& plan, Backend& backend,
      Store& store, Observer& observer, const std::function<bool()>& interrupted)
      : family_(family),
        kernel_(kernel),
        plan_(plan),
        backend_(backend),
        store_(store),
        observer_(observer),
        interrupted_(interrupted),
        subject_{.device = backend.device(),
                 .environment = backend.environment(),
                 .kernel = kernel_record(family, kernel)},
        evaluator_(backend, family, plan.seed),
        pool_(backend.compiler(), plan.compile_threads) {}

  SessionResult run() {
    for (const Size& size : plan_.sizes) open_search(size);
    begin();
    try {
      search();
      for (SizeSearch& size_search : searches_) conclude(size_search);
    } catch (...) {
      end(SessionState::interrupted);
      throw;
    }
    end(interrupted_() ? SessionState::interrupted
        : exhausted_   ? SessionState::complete
                       : SessionState::budget_spent);
    return std::move(result_);
  }

 private:
  /// A configuration on its way: being compiled, or known already.
  struct Pending {
    SizeSearch* search;
    Config config;
    std::shared_future<Compiled> compiled;  // not valid when the result is known, or refused
    std::optional<Failure> refused;         // there is nothing to compile
  };

  void open_search(const Size& size) {
    const std::string problem = problem_key(size);
    Space space(kernel_.space, backend_.device().attributes, size);
    if (space.size() == 0) {
      throw Error(
          ErrorCode::no_valid_config,
          fmt::format("{}: kernel {} has no valid configuration on {} at {}; `tune space count` "
                      "shows which constraint removes them",
                      family_.path, kernel_.name, backend_.device().name, display(size)));
    }
    auto known = plan_.resume == Resume::yes ? store_.known_trials(subject_, problem)
                                             : std::map<std::string, TrialRecord>{};
    searches_.emplace_back(size, std::move(space), plan_.strategy, plan_.seed, incumbent(problem),
                           std::move(known), plan_.max_evaluations);
  }

  /// What was best before on this device model, whatever the driver: it defends its place.
  std::optional<Config> incumbent(const std::string& problem) const {
    const auto bests = store_.bests({.device = backend_.device().name,
                                     .family = family_.name,
                                     .kernel = kernel_.name,
                                     .problem = problem});
    for (const StoredBest& stored : bests) {
      if (stored.subject.device.backend != backend_.device().backend) continue;
      try {
        return config_from_json(*kernel_.space, stored.best.config_json);
      } catch (const Error&) {
        continue;  // the space has changed since and no longer has this value
      }
    }
    return std::nullopt;
  }

  void begin() {
    Opening opening{.kernel = &kernel_,
                    .device = backend_.device(),
                    .environment = backend_.environment(),
                    .cartesian = searches_.front().space().waterfall().cartesian,
                    .sizes = {},
                    .compile_threads = plan_.compile_threads};
    SessionRecord record;
    record.uuid = result_.uuid = new_uuid();
    for (const SizeSearch& search : searches_) {
      opening.sizes.push_back({.size = search.size(),
                               .valid = search.space().size(),
                               .planned = search.planned(),
                               .known = search.known_count()});
      record.problems.push_back(problem_key(search.size()));
      record.valid = std::max(record.valid, search.space().size());
    }
    record.cartesian = opening.cartesian;
    record.strategy = plan_.strategy;
    record.seed = plan_.seed;
    record.command = plan_.command;
    session_ = store_.begin_session(subject_, record);
    observer_.opened(opening);
  }

  void end(SessionState state) {
    result_.state = state;
    result_.wall_s = elapsed_s();
    SessionRecord record;
    record.state = state;
    record.wall_s = result_.wall_s;
    record.compile_s = result_.compile_s;
    record.verify_s = result_.verify_s;
    record.measure_s = result_.measure_s;
    store_.end_session(session_, record);
  }

  [[nodiscard]] double elapsed_s() const {
    return std::chrono::duration<double>(SteadyClock::now() - start_).count();
  }
  [[nodiscard]] bool stop() const {
    const bool out_of_time = plan_.max_time && SteadyClock::now() - start_ >= *plan_.max_time;
    return out_of_time || interrupted_();
  }

  void search() {
    // Twice as many candidates on their way as can compile at once keep every compiler busy; a
    // candidate is evaluated at every size before the next is due, so one compilation serves all.
    const std::size_t ahead =
        2 * static_cast<std::size_t>(plan_.compile_threads) * searches_.size();
    while (!stop()) {
      while (pending_.size() < ahead && ask_every_search()) {
      }
      exhausted_ = pending_.empty();
      if (exhausted_) return;
      Pending next = std::move(pending_.front());
      pending_.pop_front();
      if (!wait_for(next)) return;
      evaluate(next);
    }
  }

  /// Takes one configuration from every search that has one. Returns whether any had.
  bool ask_every_search() {
    bool any = false;
    for (SizeSearch& search : searches_) {
      const auto config = search.next();
      if (!config) continue;
      any = true;
      Pending pending{.search = &search, .config = *config, .compiled = {}, .refused = {}};
      if (search.known(*config) == nullptr) submit(pending);
      pending_.push_back(std::move(pending));
    }
    return any;
  }

  void submit(Pending& pending) {
    try {
      pending.compiled =
          pool_.submit(compile_job(kernel_, pending.search->space(), pending.config));
    } catch (const Error& error) {
      // A value that the entry or the options need does not exist for this configuration.
      pending.refused = Failure{Outcome::compile_error, error.what()};
    }
  }

  /// Waits for the compilation; false when the session is to stop first.
  bool wait_for(const Pending& pending) {
    if (!pending.compiled.valid()) return true;
    while (pending.compiled.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
      if (stop()) return false;
    }
    return true;
  }

  void evaluate(const Pending& pending) {
    SizeSearch& search = *pending.search;
    if (const TrialRecord* known = search.known(pending.config)) {
      ++reused_[&search];
      report(search, pending.config, *known, /*reused=*/true);
      return;
    }
    const TrialRecord trial = judge(pending);
    result_.compile_s += trial.compile_ms / 1e3;
    result_.verify_s += trial.verify_ms / 1e3;
    result_.measure_s += trial.measure_ms / 1e3;
    store_.record_trial(session_, trial, elapsed_s());
    report(search, pending.config, trial, /*reused=*/false);
    if (trial.outcome == Outcome::crashed) {
      throw Error(
          ErrorCode::failure,
          fmt::format("the device faulted and is lost to this process: {}\n"
                      "  candidate: {}\n"
                      "  Everything before it is saved. Run the same command again to go on; this "
                      "candidate is recorded and not tried again.",
                      trial.message, display(*kernel_.space, pending.config)));
    }
  }

  TrialRecord judge(const Pending& pending) {
    const SizeSearch& search = *pending.search;
    TrialRecord trial;
    trial.problem = problem_key(search.size());
    trial.config_json = canonical_json(*kernel_.space, pending.config);
    trial.check_seed = plan_.seed;
    if (pending.refused) return with_failure(std::move(trial), *pending.refused);
    const Compiled& compiled = pending.compiled.get();
    // Every size shares one compilation: it is counted where it was first used.
    if (counted_compilations_.insert(trial.config_json).second) {
      trial.compile_ms = compiled.compile_ms;
    }
    if (!compiled.binary) return with_failure(std::move(trial), compiled.binary.error());
    const Evaluation evaluation = evaluator_.evaluate({.kernel = kernel_,
                                                       .space = search.space(),
                                                       .config = pending.config,
                                                       .binary = *compiled.binary},
                                                      search.size(), search.best_ns());
    // Only what was timed is known to have a legal launch.
    const std::uint64_t dynamic_shared_bytes =
        evaluation.time
            ? geometry(kernel_, search.space().slots(pending.config)).dynamic_shared_bytes
            : 0;
    return with_evaluation(std::move(trial), evaluation, dynamic_shared_bytes);
  }

  void report(SizeSearch& search, const Config& config, const TrialRecord& trial, bool reused) {
    Progress progress;
    progress.size = search.size();
    progress.trial = &trial;
    progress.reused = reused;
    progress.new_best = search.record(config, trial);
    progress.flops = flops(search);
    for (const SizeSearch& each : searches_) {
      progress.evaluated += each.recorded();
      progress.planned += each.planned();
      for (const auto& [outcome, count] : each.outcomes()) progress.outcomes[outcome] += count;
    }
    progress.elapsed =
        std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - start_);
    if (!reused) ++run_;
    progress.remaining = remaining(progress);
    observer_.progressed(progress);
    announce_estimate(progress);
  }

  /// From the rate so far; results taken from the database took no time worth counting.
  std::optional<std::chrono::milliseconds> remaining(const Progress& progress) const {
    constexpr std::uint64_t kEnoughForARate = 8;
    if (run_ < kEnoughForARate) return std::nullopt;
    const double left = static_cast<double>(progress.planned - progress.evaluated);
    auto estimate = std::chrono::milliseconds(static_cast<std::int64_t>(
        static_cast<double>(progress.elapsed.count()) / static_cast<double>(run_) * left));
    if (plan_.max_time) estimate = std::min(estimate, *plan_.max_time - progress.elapsed);
    return std::max(estimate, std::chrono::milliseconds(0));
  }

  void announce_estimate(const Progress& progress) {
    if (estimate_announced_ || !progress.remaining) return;
    estimate_announced_ = true;
    observer_.estimated(progress.elapsed + *progress.remaining);
  }

  [[nodiscard]] double flops(const SizeSearch& search) const {
    const auto value =
        family_.problem.flops.evaluate(search.space().slots(search.seeds().default_config));
    return value ? static_cast<double>(*value) : 0.0;
  }

  void conclude(SizeSearch& search) {
    SizeResult size_result{.size = search.size(),
                           .best = std::nullopt,
                           .finalists = {},
                           .winner_display = "",
                           .evaluated = search.recorded(),
                           .reused = reused_[&search],
                           .outcomes = search.outcomes()};
    if (!search.ranking().empty()) {
      FinalOutcome outcome = settle(search);
      outcome.best.session_uuid = result_.uuid;
      size_result.winner_display = display(*kernel_.space, outcome.winner);
      // Without a final there is nothing to compare with what was best before: that stays.
      if (!outcome.finalists.empty() || !search.seeds().incumbent) {
        store_.record_final(session_, outcome.best, outcome.finalists);
      }
      size_result.best = std::move(outcome.best);
      size_result.finalists = std::move(outcome.finalists);
    }
    observer_.size_done(size_result);
    result_.sizes.push_back(std::move(size_result));
  }

  FinalOutcome settle(const SizeSearch& search) {
    Final final(family_, kernel_, backend_, pool_, evaluator_);
    if (interrupted_()) return final.without_final(search);
    observer_.final_began(search.size(), Final::contenders(search).size());
    const auto start = SteadyClock::now();
    auto outcome = final.run(search, {.seed = plan_.seed}, interrupted_);
    result_.measure_s += std::chrono::duration<double>(SteadyClock::now() - start).count();
    if (!outcome) {
      throw Error(ErrorCode::failure,
                  fmt::format("the final at {} broke off: {}: {}", display(search.size()),
                              name(outcome.error().outcome), outcome.error().message));
    }
    return std::move(*outcome);
  }

  const Family& family_;
  const Kernel& kernel_;
  const SessionPlan& plan_;
  Backend& backend_;
  Store& store_;
  Observer& observer_;
  const std::function<bool()>& interrupted_;
  Subject subject_;
  Evaluator evaluator_;
  CompilePool pool_;
  std::deque<SizeSearch> searches_;
  std::deque<Pending> pending_;
  std::map<const SizeSearch*, std::uint64_t> reused_;
  std::set<std::string> counted_compilations_;
  std::uint64_t run_ = 0;   // trials that were not taken from the database
  bool exhausted_ = false;  // nothing was left to ask
  bool estimate_announced_ = false;
  std::int64_t session_ = 0;
  SteadyClock::time_point start_ = SteadyClock::now();
  SessionResult result_;
};

}  // namespace

SessionResult run_session(const Family& family, const Kernel& kernel, const SessionPlan& plan,
                          Backend& backend, Store& store, Observer& observer,
                          const std::function<bool()>& interrupted) {
  return Run(family, kernel, plan, backend, store, observer, interrupted).run();
}

}  // namespace tuner
