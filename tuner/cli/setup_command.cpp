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

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <fcntl.h>
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

/// A family to measure: its space file and which sizes programs ask for.
struct Included {
  fs::path space, distribution;
};

/// The included families that have a distribution for the backend, by name.
std::vector<Included> included_families(const std::string& backend) {
  const auto spaces = data_file("spaces");
  std::vector<Included> families;
  if (spaces) {
    const fs::path folder = *spaces / "distributions" / backend;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none)) {
      if (entry.path().extension() != ".json") continue;
      const Json document = parse_json(read_file(entry.path(), kMostBytes), entry.path().string());
      families.push_back({.space = *spaces / (document.at("family").get<std::string>() + ".json"),
                          .distribution = entry.path()});
    }
  }
  std::ranges::sort(families, {}, &Included::distribution);
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
  const family::Family any = family::load_family(included_families("cpu").front().space);
  return OpenedDevice(options, any, 0).device().device().backend;
}

}  // namespace

int setup(const CommonOptions& common, const SetupOptions& options) {
  const auto until = Clock::now() + parse_duration(options.max_time, "--max-time");
  const SetupLock lock(database_path(common));
  const std::vector<Included> families = included_families(backend_of(options));
  const Interrupt interrupt;
  Json document = {{"schema", "tune.setup/1"}, {"portfolios", Json::array()}};
  std::size_t left = families.size();
  for (const auto& [space, distribution] : families) {
    const auto now = Clock::now();
    const auto share = std::max(Clock::duration::zero(), until - now) / left--;
    const family::Family family = family::load_family(space);
    PortfolioOptions mine;
    static_cast<DeviceOptions&>(mine) = options;
    mine.like = distribution.string();
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
