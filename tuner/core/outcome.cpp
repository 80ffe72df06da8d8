// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/outcome.hpp"

namespace tuner {

std::string_view name(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return "ok";
    case Outcome::compile_error:
      return "compile_error";
    case Outcome::launch_error:
      return "launch_error";
    case Outcome::wrong_result:
      return "wrong_result";
    case Outcome::timeout:
      return "timeout";
    case Outcome::crashed:
      return "crashed";
  }
  return "unknown";
}

std::optional<Outcome> outcome_from_name(std::string_view text) {
  for (const Outcome outcome : kOutcomes) {
    if (name(outcome) == text) return outcome;
  }
  return std::nullopt;
}

}  // namespace tuner
