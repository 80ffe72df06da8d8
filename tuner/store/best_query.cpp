// SPDX-License-Identifier: Apache-2.0
// The methods of Store that read what is known of devices, kernels and best configurations.
#include "tuner/store/connection.hpp"
#include "tuner/store/rows.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <tuple>
#include <utility>

namespace tuner::store {
namespace {

/// What bests refer to, read and checked once.
struct Referred {
  struct Run {
    std::string uuid, device_uuid;
  };
  std::map<std::int64_t, space::DeviceInfo> devices;
  std::map<std::int64_t, space::EnvironmentInfo> environments;
  std::map<std::int64_t, KernelRecord> kernels;
  std::map<std::int64_t, Run> runs;
};

/// Puts what `read` makes of each row under the row's id, its first column.
template <class Value, class Read>
void read_all(const SQLite::Database& database, const std::string& sql,
              std::map<std::int64_t, Value>& into, Read read) {
  SQLite::Statement found(database, sql);
  while (found.executeStep()) {
    RowReader row(found);
    const std::int64_t id = row.integer();
    into.emplace(id, read(row));
  }
}

Referred read_referred(const SQLite::Database& database) {
  Referred all;
  read_all(database, fmt::format("SELECT id, {}, intact FROM device", device_columns("")),
           all.devices, read_device);
  read_all(database,
           fmt::format("SELECT id, {}, intact FROM environment", columns<space::EnvironmentInfo>()),
           all.environments, [](RowReader& row) { return row.value<space::EnvironmentInfo>(); });
  read_all(database, fmt::format("SELECT id, {}, intact FROM kernel", columns<KernelRecord>()),
           all.kernels, [](RowReader& row) { return row.value<KernelRecord>(); });
  read_all(database, "SELECT id, uuid, device_uuid, intact FROM session", all.runs,
           [](RowReader& row) -> Referred::Run {
             return {.uuid = row.text(), .device_uuid = row.text()};
           });
  return all;
}

/// The subjects of bests, each made once.
class Subjects {
 public:
  Subjects(const Referred& all, const ResultFilter& filter) : all_(all), filter_(filter) {}

  /// Of the ids in a row; null when the filter does not want it.
  std::shared_ptr<const Subject> read(RowReader& row, const Referred::Run& run) {
    const std::int64_t device = row.integer();
    const std::int64_t environment = row.integer();
    const std::int64_t kernel = row.integer();
    const auto [at, added] =
        made_.try_emplace({device, environment, kernel, run.device_uuid}, nullptr);
    if (added && is_wanted(all_.devices.at(device), all_.kernels.at(kernel))) {
      Subject subject{.device = all_.devices.at(device),
                      .environment = all_.environments.at(environment),
                      .kernel = all_.kernels.at(kernel)};
      subject.device.uuid = run.device_uuid;
      at->second = std::make_shared<const Subject>(std::move(subject));
    }
    return at->second;
  }

 private:
  [[nodiscard]] bool is_wanted(const space::DeviceInfo& device, const KernelRecord& kernel) const {
    return device.name == filter_.device.value_or(device.name) &&
           kernel.family == filter_.family.value_or(kernel.family) &&
           kernel.kernel == filter_.kernel.value_or(kernel.kernel);
  }

  const Referred& all_;
  const ResultFilter& filter_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::string>,
           std::shared_ptr<const Subject>>
      made_;
};

BestRecord read_best(RowReader& row, const Referred::Run& run) {
  BestRecord best;
  best.problem = row.text();
  best.config_json = row.text();
  row.read<BestContext>(best);
  row.read(best);
  best.run_uuid = run.uuid;
  return best;
}

}  // namespace

std::vector<StoredBest> Store::bests(const ResultFilter& filter) const {
  const std::string sql = fmt::format(
      "SELECT b.session_id, b.device_id, b.environment_id, b.kernel_id, p.size, c.json, "
      // Reading `intact` refuses a damaged row; those of sessions are read in read_referred.
      "{}, {}, b.intact, p.intact, c.intact, f.intact, n.intact, l.intact "
      "FROM best b JOIN problem p ON p.id = b.problem_id JOIN config c ON c.id = b.config_id "
      "JOIN main.session s ON s.id = b.session_id "
      "LEFT JOIN clock_limit l ON l.session_id = b.session_id "
      "LEFT JOIN finalist f ON f.id = (SELECT f.id FROM main.finalist f "
      "JOIN main.final fi ON fi.id = f.final_id "
      "WHERE fi.session_id = b.session_id AND fi.problem_id = b.problem_id "
      "AND f.config_id = b.config_id ORDER BY fi.id DESC LIMIT 1) "
      "LEFT JOIN energy n ON n.finalist_id = f.id "
      "WHERE (?1 IS NULL OR p.size = ?1) AND {} ORDER BY b.recorded_at DESC, b.id DESC",
      columns<BestContext>(), columns<BestRecord>("b."), kIsConfirmed);
  return state_->connection.read([&](const SQLite::Database& database) {
    const Referred all = read_referred(database);
    Subjects subjects(all, filter);
    std::vector<StoredBest> bests;
    SQLite::Statement found = prepare(database, sql, filter.problem);
    while (found.executeStep()) {
      RowReader row(found);
      const Referred::Run& run = all.runs.at(row.integer());
      auto subject = subjects.read(row, run);
      if (!subject) continue;
      bests.push_back({.subject = std::move(subject), .best = read_best(row, run)});
    }
    return bests;
  });
}

std::vector<space::DeviceInfo> Store::devices() const {
  // Of a group, SQLite takes the bare columns from the row that has the maximum.
  const std::string sql = fmt::format(
      "SELECT {}, s.device_uuid, max(iif(s.state = 'imported', -1, 1) * s.id) AS last_session, "
      "s.intact, d.intact FROM session s "
      "JOIN device d ON d.id = s.device_id GROUP BY d.id ORDER BY last_session DESC",
      device_columns("d."));
  return state_->connection.read([&](const SQLite::Database& database) {
    std::vector<space::DeviceInfo> devices;
    SQLite::Statement found(database, sql);
    while (found.executeStep()) {
      RowReader row(found);
      devices.push_back(read_device(row));
      devices.back().uuid = row.text();
    }
    return devices;
  });
}

std::vector<KernelRecord> Store::kernels(const ResultFilter& filter) const {
  const std::string sql = fmt::format(
      "SELECT {}, max(iif(s.state = 'imported', -1, 1) * s.id) AS last_session, "
      "s.intact, k.intact, d.intact FROM session s JOIN kernel k ON k.id = s.kernel_id "
      "JOIN device d ON d.id = s.device_id "
      "WHERE (?1 IS NULL OR d.name = ?1) AND (?2 IS NULL OR k.family = ?2) "
      "AND (?3 IS NULL OR k.name = ?3) AND (?4 IS NULL OR EXISTS ("
      "SELECT 1 FROM session_problem sp JOIN problem p ON p.id = sp.problem_id "
      "WHERE sp.session_id = s.id AND p.size = ?4)) "
      "GROUP BY k.id ORDER BY last_session DESC",
      columns<KernelRecord>("k."));
  return state_->connection.read([&](const SQLite::Database& database) {
    std::vector<KernelRecord> kernels;
    SQLite::Statement found =
        prepare(database, sql, filter.device, filter.family, filter.kernel, filter.problem);
    while (found.executeStep()) {
      RowReader row(found);
      kernels.push_back(row.value<KernelRecord>());
    }
    return kernels;
  });
}

}  // namespace tuner::store
