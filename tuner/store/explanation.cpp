// SPDX-License-Identifier: Apache-2.0
// The methods of Store about explanations.
#include "tuner/store/connection.hpp"
#include "tuner/store/interning.hpp"
#include "tuner/store/rows.hpp"

#include <fmt/format.h>

namespace tuner::store {
namespace {

std::vector<ExplainedRecord> read_explained(const Database& database, std::int64_t explanation) {
  SQLite::Statement found =
      prepare(database,
              fmt::format("SELECT coalesce(c.json, ''), {}, x.intact, c.intact "
                          "FROM explained x LEFT JOIN config c ON c.id = x.config_id "
                          "WHERE x.explanation_id = ? ORDER BY x.position",
                          columns<ExplainedRecord>("x.")),
              explanation);
  std::vector<ExplainedRecord> contenders;
  while (found.executeStep()) {
    RowReader row(found);
    ExplainedRecord& contender = contenders.emplace_back();
    contender.config_json = row.text();
    row.read(contender);
  }
  return contenders;
}

}  // namespace

void Store::record_explanation(std::int64_t run, const ExplanationRecord& explanation) {
  state_->connection.write([&](Database& database) {
    const RunKey key = find_run(database, run);
    ExplanationRecord dated = explanation;
    if (dated.recorded_at.empty()) dated.recorded_at = utc_now();
    prepare(
        database,
        fmt::format("INSERT INTO main.explanation (session_id, problem_id, {}) VALUES (?, ?, {})",
                    columns<ExplanationRecord>(), parameters<ExplanationRecord>()),
        key.id, store_problem(database, key.family, explanation.problem), dated)
        .exec();
    const std::int64_t id = database.getLastInsertRowid();
    int position = 0;
    for (const ExplainedRecord& explained : explanation.contenders) {
      std::optional<std::int64_t> config;
      if (!explained.config_json.empty()) {
        config = store_config(database, key.kernel, explained.config_json);
      }
      prepare(database,
              fmt::format("INSERT INTO main.explained (explanation_id, position, config_id, {}) "
                          "VALUES (?, ?, ?, {})",
                          columns<ExplainedRecord>(), parameters<ExplainedRecord>()),
              id, ++position, config, explained)
          .exec();
    }
  });
}

std::optional<ExplanationRecord> Store::explanation(std::int64_t run,
                                                    std::string_view problem) const {
  return state_->connection.read([&](const Database& database) -> std::optional<ExplanationRecord> {
    SQLite::Statement found =
        prepare(database,
                fmt::format("SELECT x.id, p.size, {}, x.intact, p.intact FROM explanation x "
                            "JOIN problem p ON p.id = x.problem_id "
                            "WHERE x.session_id = ? AND p.size = ? ORDER BY x.id DESC LIMIT 1",
                            columns<ExplanationRecord>("x.")),
                run, problem);
    if (!found.executeStep()) return std::nullopt;
    RowReader row(found);
    const std::int64_t id = row.integer();
    ExplanationRecord explanation;
    explanation.problem = row.text();
    row.read(explanation);
    explanation.contenders = read_explained(database, id);
    return explanation;
  });
}

}  // namespace tuner::store
