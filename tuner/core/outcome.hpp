// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tuner {

/// How the trial of one candidate ended. Only `ok` has a time and may be selected.
enum class Outcome {
  ok,
  compile_error,
  compile_timeout,   ///< the compiler did not end within its deadline or its memory
  launch_error,      ///< the device refused the launch and is as usable as before
  wrong_result,      ///< an element outside its bound
  out_of_bounds,     ///< it wrote beyond a buffer, wrote an input, or read what it must not
  nondeterministic,  ///< the same input gave different results
  timeout,           ///< a launch did not end within its deadline
  crashed,           ///< it took the device or its process with it
  unstable,          ///< its time could not be measured: the device's clock never held
  implausible,       ///< faster than the device can be
  quarantined,       ///< not run: it has crashed or hung before
};

inline constexpr std::array kOutcomes = {
    Outcome::ok,           Outcome::compile_error, Outcome::compile_timeout,  Outcome::launch_error,
    Outcome::wrong_result, Outcome::out_of_bounds, Outcome::nondeterministic, Outcome::timeout,
    Outcome::crashed,      Outcome::unstable,      Outcome::implausible,      Outcome::quarantined};

/// Whether the configuration was found to compute something else than it should.
[[nodiscard]] bool is_refutation(Outcome outcome);

/// The name stored in the database and shown to users, e.g. "wrong_result".
[[nodiscard]] std::string_view name(Outcome outcome);
[[nodiscard]] std::optional<Outcome> outcome_from_name(std::string_view text);

/// An element of a result that differs from the expected one.
struct WrongElement {
  std::string buffer;       ///< the argument's name
  std::uint64_t index = 0;  ///< in the buffer; in sorted order where records may be in any order
  double value = 0;
  double expected = 0;         ///< of the reference; of an earlier launch when nondeterministic
  bool is_untouched = false;   ///< the element still holds what was there before the launch
  bool is_to_be_left = false;  ///< the reference leaves the element as it is: no value is expected
  double allowed_error = 0;    ///< 0: the values must be equal
};

/// Why a candidate did not end `ok`: a value, recorded and counted; never an exception.
struct Failure {
  Outcome outcome = Outcome::crashed;
  std::string message;
  bool is_transient = false;  ///< may succeed later: out of memory, a stream that is captured
  std::optional<WrongElement> element = {};  ///< the first that is wrong, where one was compared
};

}  // namespace tuner
