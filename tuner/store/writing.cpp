// SPDX-License-Identifier: Apache-2.0
// The methods of Store that write. Each is one transaction.
#include "tuner/store/writing.hpp"

#include "tuner/core/environment.hpp"
#include "tuner/core/failpoint.hpp"
#include "tuner/store/connection.hpp"
#include "tuner/store/interning.hpp"
#include "tuner/store/journal.hpp"
#include "tuner/store/process_identity.hpp"
#include "tuner/store/rows.hpp"

namespace tuner::store {
namespace {

void store_energy(const Database& database, std::int64_t finalist, const EnergySummary& energy) {
  prepare(database,
          "INSERT INTO main.energy (finalist_id, joules, min_joules, max_joules, windows, watts, "
          "idle_watts) VALUES (?, ?, ?, ?, ?, ?, ?)",
          finalist, energy.joules, energy.min_joules, energy.max_joules, energy.windows,
          energy.watts, energy.idle_watts)
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
    const TimeSummary& time = finalist.time;
    prepare(
        database,
        "INSERT INTO main.finalist (final_id, position, role, config_id, median_ns, q1_ns, q3_ns, "
        "min_ns, samples, ratio_to_best, ratio_low, ratio_high, samples_ns, hot_ns, clock_mhz, "
        "rested_ns, sustained_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        final_id, ++position, finalist.role, config, time.median_ns, time.q1_ns, time.q3_ns,
        time.min_ns, time.samples, finalist.ratio_to_best, finalist.ratio_low, finalist.ratio_high,
        samples_to_json(finalist.samples_ns), finalist.hot_ns, finalist.clock_mhz,
        finalist.rested_ns, finalist.sustained_ns)
        .exec();
    if (finalist.energy) store_energy(database, database.getLastInsertRowid(), *finalist.energy);
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
  const TimeSummary& time = best.time;
  // REPLACE gives a new id, so that ids follow the order of recording.
  prepare(database,
          "INSERT OR REPLACE INTO main.best (device_id, kernel_id, environment_id, problem_id, "
          "config_id, session_id, recorded_at, median_ns, q1_ns, q3_ns, min_ns, samples, "
          "library_ns, default_ns, ratio_to_library, ratio_to_default, ratio_to_library_low, "
          "ratio_to_library_high, library_name, ties, flops, bytes, verified, origin, "
          "library_algorithm, ratio_to_library_tuned, rested_ns, sustained_ns) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
          "?, ?)",
          run.device, run.kernel, run.environment, problem,
          store_config(database, run.kernel, best.config_json), run.id, best.recorded_at,
          time.median_ns, time.q1_ns, time.q3_ns, time.min_ns, time.samples, best.library_ns,
          best.default_ns, best.ratio_to_library, best.ratio_to_default, best.ratio_to_library_low,
          best.ratio_to_library_high, best.library_name, best.ties, best.flops, best.bytes,
          best.verified, best.origin, best.library_algorithm, best.ratio_to_library_tuned,
          best.rested_ns, best.sustained_ns)
      .exec();
}

std::int64_t Store::begin_run(const Subject& subject, const RunRecord& record) {
  const ProcessIdentity process = this_process();
  const auto check_hash =
      subject.check_hash.empty() ? std::nullopt : std::optional(subject.check_hash);
  const std::int64_t begun = state_->connection.write([&](Database& database) {
    prepare(
        database,
        "INSERT INTO main.session (uuid, device_id, device_uuid, environment_id, kernel_id, "
        "check_hash, strategy, seed, command, started_at, state, valid, cartesian, wall_s, "
        "compile_s, "
        "verify_s, measure_s, respawns, shared, host, boot_id, pid_namespace, pid, process_start) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        record.uuid, store_device(database, subject.device), subject.device.uuid,
        store_environment(database, subject.environment), store_kernel(database, subject.kernel),
        check_hash, record.strategy, record.seed, record.command, utc_now(),
        name(RunState::running), record.valid, record.cartesian, record.wall_s, record.compile_s,
        record.verify_s, record.measure_s, record.respawns, record.shared, process.host,
        process.boot_id, process.pid_namespace, process.pid, process.start)
        .exec();
    const std::int64_t run = database.getLastInsertRowid();
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
    const auto time = [&]<class T>(T TimeSummary::*member) {
      return trial.time ? std::optional<T>((*trial.time).*member) : std::nullopt;
    };
    KeptStatement(
        database,
        "INSERT INTO main.result (session_id, problem_id, sequence, elapsed_s, config_id, outcome, "
        "message, median_ns, q1_ns, q3_ns, min_ns, samples, worst_error, check_seed, "
        "registers, shared_bytes, local_bytes, compile_ms, verify_ms, measure_ms, hot_ns, "
        "series_ns, clock_mhz, discarded, power_capped) "
        "VALUES (?1, ?2, (SELECT coalesce(max(sequence), 0) + 1 FROM main.result "
        "WHERE session_id = ?1 AND problem_id = ?2), "
        "?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, "
        "?20, ?21, ?22, ?23, ?24)",
        key.id, problem, elapsed_s, config, name(trial.outcome), trial.message,
        time(&TimeSummary::median_ns), time(&TimeSummary::q1_ns), time(&TimeSummary::q3_ns),
        time(&TimeSummary::min_ns), time(&TimeSummary::samples), trial.worst_error,
        trial.check_seed, trial.registers, trial.shared_bytes, trial.local_bytes, trial.compile_ms,
        trial.verify_ms, trial.measure_ms, trial.hot_ns, trial.series_ns, trial.clock_mhz,
        trial.discarded, trial.power_capped)
        ->exec();
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
