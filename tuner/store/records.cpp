// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/records.hpp"

namespace tuner {

std::string_view name(SessionState state) {
  switch (state) {
    case SessionState::running:
      return "running";
    case SessionState::complete:
      return "complete";
    case SessionState::budget_spent:
      return "budget_spent";
    case SessionState::interrupted:
      return "interrupted";
    case SessionState::imported:
      return "imported";
  }
  return "unknown";
}

}  // namespace tuner
