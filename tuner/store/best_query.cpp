// SPDX-License-Identifier: Apache-2.0
// The methods of Store that read what is known of devices, kernels and best configurations.
#include "tuner/store/connection.hpp"
#include "tuner/store/rows.hpp"

#include <fmt/format.h>

namespace tuner {
namespace {

constexpr const char* kKernelColumns =
    "k.family, k.name, k.hash, k.space_text, k.source_name, k.source_text, k.headers_json";

KernelRecord read_kernel(RowReader& row) {
  return {.family = row.text(),
          .kernel = row.text(),
          .hash = row.text(),
          .space_text = row.text(),
          .source_name = row.text(),
          .source_text = row.text(),
          .headers_json = row.text()};
}

Subject read_subject(RowReader& row) {
  Subject subject;
  subject.device = read_device(row);
  subject.device.uuid = row.text();
  subject.environment = {
      .driver = row.text(), .compiler = row.text(), .library = row.text(), .tool = row.text()};
  subject.kernel = read_kernel(row);
  return subject;
}

BestRecord read_best(RowReader& row) {
  return {.problem = row.text(),
          .config_json = row.text(),
          .time = read_time(row),
          .library_ns = row.optional_real(),
          .default_ns = row.optional_real(),
          .ratio_to_library = row.optional_real(),
          .ratio_to_default = row.optional_real(),
          .ratio_to_library_low = row.optional_real(),
          .ratio_to_library_high = row.optional_real(),
          .library_name = row.text(),
          .ties = row.number(),
          .flops = row.real(),
          .bytes = row.real(),
          .session_uuid = row.text(),
          .recorded_at = row.text(),
          .verified = row.flag(),
          .origin = row.text(),
          .shared = row.flag()};
}

}  // namespace

std::vector<StoredBest> Store::bests(const ResultFilter& filter) const {
  const std::string sql = fmt::format(
      "SELECT {}, s.device_uuid, e.driver, e.compiler, e.library, e.tool, {}, "
      "p.size, c.json, b.median_ns, b.q1_ns, b.q3_ns, b.min_ns, b.samples, b.library_ns, "
      "b.default_ns, b.ratio_to_library, b.ratio_to_default, b.ratio_to_library_low, "
      "b.ratio_to_library_high, b.library_name, b.ties, b.flops, b.bytes, s.uuid, b.recorded_at, "
      "b.verified, b.origin, s.shared, b.intact, d.intact, k.intact, e.intact, p.intact, c.intact, "
      "s.intact "
      "FROM best b JOIN device d ON d.id = b.device_id JOIN kernel k ON k.id = b.kernel_id "
      "JOIN environment e ON e.id = b.environment_id JOIN problem p ON p.id = b.problem_id "
      "JOIN config c ON c.id = b.config_id JOIN session s ON s.id = b.session_id "
      "WHERE (?1 IS NULL OR d.name = ?1) AND (?2 IS NULL OR k.family = ?2) "
      "AND (?3 IS NULL OR k.name = ?3) AND (?4 IS NULL OR p.size = ?4) "
      "ORDER BY b.recorded_at DESC, b.id DESC",
      device_columns("d."), kKernelColumns);
  return state_->connection.read([&](const SQLite::Database& database) {
    std::vector<StoredBest> bests;
    SQLite::Statement found =
        prepare(database, sql, filter.device, filter.family, filter.kernel, filter.problem);
    while (found.executeStep()) {
      RowReader row(found);
      bests.push_back({.subject = read_subject(row), .best = read_best(row)});
    }
    return bests;
  });
}

std::vector<DeviceInfo> Store::devices() const {
  // Of a group, SQLite takes the bare columns from the row that has the maximum.
  const std::string sql = fmt::format(
      "SELECT {}, s.device_uuid, max(iif(s.state = 'imported', -1, 1) * s.id) AS last_session, "
      "s.intact, d.intact FROM session s "
      "JOIN device d ON d.id = s.device_id GROUP BY d.id ORDER BY last_session DESC",
      device_columns("d."));
  return state_->connection.read([&](const SQLite::Database& database) {
    std::vector<DeviceInfo> devices;
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
      kKernelColumns);
  return state_->connection.read([&](const SQLite::Database& database) {
    std::vector<KernelRecord> kernels;
    SQLite::Statement found =
        prepare(database, sql, filter.device, filter.family, filter.kernel, filter.problem);
    while (found.executeStep()) {
      RowReader row(found);
      kernels.push_back(read_kernel(row));
    }
    return kernels;
  });
}

}  // namespace tuner
