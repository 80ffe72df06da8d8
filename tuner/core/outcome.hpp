// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace tuner {

/// How the trial of one candidate ended. Only `ok` has a time and may be selected.
enum class Outcome {
  ok,
  compile_error,
  launch_error,
  wrong_result,
  timeout,
  crashed,
};

inline constexpr std::array kOutcomes = {Outcome::ok,           Outcome::compile_error,
                                         Outcome::launch_error, Outcome::wrong_result,
                                         Outcome::timeout,      Outcome::crashed};

/// The name stored in the database and shown to users, e.g. "wrong_result".
[[nodiscard]] std::string_view name(Outcome outcome);
[[nodiscard]] std::optional<Outcome> outcome_from_name(std::string_view name);

/// Why a candidate did not end `ok`: a value, recorded and counted; never an exception.
struct Failure {
  Outcome outcome = Outcome::crashed;
  std::string message;
};

}  // namespace tuner
