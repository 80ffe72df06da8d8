// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/interning.hpp"

#include "tuner/core/error.hpp"
#include "tuner/store/rows.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

namespace tuner::store {

std::string utc_now() {
  return fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)));
}

std::int64_t store_device(const Database& database, const space::DeviceInfo& device) {
  std::string parameters = "?, ?, ?";
  std::string updates;
  for (const space::AttributeField& field : space::attribute_fields()) {
    parameters += ", ?";
    updates += fmt::format("{0}{1} = excluded.{1}", updates.empty() ? "" : ", ", field.name);
  }
  const std::string sql = fmt::format(
      "INSERT INTO main.device ({}) VALUES ({}) "
      "ON CONFLICT (backend, name, architecture, sm_count) DO UPDATE SET {} RETURNING id",
      device_columns(""), parameters, updates);
  SQLite::Statement insert =
      prepare(database, sql, device.backend, device.name, device.architecture);
  int index = 3;
  for (const space::AttributeField& field : space::attribute_fields()) {
    bind_value(insert, ++index, device.attributes.*field.member);
  }
  insert.executeStep();
  const std::int64_t id = insert.getColumn(0).getInt64();
  insert.executeStep();  // to its end, or the transaction cannot commit
  return id;
}

std::int64_t store_environment(const Database& database, const space::EnvironmentInfo& it) {
  return intern_row(database,
                    "INSERT INTO main.environment (driver, compiler, library, tool) "
                    "VALUES (?, ?, ?, ?)",
                    "SELECT id, intact FROM environment "
                    "WHERE driver = ? AND compiler = ? AND library = ? AND tool = ?",
                    it);
}

std::int64_t store_kernel(const Database& database, const KernelRecord& kernel) {
  const std::int64_t id =
      intern_row(database,
                 "INSERT INTO main.kernel (family, name, hash, space_text, source_name, "
                 "source_text, headers_json) "
                 "VALUES (?, ?, ?, '', '', '', '')",
                 "SELECT id, intact FROM kernel WHERE family = ? AND name = ? AND hash = ?",
                 kernel.family, kernel.kernel, kernel.hash);
  prepare(
      database,
      "UPDATE main.kernel SET space_text = ?, source_name = ?, source_text = ?, headers_json = ? "
      "WHERE id = ?",
      kernel.space_text, kernel.source_name, kernel.source_text, kernel.headers_json, id)
      .exec();
  return id;
}

std::int64_t store_problem(const Database& database, std::string_view family,
                           std::string_view size) {
  return intern_row(database, "INSERT INTO main.problem (family, size) VALUES (?, ?)",
                    "SELECT id, intact FROM problem WHERE family = ? AND size = ?", family, size);
}

std::int64_t store_config(const Database& database, std::int64_t kernel, std::string_view json) {
  return intern_row(database, "INSERT INTO main.config (kernel_id, json) VALUES (?, ?)",
                    "SELECT id, intact FROM config WHERE kernel_id = ? AND json = ?", kernel, json);
}

RunKey find_run(const Database& database, std::int64_t run) {
  KeptStatement found(database,
                      "SELECT s.device_id, s.environment_id, s.kernel_id, k.family, "
                      "s.intact, k.intact "
                      "FROM session s JOIN kernel k ON k.id = s.kernel_id "
                      "WHERE s.id = ?",
                      run);
  if (!found->executeStep()) {
    throw Error(ErrorCode::failure,
                fmt::format("{}: there is no run {} to record into", database.getFilename(), run));
  }
  RowReader row(*found);
  return {.id = run,
          .device = row.integer(),
          .environment = row.integer(),
          .kernel = row.integer(),
          .family = row.text()};
}

}  // namespace tuner::store
