// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/session.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/failpoint.hpp"
#include "tuner/session/card_lane.hpp"
#include "tuner/session/earlier_winners.hpp"
#include "tuner/session/kernel_record.hpp"
#include "tuner/session/spaces_at.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

namespace tuner::session {
namespace {

/// Passes the events of several threads on, one at a time.
class OneAtATime final : public Observer {
 public:
  explicit OneAtATime(Observer& to) : to_(to) {}

  [[nodiscard]] bool shows_library() const override { return to_.shows_library(); }
  void opened(const Opening& opening) override {
    const std::scoped_lock lock(mutex_);
    to_.opened(opening);
  }
  void covered(const verify::Coverage& coverage) override {
    const std::scoped_lock lock(mutex_);
    to_.covered(coverage);
  }
  void estimated(std::chrono::milliseconds search) override {
    const std::scoped_lock lock(mutex_);
    to_.estimated(search);
  }
  void progressed(const Progress& progress) override {
    const std::scoped_lock lock(mutex_);
    to_.progressed(progress);
  }
  void final_began(const space::Size& size, std::size_t contenders, LibraryPart library) override {
    const std::scoped_lock lock(mutex_);
    to_.final_began(size, contenders, library);
  }
  void round_done(const space::Size& size, int rounds, int most) override {
    const std::scoped_lock lock(mutex_);
    to_.round_done(size, rounds, most);
  }
  void energy_began(const space::Size& size, std::size_t contenders, double seconds) override {
    const std::scoped_lock lock(mutex_);
    to_.energy_began(size, contenders, seconds);
  }
  void size_done(const SizeResult& result) override {
    const std::scoped_lock lock(mutex_);
    to_.size_done(result);
  }
  void card_joined(const CardName& card) override {
    const std::scoped_lock lock(mutex_);
    to_.card_joined(card);
  }
  void card_dropped(const CardName& card, const std::string& reason) override {
    const std::scoped_lock lock(mutex_);
    to_.card_dropped(card, reason);
  }

 private:
  Observer& to_;
  std::mutex mutex_;
};

/// What a trial at a size costs beside another one, as far as the sizes tell: a unit is a flop. A
/// byte counts as what GPUs compute meanwhile, of fp32, and so does what every trial costs, such as
/// its part of the compilers.
double expected_work(const family::Problem& problem, const space::Size& size) {
  constexpr double kFlopsPerByte = 16;
  constexpr double kFlopsPerTrial = 1e11;
  return kFlopsPerTrial + family::flops_at(problem, size) +
         kFlopsPerByte * family::bytes_at(problem, size);
}

std::vector<double> expected_work(const family::Problem& problem,
                                  const std::vector<space::Size>& sizes) {
  std::vector<double> work;
  for (const space::Size& size : sizes) work.push_back(expected_work(problem, size));
  return work;
}

/// One run of tune_kernel: its parts, and the order in which they work.
class Run {
 public:
  /// Begins the run in the database.
  Run(const family::Family& family, const family::Kernel& kernel, const RunPlan& plan,
      std::span<const Card> cards, const NewCards& joining, store::Store& store, Observer& observer,
      const std::function<bool()>& interrupted)
      : family_(family),
        kernel_(kernel),
        plan_(plan),
        joining_(joining),
        store_(store),
        observer_(observer),
        interrupted_(interrupted),
        stopped_([this] { return failed_ || interrupted_(); }),
        cards_(free_ones(cards)),
        subject_{.device = device(),
                 .environment = environment(),
                 .kernel = kernel_record(family, kernel),
                 .check_hash = family::check_hash(family, kernel)},
        board_(plan.sizes, kernel.space->dims, expected_work(family.problem, plan.sizes),
               cards_.size(), plan.importance),
        run_(begin()),
        guard_(store, subject_, run_, [this] { return cards_of_the_run(); }),
        progress_(family.problem, planned(), cards_.size(), observer_, plan, start_),
        shared_{.family = family,
                .kernel = kernel,
                .plan = plan,
                .store = store,
                .observer = observer_,
                .interrupted = stopped_,
                .run = run_,
                .uuid = result_.uuid,
                .start = start_,
                .board = board_,
                .guard = guard_,
                .progress = progress_} {
    for (FreeCard& card : cards_) add_lane(card);
  }

  RunResult run() {
    observer_.opened(opening());
    for (const CardResult& card : result_.cards) observer_.card_dropped(card.card, card.dropped);
    {
      // The first card's part is done by this thread.
      std::vector<std::jthread> threads;
      for (std::size_t i = 1; i < lanes_.size(); ++i) {
        threads.emplace_back([this, lane = lanes_[i].get()] { work(*lane); });
      }
      Lane& first = *lanes_.front();
      std::optional<std::jthread> porter;
      if (joining_) porter.emplace([this](const std::stop_token& stop) { let_in(stop); });
      work(first);
    }
    if (error_) {
      end(store::RunState::interrupted);
      std::rethrow_exception(error_);
    }
    end(interrupted_()       ? store::RunState::interrupted
        : board_.all_ended() ? store::RunState::complete
                             : store::RunState::budget_spent);
    for (const SizeSearch& search : board_.searches()) {
      for (const auto& lane : lanes_) {
        const auto found = lane->card.sizes().find(&search);
        if (found != lane->card.sizes().end()) result_.sizes.push_back(std::move(found->second));
      }
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] const space::DeviceInfo& device() const {
    return cards_.front().card.device->device();
  }
  [[nodiscard]] const space::EnvironmentInfo& environment() const {
    return cards_.front().card.device->environment();
  }

  /// A card's part in the run.
  struct Lane {
    Lane(SharedRun& run, std::size_t index, FreeCard& free, CompileSite& its_site)
        : card(run, index, free, its_site), site(its_site) {}

    CardLane card;
    CompileSite& site;
    std::string dropped = {};  // why, if it was
  };

  /// By the index of their lanes.
  [[nodiscard]] std::set<std::size_t> cards_of_the_run() {
    const std::scoped_lock lock(mutex_);
    std::set<std::size_t> indices;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (lanes_[i]->dropped.empty()) indices.insert(i);
    }
    return indices;
  }

  /// Called with the lock held, or before there are threads.
  Lane& add_lane(FreeCard& free) {
    const Card& card = free.card;
    auto& site = sites_[card.compiler];
    if (!site) site = std::make_unique<CompileSite>(*card.compiler, card.compile_threads);
    ++site->cards;
    return *lanes_.emplace_back(std::make_unique<Lane>(shared_, lanes_.size(), free, *site));
  }

  /// Has the cards that come take part, until the run is over.
  void let_in(const std::stop_token& stop) {
    constexpr std::chrono::milliseconds kBetweenLooks{200};
    std::vector<std::jthread> threads;
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any wake;
    while (!wake.wait_for(lock, stop, kBetweenLooks, [] { return false; }) &&
           !stop.stop_requested()) {
      for (const Card& card : joining_()) {
        Lane* const lane = join(card);
        if (lane != nullptr) threads.emplace_back([this, lane] { work(*lane); });
      }
    }
  }

  /// The lane of one more card; null when it is not fit for the run, or the run is over.
  [[nodiscard]] Lane* join(const Card& card) {
    const CardName name{.name = card.name, .uuid = card.device->device().uuid, .host = card.host};
    try {
      if (!worker::are_of_one_subject(*card.device, *cards_.front().card.device)) {
        throw Error(ErrorCode::no_device,
                    fmt::format("it started late, and is another model or has other versions: {}",
                                card.device->device().name));
      }
      FreeCard free{.card = card,
                    .respawns_before = card.device->respawns(),
                    .others = {*card.device, plan_.shared_device}};
      const std::scoped_lock lock(mutex_);
      if (board_.cards() == 0) return nullptr;
      board_.add_card();
      progress_.set_cards(board_.cards());
      observer_.card_joined(name);
      return &add_lane(cards_.emplace_back(std::move(free)));
    } catch (const Error& error) {
      observer_.card_dropped(name, error.what());
      return nullptr;
    }
  }

  /// Notes the others as dropped. Throws as OtherProcesses when there is none.
  [[nodiscard]] std::deque<FreeCard> free_ones(std::span<const Card> cards) {
    std::deque<FreeCard> free;
    for (const Card& card : cards) {
      try {
        free.push_back({.card = card,
                        .respawns_before = card.device->respawns(),
                        .others = {*card.device, plan_.shared_device}});
      } catch (const Error& error) {
        const bool last = free.empty() && &card == &cards.back();
        if (last || error.code() != ErrorCode::no_device) throw;
        result_.cards.push_back(
            {.card = {.name = card.name, .uuid = card.device->device().uuid, .host = card.host},
             .dropped = error.what()});
      }
    }
    return free;
  }

  /// Opens the searches and stores that the run has begun. Returns its number in the database.
  std::int64_t begin() {
    store_.collect_dead_attempts();
    std::vector<space::Space> spaces = spaces_at(kernel_.space, device().attributes, plan_.sizes);
    const EarlierWinners winners(store_, family_, kernel_, device(), plan_.shipped);
    for (std::size_t i = 0; i < spaces.size(); ++i) {
      add_search(plan_.sizes[i], std::move(spaces[i]), winners);
    }
    store::RunRecord record;
    record.uuid = result_.uuid = new_uuid();
    for (const SizeSearch& search : board_.searches()) {
      record.problems.push_back(space::canonical_size(search.size(), family_.problem.dims));
      record.valid = std::max(record.valid, search.space().size());
    }
    record.cartesian = board_.searches().front().space().cartesian();
    record.strategy = plan_.strategy;
    record.seed = plan_.seed;
    record.command = plan_.command;
    const std::int64_t run = store_.begin_run(subject_, record);
    failpoint("session.began");
    return run;
  }

  void add_search(const space::Size& size, space::Space space, const EarlierWinners& winners) {
    const std::string problem = space::canonical_size(size, family_.problem.dims);
    if (space.size() == 0) {
      throw Error(
          ErrorCode::no_valid_config,
          fmt::format("{}: kernel {} has no valid configuration on {} at {}; `tune space count` "
                      "shows which constraint removes them",
                      family_.path, kernel_.name, device().name,
                      space::display(size, family_.problem.dims)));
    }
    PriorKnowledge prior{.incumbent = incumbent(store_, family_, kernel_, device(), size),
                         .winners_at_size = winners.at_size(size),
                         .winners_elsewhere = winners.anywhere(size),
                         .recommended = kernel_.try_first};
    if (plan_.resume == Resume::yes) prior.trials = store_.known_trials(subject_, problem);
    for (const std::string& uuid : plan_.continued) add_trials(uuid, problem, prior);
    board_.add(size, std::move(space), plan_.strategy, plan_.seed, std::move(prior),
               plan_.max_evaluations);
    if (plan_.candidates == Candidates::known) board_.searches().back().limit_to_known();
  }

  void add_trials(const std::string& uuid, const std::string& problem,
                  PriorKnowledge& prior) const {
    const auto continued = store_.run(uuid);
    if (!continued) return;
    for (store::StoredTrial& stored : store_.trials(continued->id)) {
      if (stored.trial.problem != problem) continue;
      std::string config = stored.trial.config_json;
      prior.trials.insert_or_assign(std::move(config), std::move(stored.trial));
    }
  }

  [[nodiscard]] std::uint64_t planned() const {
    std::uint64_t planned = 0;
    for (const SizeSearch& search : board_.searches()) planned += search.planned();
    return planned;
  }

  [[nodiscard]] Opening opening() const {
    Opening opening{.kernel = &kernel_,
                    .device = device(),
                    .environment = environment(),
                    .cartesian = board_.searches().front().space().cartesian(),
                    .sizes = {},
                    .compile_threads = compile_threads(),
                    .cards = {}};
    for (const SizeSearch& search : board_.searches()) {
      opening.sizes.push_back({.size = search.size(),
                               .valid = search.space().size(),
                               .planned = search.planned(),
                               .known = search.known_count()});
    }
    for (const FreeCard& free : cards_) {
      const Card& card = free.card;
      opening.cards.push_back(
          {.name = card.name, .uuid = card.device->device().uuid, .host = card.host});
    }
    return opening;
  }

  /// The part of one card, whatever becomes of it.
  void work(Lane& lane) {
    try {
      lane.card.work();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::no_device || !drop(lane, error)) fail();
    } catch (...) {
      fail();
    }
  }

  /// Has the others go on without a card. Returns whether there are any.
  [[nodiscard]] bool drop(Lane& lane, const Error& error) {
    const std::scoped_lock lock(mutex_);
    if (board_.cards() == 1) return false;
    lane.card.give_up();
    --lane.site.cards;
    board_.remove_card();
    lane.dropped = error.what();
    observer_.card_dropped(lane.card.result().card, error.what());
    return true;
  }

  [[nodiscard]] int compile_threads() const {
    int threads = 0;
    for (const auto& [compiler, site] : sites_) threads += site->threads;
    return threads;
  }

  /// Called while an exception is handled: it ends the run.
  void fail() {
    const std::scoped_lock lock(mutex_);
    if (!error_) error_ = std::current_exception();
    failed_ = true;
  }

  void end(store::RunState state) {
    result_.state = state;
    result_.wall_s = shared_.elapsed_s();
    result_.compile_threads = compile_threads();
    for (const auto& each : lanes_) {
      const CardLane& lane = each->card;
      CardResult card = lane.result();
      result_.compile_s += lane.compile_s();
      result_.verify_s += card.verify_s;
      result_.measure_s += card.measure_s;
      result_.respawns += card.respawns;
      result_.requeued += lane.requeued();
      result_.shared = result_.shared || lane.shared();
      card.dropped = each->dropped;
      result_.cards.push_back(std::move(card));
    }
    store::RunRecord record;
    record.state = state;
    record.wall_s = result_.wall_s;
    record.compile_s = result_.compile_s;
    record.verify_s = result_.verify_s;
    record.measure_s = result_.measure_s;
    record.respawns = result_.respawns;
    record.shared = result_.shared;
    store_.end_run(run_, record);
    failpoint("session.ended");
  }

  const family::Family& family_;
  const family::Kernel& kernel_;
  const RunPlan& plan_;
  const NewCards& joining_;
  store::Store& store_;
  OneAtATime observer_;
  const std::function<bool()>& interrupted_;
  std::atomic<bool> failed_ = false;
  std::function<bool()> stopped_;
  RunResult result_;
  std::deque<FreeCard> cards_;  // those that join are added at the end
  store::Subject subject_;
  std::chrono::steady_clock::time_point start_ = plan_.now();
  SizeBoard board_;
  std::int64_t run_;  // in the database
  FaultGuard guard_;
  ProgressReport progress_;
  SharedRun shared_;
  std::map<const backend::Compiler*, std::unique_ptr<CompileSite>> sites_;

  std::mutex mutex_;  // of what follows, and of cards and sites while there are threads
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::exception_ptr error_;
};

}  // namespace

RunResult tune_kernel(const family::Family& family, const family::Kernel& kernel,
                      const RunPlan& plan, std::span<const Card> cards, const NewCards& joining,
                      store::Store& store, Observer& observer,
                      const std::function<bool()>& interrupted) {
  return Run(family, kernel, plan, cards, joining, store, observer, interrupted).run();
}

}  // namespace tuner::session
