// SPDX-License-Identifier: Apache-2.0
// The methods of Store about portfolios.
#include "tuner/core/error.hpp"
#include "tuner/store/connection.hpp"
#include "tuner/store/interning.hpp"
#include "tuner/store/rows.hpp"

#include <fmt/format.h>

#include <random>
#include <set>
#include <utility>

namespace tuner::store {
namespace {

std::string portfolio_uuid() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

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
            "INSERT INTO main.portfolio_size (portfolio_id, problem_id, weight, member_ns, "
            "library_ns) VALUES (?, ?, ?, ?, ?)",
            portfolio, store_problem(database, record.family, size.problem), size.weight,
            size.member_ns, size.library_ns)
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
              "SELECT p.size, z.weight, z.member_ns, z.library_ns, z.intact, p.intact "
              "FROM portfolio_size z JOIN problem p ON p.id = z.problem_id "
              "WHERE z.portfolio_id = ? ORDER BY z.id",
              portfolio);
  std::vector<PortfolioSize> sizes;
  while (found.executeStep()) {
    RowReader row(found);
    sizes.push_back({.problem = row.text(),
                     .weight = row.real(),
                     .member_ns = row.optional_real(),
                     .library_ns = row.optional_real()});
  }
  return sizes;
}

PortfolioRecord read_portfolio(const Database& database, RowReader& row) {
  const std::int64_t id = row.integer();
  return {
      .family = row.text(),
      .types = row.text(),
      .distribution = row.text(),
      .recorded_at = row.text(),
      .loss = row.real(),
      .left_out_loss = row.optional_real(),
      .members = read_members(database, id),
      .sizes = read_sizes(database, id),
      .environment = {
          .driver = row.text(), .compiler = row.text(), .library = row.text(), .tool = row.text()}};
}

}  // namespace

void Store::record_portfolio(const space::DeviceInfo& device, const PortfolioRecord& portfolio) {
  state_->connection.write([&](Database& database) {
    const std::string when = portfolio.recorded_at.empty() ? utc_now() : portfolio.recorded_at;
    prepare(database,
            "INSERT INTO main.portfolio (uuid, device_id, environment_id, family, types, "
            "distribution, recorded_at, loss, left_out_loss) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            portfolio_uuid(), store_device(database, device),
            store_environment(database, portfolio.environment), portfolio.family, portfolio.types,
            portfolio.distribution, when, portfolio.loss, portfolio.left_out_loss)
        .exec();
    const std::int64_t id = database.getLastInsertRowid();
    store_members(database, id, portfolio);
    store_sizes(database, id, portfolio);
  });
}

std::vector<PortfolioRecord> Store::portfolios(const space::DeviceInfo& device) const {
  return state_->connection.read([&](const Database& database) {
    SQLite::Statement found =
        prepare(database,
                "SELECT o.id, o.family, o.types, o.distribution, o.recorded_at, o.loss, "
                "o.left_out_loss, e.driver, e.compiler, e.library, e.tool, o.intact, d.intact, "
                "e.intact FROM portfolio o JOIN device d ON d.id = o.device_id "
                "JOIN environment e ON e.id = o.environment_id "
                "WHERE d.backend = ? AND d.name = ? AND d.architecture = ? AND d.sm_count = ? "
                "ORDER BY o.recorded_at DESC, o.id DESC",
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
