// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/portfolio_times.hpp"

#include "tuner/core/error.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/session/expected_loss.hpp"
#include "tuner/session/library_time.hpp"
#include "tuner/session/portfolio_trials.hpp"
#include "tuner/verify/problem_data.hpp"
#include "tuner/worker/compile_pool.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <ranges>
#include <set>
#include <span>
#include <tuple>
#include <utility>

namespace tuner::session {
namespace {

using Seconds = std::chrono::duration<double>;

class PortfolioTiming {
 public:
  PortfolioTiming(const family::Family& family, const PortfolioPlan& plan,
                  worker::DeviceWorker& device, const backend::Compiler& compiler,
                  store::Store& store, const PortfolioObserver& observer,
                  const std::function<bool()>& stop)
      : family_(family),
        plan_(plan),
        device_(device),
        store_(store),
        observer_(observer),
        stop_(stop),
        pool_(compiler, plan.compile_threads),
        began_(plan.now()) {
    for (const PortfolioCandidate& candidate : plan.candidates) add(candidate);
  }

  PortfolioTimes run() {
    try {
      if (plan_.present.empty()) {
        time_to_choose();
        time_at_further_sizes(present_members());
      } else {
        // The portfolios name these kernels, also one that none of the sizes suits.
        for (const Entrant& entrant : entrants_) trials_of(*entrant.candidate.kernel).begin();
        time_library_alone();
        time_at_further_sizes(planned_members());
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
    std::vector<std::optional<double>> times_ns;  // by finished size
    std::vector<KnownLoss> further = {};          // beside the other members
  };
  using Members = std::map<std::string, std::vector<Entrant*>>;  // by select::types_of
  struct FinishedSize {
    space::Size size;
    std::optional<double> best_ns = {}, library_ns = {};
    std::size_t searches = 0;
  };

  /// The share of the time that searches may take, if all kernels are unknown.
  static constexpr double kUnknownShare = 0.3;
  static constexpr std::size_t kSearchedSizes = 3;
  /// Shares of the rest: for searches where the candidates are slowest, and for the members.
  static constexpr double kSlowestShare = 0.3;
  static constexpr double kMembersShare = 0.2;
  static constexpr double kFurtherShare = 0.15;
  static constexpr std::size_t kSearchPatience = 40;  // trials without a faster one
  static constexpr double kShortestSearch_s = 8;      // a shorter one hardly compiles anything
  /// A candidate is not timed if ln(time / shortest time) is expected to be more: 10 %.
  static constexpr double kHopeless = 0.095;
  /// How many equal shares of the time left a size may take: some take longer than others, and at
  /// the first most is compiled.
  static constexpr double kFirstShares = 4;
  static constexpr double kShares = 2;
  static constexpr std::size_t kFewestInTime = 4;  // candidates that are timed whatever they take
  static constexpr std::chrono::milliseconds kPollInterval{5};  // of code of several candidates

  [[nodiscard]] double spent_s() const { return Seconds(plan_.now() - began_).count(); }
  [[nodiscard]] double most_s() const { return Seconds(plan_.max_time).count(); }
  [[nodiscard]] bool is_over() const { return stop_() || spent_s() >= most_s(); }
  [[nodiscard]] double further_share() const { return plan_.further.empty() ? 0 : kFurtherShare; }

  [[nodiscard]] std::size_t compile_window() const {
    return 2 * static_cast<std::size_t>(plan_.compile_threads);
  }

  PortfolioTrials& trials_of(const family::Kernel& kernel) {
    auto& trials = trials_[&kernel];
    if (!trials) {
      trials = std::make_unique<PortfolioTrials>(family_, kernel, plan_, device_, pool_, store_);
    }
    return *trials;
  }

  /// The place of the entrant; none where it takes part already.
  std::optional<std::size_t> add(const PortfolioCandidate& candidate) {
    const bool is_known = std::ranges::any_of(entrants_, [&](const Entrant& entrant) {
      return entrant.candidate.kernel == candidate.kernel &&
             entrant.candidate.config == candidate.config;
    });
    if (is_known) return std::nullopt;
    entrants_.push_back({.candidate = candidate, .times_ns = {}});
    entrants_.back().times_ns.resize(sizes_.size());
    return entrants_.size() - 1;
  }

  void end(store::RunState state) {
    for (auto& [kernel, trials] : trials_) trials->end(state);
  }

  void time_to_choose() {
    for (const family::Kernel* const kernel : plan_.unknown) search_unknown(*kernel);
    const double sizes_s = most_s() - spent_s();
    const double members_s = (kMembersShare + further_share()) * sizes_s;
    time_sizes(most_s() - kSlowestShare * sizes_s - members_s);
    search_where_slowest(most_s() - members_s);
    time_members_everywhere(most_s() - further_share() * sizes_s);
  }

  /// Sizes with the median, the lower and the upper quartile of the work, then the others from the
  /// least: at the largest, a kernel that suits them badly takes a minute for a trial.
  [[nodiscard]] std::vector<space::Size> by_quartiles(std::vector<space::Size> sizes) const {
    std::ranges::sort(sizes, {}, [&](const space::Size& size) {
      return family::flops_at(family_.problem, size) + family::bytes_at(family_.problem, size);
    });
    const std::size_t count = sizes.size();
    std::vector<space::Size> order;
    for (const std::size_t place : {count / 2, count / 4, 3 * count / 4}) {
      if (std::ranges::find(order, sizes[place]) == order.end()) order.push_back(sizes[place]);
    }
    for (space::Size& size : sizes) {
      if (std::ranges::find(order, size) == order.end()) order.push_back(std::move(size));
    }
    return order;
  }

  /// Every kernel has its default as a candidate, if it is valid anywhere.
  [[nodiscard]] std::size_t count_kernels() const {
    std::set<const family::Kernel*> kernels(plan_.unknown.begin(), plan_.unknown.end());
    for (const PortfolioCandidate& it : plan_.candidates) kernels.insert(it.kernel);
    return kernels.size();
  }

  /// The sizes at which an unknown kernel is searched, each in its share of the time.
  void search_unknown(const family::Kernel& kernel) {
    const double share_s = kUnknownShare * most_s() / static_cast<double>(count_kernels());
    const double until_s = spent_s() + share_s;
    std::size_t left = kSearchedSizes;
    for (const space::Size& size : by_quartiles(plan_.sizes)) {
      if (left == 0 || is_over()) return;
      if (problem_of(size)) continue;
      const double now_s = spent_s();
      if (search(kernel, size, now_s + (until_s - now_s) / static_cast<double>(left))) --left;
    }
  }

  /// What a search found; none where the kernel has nothing valid at the size.
  std::optional<PortfolioSearch> search(const family::Kernel& kernel, const space::Size& size,
                                        double until_s) {
    try {
      const space::Space space(kernel.space, device_.device().attributes, size);
      if (space.size() == 0) return std::nullopt;
      return search_space(kernel, space, size, until_s);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::usage) throw;  // the space cannot be enumerated here
      return std::nullopt;
    }
  }

  /// Begins with what the database and the candidates have for the size.
  PortfolioSearch search_space(const family::Kernel& kernel, const space::Space& space,
                               const space::Size& size, double until_s) {
    const auto strategy =
        search::make_strategy(search::strategy_names().front(), space, plan_.seed);
    PortfolioSearch done{.size = size, .kernel = &kernel};
    std::optional<space::Config> best;
    std::optional<double> cold_ns;  // the shortest
    const auto hear = [&](const space::Config& config, const store::TrialRecord& trial) {
      const auto ns = time_ns(trial);
      strategy->tell(config, trial.outcome, ns);
      if (trial.time)
        cold_ns = std::min(cold_ns.value_or(trial.time->median_ns), trial.time->median_ns);
      if (!ns || (done.found_ns && *ns >= *done.found_ns)) return false;
      done.found_ns = ns;
      best = config;
      return true;
    };
    for (const auto& [json, trial] : trials_of(kernel).known(size)) {
      hear(space::config_from_json(*kernel.space, json), trial);
    }
    const double began_s = spent_s();
    const std::optional<LibraryTime> library = library_time(size);
    const auto library_cold_ns = library ? std::optional(library->time.median_ns) : std::nullopt;
    std::size_t without_gain = 0;
    while (!is_over() && spent_s() < until_s && without_gain < kSearchPatience) {
      const double spent = (spent_s() - began_s) / (until_s - began_s);
      const auto asked = strategy->ask(static_cast<std::size_t>(plan_.compile_threads),
                                       {.spent = std::clamp(spent, 0.0, 1.0)});
      if (asked.empty()) break;
      for (const space::Config& config : asked) trials_of(kernel).compile_ahead(size, config);
      for (const space::Config& config : asked) {
        if (is_over()) break;
        ++done.trials;
        ++without_gain;
        // What is far behind the library is not timed as long.
        const auto bound = cold_ns ? cold_ns : library_cold_ns;
        if (hear(config, trial_of(kernel, size, config, bound))) without_gain = 0;
      }
    }
    if (best) add({.kernel = &kernel, .config = *best, .won_at = {size}});
    return done;
  }

  /// What counts of a trial: back to back. What was not timed so takes far longer than others, or
  /// so long that single launches take as long.
  [[nodiscard]] static std::optional<double> time_ns(const store::TrialRecord& trial) {
    if (!trial.time) return std::nullopt;
    return trial.series_ns.value_or(trial.time->median_ns);
  }

  /// `best_cold_ns`: the shortest median of single launches so far.
  store::TrialRecord trial_of(const family::Kernel& kernel, const space::Size& size,
                              const space::Config& config, std::optional<double> best_cold_ns) {
    PortfolioTrials& trials = trials_of(kernel);
    const std::size_t before = trials.count();
    store::TrialRecord trial = trials.trial(size, config, best_cold_ns);
    if (trials.count() > before && trial.outcome != Outcome::ok) ++failures_[trial.outcome];
    return trial;
  }

  /// What counts of a trial of an entrant, which is run if it is not known.
  std::optional<double> time_of(const Entrant& entrant, const space::Size& size) {
    const PortfolioCandidate& candidate = entrant.candidate;
    std::optional<double>& best_cold_ns = best_cold_ns_[size];
    const store::TrialRecord trial =
        trial_of(*candidate.kernel, size, candidate.config, best_cold_ns);
    if (trial.time) best_cold_ns = least(best_cold_ns, trial.time->median_ns);
    return time_ns(trial);
  }

  [[nodiscard]] static double least(std::optional<double> known, double ns) {
    return std::min(known.value_or(ns), ns);
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

  [[nodiscard]] ExpectedLoss loss_at(const Entrant& entrant, const space::Size& size) const {
    std::vector<KnownLoss> known = timed_losses(entrant);
    for (const space::Size& won : entrant.candidate.won_at) known.push_back({.size = won});
    return expected_loss(known, size);
  }

  [[nodiscard]] std::vector<KnownLoss> timed_losses(const Entrant& entrant) const {
    std::vector<KnownLoss> losses = entrant.further;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      if (!entrant.times_ns[i]) continue;
      losses.push_back({sizes_[i].size, std::log(*entrant.times_ns[i] / *sizes_[i].best_ns)});
    }
    return losses;
  }

  struct Hopeful {
    Entrant* entrant;
    double least_loss;

    [[nodiscard]] bool is_hopeless() const { return least_loss > kHopeless; }
  };

  /// The candidates that are valid at a size and may be among the fastest there, and kFewestInTime
  /// in any case: members of other portfolios first, which were chosen to fit many sizes, then the
  /// most promising.
  std::vector<Hopeful> hopefuls(const space::Size& size) {
    std::vector<Hopeful> here;
    for (Entrant& entrant : entrants_) {
      if (is_valid(entrant, size)) here.push_back({&entrant, loss_at(entrant, size).least()});
    }
    std::ranges::stable_sort(here, {}, [&](const Hopeful& it) {
      const bool was_member = it.entrant->candidate.was_member;
      return std::tuple(it.is_hopeless(), !was_member, it.least_loss);
    });
    without_hopeless(here);
    return here;
  }

  /// Of several in order, the last ones left out.
  static void without_hopeless(std::vector<Hopeful>& here) {
    const auto hopeless = std::ranges::find_if(here, &Hopeful::is_hopeless);
    const auto count = static_cast<std::size_t>(hopeless - here.begin());
    here.resize(std::min(here.size(), std::max(count, kFewestInTime)));
  }

  /// Of members: as hopefuls(), by their times alone.
  std::vector<Hopeful> hopeful_members(const std::vector<Entrant*>& members,
                                       const space::Size& size) {
    std::vector<Hopeful> here;
    for (Entrant* const member : members) {
      if (!is_valid(*member, size)) continue;
      here.push_back({member, expected_loss(timed_losses(*member), size).least()});
    }
    std::ranges::stable_sort(here, {}, &Hopeful::least_loss);
    without_hopeless(here);
    return here;
  }

  void time_sizes(double until_s) {
    const std::vector<space::Size> sizes = far_apart(plan_.sizes);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (stop_() || (i > 0 && is_over())) break;
      const double shares = static_cast<double>(sizes.size() - i);
      const double share = std::min(1.0, (i == 0 ? kFirstShares : kShares) / shares);
      const space::Size* const next = i + 1 < sizes.size() ? &sizes[i + 1] : nullptr;
      time_size(i, sizes[i], next, spent_s() + share * (until_s - spent_s()));
    }
  }

  using EntrantTimes = std::map<const Entrant*, double>;

  /// A size that is not finished does not count, unless it is the first.
  void time_size(std::size_t index, const space::Size& size, const space::Size* next,
                 double until_s) {
    PortfolioSizeTimed timed{.number = index + 1, .size = size};
    if (auto problem = problem_of(size)) {
      timed.problem = *std::move(problem);
      return observer_.size_timed(timed);
    }
    const std::size_t before = trial_count();
    const EntrantTimes times_ns = time_candidates(size, next, until_s);
    if (is_over() && !sizes_.empty()) return;
    timed.trials = trial_count() - before;
    timed.timed = times_ns.size();
    timed.best_ns = shortest(times_ns);
    timed.library_ns = library_ns(size);
    best_cold_ns_.erase(size);
    observer_.size_timed(timed);
    if (times_ns.empty() && !timed.library_ns) return;
    sizes_.push_back({.size = size, .best_ns = timed.best_ns, .library_ns = timed.library_ns});
    for (Entrant& entrant : entrants_) {
      const auto found = times_ns.find(&entrant);
      entrant.times_ns.push_back(found == times_ns.end() ? std::nullopt
                                                         : std::optional(found->second));
    }
  }

  struct PendingTrial {
    Entrant* entrant;
    space::Size size;
    std::size_t place = 0;  // of the size among the finished ones
    bool is_asked_for = false;
    std::shared_future<worker::Compiled> code = {};  // none where none is needed
  };

  void ask_for_code(PendingTrial& trial) {
    if (std::exchange(trial.is_asked_for, true)) return;
    const PortfolioCandidate& candidate = trial.entrant->candidate;
    trial.code = trials_of(*candidate.kernel).compile_ahead(trial.size, candidate.config);
  }

  [[nodiscard]] static bool is_ready(const PendingTrial& trial) {
    return !trial.code.valid() ||
           trial.code.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

  /// Takes the first trial whose code is compiled out of the list. Compiles those behind it ahead,
  /// then those that come after the list: a device that waits for code has to be warmed up again.
  PendingTrial take_next(std::vector<PendingTrial>& trials, std::vector<PendingTrial>& later) {
    const std::size_t window = std::min(trials.size(), compile_window());
    const std::span<PendingTrial> ahead(trials.data(), window);
    for (PendingTrial& it : ahead) ask_for_code(it);
    for (PendingTrial& it : later | std::views::take(compile_window() - window)) ask_for_code(it);
    auto next = std::ranges::find_if(ahead, is_ready);
    while (next == ahead.end()) {
      ahead.front().code.wait_for(kPollInterval);
      next = std::ranges::find_if(ahead, is_ready);
    }
    const auto place = next - ahead.begin();
    PendingTrial taken = std::move(*next);
    trials.erase(trials.begin() + place);
    return taken;
  }

  /// Trials of those that may be among the fastest at a size.
  std::vector<PendingTrial> hopeful_trials(const space::Size& size) {
    std::vector<PendingTrial> trials;
    for (const Hopeful& it : hopefuls(size))
      trials.push_back({.entrant = it.entrant, .size = size});
    return trials;
  }

  /// Of those that may be among the fastest at a size, within its time, and of those that are
  /// known. `next`: the size that comes then, if any.
  EntrantTimes time_candidates(const space::Size& size, const space::Size* next, double until_s) {
    EntrantTimes times_ns = known_times(size);
    std::vector<PendingTrial> here = hopeful_trials(size);
    std::erase_if(here, [&](const PendingTrial& it) { return times_ns.contains(it.entrant); });
    std::vector<PendingTrial> later;
    if (next != nullptr && !problem_of(*next)) later = hopeful_trials(*next);
    while (!here.empty()) {
      if (is_over() && !(sizes_.empty() && times_ns.empty())) break;
      if (spent_s() >= until_s && times_ns.size() >= kFewestInTime) break;
      const PendingTrial it = take_next(here, later);
      if (const auto ns = time_of(*it.entrant, size)) times_ns[it.entrant] = *ns;
    }
    return times_ns;
  }

  /// What the database has for a size, which costs no time.
  EntrantTimes known_times(const space::Size& size) {
    EntrantTimes times_ns;
    for (const Entrant& entrant : entrants_) {
      const auto& known = trials_of(*entrant.candidate.kernel).known(size);
      const auto found = known.find(entrant.candidate.config_json());
      if (found == known.end() || !found->second.time || !is_valid(entrant, size)) continue;
      times_ns[&entrant] = *time_ns(found->second);
      std::optional<double>& best_cold_ns = best_cold_ns_[size];
      best_cold_ns = least(best_cold_ns, found->second.time->median_ns);
    }
    return times_ns;
  }

  [[nodiscard]] static std::optional<double> shortest(const EntrantTimes& times_ns) {
    std::optional<double> shortest_ns;
    for (const auto& [entrant, ns] : times_ns) shortest_ns = least(shortest_ns, ns);
    return shortest_ns;
  }

  [[nodiscard]] std::optional<LibraryTime> library_time(const space::Size& size) {
    if (family::library_arguments(family_.check) == nullptr) return std::nullopt;
    const auto library = time_library(device_, size);
    return library ? *library : std::nullopt;
  }

  /// Back to back, as time_ns() of a trial.
  [[nodiscard]] std::optional<double> library_ns(const space::Size& size) {
    const std::optional<LibraryTime> library = library_time(size);
    if (!library) return std::nullopt;
    const auto series_ns = time_library_series(device_);
    return series_ns ? series_ns->value_or(library->time.median_ns) : library->time.median_ns;
  }

  void search_where_slowest(double until_s) {
    for (std::size_t left = plan_.members; left > 0 && spent_s() < until_s && !stop_(); --left) {
      const auto slowest = slowest_beside_library();
      if (!slowest) return;
      const space::Size size = sizes_[*slowest].size;
      const family::Kernel* const kernel = kernel_to_search(*slowest);
      ++sizes_[*slowest].searches;
      if (kernel == nullptr) continue;
      const auto before_ns = sizes_[*slowest].best_ns;
      const std::size_t known = entrants_.size();
      const double share_s =
          std::max(kShortestSearch_s, (until_s - spent_s()) / static_cast<double>(left));
      auto done = search(*kernel, size, spent_s() + share_s);
      if (!done) continue;
      done->before_ns = before_ns;
      if (entrants_.size() > known) time_everywhere(entrants_.back());
      observer_.searched(*done);
    }
  }

  /// The finished size at which the candidates are slower than the library, by most among those
  /// that were searched least.
  [[nodiscard]] std::optional<std::size_t> slowest_beside_library() const {
    std::optional<std::size_t> slowest;
    const auto urgency = [&](std::size_t i) {
      const FinishedSize& it = sizes_[i];
      return std::pair(-static_cast<double>(it.searches), *it.best_ns / *it.library_ns);
    };
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      const FinishedSize& it = sizes_[i];
      if (!it.best_ns || !it.library_ns || *it.best_ns <= *it.library_ns) continue;
      if (!slowest || urgency(i) > urgency(*slowest)) slowest = i;
    }
    return slowest;
  }

  /// Of the kernels that were timed at a size, the fastest one that was not searched there.
  [[nodiscard]] const family::Kernel* kernel_to_search(std::size_t size) const {
    std::map<const family::Kernel*, double> fastest_ns;
    for (const Entrant& entrant : entrants_) {
      if (!entrant.times_ns[size]) continue;
      double& ns =
          fastest_ns.try_emplace(entrant.candidate.kernel, *entrant.times_ns[size]).first->second;
      ns = std::min(ns, *entrant.times_ns[size]);
    }
    std::vector<std::pair<double, const family::Kernel*>> in_order;
    for (const auto& [kernel, ns] : fastest_ns) {
      if (kernel->space->parameters.empty()) continue;
      in_order.emplace_back(ns, kernel);
    }
    std::ranges::sort(in_order);
    const std::size_t searches = sizes_[size].searches;
    return searches < in_order.size() ? in_order[searches].second : nullptr;
  }

  /// Times a new entrant at the finished sizes at which it may be among the fastest.
  void time_everywhere(Entrant& entrant) {
    std::vector<PendingTrial> trials;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      const bool is_hopeless = loss_at(entrant, sizes_[i].size).least() > kHopeless;
      if (!is_hopeless && is_valid(entrant, sizes_[i].size)) {
        trials.push_back({.entrant = &entrant, .size = sizes_[i].size, .place = i});
      }
    }
    time_all(std::move(trials), most_s());
  }

  /// Times those that would be members now at all finished sizes, also where others are faster: the
  /// model of a member's gain (select::GainModel) has to know where the member is slow.
  void time_members_everywhere(double until_s) {
    std::set<Entrant*> members;
    std::vector<PendingTrial> trials;
    for (const auto& [types, of_types] : present_members()) {
      for (Entrant* const member : of_types) {
        if (!members.insert(member).second) continue;
        for (std::size_t i = 0; i < sizes_.size(); ++i) {
          if (member->times_ns[i] || !is_valid(*member, sizes_[i].size)) continue;
          trials.push_back({.entrant = member, .size = sizes_[i].size, .place = i});
        }
      }
    }
    time_all(std::move(trials), until_s);
  }

  void time_library_alone() {
    for (const space::Size& size : plan_.without_library) {
      if (is_over()) return;
      if (problem_of(size)) continue;
      if (const auto ns = library_ns(size)) library_ns_[size] = *ns;
    }
  }

  void time_at_further_sizes(const Members& members) {
    for (std::size_t i = 0; i < plan_.further.size(); ++i) {
      const space::Size& size = plan_.further[i];
      if (is_over()) return;
      const auto here = members.find(select::types_of(size, family_.problem.dims));
      if (here == members.end()) continue;
      PortfolioSizeTimed timed{.number = i + 1, .is_further = true, .size = size};
      if (auto problem = problem_of(size)) {
        timed.problem = *std::move(problem);
      } else {
        time_members(here->second, timed);
      }
      observer_.size_timed(timed);
    }
  }

  /// Verifies and times the members that may be among the fastest at a further size.
  void time_members(const std::vector<Entrant*>& members, PortfolioSizeTimed& timed) {
    const std::size_t before = trial_count();
    timed.library_ns = library_ns(timed.size);
    std::vector<PendingTrial> trials, none;
    for (const Hopeful& it : hopeful_members(members, timed.size)) {
      trials.push_back({.entrant = it.entrant, .size = timed.size});
    }
    std::vector<std::pair<Entrant*, double>> times_ns;
    while (!trials.empty() && !is_over()) {
      Entrant* const member = take_next(trials, none).entrant;
      const auto ns = time_of(*member, timed.size);
      if (!ns) continue;
      times_ns.emplace_back(member, *ns);
      timed.best_ns = least(timed.best_ns, *ns);
    }
    best_cold_ns_.erase(timed.size);
    timed.timed = times_ns.size();
    timed.trials = trial_count() - before;
    if (!trials.empty()) return;  // not finished: the fastest may be missing
    for (const auto& [member, ns] : times_ns) {
      member->further.push_back({timed.size, std::log(ns / *timed.best_ns)});
    }
    further_.push_back(
        {.size = timed.size, .member_ns = timed.best_ns, .library_ns = timed.library_ns});
  }

  void time_all(std::vector<PendingTrial> trials, double until_s) {
    std::vector<PendingTrial> none;
    while (!trials.empty() && !is_over() && spent_s() < until_s) {
      const PendingTrial it = take_next(trials, none);
      FinishedSize& at = sizes_[it.place];
      const auto ns = time_of(*it.entrant, at.size);
      if (!ns) continue;
      it.entrant->times_ns[it.place] = *ns;
      at.best_ns = least(at.best_ns, *ns);
    }
  }

  /// The choice among what is timed so far, by select::types_of, those that gain most first.
  Members present_members() {
    std::map<std::string, std::vector<std::size_t>> of_types;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      of_types[select::types_of(sizes_[i].size, family_.problem.dims)].push_back(i);
    }
    Members members;
    for (const auto& [types, sizes] : of_types) {
      for (const std::size_t member :
           select::choose_portfolio(matrix_of(sizes), plan_.members).members) {
        members[types].push_back(&entrants_[member]);
      }
    }
    return members;
  }

  Members planned_members() {
    Members members;
    for (const auto& [types, places] : plan_.present) {
      for (const std::size_t place : places) members[types].push_back(&entrants_[place]);
    }
    return members;
  }

  /// Of finished sizes.
  [[nodiscard]] select::TimeMatrix matrix_of(const std::vector<std::size_t>& sizes) const {
    select::TimeMatrix matrix;
    matrix.weights.assign(sizes.size(), 1.0);
    for (const std::size_t i : sizes) matrix.library_ns.push_back(sizes_[i].library_ns);
    for (const Entrant& entrant : entrants_) {
      std::vector<std::optional<double>>& row = matrix.times_ns.emplace_back();
      for (const std::size_t i : sizes) row.push_back(entrant.times_ns[i]);
    }
    return matrix;
  }

  [[nodiscard]] std::size_t trial_count() const {
    std::size_t count = 0;
    for (const auto& [kernel, trials] : trials_) count += trials->count();
    return count;
  }

  [[nodiscard]] PortfolioTimes result() {
    std::vector<std::size_t> all(sizes_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    PortfolioTimes times{.candidates = {}, .sizes = {}, .matrix = matrix_of(all)};
    for (FinishedSize& finished : sizes_) times.sizes.push_back(std::move(finished.size));
    for (Entrant& entrant : entrants_) times.candidates.push_back(std::move(entrant.candidate));
    times.further = std::move(further_);
    times.library_ns = std::move(library_ns_);
    times.trials = trial_count();
    times.failures = std::move(failures_);
    return times;
  }

  const family::Family& family_;
  const PortfolioPlan& plan_;
  worker::DeviceWorker& device_;
  store::Store& store_;
  const PortfolioObserver& observer_;
  const std::function<bool()>& stop_;
  worker::CompilePool pool_;
  std::chrono::steady_clock::time_point began_;
  std::map<const family::Kernel*, std::unique_ptr<PortfolioTrials>> trials_;
  std::vector<Entrant> entrants_;
  std::vector<FinishedSize> sizes_;
  std::vector<FurtherSize> further_;
  std::map<space::Size, double> library_ns_;                   // of PortfolioPlan::without_library
  std::map<space::Size, std::optional<double>> best_cold_ns_;  // of trials, single launches
  std::map<Outcome, std::uint64_t> failures_;
};

}  // namespace

PortfolioTimes time_portfolio(const family::Family& family, const PortfolioPlan& plan,
                              worker::DeviceWorker& device, const backend::Compiler& compiler,
                              store::Store& store, const PortfolioObserver& observer,
                              const std::function<bool()>& stop) {
  return PortfolioTiming(family, plan, device, compiler, store, observer, stop).run();
}

}  // namespace tuner::session
