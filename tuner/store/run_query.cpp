// SPDX-License-Identifier: Apache-2.0
// The methods of Store that read runs, their trials and their finals.
#include "tuner/core/error.hpp"
#include "tuner/store/connection.hpp"
#include "tuner/store/rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <unordered_set>

namespace tuner::store {
namespace {

/// The columns of a trial, the text of its configuration in their place, and their tables.
std::string select_trials(std::string_view config_text, std::string_view config_checked,
                          std::string_view joined) {
  return fmt::format(
      "SELECT r.id, r.session_id, r.sequence, r.elapsed_s, r.config_id, p.size, {}, {}, r.intact, "
      "p.intact{} FROM result r JOIN problem p ON p.id = r.problem_id {}",
      config_text, columns<TrialRecord>("r."), config_checked, joined);
}

std::string trials_with_texts() {
  return select_trials("c.json", ", c.intact", "JOIN config c ON c.id = r.config_id ");
}

TrialRecord read_trial(RowReader& row) {
  TrialRecord trial;
  trial.problem = row.text();
  trial.config_json = row.text();
  row.read(trial);
  return trial;
}

StoredTrial read_stored_trial(SQLite::Statement& found) {
  RowReader row(found);
  return {.id = row.integer(),
          .run = row.integer(),
          .sequence = row.integer(),
          .elapsed_s = row.real(),
          .config = row.integer(),
          .trial = read_trial(row)};
}

std::vector<StoredTrial> read_trials(SQLite::Statement& found) {
  std::vector<StoredTrial> trials;
  while (found.executeStep()) trials.push_back(read_stored_trial(found));
  return trials;
}

RunState run_state(std::string_view text) {
  constexpr std::array kEnded = {RunState::complete, RunState::budget_spent, RunState::interrupted,
                                 RunState::imported};
  for (const RunState state : kEnded) {
    if (name(state) == text) return state;
  }
  return RunState::running;
}

std::vector<std::string> read_problems(const SQLite::Database& database, std::int64_t run) {
  std::vector<std::string> problems;
  SQLite::Statement found = prepare(database,
                                    "SELECT p.size, sp.intact, p.intact FROM session_problem sp "
                                    "JOIN problem p ON p.id = sp.problem_id "
                                    "WHERE sp.session_id = ? ORDER BY sp.position",
                                    run);
  while (found.executeStep()) problems.push_back(found.getColumn(0).getString());
  return problems;
}

/// The runs that meet a condition on `s`, newest first.
template <class... Values>
std::vector<RunRecord> read_runs(const SQLite::Database& database, std::string_view condition,
                                 const Values&... values) {
  SQLite::Statement found = prepare(
      database,
      fmt::format("SELECT s.id, s.uuid, d.name, d.backend, k.family, k.name, k.hash, s.started_at, "
                  "s.ended_at, s.state, s.pid = 0 AND s.state <> 'imported', {}, {}, "
                  "s.intact, d.intact, k.intact, e.intact FROM session s "
                  "JOIN device d ON d.id = s.device_id JOIN kernel k ON k.id = s.kernel_id "
                  "JOIN environment e ON e.id = s.environment_id "
                  "WHERE {} ORDER BY s.id DESC",
                  columns<RunRecord>("s."), columns<space::EnvironmentInfo>("e."), condition),
      values...);
  std::vector<RunRecord> runs;
  while (found.executeStep()) {
    RowReader row(found);
    RunRecord& run = runs.emplace_back();
    run.id = row.integer();
    for (std::string* const text : {&run.uuid, &run.device, &run.backend, &run.family, &run.kernel,
                                    &run.kernel_hash, &run.started_at, &run.ended_at}) {
      *text = row.text();
    }
    run.state = run_state(row.text());
    run.merged = row.flag();
    row.read(run);
    row.read(run.environment);
    run.problems = read_problems(database, run.id);
  }
  return runs;
}

std::optional<std::int64_t> to_id(std::string_view text) {
  std::int64_t id = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return id;
}

}  // namespace

std::map<std::string, TrialRecord> Store::known_trials(const Subject& subject,
                                                       std::string_view problem) const {
  const std::string sql =
      trials_with_texts() +
      "JOIN session s ON s.id = r.session_id JOIN device d ON d.id = s.device_id "
      "JOIN environment e ON e.id = s.environment_id JOIN kernel k ON k.id = s.kernel_id "
      "WHERE p.family = ?1 AND p.size = ?2 AND k.family = ?1 AND k.name = ?3 AND k.hash = ?4 "
      "AND d.backend = ?5 AND d.name = ?6 AND d.architecture = ?7 AND d.sm_count = ?8 "
      "AND e.driver = ?9 AND e.compiler = ?10 AND e.library = ?11 AND e.tool = ?12 "
      "AND s.check_hash = ?13 ORDER BY r.id";
  const space::DeviceInfo& device = subject.device;
  const space::EnvironmentInfo& environment = subject.environment;
  return state_->connection.read([&](const SQLite::Database& database) {
    SQLite::Statement found =
        prepare(database, sql, subject.kernel.family, problem, subject.kernel.kernel,
                subject.kernel.hash, device.backend, device.name, device.architecture,
                device.attributes.sm_count, environment.driver, environment.compiler,
                environment.library, environment.tool, subject.check_hash);
    std::map<std::string, TrialRecord> known;
    for (StoredTrial& stored : read_trials(found)) {
      std::string config = stored.trial.config_json;
      known.insert_or_assign(std::move(config), std::move(stored.trial));
    }
    std::erase_if(known, [](const auto& it) { return is_worth_another_try(it.second.outcome); });
    return known;
  });
}

std::vector<RunRecord> Store::runs() const {
  return state_->connection.read([](const SQLite::Database& database) {
    return read_runs(database, "s.state <> 'imported'");
  });
}

std::optional<RunRecord> Store::run(std::string_view id_or_uuid) const {
  return state_->connection.read([&](const SQLite::Database& database) -> std::optional<RunRecord> {
    if (const auto id = to_id(id_or_uuid)) {
      auto found = read_runs(database, "s.id = ?", *id);
      if (!found.empty()) return std::move(found.front());
    }
    if (id_or_uuid.empty()) return std::nullopt;
    auto found = read_runs(database, "substr(s.uuid, 1, length(?1)) = ?1", id_or_uuid);
    if (found.size() > 1) {
      std::vector<std::string> uuids;
      for (const RunRecord& run : found) uuids.push_back(run.uuid);
      throw Error(ErrorCode::usage, fmt::format("'{}' begins the uuids of {} runs: {}", id_or_uuid,
                                                found.size(), fmt::join(uuids, ", ")));
    }
    if (found.empty()) return std::nullopt;
    return std::move(found.front());
  });
}

std::vector<StoredTrial> Store::trials(std::int64_t run) const {
  return state_->connection.read([&](const SQLite::Database& database) {
    SQLite::Statement found =
        prepare(database, trials_with_texts() + "WHERE r.session_id = ? ORDER BY r.id", run);
    return read_trials(found);
  });
}

void Store::each_trial(std::int64_t run,
                       const std::function<void(const StoredTrial&)>& visit) const {
  state_->connection.read([&](const SQLite::Database& database) {
    // In the order of an index: SQLite need not sort the rows.
    SQLite::Statement found = prepare(
        database,
        select_trials("''", "", "") + "WHERE r.session_id = ? ORDER BY r.problem_id, r.sequence",
        run);
    SQLite::Statement text(database, "SELECT json, intact FROM config WHERE id = ?");
    std::unordered_set<std::int64_t> seen;
    while (found.executeStep()) {
      StoredTrial stored = read_stored_trial(found);
      if (seen.insert(stored.config).second) {
        bind_value(text, 1, stored.config);
        if (text.executeStep()) stored.trial.config_json = RowReader(text).text();
        text.reset();
      }
      visit(stored);
    }
  });
}

std::vector<StoredTrial> Store::trials(const ResultFilter& filter) const {
  const std::string sql =
      trials_with_texts() +
      "WHERE r.id IN (SELECT max(r.id) FROM result r JOIN problem p ON p.id = r.problem_id "
      "JOIN config c ON c.id = r.config_id JOIN session s ON s.id = r.session_id "
      "JOIN device d ON d.id = s.device_id JOIN kernel k ON k.id = s.kernel_id "
      "WHERE (?1 IS NULL OR d.name = ?1) AND (?2 IS NULL OR k.family = ?2) "
      "AND (?3 IS NULL OR k.name = ?3) AND (?4 IS NULL OR p.size = ?4) "
      "GROUP BY d.id, k.family, k.name, p.id, c.json) ORDER BY r.id";
  return state_->connection.read([&](const SQLite::Database& database) {
    SQLite::Statement found =
        prepare(database, sql, filter.device, filter.family, filter.kernel, filter.problem);
    return read_trials(found);
  });
}

std::vector<CardRecord> Store::cards(std::int64_t run) const {
  return state_->connection.read([&](const SQLite::Database& database) {
    SQLite::Statement found =
        prepare(database,
                "SELECT p.size, n.uuid, n.host, n.job, n.first_sequence, n.intact, p.intact "
                "FROM card n JOIN problem p ON p.id = n.problem_id "
                "WHERE n.session_id = ? ORDER BY n.id",
                run);
    std::vector<CardRecord> cards;
    while (found.executeStep()) {
      RowReader row(found);
      cards.push_back({.problem = row.text(),
                       .uuid = row.text(),
                       .host = row.text(),
                       .job = row.text(),
                       .first_sequence = row.integer()});
    }
    return cards;
  });
}

std::vector<FinalistRecord> Store::finalists(std::int64_t run, std::string_view problem) const {
  return state_->connection.read([&](const SQLite::Database& database) {
    SQLite::Statement found = prepare(
        database,
        fmt::format("SELECT coalesce(c.id, 0), coalesce(c.json, ''), {}, {}, f.intact, c.intact, "
                    "n.intact FROM finalist f LEFT JOIN energy n ON n.finalist_id = f.id "
                    "LEFT JOIN config c ON c.id = f.config_id WHERE f.final_id = ("
                    "SELECT max(fi.id) FROM final fi JOIN problem p ON p.id = fi.problem_id "
                    "WHERE fi.session_id = ? AND p.size = ?) ORDER BY f.ratio_to_best, f.position",
                    columns<FinalistRecord>("f."), columns<EnergySummary>("n.")),
        run, problem);
    std::vector<FinalistRecord> finalists;
    while (found.executeStep()) {
      RowReader row(found);
      FinalistRecord& finalist = finalists.emplace_back();
      finalist.config = row.integer();
      finalist.config_json = row.text();
      row.read(finalist);
      row.read(finalist.energy);
    }
    return finalists;
  });
}

}  // namespace tuner::store
