// SPDX-License-Identifier: Apache-2.0
// Records of the database as `--json` shows them.
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/core/record.hpp"
#include "tuner/store/records.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tuner::cli {

/// Adds the fields of a record by their keys; those of a record within it stand beside them. What
/// is not known is null. Lists of samples are left out.
template <Record T>
void add_fields(Json& object, const T& record) {
  for_each_field<T>([&]<class F>(const F& field) {
    const typename F::Type& value = record.*field.member;
    if constexpr (Record<typename F::Type>) {
      add_fields(object, value);
    } else if constexpr (std::is_same_v<typename F::Type, std::optional<double>>) {
      object[std::string(field.key)] = number_or_null(value);
    } else if constexpr (!std::is_same_v<typename F::Type, std::vector<double>>) {
      object[std::string(field.key)] = value;
    }
  });
}

/// A best with its configuration, what is known of its run and its final round, and its energy by
/// work.
[[nodiscard]] Json best_json(const store::BestRecord& best);

/// A contender of a final round: its samples are counted as "rounds".
[[nodiscard]] Json finalist_json(const store::FinalistRecord& finalist);

}  // namespace tuner::cli
