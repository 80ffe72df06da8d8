// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/size_board.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace tuner::session {
namespace {

/// Two searches at once: while one waits for its compilations, or begins, the other has candidates.
constexpr std::size_t kFewestAtOnce = 2;

}  // namespace

SizeBoard::SizeBoard(std::span<const space::Size> sizes, const space::Dimensions& dims,
                     std::span<const double> work, std::size_t cards,
                     std::span<const double> importance)
    : neighbours_(sizes, dims),
      work_(work.begin(), work.end()),
      importance_(sizes.size(), 1),
      cards_(cards),
      ended_(sizes.size()),
      being_searched_(sizes.size()),
      winners_(sizes.size()),
      offers_(sizes.size()) {
  std::vector<std::size_t> order = neighbours_.order();
  if (cards > 1) {
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](std::size_t size) { return std::ilogb(work[size]); });
  }
  if (!importance.empty()) {
    importance_.assign(importance.begin(), importance.end());
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](std::size_t size) { return importance_[size]; });
  }
  for (const std::size_t size : order) waiting_.emplace_back(size, Stage::fresh);
  waiting_work_ = std::accumulate(work_.begin(), work_.end(), 0.0);
}

void SizeBoard::add(const space::Size& size, space::Space space, std::string_view strategy,
                    std::uint64_t seed, PriorKnowledge prior,
                    std::optional<std::uint64_t> max_evaluations) {
  searches_.emplace_back(size, std::move(space), strategy, seed, std::move(prior), max_evaluations);
  index_.emplace(&searches_.back(), searches_.size() - 1);
}

std::optional<SizeBoard::Taken> SizeBoard::take(std::span<SizeSearch* const> open) {
  const std::scoped_lock lock(mutex_);
  const std::size_t most = std::max(kFewestAtOnce, kAtOnce / cards_);
  if (waiting_.empty() || open.size() >= most) return std::nullopt;
  const auto [size, stage] = waiting_.front();
  // What is taken early cannot fill the end: a card begins no more than an even share of the rest.
  double work = work_[size];
  for (const SizeSearch* const search : open) work += work_[index(*search)];
  const double even_share = waiting_work_ / static_cast<double>(cards_);
  if (cards_ > 1 && !open.empty() && work > even_share) return std::nullopt;
  waiting_.pop_front();
  waiting_work_ -= work_[size];
  ++held_;
  being_searched_[size] = stage != Stage::searched;
  return Taken{.search = &searches_[size], .stage = stage};
}

bool SizeBoard::wait(const std::function<bool()>& stop) {
  constexpr std::chrono::milliseconds kBetweenLooks{50};
  std::unique_lock lock(mutex_);
  while (waiting_.empty()) {
    if (held_ == 0) return false;
    changed_.wait_for(lock, kBetweenLooks);
    lock.unlock();
    if (stop()) return false;
    lock.lock();
  }
  return true;
}

void SizeBoard::set_ended(const SizeSearch& search) {
  const std::scoped_lock lock(mutex_);
  ended_[index(search)] = true;
}

bool SizeBoard::has_ended(const SizeSearch& search) const {
  const std::scoped_lock lock(mutex_);
  return ended_[index(search)];
}

void SizeBoard::finish(const SizeSearch& search) {
  const std::scoped_lock lock(mutex_);
  --held_;
  being_searched_[index(search)] = false;
  changed_.notify_all();
}

void SizeBoard::give_back(SizeSearch& search, Stage stage) {
  const std::scoped_lock lock(mutex_);
  --held_;
  being_searched_[index(search)] = false;
  if (stage == Stage::begun) ended_[index(search)] = false;
  waiting_.emplace_front(index(search), stage);
  waiting_work_ += work_[index(search)];
  changed_.notify_all();
}

void SizeBoard::add_card() {
  const std::scoped_lock lock(mutex_);
  ++cards_;
}

void SizeBoard::remove_card() {
  const std::scoped_lock lock(mutex_);
  --cards_;
  changed_.notify_all();
}

std::size_t SizeBoard::cards() const {
  const std::scoped_lock lock(mutex_);
  return cards_;
}

double SizeBoard::waiting_per_card() const {
  const std::scoped_lock lock(mutex_);
  return static_cast<double>(waiting_.size()) / static_cast<double>(cards_);
}

double SizeBoard::waiting_importance_per_card() const {
  const std::scoped_lock lock(mutex_);
  double sum = 0;
  for (const auto& [size, stage] : waiting_) sum += importance_[size];
  return sum / static_cast<double>(cards_);
}

bool SizeBoard::all_ended() const {
  const std::scoped_lock lock(mutex_);
  return std::ranges::all_of(ended_, std::identity());
}

void SizeBoard::set_winners(const SizeSearch& search) {
  std::vector<space::Config> fastest = winners(search);
  const std::scoped_lock lock(mutex_);
  winners_[index(search)] = std::move(fastest);
}

std::vector<space::Config> SizeBoard::winners_near(const SizeSearch& search) const {
  const std::scoped_lock lock(mutex_);
  return winners_nearby(neighbours_, index(search), winners_);
}

void SizeBoard::offer(const SizeSearch& from, const space::Config& config) {
  const std::size_t origin = index(from);
  const std::scoped_lock lock(mutex_);
  for (std::size_t i = 0; i < searches_.size(); ++i) {
    const bool near = i != origin && neighbours_.is_neighbour(i, origin);
    if (near && being_searched_[i]) offers_[i].push_back(config);
  }
}

std::vector<space::Config> SizeBoard::offered(const SizeSearch& search) {
  const std::scoped_lock lock(mutex_);
  return std::exchange(offers_[index(search)], {});
}

}  // namespace tuner::session
