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
  void tell(const session::Event& event) override;

 private:
  std::vector<std::unique_ptr<session::Observer>> all_;
};

}  // namespace tuner::cli
