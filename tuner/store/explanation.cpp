// SPDX-License-Identifier: Apache-2.0
// The methods of Store about explanations.
#include "tuner/core/json.hpp"
#include "tuner/store/connection.hpp"
#include "tuner/store/interning.hpp"
#include "tuner/store/rows.hpp"

#include <nlohmann/json.hpp>

namespace tuner::store {
namespace {

/// The members of a value that `fields` names, as a JSON object by their names.
template <class Value, class Fields>
std::string to_object(const Value& value, const Fields& fields) {
  Json object = Json::object();
  for (const auto& field : fields) object[std::string(field.name)] = value.*field.member;
  return object.dump();
}

/// The same back. A field that is not there, as of a later version's, keeps its default.
template <class Value, class Fields>
std::optional<Value> from_object(const std::string& text, const Fields& fields) {
  if (text.empty()) return std::nullopt;
  Value value;
  const Json object = parse_json(text, "a stored explanation");
  for (const auto& field : fields) {
    const auto found = object.find(std::string(field.name));
    if (found != object.end() && found->is_number()) found->get_to(value.*field.member);
  }
  return value;
}

std::optional<std::string> counters_text(const counters::Profile& profile) {
  if (!profile.counters) return std::nullopt;
  return to_object(*profile.counters, counters::counter_fields());
}

std::optional<std::string> instructions_text(const counters::Profile& profile) {
  if (!profile.instructions) return std::nullopt;
  return to_object(*profile.instructions, counters::instruction_fields());
}

void store_explained(const Database& database, std::int64_t explanation, int position,
                     const std::optional<std::int64_t>& config, const ExplainedRecord& explained) {
  const auto timed = [&](double ComparedTime::*member) {
    return explained.timed ? std::optional((*explained.timed).*member) : std::nullopt;
  };
  const auto takes = [&](std::int64_t counters::Footprint::*member) {
    const auto& footprint = explained.profile.footprint;
    return footprint ? std::optional((*footprint).*member) : std::nullopt;
  };
  prepare(database,
          "INSERT INTO main.explained (explanation_id, position, role, config_id, parameter, "
          "median_ns, ratio_to_best, ratio_low, ratio_high, threads, registers, shared_bytes, "
          "local_bytes, counters, instructions) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
          explanation, position, explained.role, config, explained.parameter,
          timed(&ComparedTime::median_ns), timed(&ComparedTime::ratio_to_best),
          timed(&ComparedTime::ratio_low), timed(&ComparedTime::ratio_high),
          takes(&counters::Footprint::threads), takes(&counters::Footprint::registers),
          takes(&counters::Footprint::shared_bytes), takes(&counters::Footprint::local_bytes),
          counters_text(explained.profile), instructions_text(explained.profile))
      .exec();
}

std::optional<ComparedTime> read_compared_time(RowReader& row) {
  const std::optional<double> median = row.optional_real();
  ComparedTime time{.median_ns = median.value_or(0)};
  time.ratio_to_best = row.real();
  time.ratio_low = row.real();
  time.ratio_high = row.real();
  if (!median) return std::nullopt;
  return time;
}

std::optional<counters::Footprint> read_footprint(RowReader& row) {
  const std::optional<double> threads = row.optional_real();
  counters::Footprint footprint{.threads = static_cast<std::int64_t>(threads.value_or(0))};
  footprint.registers = row.integer();
  footprint.shared_bytes = row.integer();
  footprint.local_bytes = row.integer();
  if (!threads) return std::nullopt;
  return footprint;
}

std::vector<ExplainedRecord> read_explained(const Database& database, std::int64_t explanation) {
  SQLite::Statement found =
      prepare(database,
              "SELECT x.role, coalesce(c.json, ''), x.parameter, x.median_ns, x.ratio_to_best, "
              "x.ratio_low, x.ratio_high, x.threads, x.registers, x.shared_bytes, x.local_bytes, "
              "coalesce(x.counters, ''), coalesce(x.instructions, ''), x.intact, c.intact "
              "FROM explained x LEFT JOIN config c ON c.id = x.config_id "
              "WHERE x.explanation_id = ? ORDER BY x.position",
              explanation);
  std::vector<ExplainedRecord> contenders;
  while (found.executeStep()) {
    RowReader row(found);
    contenders.push_back({.role = row.text(),
                          .config_json = row.text(),
                          .parameter = row.text(),
                          .timed = read_compared_time(row),
                          .profile = {.footprint = read_footprint(row),
                                      .counters = from_object<counters::Counters>(
                                          row.text(), counters::counter_fields()),
                                      .instructions = from_object<counters::InstructionMix>(
                                          row.text(), counters::instruction_fields())}});
  }
  return contenders;
}

}  // namespace

void Store::record_explanation(std::int64_t run, const ExplanationRecord& explanation) {
  state_->connection.write([&](Database& database) {
    const RunKey key = find_run(database, run);
    const std::string when = explanation.recorded_at.empty() ? utc_now() : explanation.recorded_at;
    prepare(database,
            "INSERT INTO main.explanation (session_id, problem_id, recorded_at, counters_problem, "
            "peak_flops_per_s, peak_bytes_per_s) VALUES (?, ?, ?, ?, ?, ?)",
            key.id, store_problem(database, key.family, explanation.problem), when,
            explanation.counters_problem, explanation.peak_flops_per_s,
            explanation.peak_bytes_per_s)
        .exec();
    const std::int64_t id = database.getLastInsertRowid();
    int position = 0;
    for (const ExplainedRecord& explained : explanation.contenders) {
      std::optional<std::int64_t> config;
      if (!explained.config_json.empty()) {
        config = store_config(database, key.kernel, explained.config_json);
      }
      store_explained(database, id, ++position, config, explained);
    }
  });
}

std::optional<ExplanationRecord> Store::explanation(std::int64_t run,
                                                    std::string_view problem) const {
  return state_->connection.read([&](const Database& database) -> std::optional<ExplanationRecord> {
    SQLite::Statement found =
        prepare(database,
                "SELECT x.id, p.size, x.recorded_at, x.counters_problem, x.peak_flops_per_s, "
                "x.peak_bytes_per_s, x.intact, p.intact FROM explanation x "
                "JOIN problem p ON p.id = x.problem_id "
                "WHERE x.session_id = ? AND p.size = ? ORDER BY x.id DESC LIMIT 1",
                run, problem);
    if (!found.executeStep()) return std::nullopt;
    RowReader row(found);
    const std::int64_t id = row.integer();
    return ExplanationRecord{.problem = row.text(),
                             .recorded_at = row.text(),
                             .counters_problem = row.text(),
                             .peak_flops_per_s = row.optional_real(),
                             .peak_bytes_per_s = row.optional_real(),
                             .contenders = read_explained(database, id)};
  });
}

}  // namespace tuner::store
