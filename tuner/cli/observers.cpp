// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/observers.hpp"

#include <algorithm>

namespace tuner::cli {

bool Observers::shows_library() const {
  return std::ranges::any_of(all_, [](const auto& each) { return each->shows_library(); });
}

void Observers::tell(const session::Event& event) {
  for (const auto& each : all_) each->tell(event);
}

}  // namespace tuner::cli
