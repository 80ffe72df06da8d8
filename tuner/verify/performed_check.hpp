// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/outcome.hpp"
#include "tuner/space/size.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace tuner::verify {

/// One check of a candidate: on which inputs it was launched, and what the check found.
struct PerformedCheck {
  space::Size size;
  /// What the inputs are: "normal", "whole-number", "few-valued", "the file's", the name of a law,
  /// or "changed", normal ones of which some elements are others.
  std::string inputs;
  std::size_t check_case = 0;  ///< 0: the arguments as tuned; i: check.cases[i-1] of the file
  std::uint64_t seed = 0;      ///< of the inputs
  std::string launch;          ///< "checked", "read-only inputs", "behind others" or "timed"
  Outcome outcome = Outcome::ok;
  std::optional<double> worst_error;    ///< the largest error as a share of its bound, when `ok`
  std::string message;                  ///< why the outcome is not `ok`
  std::optional<WrongElement> element;  ///< the first that is wrong, where elements are compared
};

/// A law by which no input is drawn at a size.
struct LawLeftOut {
  space::Size size;
  std::string law;
  std::string reason;  ///< why the reference's results mean nothing there
};

}  // namespace tuner::verify
