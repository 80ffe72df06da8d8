// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/observers.hpp"

#include <algorithm>

namespace tuner::cli {

bool Observers::shows_library() const {
  return std::ranges::any_of(all_, [](const auto& each) { return each->shows_library(); });
}

void Observers::opened(const session::Opening& opening) {
  for (const auto& each : all_) each->opened(opening);
}

void Observers::estimated(std::chrono::milliseconds search) {
  for (const auto& each : all_) each->estimated(search);
}

void Observers::covered(const verify::Coverage& coverage) {
  for (const auto& each : all_) each->covered(coverage);
}

void Observers::progressed(const session::Progress& progress) {
  for (const auto& each : all_) each->progressed(progress);
}

void Observers::final_began(const space::Size& size, std::size_t contenders,
                            session::LibraryPart library) {
  for (const auto& each : all_) each->final_began(size, contenders, library);
}

void Observers::round_done(const space::Size& size, int rounds, int most) {
  for (const auto& each : all_) each->round_done(size, rounds, most);
}

void Observers::energy_began(const space::Size& size, std::size_t contenders, double seconds) {
  for (const auto& each : all_) each->energy_began(size, contenders, seconds);
}

void Observers::size_done(const session::SizeResult& result) {
  for (const auto& each : all_) each->size_done(result);
}

void Observers::card_joined(const session::CardName& card) {
  for (const auto& each : all_) each->card_joined(card);
}

void Observers::card_dropped(const session::CardName& card, const std::string& reason) {
  for (const auto& each : all_) each->card_dropped(card, reason);
}

}  // namespace tuner::cli
