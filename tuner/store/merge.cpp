// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/connection.hpp"
#include "tuner/store/rows.hpp"
#include "tuner/store/writing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <variant>

namespace tuner::store {
namespace {

using Value = std::variant<std::nullptr_t, std::int64_t, double, std::string>;

Value value_of(const SQLite::Column& column) {
  if (column.isInteger()) return column.getInt64();
  if (column.isFloat()) return column.getDouble();
  if (column.isText()) return column.getString();
  return nullptr;
}

void bind_values(SQLite::Statement& statement, const std::vector<Value>& values) {
  for (int index = 1; const Value& value : values) {
    std::visit(
        [&](const auto& it) {
          if constexpr (std::is_same_v<decltype(it), const std::nullptr_t&>) {
            statement.bind(index);
          } else {
            statement.bind(index, it);
          }
        },
        value);
    ++index;
  }
}

/// The columns of a table but `id` and those that SQLite computes.
std::vector<std::string> columns_of(const SQLite::Database& database, const std::string& table) {
  std::vector<std::string> columns;
  SQLite::Statement found = prepare(database,
                                    "SELECT name FROM pragma_table_xinfo(?, 'main') "
                                    "WHERE hidden = 0 AND name <> 'id' ORDER BY cid",
                                    table);
  while (found.executeStep()) columns.push_back(found.getColumn(0).getString());
  return columns;
}

/// Copies rows from one database to another, where they get other ids. A column `<table>_id` refers
/// to a row of that table.
class RowCopier {
 public:
  RowCopier(const SQLite::Database& from, const SQLite::Database& to) : from_(from), to_(to) {}

  /// Every row that meets `condition` and refers to copied rows only. Where `key`, a list of
  /// columns, is given, an existing row with the same key replaces it.
  void copy(const std::string& table, const std::string& condition,
            const std::vector<std::string>& key) {
    const std::vector<std::string> columns = columns_of(from_, table);
    SQLite::Statement found(from_, fmt::format("SELECT id, intact, {} FROM {} WHERE {} ORDER BY id",
                                               fmt::join(columns, ", "), table, condition));
    std::map<std::int64_t, std::int64_t>& ids = ids_[table];
    while (found.executeStep()) {
      auto values = translated(found, columns);
      if (values) ids.emplace(found.getColumn(0).getInt64(), put(table, columns, *values, key));
    }
  }

 private:
  /// A row's values with the ids that its references have here; none when one is not here.
  [[nodiscard]] std::optional<std::vector<Value>> translated(
      SQLite::Statement& row, const std::vector<std::string>& columns) const {
    constexpr int kFirst = 2;  // after id and intact
    std::vector<Value> values;
    for (const std::string& column : columns) {
      Value value = value_of(row.getColumn(kFirst + static_cast<int>(values.size())));
      const auto ids = ids_.find(column.substr(0, column.rfind("_id")));
      if (const auto* id = std::get_if<std::int64_t>(&value); id && ids != ids_.end()) {
        const auto here = ids->second.find(*id);
        if (here == ids->second.end()) return std::nullopt;
        value = here->second;
      }
      values.push_back(std::move(value));
    }
    return values;
  }

  std::int64_t put(const std::string& table, const std::vector<std::string>& columns,
                   const std::vector<Value>& values, const std::vector<std::string>& key) const {
    const std::vector<std::string> marks(columns.size(), "?");
    SQLite::Statement insert(
        to_, fmt::format("INSERT INTO main.{} ({}) VALUES ({}){}", table, fmt::join(columns, ", "),
                         fmt::join(marks, ", "), key.empty() ? "" : " ON CONFLICT DO NOTHING"));
    bind_values(insert, values);
    insert.exec();
    if (key.empty()) return to_.getLastInsertRowid();
    std::vector<Value> key_values;
    for (const std::string& column : key) {
      const auto at = std::ranges::find(columns, column) - columns.begin();
      key_values.push_back(values[static_cast<std::size_t>(at)]);
    }
    SQLite::Statement found(to_, fmt::format("SELECT id, intact FROM {} WHERE {} = ?", table,
                                             fmt::join(key, " = ? AND ")));
    bind_values(found, key_values);
    found.executeStep();
    return found.getColumn(0).getInt64();
  }

  const SQLite::Database& from_;
  const SQLite::Database& to_;
  std::map<std::string, std::map<std::int64_t, std::int64_t>> ids_;  ///< by table: there → here
};

void copy_what_others_refer_to(RowCopier& copier) {
  copier.copy("device", "true", {"backend", "name", "architecture", "sm_count"});
  copier.copy("environment", "true", {"driver", "compiler", "library", "tool"});
  copier.copy("kernel", "true", {"family", "name", "hash"});
  copier.copy("problem", "true", {"family", "size"});
  copier.copy("config", "true", {"kernel_id", "json"});
}

void copy_runs(RowCopier& copier, const std::vector<std::int64_t>& runs) {
  copier.copy("session", fmt::format("id IN ({})", fmt::join(runs, ", ")), {});
  for (const char* table : {"session_problem", "result", "final", "finalist", "energy", "strike",
                            "canary", "card", "clock_limit", "explanation", "explained"}) {
    copier.copy(table, "true", {});
  }
}

/// A portfolio that is here already is left as it is.
void copy_portfolios(RowCopier& copier) {
  copier.copy("portfolio", "true", {"uuid"});
  copier.copy("portfolio_member", "true", {"portfolio_id", "position"});
  copier.copy("portfolio_size", "true", {"portfolio_id", "problem_id"});
}

/// The runs of another database, sorted by what is to become of them.
struct Runs {
  std::vector<std::int64_t> added;
  std::vector<std::string> added_uuids;
  std::size_t known = 0, running = 0;
};

Runs sort_runs(const SQLite::Database& from, const SQLite::Database& to) {
  Runs runs;
  SQLite::Statement found(from,
                          "SELECT id, uuid, state, intact FROM session "
                          "WHERE state <> 'imported' ORDER BY id");
  while (found.executeStep()) {
    RowReader row(found);
    const std::int64_t id = row.integer();
    const std::string uuid = row.text();
    if (prepare(to, "SELECT id, intact FROM session WHERE uuid = ? AND state <> 'imported'", uuid)
            .executeStep()) {
      ++runs.known;
    } else if (row.text() == name(RunState::running)) {
      ++runs.running;
    } else {
      runs.added.push_back(id);
      runs.added_uuids.push_back(uuid);
    }
  }
  return runs;
}

/// Runs of which `to` has only imported best configurations give their names to the runs
/// themselves, which are copied next.
void rename_imported(const SQLite::Database& to, const std::vector<std::string>& uuids) {
  for (const std::string& uuid : uuids) {
    prepare(to, "UPDATE main.session SET uuid = 'imported ' || ?1 WHERE uuid = ?1", uuid).exec();
  }
}

/// Gives the imported best configurations to the copied runs.
void replace_imported(const SQLite::Database& to, const std::vector<std::string>& uuids) {
  for (const std::string& uuid : uuids) {
    prepare(to,
            "UPDATE main.best SET session_id = (SELECT id FROM main.session WHERE uuid = ?1) "
            "WHERE session_id = (SELECT id FROM main.session WHERE uuid = 'imported ' || ?1)",
            uuid)
        .exec();
    prepare(to, "DELETE FROM main.session WHERE uuid = 'imported ' || ?1", uuid).exec();
  }
}

/// Marks runs as merged: no process of this machine made them (RunRecord::merged).
void detach_from_processes(const SQLite::Database& database,
                           const std::vector<std::string>& uuids) {
  for (const std::string& uuid : uuids) {
    prepare(database,
            "UPDATE main.session SET boot_id = '', pid_namespace = '', pid = 0, process_start = 0 "
            "WHERE uuid = ?",
            uuid)
        .exec();
  }
}

/// Those of no run too: all are copied.
std::vector<KernelRecord> every_kernel(const SQLite::Database& database) {
  std::vector<KernelRecord> kernels;
  SQLite::Statement found(
      database, fmt::format("SELECT {}, intact FROM kernel ORDER BY id", columns<KernelRecord>()));
  while (found.executeStep()) kernels.push_back(RowReader(found).value<KernelRecord>());
  return kernels;
}

/// An imported line names a kernel without its files.
void complete_kernel(const SQLite::Database& database, const KernelRecord& kernel) {
  prepare(database,
          "UPDATE main.kernel SET space_text = ?, source_name = ?, source_text = ?, "
          "headers_json = ? WHERE family = ? AND name = ? AND hash = ? AND space_text = ''",
          kernel.space_text, kernel.source_name, kernel.source_text, kernel.headers_json,
          kernel.family, kernel.kernel, kernel.hash)
      .exec();
}

}  // namespace

MergeResult Store::merge(const Store& other, const KernelCheck& check) {
  std::vector<StoredBest> bests = other.bests({});
  const std::vector<KernelRecord> kernels = other.state_->connection.read(every_kernel);
  for (const KernelRecord& kernel : kernels) check(kernel);
  return state_->connection.write([&](Database& to) {
    const Runs runs = other.state_->connection.read([&](const SQLite::Database& from) {
      RowCopier copier(from, to);
      copy_what_others_refer_to(copier);
      Runs sorted = sort_runs(from, to);
      rename_imported(to, sorted.added_uuids);
      copy_runs(copier, sorted.added);
      copy_portfolios(copier);
      replace_imported(to, sorted.added_uuids);
      return sorted;
    });
    for (const KernelRecord& kernel : kernels) complete_kernel(to, kernel);
    detach_from_processes(to, runs.added_uuids);
    MergeResult result{
        .runs = runs.added.size(), .known = runs.known, .running = runs.running, .bests = {}};
    for (StoredBest& stored : bests) {
      stored.best.verified = false;
      if (stored.best.origin.empty()) stored.best.origin = other.path().string();
      ++(import_best(to, stored) == Import::added ? result.bests.added : result.bests.kept);
    }
    return result;
  });
}

}  // namespace tuner::store
