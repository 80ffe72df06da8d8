// SPDX-License-Identifier: Apache-2.0
// The methods of Store about attempts in progress, crashes and timeouts.
#include "tuner/core/failpoint.hpp"
#include "tuner/store/connection.hpp"
#include "tuner/store/process_identity.hpp"
#include "tuner/store/rows.hpp"
#include "tuner/store/writing.hpp"

#include <fmt/format.h>

namespace tuner::store {
namespace {

void store_strike(const Database& database, std::int64_t run, std::int64_t config,
                  std::string_view reason) {
  prepare(database,
          "INSERT INTO main.strike (session_id, config_id, reason, recorded_at) "
          "VALUES (?, ?, ?, ?)",
          run, config, reason, utc_now())
      .exec();
}

/// The strikes that meet a condition on `t` (strike), `c`, `s`, `d` and `k`, by configuration and
/// architecture, the latest first.
template <class... Values>
std::vector<StrikeRecord> read_strikes(const Database& database, std::string_view condition,
                                       const Values&... values) {
  // Of a group, SQLite takes the bare columns from the row that has the maximum.
  SQLite::Statement found =
      prepare(database,
              fmt::format("SELECT k.family, k.name, k.hash, d.architecture, c.json, count(*), "
                          "t.reason, t.recorded_at, max(t.id) AS latest, t.intact, c.intact, "
                          "k.intact, s.intact, d.intact FROM strike t "
                          "JOIN config c ON c.id = t.config_id JOIN kernel k ON k.id = c.kernel_id "
                          "JOIN session s ON s.id = t.session_id "
                          "JOIN device d ON d.id = s.device_id "
                          "WHERE {} GROUP BY c.id, d.architecture ORDER BY latest DESC",
                          condition),
              values...);
  std::vector<StrikeRecord> strikes;
  while (found.executeStep()) {
    RowReader row(found);
    strikes.push_back({.family = row.text(),
                       .kernel = row.text(),
                       .kernel_hash = row.text(),
                       .architecture = row.text(),
                       .config_json = row.text(),
                       .strikes = row.number(),
                       .reason = row.text(),
                       .last_at = row.text()});
  }
  return strikes;
}

std::vector<std::int64_t> dead_runs(const Database& database) {
  std::vector<std::int64_t> dead;
  SQLite::Statement found(database,
                          "SELECT id, host, boot_id, pid_namespace, pid, process_start, intact "
                          "FROM session WHERE state = 'running'");
  while (found.executeStep()) {
    RowReader row(found);
    const std::int64_t id = row.integer();
    const ProcessIdentity process{.host = row.text(),
                                  .boot_id = row.text(),
                                  .pid_namespace = row.text(),
                                  .pid = row.integer(),
                                  .start = row.integer()};
    if (is_gone(process)) dead.push_back(id);
  }
  return dead;
}

/// Adds strikes for the candidates that ended runs had on the device; returns their configurations.
std::vector<std::int64_t> strike_open_attempts(const Database& database, std::int64_t run) {
  std::vector<std::int64_t> configs;
  SQLite::Statement found = prepare(database,
                                    "SELECT a.config_id, p.size, a.intact, p.intact FROM attempt a "
                                    "JOIN problem p ON p.id = a.problem_id WHERE a.session_id = ?",
                                    run);
  while (found.executeStep()) {
    RowReader row(found);
    configs.push_back(row.integer());
    store_strike(database, run, configs.back(),
                 fmt::format("`tune` ended while it ran at {}", row.text()));
    failpoint("store.dead_struck");
  }
  prepare(database, "DELETE FROM main.attempt WHERE session_id = ?", run).exec();
  return configs;
}

}  // namespace

void store_attempt(const Database& database, const RunKey& run, const AttemptRecord& attempt) {
  KeptStatement(database,
                "INSERT INTO main.attempt (session_id, problem_id, config_id, began_at) "
                "VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                run.id, store_problem(database, run.family, attempt.problem),
                store_config(database, run.kernel, attempt.config_json), utc_now())
      ->exec();
}

void Store::begin_attempt(std::int64_t run, const AttemptRecord& attempt) {
  state_->connection.write([&](Database& database) {
    store_attempt(database, find_run(database, run), attempt);
    failpoint("store.attempt_ready");
  });
  failpoint("store.attempt_committed");
}

void Store::add_strike(std::int64_t run, std::string_view config_json, std::string_view reason) {
  state_->connection.write([&](Database& database) {
    const RunKey key = find_run(database, run);
    store_strike(database, key.id, store_config(database, key.kernel, config_json), reason);
    failpoint("store.strike_ready");
  });
  failpoint("store.strike_committed");
}

void Store::withdraw_strikes(std::int64_t run, std::span<const std::string> config_jsons) {
  state_->connection.write([&](Database& database) {
    const RunKey key = find_run(database, run);
    for (const std::string& config : config_jsons) {
      prepare(database,
              "DELETE FROM main.strike WHERE session_id = ? AND config_id IN "
              "(SELECT id FROM config WHERE kernel_id = ? AND json = ?)",
              key.id, key.kernel, config)
          .exec();
    }
  });
}

std::vector<StrikeRecord> Store::collect_dead_attempts() {
  return state_->connection.write([](Database& database) {
    std::vector<StrikeRecord> struck;
    for (const std::int64_t run : dead_runs(database)) {
      for (const std::int64_t config : strike_open_attempts(database, run)) {
        for (StrikeRecord& strike : read_strikes(
                 database, "c.id = ?1 AND d.id = (SELECT device_id FROM session WHERE id = ?2)",
                 config, run)) {
          struck.push_back(std::move(strike));
        }
      }
      prepare(database, "UPDATE main.session SET state = 'interrupted', ended_at = ? WHERE id = ?",
              utc_now(), run)
          .exec();
      failpoint("store.dead_ended");
    }
    return struck;
  });
}

std::map<std::string, int> Store::strikes(const Subject& subject) const {
  return state_->connection.read([&](const Database& database) {
    std::map<std::string, int> strikes;
    for (StrikeRecord& strike :
         read_strikes(database, "k.family = ? AND k.name = ? AND k.hash = ? AND d.architecture = ?",
                      subject.kernel.family, subject.kernel.kernel, subject.kernel.hash,
                      subject.device.architecture)) {
      strikes.emplace(std::move(strike.config_json), strike.strikes);
    }
    return strikes;
  });
}

std::vector<StrikeRecord> Store::strikes() const {
  return state_->connection.read(
      [](const Database& database) { return read_strikes(database, "true"); });
}

std::size_t Store::clear_strikes(const ResultFilter& filter) {
  constexpr const char* kMatches =
      "(?1 IS NULL OR d.name = ?1) AND (?2 IS NULL OR k.family = ?2) "
      "AND (?3 IS NULL OR k.name = ?3)";
  return state_->connection.write([&](Database& database) {
    const std::size_t cleared =
        read_strikes(database, kMatches, filter.device, filter.family, filter.kernel).size();
    prepare(database,
            fmt::format("DELETE FROM main.strike WHERE id IN (SELECT t.id FROM strike t "
                        "JOIN config c ON c.id = t.config_id JOIN kernel k ON k.id = c.kernel_id "
                        "JOIN session s ON s.id = t.session_id "
                        "JOIN device d ON d.id = s.device_id WHERE {})",
                        kMatches),
            filter.device, filter.family, filter.kernel)
        .exec();
    return cleared;
  });
}

void Store::record_drift(std::int64_t run, const DriftRecord& drift) {
  state_->connection.write([&](Database& database) {
    const RunKey key = find_run(database, run);
    prepare(database,
            "INSERT INTO main.canary (session_id, problem_id, elapsed_s, median_ns, clock_mhz) "
            "VALUES (?, ?, ?, ?, ?)",
            key.id, store_problem(database, key.family, drift.problem), drift.elapsed_s,
            drift.median_ns, drift.clock_mhz)
        .exec();
    failpoint("store.drift_ready");
  });
  failpoint("store.drift_committed");
}

std::vector<DriftRecord> Store::drift_records(std::int64_t run) const {
  return state_->connection.read([&](const Database& database) {
    SQLite::Statement found = prepare(database,
                                      "SELECT n.elapsed_s, p.size, n.median_ns, n.clock_mhz, "
                                      "n.intact, p.intact "
                                      "FROM canary n JOIN problem p ON p.id = n.problem_id "
                                      "WHERE n.session_id = ? ORDER BY n.id",
                                      run);
    std::vector<DriftRecord> drift_records;
    while (found.executeStep()) {
      RowReader row(found);
      drift_records.push_back({.elapsed_s = row.real(),
                               .problem = row.text(),
                               .median_ns = row.real(),
                               .clock_mhz = row.optional_real()});
    }
    return drift_records;
  });
}

}  // namespace tuner::store
