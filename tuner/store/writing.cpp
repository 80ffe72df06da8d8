// SPDX-License-Identifier: Apache-2.0
// The methods of Store that write. Each is one transaction.
#include "tuner/store/writing.hpp"

#include "tuner/core/environment.hpp"
#include "tuner/core/failpoint.hpp"
#include "tuner/store/connection.hpp"
#include "tuner/store/interning.hpp"
#include "tuner/store/process_identity.hpp"
#include "tuner/store/rows.hpp"

#include <fmt/format.h>

namespace tuner::store {
namespace {

/// The row of what only some rows have, in a table of its own: `key` names the column for theirs.
template <Record T>
void store_part(const Database& database, std::string_view table, std::string_view key,
                std::int64_t owner, const T& part) {
  prepare(database,
          fmt::format("INSERT INTO main.{} ({}, {}) VALUES (?, {})", table, key, columns<T>(),
                      parameters<T>()),
          owner, part)
      .exec();
}

void store_finalists(const Database& database, const RunKey& run, std::int64_t problem,
                     const std::vector<FinalistRecord>& finalists) {
  prepare(database, "INSERT INTO main.final (session_id, problem_id, metric) VALUES (?, ?, ?)",
          run.id, problem, kTimeMetric)
      .exec();
  const std::int64_t final_id = database.getLastInsertRowid();
  int position = 0;
  for (const FinalistRecord& finalist : finalists) {
    std::optional<std::int64_t> config;
    if (!finalist.config_json.empty()) {
      config = store_config(database, run.kernel, finalist.config_json);
    }
    prepare(
        database,
        fmt::format(
            "INSERT INTO main.finalist (final_id, position, config_id, {}) VALUES (?, ?, ?, {})",
            columns<FinalistRecord>(), parameters<FinalistRecord>()),
        final_id, ++position, config, finalist)
        .exec();
    if (finalist.energy) {
      store_part(database, "energy", "finalist_id", database.getLastInsertRowid(),
                 *finalist.energy);
    }
    failpoint("store.finalist_inserted");
  }
}

/// Nothing may be answered from a best that was refuted since.
void withdraw_best(const Database& database, const RunKey& run, std::int64_t problem,
                   std::int64_t config) {
  prepare(database,
          "DELETE FROM main.best WHERE device_id = ? AND kernel_id = ? AND environment_id = ? "
          "AND problem_id = ? AND config_id = ?",
          run.device, run.kernel, run.environment, problem, config)
      .exec();
}

}  // namespace

void store_best(const Database& database, const RunKey& run, std::int64_t problem,
                const BestRecord& best) {
  // REPLACE gives a new id, so that ids follow the order of recording.
  prepare(database,
          fmt::format("INSERT OR REPLACE INTO main.best (device_id, kernel_id, environment_id, "
                      "problem_id, config_id, session_id, {}) VALUES (?, ?, ?, ?, ?, ?, {})",
                      columns<BestRecord>(), parameters<BestRecord>()),
          run.device, run.kernel, run.environment, problem,
          store_config(database, run.kernel, best.config_json), run.id, best)
      .exec();
}

std::int64_t Store::begin_run(const Subject& subject, const RunRecord& record) {
  const ProcessIdentity process = this_process();
  const auto check_hash =
      subject.check_hash.empty() ? std::nullopt : std::optional(subject.check_hash);
  const std::int64_t begun = state_->connection.write([&](Database& database) {
    prepare(database,
            fmt::format("INSERT INTO main.session (uuid, device_id, device_uuid, environment_id, "
                        "kernel_id, check_hash, started_at, state, host, boot_id, pid_namespace, "
                        "pid, process_start, {}) "
                        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, {})",
                        columns<RunRecord>(), parameters<RunRecord>()),
            record.uuid, store_device(database, subject.device), subject.device.uuid,
            store_environment(database, subject.environment),
            store_kernel(database, subject.kernel), check_hash, utc_now(), name(RunState::running),
            process.host, process.boot_id, process.pid_namespace, process.pid, process.start,
            record)
        .exec();
    const std::int64_t run = database.getLastInsertRowid();
    if (record.clock_limit != ClockLimit{}) {
      store_part(database, "clock_limit", "session_id", run, record.clock_limit);
    }
    int position = 0;
    for (const std::string& problem : record.problems) {
      prepare(
          database,
          "INSERT INTO main.session_problem (session_id, position, problem_id) VALUES (?, ?, ?)",
          run, ++position, store_problem(database, subject.kernel.family, problem))
          .exec();
    }
    failpoint("store.run_ready");
    return run;
  });
  failpoint("store.run_committed");
  return begun;
}

void Store::end_run(std::int64_t run, const RunRecord& record) {
  state_->connection.write([&](Database& database) {
    const RunKey key = find_run(database, run);
    prepare(
        database,
        "UPDATE main.session SET state = ?, ended_at = ?, wall_s = ?, compile_s = ?, verify_s = ?, "
        "measure_s = ?, respawns = ?, shared = ? WHERE id = ?",
        name(record.state), utc_now(), record.wall_s, record.compile_s, record.verify_s,
        record.measure_s, record.respawns, record.shared, key.id)
        .exec();
    failpoint("store.run_updated");
    prepare(database, "DELETE FROM main.attempt WHERE session_id = ?", key.id).exec();
    failpoint("store.run_end_ready");
  });
  failpoint("store.run_ended");
}

void Store::record_trial(std::int64_t run, const TrialRecord& trial, double elapsed_s,
                         const std::optional<AttemptRecord>& next) {
  state_->connection.write([&](Database& database) {
    const RunKey key = find_run(database, run);
    const std::int64_t problem = store_problem(database, key.family, trial.problem);
    const std::int64_t config = store_config(database, key.kernel, trial.config_json);
    failpoint("store.trial_interned");
    static const std::string kInsert = fmt::format(
        "INSERT INTO main.result (session_id, problem_id, sequence, elapsed_s, config_id, {}) "
        "VALUES (?1, ?2, (SELECT coalesce(max(sequence), 0) + 1 FROM main.result "
        "WHERE session_id = ?1 AND problem_id = ?2), ?, ?, {})",
        columns<TrialRecord>(), parameters<TrialRecord>());
    KeptStatement(database, kInsert, key.id, problem, elapsed_s, config, trial)->exec();
    failpoint("store.trial_inserted");
    KeptStatement(
        database,
        "DELETE FROM main.attempt WHERE session_id = ? AND problem_id = ? AND config_id = ?",
        key.id, problem, config)
        ->exec();
    failpoint("store.attempt_closed");
    if (is_refutation(trial.outcome)) withdraw_best(database, key, problem, config);
    if (next) store_attempt(database, key, *next);
    failpoint("store.trial_ready");
  });
  failpoint("store.trial_committed");
}

void Store::record_card(std::int64_t run, const CardRecord& card) {
  state_->connection.write([&](Database& database) {
    const RunKey key = find_run(database, run);
    const std::int64_t problem = store_problem(database, key.family, card.problem);
    // Of two cards without a trial between them the later one counts.
    prepare(database,
            "INSERT OR REPLACE INTO main.card (session_id, problem_id, first_sequence, uuid, host, "
            "job) VALUES (?1, ?2, (SELECT coalesce(max(sequence), 0) + 1 FROM main.result "
            "WHERE session_id = ?1 AND problem_id = ?2), ?3, ?4, ?5)",
            key.id, problem, card.uuid, card.host.empty() ? this_process().host : card.host,
            card.job.empty() ? environment_variable("SLURM_JOB_ID") : card.job)
        .exec();
    failpoint("store.card_ready");
  });
  failpoint("store.card_committed");
}

void Store::record_final(std::int64_t run, const BestRecord& best,
                         const std::vector<FinalistRecord>& finalists) {
  state_->connection.write([&](Database& database) {
    const RunKey key = find_run(database, run);
    const std::int64_t problem = store_problem(database, key.family, best.problem);
    store_finalists(database, key, problem, finalists);
    BestRecord dated = best;
    if (dated.recorded_at.empty()) dated.recorded_at = utc_now();
    store_best(database, key, problem, dated);
    failpoint("store.best_inserted");
    // A result measured here replaces an imported one.
    prepare(database,
            "DELETE FROM main.best WHERE device_id = ? AND kernel_id = ? AND environment_id = ? "
            "AND problem_id = ? AND verified = 0",
            key.device, key.kernel, key.environment, problem)
        .exec();
    failpoint("store.final_ready");
  });
  failpoint("store.final_committed");
}

}  // namespace tuner::store
