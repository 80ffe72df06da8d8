// SPDX-License-Identifier: Apache-2.0
// Internal to interop: puts a Recording together out of configurations as a file gives them.
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/interop/recording.hpp"

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace tuner::interop {

/// The result of a configuration in a file.
struct RecordedResult {
  Outcome outcome = Outcome::ok;
  std::optional<double> time_ms = {};
  std::optional<double> cost_s = {};
};

/// Collects trials; the definition grows with the values that they have.
class RecordingBuilder {
 public:
  /// The parameters, in order. Throws Error(usage) with `origin` for a name that appears twice,
  /// that a terminal would not show as it is, or when there are more than 64.
  RecordingBuilder(std::vector<std::string> names, std::string origin);

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  /// The values of a parameter as the file lists them; without a list they are put in order of
  /// size, those that are no numbers as they come.
  void list_values(std::size_t parameter, const Json& values);

  /// Adds a trial, with a value for every parameter. A second one of the same configuration takes
  /// the place of the first. Throws Error(usage) for a value that is a list or an object.
  void add(std::span<const Json> values, const RecordedResult& result);

  /// The recording; kernel, device and problem are the caller's.
  [[nodiscard]] Recording take();

 private:
  struct Values {
    std::vector<Json> json;
    std::unordered_map<std::string, std::uint32_t> index;  // by Python's text
    bool listed = false;
  };

  [[noreturn]] void refuse(std::string_view why) const;
  std::uint32_t value_index(std::size_t parameter, const Json& value);
  void sort_values(std::size_t parameter);
  [[nodiscard]] space::SpaceDefinition definition() const;

  std::vector<std::string> names_;
  std::string origin_;
  std::vector<Values> values_;
  std::vector<RecordedTrial> trials_;
  std::unordered_map<std::string, std::size_t> trial_of_;  // by cache key
};

}  // namespace tuner::interop
