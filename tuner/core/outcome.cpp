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
    case Outcome::compile_timeout:
      return "compile_timeout";
    case Outcome::out_of_bounds:
      return "out_of_bounds";
    case Outcome::nondeterministic:
      return "nondeterministic";
    case Outcome::unstable:
      return "unstable";
    case Outcome::implausible:
      return "implausible";
    case Outcome::quarantined:
      return "quarantined";
  }
  return "unknown";
}

bool is_refutation(Outcome outcome) {
  return outcome == Outcome::wrong_result || outcome == Outcome::out_of_bounds ||
         outcome == Outcome::nondeterministic;
}

std::optional<Outcome> outcome_from_name(std::string_view text) {
  for (const Outcome outcome : kOutcomes) {
    if (name(outcome) == text) return outcome;
  }
  return std::nullopt;
}

}  // namespace tuner
