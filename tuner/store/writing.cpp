// SPDX-License-Identifier: Apache-2.0
// The methods of Store that write. Each is one transaction.
#include "tuner/core/error.hpp"
#include "tuner/store/connection.hpp"
#include "tuner/store/rows.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

namespace tuner {
namespace {

std::string utc_now() {
  return fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)));
}

/// A device model; what is known of it is brought up to date.
std::int64_t store_device(const SQLite::Database& database, const DeviceInfo& device) {
  std::string parameters = "?, ?, ?";
  std::string updates;
  for (const AttributeField& field : attribute_fields()) {
    parameters += ", ?";
    updates += fmt::format("{0}{1} = excluded.{1}", updates.empty() ? "" : ", ", field.name);
  }
  const std::string sql = fmt::format(
      "INSERT INTO device ({}) VALUES ({}) "
      "ON CONFLICT (backend, name, architecture, sm_count) DO UPDATE SET {} RETURNING id",
      device_columns(""), parameters, updates);
  SQLite::Statement insert =
      prepare(database, sql, device.backend, device.name, device.architecture);
  int index = 3;
  for (const AttributeField& field : attribute_fields()) {
    bind_value(insert, ++index, device.attributes.*field.member);
  }
  insert.executeStep();
  const std::int64_t id = insert.getColumn(0).getInt64();
  insert.executeStep();  // to its end, or the transaction cannot commit
  return id;
}

std::int64_t store_environment(const SQLite::Database& database, const EnvironmentInfo& it) {
  return intern_row(database,
                    "INSERT INTO environment (driver, compiler, library, tool) "
                    "VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    "SELECT id FROM environment "
                    "WHERE driver = ? AND compiler = ? AND library = ? AND tool = ?",
                    it.driver, it.compiler, it.library, it.tool);
}

/// A kernel by its hash. The hash leaves the space out, so the file is brought up to date.
std::int64_t store_kernel(const SQLite::Database& database, const KernelRecord& kernel) {
  const std::int64_t id = intern_row(
      database,
      "INSERT INTO kernel (family, name, hash, space_text, source_name, source_text, headers_json) "
      "VALUES (?, ?, ?, '', '', '', '') ON CONFLICT DO NOTHING",
      "SELECT id FROM kernel WHERE family = ? AND name = ? AND hash = ?", kernel.family,
      kernel.kernel, kernel.hash);
  prepare(database,
          "UPDATE kernel SET space_text = ?, source_name = ?, source_text = ?, headers_json = ? "
          "WHERE id = ?",
          kernel.space_text, kernel.source_name, kernel.source_text, kernel.headers_json, id)
      .exec();
  return id;
}

std::int64_t store_problem(const SQLite::Database& database, std::string_view family,
                           std::string_view size) {
  return intern_row(database,
                    "INSERT INTO problem (family, size) VALUES (?, ?) ON CONFLICT DO NOTHING",
                    "SELECT id FROM problem WHERE family = ? AND size = ?", family, size);
}

std::int64_t store_config(const SQLite::Database& database, std::int64_t kernel,
                          std::string_view json) {
  return intern_row(database,
                    "INSERT INTO config (kernel_id, json) VALUES (?, ?) ON CONFLICT DO NOTHING",
                    "SELECT id FROM config WHERE kernel_id = ? AND json = ?", kernel, json);
}

/// What a session's rows refer to.
struct SessionKey {
  std::int64_t id = 0, device = 0, environment = 0, kernel = 0;
  Subject subject;  ///< what `best` is keyed by; the rest is unset
};

SessionKey find_session(const SQLite::Database& database, std::int64_t session) {
  SQLite::Statement found = prepare(
      database,
      "SELECT s.device_id, s.environment_id, s.kernel_id, d.backend, d.name, d.architecture, "
      "e.driver, e.compiler, e.library, e.tool, k.family, k.name, k.hash "
      "FROM session s JOIN device d ON d.id = s.device_id "
      "JOIN environment e ON e.id = s.environment_id JOIN kernel k ON k.id = s.kernel_id "
      "WHERE s.id = ?",
      session);
  if (!found.executeStep()) {
    throw Error(ErrorCode::failure, fmt::format("{}: there is no session {} to record into",
                                                database.getFilename(), session));
  }
  RowReader row(found);
  SessionKey key{.id = session,
                 .device = row.integer(),
                 .environment = row.integer(),
                 .kernel = row.integer(),
                 .subject = {}};
  DeviceInfo& device = key.subject.device;
  device.backend = row.text();
  device.name = row.text();
  device.architecture = row.text();
  key.subject.environment = {
      .driver = row.text(), .compiler = row.text(), .library = row.text(), .tool = row.text()};
  key.subject.kernel.family = row.text();
  key.subject.kernel.kernel = row.text();
  key.subject.kernel.hash = row.text();
  return key;
}

void store_finalists(const SQLite::Database& database, const SessionKey& session,
                     std::int64_t problem, const std::vector<FinalistRecord>& finalists) {
  prepare(database, "INSERT INTO final (session_id, problem_id) VALUES (?, ?)", session.id, problem)
      .exec();
  const std::int64_t final_id = database.getLastInsertRowid();
  int position = 0;
  for (const FinalistRecord& finalist : finalists) {
    std::optional<std::int64_t> config;
    if (!finalist.config_json.empty()) {
      config = store_config(database, session.kernel, finalist.config_json);
    }
    const TimeRecord& time = finalist.time;
    prepare(database,
            "INSERT INTO finalist (final_id, position, role, config_id, median_ns, q1_ns, q3_ns, "
            "min_ns, samples, ratio_to_best, ratio_low, ratio_high, samples_ns) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            final_id, ++position, finalist.role, config, time.median_ns, time.q1_ns, time.q3_ns,
            time.min_ns, time.samples, finalist.ratio_to_best, finalist.ratio_low,
            finalist.ratio_high, samples_to_json(finalist.samples_ns))
        .exec();
  }
}

void store_best(const SQLite::Database& database, const SessionKey& session, std::int64_t problem,
                const BestRecord& best) {
  const TimeRecord& time = best.time;
  // REPLACE gives a new id, so that ids follow the order of recording.
  prepare(database,
          "INSERT OR REPLACE INTO best (device_id, kernel_id, environment_id, problem_id, "
          "config_id, session_id, recorded_at, median_ns, q1_ns, q3_ns, min_ns, samples, "
          "library_ns, default_ns, ratio_to_library, ratio_to_default, ratio_to_library_low, "
          "ratio_to_library_high, library_name, ties, flops, bytes, checksum) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
          session.device, session.kernel, session.environment, problem,
          store_config(database, session.kernel, best.config_json), session.id, best.recorded_at,
          time.median_ns, time.q1_ns, time.q3_ns, time.min_ns, time.samples, best.library_ns,
          best.default_ns, best.ratio_to_library, best.ratio_to_default, best.ratio_to_library_low,
          best.ratio_to_library_high, best.library_name, best.ties, best.flops, best.bytes,
          checksum(StoredBest{.subject = session.subject, .best = best}))
      .exec();
}

}  // namespace

std::int64_t Store::begin_session(const Subject& subject, const SessionRecord& record) {
  return state_->connection.write([&](SQLite::Database& database) {
    prepare(database,
            "INSERT INTO session (uuid, device_id, device_uuid, environment_id, kernel_id, "
            "strategy, seed, command, started_at, state, valid, cartesian, wall_s, compile_s, "
            "verify_s, measure_s) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            record.uuid, store_device(database, subject.device), subject.device.uuid,
            store_environment(database, subject.environment),
            store_kernel(database, subject.kernel), record.strategy, record.seed, record.command,
            utc_now(), name(SessionState::running), record.valid, record.cartesian, record.wall_s,
            record.compile_s, record.verify_s, record.measure_s)
        .exec();
    const std::int64_t session = database.getLastInsertRowid();
    int position = 0;
    for (const std::string& problem : record.problems) {
      prepare(database,
              "INSERT INTO session_problem (session_id, position, problem_id) VALUES (?, ?, ?)",
              session, ++position, store_problem(database, subject.kernel.family, problem))
          .exec();
    }
    return session;
  });
}

void Store::end_session(std::int64_t session, const SessionRecord& record) {
  state_->connection.write([&](SQLite::Database& database) {
    const SessionKey key = find_session(database, session);
    prepare(database,
            "UPDATE session SET state = ?, ended_at = ?, wall_s = ?, compile_s = ?, verify_s = ?, "
            "measure_s = ? WHERE id = ?",
            name(record.state), utc_now(), record.wall_s, record.compile_s, record.verify_s,
            record.measure_s, key.id)
        .exec();
  });
}

void Store::record_trial(std::int64_t session, const TrialRecord& trial, double elapsed_s) {
  state_->connection.write([&](SQLite::Database& database) {
    const SessionKey key = find_session(database, session);
    const std::int64_t problem = store_problem(database, key.subject.kernel.family, trial.problem);
    const auto time = [&]<class T>(T TimeRecord::*member) {
      return trial.time ? std::optional<T>((*trial.time).*member) : std::nullopt;
    };
    prepare(database,
            "INSERT INTO result (session_id, problem_id, sequence, elapsed_s, config_id, outcome, "
            "message, median_ns, q1_ns, q3_ns, min_ns, samples, worst_error, check_seed, "
            "registers, shared_bytes, local_bytes, compile_ms, verify_ms, measure_ms, checksum) "
            "VALUES (?1, ?2, (SELECT coalesce(max(sequence), 0) + 1 FROM result "
            "WHERE session_id = ?1 AND problem_id = ?2), "
            "?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
            key.id, problem, elapsed_s, store_config(database, key.kernel, trial.config_json),
            name(trial.outcome), trial.message, time(&TimeRecord::median_ns),
            time(&TimeRecord::q1_ns), time(&TimeRecord::q3_ns), time(&TimeRecord::min_ns),
            time(&TimeRecord::samples), trial.worst_error, trial.check_seed, trial.registers,
            trial.shared_bytes, trial.local_bytes, trial.compile_ms, trial.verify_ms,
            trial.measure_ms, checksum(trial))
        .exec();
  });
}

void Store::record_final(std::int64_t session, const BestRecord& best,
                         const std::vector<FinalistRecord>& finalists) {
  state_->connection.write([&](SQLite::Database& database) {
    const SessionKey key = find_session(database, session);
    const std::int64_t problem = store_problem(database, key.subject.kernel.family, best.problem);
    store_finalists(database, key, problem, finalists);
    BestRecord dated = best;
    if (dated.recorded_at.empty()) dated.recorded_at = utc_now();
    store_best(database, key, problem, dated);
  });
}

}  // namespace tuner
