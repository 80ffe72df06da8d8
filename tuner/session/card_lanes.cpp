// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/card_lanes.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <optional>
#include <thread>
#include <utility>

namespace tuner::session {

CardLanes::CardLanes(const RunRequest& request, const BegunRun& begun,
                     const store::Subject& subject, std::deque<FreeCard>& cards, SizeBoard& board)
    : request_(request),
      cards_(cards),
      board_(board),
      observer_(request.observer),
      stopped_([this] { return failed_ || request_.interrupted(); }),
      guard_(request.store, subject, begun.number, [this] { return taking_part(); }),
      progress_(request.family.problem, planned(), cards.size(), observer_, request.plan,
                begun.start),
      shared_{.family = request.family,
              .kernel = request.kernel,
              .plan = request.plan,
              .store = request.store,
              .observer = observer_,
              .interrupted = stopped_,
              .run = begun.number,
              .uuid = begun.uuid,
              .start = begun.start,
              .board = board,
              .guard = guard_,
              .progress = progress_} {
  for (FreeCard& card : cards_) add_lane(card);
}

std::uint64_t CardLanes::planned() const {
  std::uint64_t planned = 0;
  for (const SizeSearch& search : board_.searches()) planned += search.planned();
  return planned;
}

int CardLanes::compile_threads() const {
  int threads = 0;
  for (const auto& [compiler, of_machine] : compilers_) threads += of_machine->threads;
  return threads;
}

void CardLanes::work() {
  // The first card's part is done by this thread.
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < lanes_.size(); ++i) {
    threads.emplace_back([this, lane = lanes_[i].get()] { work(*lane); });
  }
  Lane& first = *lanes_.front();
  std::optional<std::jthread> porter;
  if (request_.joining) porter.emplace([this](const std::stop_token& stop) { let_in(stop); });
  work(first);
}

void CardLanes::work(Lane& lane) {
  try {
    lane.card.work();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::no_device || !drop(lane, error)) fail();
  } catch (...) {
    fail();
  }
}

std::set<std::size_t> CardLanes::taking_part() {
  const std::scoped_lock lock(mutex_);
  std::set<std::size_t> indices;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i]->dropped.empty()) indices.insert(i);
  }
  return indices;
}

CardLanes::Lane& CardLanes::add_lane(FreeCard& free) {
  const Card& card = free.card;
  auto& compilers = compilers_[card.compiler];
  if (!compilers) {
    compilers = std::make_unique<MachineCompilers>(*card.compiler, card.compile_threads);
  }
  ++compilers->cards;
  return *lanes_.emplace_back(std::make_unique<Lane>(shared_, lanes_.size(), free, *compilers));
}

void CardLanes::let_in(const std::stop_token& stop) {
  constexpr std::chrono::milliseconds kBetweenLooks{200};
  std::vector<std::jthread> threads;
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any wake;
  while (!wake.wait_for(lock, stop, kBetweenLooks, [] { return false; }) &&
         !stop.stop_requested()) {
    for (const Card& card : request_.joining()) {
      Lane* const lane = join(card);
      if (lane != nullptr) threads.emplace_back([this, lane] { work(*lane); });
    }
  }
}

CardLanes::Lane* CardLanes::join(const Card& card) {
  const CardName name{.name = card.name, .uuid = card.device->device().uuid, .host = card.host};
  try {
    if (!worker::are_of_one_subject(*card.device, *cards_.front().card.device)) {
      throw Error(ErrorCode::no_device,
                  fmt::format("it started late, and is another model or has other versions: {}",
                              card.device->device().name));
    }
    FreeCard free{.card = card,
                  .respawns_before = card.device->respawns(),
                  .others = {*card.device, request_.plan.shared_device}};
    const std::scoped_lock lock(mutex_);
    if (board_.cards() == 0) return nullptr;
    board_.add_card();
    progress_.set_cards(board_.cards());
    observer_.tell(CardJoined{.card = name});
    return &add_lane(cards_.emplace_back(std::move(free)));
  } catch (const Error& error) {
    observer_.tell(CardDropped{.card = name, .reason = error.what()});
    return nullptr;
  }
}

bool CardLanes::drop(Lane& lane, const Error& error) {
  const std::scoped_lock lock(mutex_);
  if (board_.cards() == 1) return false;
  lane.card.give_up();
  --lane.compilers.cards;
  board_.remove_card();
  lane.dropped = error.what();
  observer_.tell(CardDropped{.card = lane.card.result().card, .reason = error.what()});
  return true;
}

void CardLanes::fail() {
  const std::scoped_lock lock(mutex_);
  if (!error_) error_ = std::current_exception();
  failed_ = true;
}

void CardLanes::add_to(RunResult& result) {
  result.compile_threads = compile_threads();
  for (const auto& each : lanes_) {
    const CardLane& lane = each->card;
    CardResult card = lane.result();
    result.compile_s += lane.compile_s();
    result.verify_s += card.verify_s;
    result.measure_s += card.measure_s;
    result.respawns += card.respawns;
    result.requeued += lane.requeued();
    result.shared = result.shared || lane.shared();
    card.dropped = each->dropped;
    result.cards.push_back(std::move(card));
  }
  for (const SizeSearch& search : board_.searches()) {
    for (const auto& lane : lanes_) {
      const auto found = lane->card.sizes().find(&search);
      if (found != lane->card.sizes().end()) result.sizes.push_back(std::move(found->second));
    }
  }
}

}  // namespace tuner::session
