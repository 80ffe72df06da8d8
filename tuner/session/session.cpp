// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/session.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/failpoint.hpp"
#include "tuner/session/card_lanes.hpp"
#include "tuner/session/earlier_winners.hpp"
#include "tuner/session/spaces_at.hpp"
#include "tuner/session/trial_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <utility>

namespace tuner::session {
namespace {

CardName name_of(const Card& card) {
  return {.name = card.name, .uuid = card.device->device().uuid, .host = card.host};
}

/// The cards that the run may use. Puts the others among `dropped`. Throws as OtherProcesses when
/// there is none.
std::deque<FreeCard> free_cards(const RunRequest& request, std::vector<CardResult>& dropped) {
  std::deque<FreeCard> free;
  for (const Card& card : request.cards) {
    try {
      free.push_back({.card = card,
                      .respawns_before = card.device->respawns(),
                      .others = {*card.device, request.plan.shared_device}});
    } catch (const Error& error) {
      const bool last = free.empty() && &card == &request.cards.back();
      if (last || error.code() != ErrorCode::no_device) throw;
      dropped.push_back({.card = name_of(card), .dropped = error.what()});
    }
  }
  return free;
}

store::Subject subject_of(const RunRequest& request, const worker::DeviceWorker& device) {
  return {.device = device.device(),
          .environment = device.environment(),
          .kernel = kernel_record(request.family, request.kernel),
          .check_hash = family::check_hash(request.family, request.kernel)};
}

/// What a trial at each size costs beside one at another, as far as the sizes tell: a unit is a
/// flop. A byte counts as what GPUs compute meanwhile, of fp32, and so does what every trial costs,
/// such as its part of the compilers.
std::vector<double> expected_work(const family::Problem& problem,
                                  const std::vector<space::Size>& sizes) {
  constexpr double kFlopsPerByte = 16;
  constexpr double kFlopsPerTrial = 1e11;
  std::vector<double> work;
  for (const space::Size& size : sizes) {
    work.push_back(kFlopsPerTrial + family::flops_at(problem, size) +
                   kFlopsPerByte * family::bytes_at(problem, size));
  }
  return work;
}

/// Opens the search at each size of a run, with what is known of it.
class Searches {
 public:
  Searches(const RunRequest& request, const store::Subject& subject)
      : request_(request),
        subject_(subject),
        winners_(request.store, request.family, request.kernel, subject.device,
                 request.plan.shipped) {}

  /// Adds them to a board. Throws Error(no_valid_config) for a size without a configuration.
  void open_on(SizeBoard& board) const {
    const RunPlan& plan = request_.plan;
    std::vector<space::Space> spaces =
        spaces_at(request_.kernel.space, subject_.device.attributes, plan.sizes);
    for (std::size_t i = 0; i < spaces.size(); ++i) {
      const space::Size& size = plan.sizes[i];
      require_configurations(spaces[i], size);
      board.add(size, std::move(spaces[i]), plan.strategy, plan.seed, prior_knowledge(size),
                plan.max_evaluations);
      if (plan.candidates == Candidates::known) board.searches().back().limit_to_known();
    }
  }

 private:
  void require_configurations(const space::Space& space, const space::Size& size) const {
    if (space.size() > 0) return;
    throw Error(
        ErrorCode::no_valid_config,
        fmt::format("{}: kernel {} has no valid configuration on {} at {}; `tune space count` "
                    "shows which constraint removes them",
                    request_.family.path, request_.kernel.name, subject_.device.name,
                    space::display(size, request_.family.problem.dims)));
  }

  [[nodiscard]] PriorKnowledge prior_knowledge(const space::Size& size) const {
    const std::string problem = space::canonical_size(size, request_.family.problem.dims);
    PriorKnowledge prior{.incumbent = incumbent(request_.store, request_.family, request_.kernel,
                                                subject_.device, size),
                         .winners_at_size = winners_.at_size(size),
                         .winners_elsewhere = winners_.anywhere(size),
                         .recommended = request_.kernel.try_first};
    if (request_.plan.resume == Resume::yes) {
      prior.trials = request_.store.known_trials(subject_, problem);
    }
    for (const std::string& uuid : request_.plan.continued) add_trials(uuid, problem, prior);
    return prior;
  }

  void add_trials(const std::string& uuid, const std::string& problem,
                  PriorKnowledge& prior) const {
    const auto continued = request_.store.run(uuid);
    if (!continued) return;
    for (store::StoredTrial& stored : request_.store.trials(continued->id)) {
      if (stored.trial.problem != problem) continue;
      std::string config = stored.trial.config_json;
      prior.trials.insert_or_assign(std::move(config), std::move(stored.trial));
    }
  }

  const RunRequest& request_;
  const store::Subject& subject_;
  EarlierWinners winners_;
};

/// Stores that the run has begun.
BegunRun begin(const RunRequest& request, const store::Subject& subject,
               worker::DeviceWorker& first_card, const SizeBoard& board,
               std::chrono::steady_clock::time_point start) {
  store::RunRecord record;
  record.uuid = new_uuid();
  for (const SizeSearch& search : board.searches()) {
    record.problems.push_back(space::canonical_size(search.size(), request.family.problem.dims));
    record.valid = std::max(record.valid, search.space().size());
  }
  record.cartesian = board.searches().front().space().cartesian();
  record.strategy = request.plan.strategy;
  record.seed = request.plan.seed;
  record.command = request.plan.command;
  record.clock_limit = first_card.conditions().clock_limit;
  const BegunRun begun{
      .number = request.store.begin_run(subject, record), .uuid = record.uuid, .start = start};
  failpoint("session.began");
  return begun;
}

Opening opening(const RunRequest& request, const std::deque<FreeCard>& cards,
                const SizeBoard& board, int compile_threads) {
  const worker::DeviceWorker& device = *cards.front().card.device;
  Opening opening{.kernel = &request.kernel,
                  .device = device.device(),
                  .environment = device.environment(),
                  .cartesian = board.searches().front().space().cartesian(),
                  .sizes = {},
                  .compile_threads = compile_threads,
                  .cards = {}};
  for (const SizeSearch& search : board.searches()) {
    opening.sizes.push_back({.size = search.size(),
                             .valid = search.space().size(),
                             .planned = search.planned(),
                             .known = search.known_count()});
  }
  for (const FreeCard& free : cards) opening.cards.push_back(name_of(free.card));
  return opening;
}

store::RunState state_of(const RunRequest& request, const CardLanes& lanes,
                         const SizeBoard& board) {
  if (lanes.error() || request.interrupted()) return store::RunState::interrupted;
  return board.all_ended() ? store::RunState::complete : store::RunState::budget_spent;
}

/// Stores how the run has ended.
void end(store::Store& store, const BegunRun& begun, const RunResult& result) {
  store::RunRecord record;
  record.state = result.state;
  record.wall_s = result.wall_s;
  record.compile_s = result.compile_s;
  record.verify_s = result.verify_s;
  record.measure_s = result.measure_s;
  record.respawns = result.respawns;
  record.shared = result.shared;
  store.end_run(begun.number, record);
  failpoint("session.ended");
}

}  // namespace

RunResult tune_kernel(const RunRequest& request) {
  RunResult result;
  std::deque<FreeCard> cards = free_cards(request, result.cards);
  const store::Subject subject = subject_of(request, *cards.front().card.device);
  const auto start = request.plan.now();

  // What a run that was killed had begun is a crash, which the searches are to know.
  request.store.collect_dead_attempts();
  SizeBoard board(request.plan.sizes, request.kernel.space->dims,
                  expected_work(request.family.problem, request.plan.sizes), cards.size(),
                  request.plan.importance);
  Searches(request, subject).open_on(board);

  const BegunRun begun = begin(request, subject, *cards.front().card.device, board, start);
  result.uuid = begun.uuid;

  CardLanes lanes(request, begun, subject, cards, board);
  lanes.observer().tell(opening(request, cards, board, lanes.compile_threads()));
  for (const CardResult& card : result.cards) {
    lanes.observer().tell(CardDropped{.card = card.card, .reason = card.dropped});
  }
  lanes.work();

  result.state = state_of(request, lanes, board);
  result.wall_s = lanes.elapsed_s();
  lanes.add_to(result);
  end(request.store, begun, result);
  if (lanes.error()) std::rethrow_exception(lanes.error());
  return result;
}

}  // namespace tuner::session
