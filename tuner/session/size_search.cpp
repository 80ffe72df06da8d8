// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/size_search.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

namespace tuner::session {
namespace {

/// The line of a compiler's log that names the first error; of another message the first one.
std::string_view telling_line(std::string_view message) {
  const std::size_t error = message.find(" error: ");
  const std::size_t before = message.rfind('\n', error);
  if (error != std::string_view::npos && before != std::string_view::npos) {
    message.remove_prefix(before + 1);
  }
  return message.substr(0, message.find('\n'));
}

constexpr std::size_t kFirst = 2;  // the default and the likeliest

}  // namespace

SizeSearch::SizeSearch(space::Size size, space::Space space, std::string_view strategy,
                       std::uint64_t seed, PriorKnowledge prior,
                       std::optional<std::uint64_t> max_evaluations)
    : size_(std::move(size)),
      space_(std::move(space)),
      required_finalists_{.default_config = space_.default_config(),
                          .incumbent = std::move(prior.incumbent)},
      strategy_(search::make_strategy(strategy, space_, seed)),
      known_(std::move(prior.trials)),
      max_evaluations_(max_evaluations),
      won_at_size_(prior.winners_at_size.size()) {
  for (const auto& config :
       {std::optional(required_finalists_.default_config), required_finalists_.incumbent}) {
    if (config && space_.position(*config)) queued_.push_back(*config);
  }
  queue_known();
  for (const auto* const winners :
       {&prior.winners_at_size, &prior.winners_elsewhere, &prior.recommended}) {
    likely_.insert(likely_.end(), winners->begin(), winners->end());
  }
}

void SizeSearch::expect(const std::vector<space::Config>& winners_nearby) {
  // With nothing to insert, libstdc++'s deque moves elements onto themselves: vectors are then
  // empty.
  if (winners_nearby.empty()) return;
  likely_.insert(likely_.begin() + static_cast<std::ptrdiff_t>(won_at_size_),
                 winners_nearby.begin(), winners_nearby.end());
}

void SizeSearch::queue_known() {
  std::vector<std::pair<double, space::Config>> known;
  for (const auto& [json, trial] : known_) {
    try {
      space::Config config = space::config_from_json(space_.definition(), json);
      if (!space_.position(config)) continue;
      constexpr double kLast = std::numeric_limits<double>::infinity();
      known.emplace_back(trial.time ? ranking_ns(trial) : kLast, std::move(config));
    } catch (const Error&) {
      continue;  // the space has changed since and no longer has this value
    }
  }
  std::ranges::sort(known);
  for (auto& [time_ns, config] : known) queued_.push_back(std::move(config));
}

void SizeSearch::limit_to_known() {
  max_evaluations_ = std::set<space::Config>(queued_.begin(), queued_.end()).size();
}

void SizeSearch::suggest(const space::Config& config) {
  if (space_.position(config) && !asked_.contains(config)) queued_.push_front(config);
}

void SizeSearch::ask_again(const space::Config& config) {
  known_.erase(space::canonical_json(space_.definition(), config));
  if (asked_.erase(config) > 0) queued_.push_front(config);
}

std::uint64_t SizeSearch::planned() const {
  return std::min(space_.size(),
                  max_evaluations_.value_or(std::numeric_limits<std::uint64_t>::max()));
}

search::Budget SizeSearch::tightest(search::Budget budget) const {
  if (!max_evaluations_) return budget;
  const double asked = static_cast<double>(asked_.size()) / static_cast<double>(planned());
  return {.spent = std::max(asked, budget.spent.value_or(0))};
}

std::optional<space::Config> SizeSearch::next(search::Budget budget) {
  while (asked_.size() < planned()) {
    auto config = proposed(budget);
    if (!config) return std::nullopt;
    // The strategy may propose a seed again; it has been, or will be, told of it.
    if (!space_.position(*config) || !asked_.insert(*config).second) continue;
    if (first_.size() < kFirst && std::ranges::find(first_, *config) == first_.end()) {
      first_.push_back(*config);
    }
    return config;
  }
  return std::nullopt;
}

bool SizeSearch::has_tried_the_first() const {
  return first_.size() == std::min<std::uint64_t>(kFirst, planned()) &&
         std::ranges::all_of(first_, [&](const space::Config& c) { return trials_.contains(c); });
}

std::optional<space::Config> SizeSearch::proposed(search::Budget budget) {
  for (std::deque<space::Config>* const waiting : {&queued_, &likely_}) {
    if (waiting->empty()) continue;
    space::Config config = std::move(waiting->front());
    waiting->pop_front();
    return config;
  }
  if (!strategy_) return std::nullopt;
  std::vector<space::Config> asked = strategy_->ask(1, tightest(budget));
  return asked.empty() ? std::nullopt : std::optional(std::move(asked.front()));
}

void SizeSearch::close() {
  strategy_.reset();
  queued_.clear();
  likely_.clear();
}

const store::TrialRecord* SizeSearch::known(const std::string& config_json) const {
  const auto found = known_.find(config_json);
  return found == known_.end() ? nullptr : &found->second;
}

bool SizeSearch::record(const space::Config& config, const store::TrialRecord& trial) {
  const auto time_of = [](const store::TrialRecord& record) {
    return record.time ? std::optional(record.time->median_ns) : std::nullopt;
  };
  const std::optional<double> time_ns = time_of(trial);
  const bool reordered = time_ns && share_.learn(*time_ns, trial.series_ns);
  const auto its_ns = time_ns ? std::optional(ranking_ns(trial)) : std::nullopt;
  if (strategy_) strategy_->tell(config, trial.outcome, its_ns);
  const auto [known, first] = trials_.try_emplace(config, trial);
  if (!first) {
    --outcomes_[known->second.outcome];
    if (const auto old_ns = time_of(known->second)) times_ns_.erase(times_ns_.find(*old_ns));
    known->second = trial;
  }
  ++outcomes_[trial.outcome];
  if (trial.outcome != Outcome::ok && first_failure_.empty()) {
    first_failure_ = fmt::format("{}: {}", name(trial.outcome), telling_line(trial.message));
  }
  constexpr double kNoticeable = 0.995;
  const bool noticed = its_ns && (!noticed_ns_ || *its_ns < kNoticeable * *noticed_ns_);
  if (noticed) noticed_ns_ = its_ns;
  without_improvement_ = noticed ? 0 : without_improvement_ + 1;
  if (time_ns) times_ns_.insert(*time_ns);
  return leads_now(config, trial, reordered || !first);
}

/// Updates the first of the ranking after a trial was stored.
bool SizeSearch::leads_now(const space::Config& config, const store::TrialRecord& trial,
                           bool reordered) {
  if (reordered) {
    const std::vector<Ranked> ranked = ranking();
    front_ = ranked.empty() ? std::nullopt : std::optional(ranked.front().config);
  } else if (trial.outcome == Outcome::ok && trial.time &&
             (!front_ || ranking_ns(trial) < ranking_ns(trials_.at(*front_)))) {
    front_ = config;
  }
  return front_ == config;
}

double SizeSearch::ranking_ns(const store::TrialRecord& trial) const {
  return share_.ranking_ns(trial.time->median_ns, trial.series_ns);
}

std::optional<double> SizeSearch::best_ns() const {
  return times_ns_.empty() ? std::nullopt : std::optional(*times_ns_.begin());
}

bool SizeSearch::ended_ok(const space::Config& config) const {
  const auto found = trials_.find(config);
  return found != trials_.end() && found->second.outcome == Outcome::ok;
}

std::vector<Ranked> SizeSearch::ranking() const {
  std::vector<Ranked> ranked;
  for (const auto& [config, trial] : trials_) {
    if (trial.outcome == Outcome::ok && trial.time) {
      ranked.push_back(
          {.config = config, .median_ns = trial.time->median_ns, .ranked_ns = ranking_ns(trial)});
    }
  }
  std::ranges::stable_sort(ranked, {}, &Ranked::ranked_ns);
  return ranked;
}

}  // namespace tuner::session
