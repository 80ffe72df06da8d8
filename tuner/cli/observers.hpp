// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/observer.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace tuner::cli {

/// Passes each event to several observers, in the order in which they were added.
class Observers : public session::Observer {
 public:
  void add(std::unique_ptr<session::Observer> observer) { all_.push_back(std::move(observer)); }

  [[nodiscard]] bool shows_library() const override;
  void opened(const session::Opening& opening) override;
  void estimated(std::chrono::milliseconds search) override;
  void covered(const verify::Coverage& coverage) override;
  void progressed(const session::Progress& progress) override;
  void final_began(const space::Size& size, std::size_t contenders,
                   session::LibraryPart library) override;
  void round_done(const space::Size& size, int rounds, int most) override;
  void energy_began(const space::Size& size, std::size_t contenders, double seconds) override;
  void size_done(const session::SizeResult& result) override;
  void card_joined(const session::CardName& card) override;
  void card_dropped(const session::CardName& card, const std::string& reason) override;

 private:
  std::vector<std::unique_ptr<session::Observer>> all_;
};

}  // namespace tuner::cli
