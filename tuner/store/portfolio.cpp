// SPDX-License-Identifier: Apache-2.0
// The methods of Store about portfolios.
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/store/connection.hpp"
#include "tuner/store/interning.hpp"
#include "tuner/store/rows.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace tuner::store {
namespace {

std::int64_t member_kernel(const Database& database, const std::string& family,
                           const PortfolioMember& member) {
  SQLite::Statement found =
      prepare(database, "SELECT id, intact FROM kernel WHERE family = ? AND name = ? AND hash = ?",
              family, member.kernel, member.kernel_hash);
  if (!found.executeStep()) {
    throw Error(ErrorCode::failure,
                fmt::format("{}: the portfolio of {} has a member of {} in a version that was "
                            "never tried: run `tune portfolio` again",
                            database.getFilename(), family, member.kernel));
  }
  return found.getColumn(0).getInt64();
}

void store_members(const Database& database, std::int64_t portfolio,
                   const PortfolioRecord& record) {
  int position = 0;
  for (const PortfolioMember& member : record.members) {
    const std::int64_t kernel = member_kernel(database, record.family, member);
    prepare(database,
            "INSERT INTO main.portfolio_member (portfolio_id, position, config_id) "
            "VALUES (?, ?, ?)",
            portfolio, ++position, store_config(database, kernel, member.config_json))
        .exec();
  }
}

void store_sizes(const Database& database, std::int64_t portfolio, const PortfolioRecord& record) {
  for (const PortfolioSize& size : record.sizes) {
    prepare(database,
            fmt::format(
                "INSERT INTO main.portfolio_size (portfolio_id, problem_id, {}) VALUES (?, ?, {})",
                columns<PortfolioSize>(), parameters<PortfolioSize>()),
            portfolio, store_problem(database, record.family, size.problem), size)
        .exec();
  }
}

std::vector<PortfolioMember> read_members(const Database& database, std::int64_t portfolio) {
  SQLite::Statement found = prepare(database,
                                    "SELECT k.name, k.hash, c.json, m.intact, c.intact, k.intact "
                                    "FROM portfolio_member m JOIN config c ON c.id = m.config_id "
                                    "JOIN kernel k ON k.id = c.kernel_id "
                                    "WHERE m.portfolio_id = ? ORDER BY m.position",
                                    portfolio);
  std::vector<PortfolioMember> members;
  while (found.executeStep()) {
    RowReader row(found);
    members.push_back({.kernel = row.text(), .kernel_hash = row.text(), .config_json = row.text()});
  }
  return members;
}

std::vector<PortfolioSize> read_sizes(const Database& database, std::int64_t portfolio) {
  SQLite::Statement found =
      prepare(database,
              fmt::format("SELECT p.size, {}, z.intact, p.intact "
                          "FROM portfolio_size z JOIN problem p ON p.id = z.problem_id "
                          "WHERE z.portfolio_id = ? ORDER BY z.id",
                          columns<PortfolioSize>("z.")),
              portfolio);
  std::vector<PortfolioSize> sizes;
  while (found.executeStep()) {
    RowReader row(found);
    sizes.push_back({.problem = row.text()});
    row.read(sizes.back());
  }
  return sizes;
}

PortfolioRecord read_portfolio(const Database& database, RowReader& row) {
  const std::int64_t id = row.integer();
  auto portfolio = row.value<PortfolioRecord>();
  row.read(portfolio.environment);
  portfolio.members = read_members(database, id);
  portfolio.sizes = read_sizes(database, id);
  return portfolio;
}

}  // namespace

void Store::record_portfolio(const space::DeviceInfo& device, const PortfolioRecord& portfolio) {
  state_->connection.write([&](Database& database) {
    PortfolioRecord dated = portfolio;
    if (dated.recorded_at.empty()) dated.recorded_at = utc_now();
    prepare(database,
            fmt::format("INSERT INTO main.portfolio (uuid, device_id, environment_id, {}) "
                        "VALUES (?, ?, ?, {})",
                        columns<PortfolioRecord>(), parameters<PortfolioRecord>()),
            random_word() + random_word(), store_device(database, device),
            store_environment(database, portfolio.environment), dated)
        .exec();
    const std::int64_t id = database.getLastInsertRowid();
    store_members(database, id, portfolio);
    store_sizes(database, id, portfolio);
  });
}

std::vector<PortfolioRecord> Store::portfolios(const space::DeviceInfo& device) const {
  return state_->connection.read([&](const Database& database) {
    SQLite::Statement found = prepare(
        database,
        fmt::format("SELECT o.id, {}, {}, o.intact, d.intact, e.intact FROM portfolio o "
                    "JOIN device d ON d.id = o.device_id "
                    "JOIN environment e ON e.id = o.environment_id "
                    "WHERE d.backend = ? AND d.name = ? AND d.architecture = ? AND d.sm_count = ? "
                    "ORDER BY o.recorded_at DESC, o.id DESC",
                    columns<PortfolioRecord>("o."), columns<space::EnvironmentInfo>("e.")),
        device.backend, device.name, device.architecture, device.attributes.sm_count);
    std::vector<PortfolioRecord> latest;
    std::set<std::pair<std::string, std::string>> known;
    while (found.executeStep()) {
      RowReader row(found);
      PortfolioRecord portfolio = read_portfolio(database, row);
      if (known.emplace(portfolio.family, portfolio.types).second) {
        latest.push_back(std::move(portfolio));
      }
    }
    return latest;
  });
}

}  // namespace tuner::store
