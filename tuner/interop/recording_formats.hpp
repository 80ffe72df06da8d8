// SPDX-License-Identifier: Apache-2.0
// Internal to interop: the formats that parse_recording tells apart. Each throws Error(usage).
#pragma once

#include "tuner/interop/entry_document.hpp"
#include "tuner/interop/recording_builder.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace tuner::interop {

/// A Kernel Tuner cache file.
[[nodiscard]] Recording read_cache(const EntryDocument& document, std::string_view origin);
/// T4 results (results-schema 1.0.0).
[[nodiscard]] Recording read_t4(const EntryDocument& document, std::string_view origin);
/// KTT's JSON output.
[[nodiscard]] Recording read_ktt(const EntryDocument& document, std::string_view origin);

/// The value of a member, or null when the object has none.
[[nodiscard]] const Json& member(const Json& object, const char* name);
/// The text of a member; empty when it is missing or no text.
[[nodiscard]] std::string text_member(const Json& object, const char* name);
/// A name out of the file; printable, and empty when it is missing or no text.
[[nodiscard]] std::string name_member(const Json& object, const char* name);

/// A measured time: none when it is no number or says that nothing was measured (1e20 and above).
[[nodiscard]] std::optional<double> objective_of(const Json& value);

/// How many milliseconds a unit of time is, by its name or symbol ("us", "Microseconds"); none when
/// it is no such unit.
[[nodiscard]] std::optional<double> unit_in_ms(std::string_view unit);

/// Adds up the time that a trial took. What is missing, no number or negative is not counted.
class EvaluationTime {
 public:
  /// @param unit_ms Milliseconds of the unit of what is added.
  explicit EvaluationTime(double unit_ms = 1) : unit_ms_(unit_ms) {}

  /// A time, or a list of them.
  void add(const Json& time);
  /// Seconds; none when nothing was added.
  [[nodiscard]] std::optional<double> seconds() const;

 private:
  double unit_ms_;
  std::optional<double> sum_;
};

}  // namespace tuner::interop
