// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/connection.hpp"
#include "tuner/store/interning.hpp"
#include "tuner/store/rows.hpp"
#include "tuner/store/writing.hpp"

#include <fmt/format.h>

#include <array>

namespace tuner::store {
namespace {

std::optional<std::int64_t> first_id(SQLite::Statement found) {
  if (!found.executeStep()) return std::nullopt;
  return found.getColumn(0).getInt64();
}

/// What is known here of a device or a kernel is better than what a line says.
std::int64_t known_or_new_device(const Database& database, const space::DeviceInfo& device) {
  const auto known = first_id(
      prepare(database,
              "SELECT id, intact FROM device "
              "WHERE backend = ? AND name = ? AND architecture = ? AND sm_count = ?",
              device.backend, device.name, device.architecture, device.attributes.sm_count));
  return known ? *known : store_device(database, device);
}

std::int64_t known_or_new_kernel(const Database& database, const KernelRecord& kernel) {
  const auto known = first_id(
      prepare(database, "SELECT id, intact FROM kernel WHERE family = ? AND name = ? AND hash = ?",
              kernel.family, kernel.kernel, kernel.hash));
  return known ? *known : store_kernel(database, kernel);
}

RunKey key_of(const Database& database, const Subject& subject) {
  return {.id = 0,
          .device = known_or_new_device(database, subject.device),
          .environment = store_environment(database, subject.environment),
          .kernel = known_or_new_kernel(database, subject.kernel),
          .family = subject.kernel.family};
}

std::int64_t known_or_imported_run(const Database& database, const RunKey& key,
                                   const BestRecord& best) {
  const auto known =
      first_id(prepare(database, "SELECT id, intact FROM session WHERE uuid = ?", best.run_uuid));
  if (known) return *known;
  prepare(database,
          "INSERT INTO main.session (uuid, device_id, device_uuid, environment_id, kernel_id, "
          "strategy, seed, command, started_at, ended_at, state, valid, cartesian, wall_s, "
          "compile_s, verify_s, measure_s, respawns, shared, host, boot_id, pid_namespace, pid, "
          "process_start) VALUES (?1, ?2, '', ?3, ?4, '', 0, '', ?5, ?5, ?6, 0, 0, 0, 0, 0, 0, 0, "
          "0, '', '', '', 0, 0)",
          best.run_uuid, key.device, key.environment, key.kernel, best.recorded_at,
          name(RunState::imported))
      .exec();
  return database.getLastInsertRowid();
}

/// Whether what is here for the key makes the best superfluous.
bool is_superfluous(const Database& database, const RunKey& key, std::int64_t problem,
                    const BestRecord& best) {
  SQLite::Statement found = prepare(
      database,
      "SELECT b.verified, b.median_ns, b.sustained_ns, b.recorded_at, b.intact FROM best b WHERE "
      "b.device_id = ? AND b.kernel_id = ? AND b.environment_id = ? AND b.problem_id = ? "
      "AND " +
          std::string(kIsConfirmed),
      key.device, key.kernel, key.environment, problem);
  while (found.executeStep()) {
    RowReader row(found);
    const bool verified = row.flag();
    BestRecord known;
    known.time.median_ns = row.real();
    known.sustained_ns = row.optional_real();
    const CommonMeasure measure(std::array<const BestRecord*, 2>{&known, &best});
    const bool as_fast = measure.ns(known) <= measure.ns(best);
    const bool not_older = row.text() >= best.recorded_at;
    if (verified ? as_fast : not_older) return true;
  }
  return false;
}

}  // namespace

Import import_best(const Database& database, const StoredBest& stored) {
  RunKey key = key_of(database, *stored.subject);
  const std::int64_t problem = store_problem(database, key.family, stored.best.problem);
  if (is_superfluous(database, key, problem, stored.best)) return Import::kept;
  key.id = known_or_imported_run(database, key, stored.best);
  store_best(database, key, problem, stored.best);
  return Import::added;
}

ImportResult Store::import_bests(std::span<const StoredBest> bests, std::string_view origin) {
  return state_->connection.write([&](Database& database) {
    ImportResult result;
    for (StoredBest stored : bests) {
      stored.best.verified = false;
      stored.best.origin = origin;
      ++(import_best(database, stored) == Import::added ? result.added : result.kept);
    }
    return result;
  });
}

}  // namespace tuner::store
