// SPDX-License-Identifier: Apache-2.0
// JSON that another program may have written: what is not as expected is empty.
#pragma once

#include "tuner/core/json.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tuner::report {

/// An object; an empty one when the text is not JSON of an object.
[[nodiscard]] Json tolerant_object(std::string_view text);
/// A member of an object; null when there is none, or when it is no object.
[[nodiscard]] const Json* member(const Json& object, const std::string& key);

/// The values of a configuration as text, in the order of KernelHistory::parameters; empty where
/// the configuration lacks the parameter.
using ConfigValues = std::vector<std::string>;

/// The configurations of a kernel that were tried, by number from 0. A value of a parameter is kept
/// once; a configuration is the places of its values.
class Configurations {
 public:
  /// The number of the configuration with this id of the database, which is added when it is new.
  /// Text that is no JSON object has no values.
  std::uint32_t add(std::int64_t id, std::string_view config_json);
  /// None where the id is not there.
  [[nodiscard]] std::optional<std::uint32_t> find(std::int64_t id) const;
  [[nodiscard]] std::size_t size() const { return configs_.size(); }

  /// The parameters of which some configuration has a value.
  [[nodiscard]] std::vector<std::string> parameters() const;
  /// Orders the values by these parameters, which include all that have values. Nothing is added
  /// afterwards.
  void order(const std::vector<std::string>& parameters);

  // After order: `parameter` is a place in its list.
  /// Where the value of a configuration stands among the parameter's different ones.
  [[nodiscard]] std::uint32_t place(std::uint32_t config, std::size_t parameter) const {
    return configs_[config][parameter];
  }
  /// How many places there are.
  [[nodiscard]] std::size_t places(std::size_t parameter) const {
    return parameters_[parameter].values.size();
  }
  [[nodiscard]] const std::string& value_at(std::size_t parameter, std::uint32_t place) const {
    return parameters_[parameter].values[place];
  }
  [[nodiscard]] ConfigValues values(std::uint32_t config) const;

 private:
  struct Parameter {
    std::string name;
    std::vector<std::string> values = {""};  ///< the first for configurations that lack it
    std::unordered_map<std::string, std::uint32_t> places = {{"", 0}};
  };
  std::size_t parameter_named(const std::string& name);

  std::vector<Parameter> parameters_;
  std::vector<std::vector<std::uint32_t>> configs_;
  std::unordered_map<std::int64_t, std::uint32_t> numbers_;  ///< by id
};

/// The values of a stored configuration in the order of `parameters`.
[[nodiscard]] ConfigValues config_values(const std::vector<std::string>& parameters,
                                         std::string_view config_json);
/// "BM=64,BN=128": as `--config` takes it.
[[nodiscard]] std::string config_text(const std::vector<std::string>& parameters,
                                      const ConfigValues& values);

}  // namespace tuner::report
