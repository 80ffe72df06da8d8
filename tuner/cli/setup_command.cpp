// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/data_file.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/cli/format.hpp"
#include "tuner/cli/interrupt.hpp"
#include "tuner/cli/opened_device.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/portfolio_run.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/links.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/select/portfolio.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <set>
#include <sys/file.h>
#include <unistd.h>

namespace tuner::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostBytes = std::size_t{1} << 20;

/// Held while `tune setup` runs: two at once would time each other's kernels.
class SetupLock {
 public:
  explicit SetupLock(const fs::path& database) : path_(database.string() + ".setup") {
    if (const auto link = follow_links(path_).link_of_another_user) {
      throw Error(ErrorCode::usage,
                  fmt::format("{}: {} is a link that belongs to another user: name another "
                              "database with --db",
                              path_.string(), printable_name(link->string())));
    }
    if (path_.has_parent_path()) fs::create_directories(path_.parent_path());
    constexpr mode_t kPrivate = 0600;
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kPrivate);
    if (file_ < 0) {
      throw Error(ErrorCode::failure,
                  fmt::format("{}: cannot be created, so no portfolio could be stored beside it: "
                              "name another database with --db",
                              path_.string()));
    }
    if (::flock(file_, LOCK_EX | LOCK_NB) == 0) return;
    ::close(file_);
    throw Error(ErrorCode::failure,
                fmt::format("{}: another `tune setup` is running with this database: wait for it",
                            path_.string()));
  }
  ~SetupLock() {
    std::error_code ignored;
    fs::remove(path_, ignored);
    ::close(file_);
  }
  SetupLock(const SetupLock&) = delete;
  SetupLock& operator=(const SetupLock&) = delete;

 private:
  fs::path path_;
  int file_ = -1;
};

/// Sizes that are drawn of each type.
constexpr std::size_t kDraws = 16;

/// An included family that has a distribution for the backend.
struct Included {
  family::Family family;
  fs::path distribution;
  std::size_t types;    // that have a portfolio of their own
  std::size_t kernels;  // that compete on the backend
};

Included read_included(const fs::path& spaces, const fs::path& distribution,
                       const std::string& backend, std::uint64_t seed) {
  const Json document = parse_json(read_file(distribution, kMostBytes), distribution.string());
  const std::string name = document.at("family").get<std::string>();
  Included included{.family = family::load_family(spaces / (name + ".json")),
                    .distribution = distribution,
                    .types = 0,
                    .kernels = 0};
  const family::Family& family = included.family;
  std::set<std::string> types;
  for (const family::WeightedSize& it :
       family::load_distribution(distribution, family).draw(kDraws, seed)) {
    types.insert(select::types_of(it.size, family.problem.dims));
  }
  included.types = types.size();
  included.kernels = static_cast<std::size_t>(std::ranges::count_if(
      family.kernels, [&](const family::Kernel& it) { return it.competes_on(backend); }));
  return included;
}

/// All of them. What has most kernels and types comes last: it has the time that others leave.
std::vector<Included> included_families(const std::string& backend, std::uint64_t seed) {
  const auto spaces = data_file("spaces");
  std::vector<Included> families;
  if (spaces) {
    const fs::path folder = *spaces / "distributions" / backend;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none)) {
      if (entry.path().extension() != ".json") continue;
      families.push_back(read_included(*spaces, entry.path(), backend, seed));
    }
  }
  std::ranges::sort(families, {}, [](const Included& it) {
    return std::pair(it.kernels * it.types, it.distribution);
  });
  if (!families.empty()) return families;
  throw Error(
      ErrorCode::failure,
      fmt::format("the folder spaces/distributions/{} is not installed beside this program: "
                  "install the package again, or name a family: `tune portfolio --space "
                  "FILE --like FILE`",
                  backend));
}

/// "auto" is what the devices of this machine make of it, which only a child may ask.
std::string backend_of(const DeviceOptions& options) {
  if (options.backend != "auto") return options.backend;
  const Included any = included_families("cpu", 0).front();
  return OpenedDevice(options, any.family, 0).device().device().backend;
}

}  // namespace

int setup(const CommonOptions& common, const SetupOptions& options) {
  const auto until = Clock::now() + parse_duration(options.max_time, "--max-time");
  const SetupLock lock(database_path(common));
  const std::vector<Included> families = included_families(backend_of(options), options.seed);
  const Interrupt interrupt;
  Json document = {{"schema", "tune.setup/1"}, {"portfolios", Json::array()}};
  std::size_t left = families.size();
  for (const Included& included : families) {
    const family::Family& family = included.family;
    const auto now = Clock::now();
    const auto share = std::max(Clock::duration::zero(), until - now) / left--;
    PortfolioOptions mine;
    static_cast<DeviceOptions&>(mine) = options;
    mine.like = included.distribution.string();
    mine.draws = kDraws * included.types;
    mine.seed = options.seed;
    mine.command_line = options.command_line;
    try {
      const PortfolioRun run =
          run_portfolio(common, mine, family, now + share, [&] { return interrupt.requested(); });
      if (interrupt.exit_code()) return *interrupt.exit_code();
      if (!common.json) print_portfolio(common, family, run);
      document["portfolios"].push_back(portfolio_json(family, run));
    } catch (const Error& error) {
      // A family that this device cannot run leaves the others as they are.
      if (error.code() != ErrorCode::no_valid_config) throw;
      tell(fmt::format("{}: skipped: {}\n", family.name, error.what()));
    }
  }
  if (document["portfolios"].empty()) {
    throw Error(ErrorCode::no_valid_config, "no portfolio: nothing could be timed on this device");
  }
  if (common.json) {
    fmt::print("{}", json_text(document));
  } else {
    Output(common).tell(
        "Stored in {}: programs of this user take them at sizes that were not "
        "tuned.\n",
        database_path(common).string());
  }
  return 0;
}

}  // namespace tuner::cli
