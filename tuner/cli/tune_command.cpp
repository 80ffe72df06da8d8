// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/cli/launched_agents.hpp"
#include "tuner/cli/opened_device.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/sizes.hpp"
#include "tuner/cli/slow_notice.hpp"
#include "tuner/cli/tuning_runs.hpp"
#include "tuner/cli/tuning_tasks.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/report/report.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/session/observer.hpp"
#include "tuner/store/local_copy.hpp"
#include "tuner/store/store.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tuner::cli {
namespace {

/// The database of a run. Of one on a network file system, unless it is to be trusted, it is a
/// local copy, which is saved after each size; stderr says so.
class RunDatabase {
 public:
  /// Throws as open_database and LocalCopy do.
  explicit RunDatabase(const CommonOptions& common);

  [[nodiscard]] store::Store& store() { return *store_; }
  /// Saves the copy, if it is one. Throws as LocalCopy::save.
  void save();
  /// The same, but says why it cannot be saved.
  void try_to_save();
  /// Whatever follows a run in order that it is saved after each size; null where there is no need.
  [[nodiscard]] std::unique_ptr<session::Observer> saver();

 private:
  std::optional<store::LocalCopy> copy_;
  std::optional<store::Store> store_;
};

class Saver final : public session::Observer {
 public:
  explicit Saver(RunDatabase& database) : database_(database) {}

  void opened(const session::Opening&) override {}
  void estimated(std::chrono::milliseconds) override {}
  void progressed(const session::Progress&) override {}
  void final_began(const space::Size&, std::size_t, session::LibraryPart) override {}
  void card_joined(const session::CardName&) override {}
  void card_dropped(const session::CardName&, const std::string&) override {}
  void size_done(const session::SizeResult&) override { database_.try_to_save(); }

 private:
  RunDatabase& database_;
};

RunDatabase::RunDatabase(const CommonOptions& common) {
  const std::filesystem::path path = database_path(common);
  const std::string network = store::LocalCopy::network_of(path);
  if (network.empty() || common.trust_database) {
    store_.emplace(open_database(common, store::Store::Mode::read_write));
    return;
  }
  copy_.emplace(path);
  tell(fmt::format("database: {} is on {}: this run works on a copy in {}, saved after each size\n",
                   path.string(), network, copy_->path().string()));
  store_.emplace(copy_->path(), store::Store::Mode::read_write);
}

void RunDatabase::save() {
  if (!copy_) return;
  if (const auto told = copy_->save()) tell(*told + "\n");
}

void RunDatabase::try_to_save() {
  try {
    save();
  } catch (const Error& error) {
    tell(fmt::format("warning: {}\n", error.what()));
  }
}

std::unique_ptr<session::Observer> RunDatabase::saver() {
  if (!copy_) return nullptr;
  return std::make_unique<Saver>(*this);
}

/// How many of the configurations that the constraints allow are valid; null where some of a large
/// space have no launch.
Json launches_json(const LaunchCount& count, std::uint64_t allowed) {
  if (count.launchable == count.looked_at) return allowed;
  return count.looked_at == allowed ? Json(count.launchable) : Json();
}

std::string launches_text(const LaunchCount& count, std::uint64_t allowed) {
  if (count.launchable == count.looked_at) return quantity::count(allowed, "valid configuration");
  if (count.looked_at == allowed) {
    return fmt::format("{}; of {} more the first has no launch there: {}",
                       quantity::count(count.launchable, "valid configuration"),
                       quantity::count(allowed - count.launchable), count.why);
  }
  return fmt::format(
      "{} that the constraints allow; of {} of them {} have a launch there; why not: {}",
      quantity::count(allowed, "configuration"), quantity::count(count.looked_at),
      quantity::count(count.launchable), count.why);
}

/// Compiles the default configuration of every kernel and launches nothing.
int dry_run(const family::Family& family, const std::vector<TuningTask>& tasks,
            const space::DeviceInfo& device, const backend::Compiler& compiler,
            const CommonOptions& common) {
  const Output output(common);
  Json document = {
      {"schema", "tune.dry-run/1"}, {"device", device.name}, {"kernels", Json::array()}};
  for (const auto& [kernel, sizes] : tasks) {
    Json of_sizes = Json::array();
    for (const space::Size& size : sizes) {
      const space::Space space(kernel.space, device.attributes, size);
      const std::string why = why_no_launch(family, kernel, space, space.default_config(), size);
      const LaunchCount count = count_launches(family, kernel, space, size);
      of_sizes.push_back({{"size", space::size_json(size, kernel.space->dims)},
                          {"valid", launches_json(count, space.size())},
                          {"no_launch", why.empty() ? Json() : Json(why)}});
      if (common.json) continue;
      output.tell("{} {}: {}{}\n", kernel.name, space::display(size, kernel.space->dims),
                  launches_text(count, space.size()), why.empty() ? "" : "; the default has none");
    }
    const space::BoundDefinition space(kernel.space, device.attributes, sizes.front());
    const auto binary =
        compiler.compile(family::compile_job(kernel, space, space.default_config()));
    if (!binary) {
      throw Error(ErrorCode::failure,
                  fmt::format("{}: the default configuration does not compile:\n{}", kernel.name,
                              binary.error().message));
    }
    document["kernels"].push_back({{"kernel", kernel.name},
                                   {"sizes", std::move(of_sizes)},
                                   {"default_bytes", binary->image.size()}});
    if (common.json) continue;
    output.tell("{}: the default configuration compiles ({} bytes)\n", kernel.name,
                binary->image.size());
  }
  if (common.json) fmt::print("{}", json_text(document));
  return 0;
}

/// On devices that nothing else is open on any more: the counters and the memory are for these
/// alone.
void explain_winners(TuningRuns& runs, const TuneOptions& options, const family::Family& family,
                     const std::vector<space::DeviceInfo>& devices, store::Store& store) {
  for (const space::DeviceInfo& device : devices) {
    TuneOptions alone = options;
    if (!device.uuid.empty()) alone.device = device.uuid;
    OpenedDevice fresh(alone, family, options.seed);
    runs.explain_winners(family, store, fresh);
  }
}

/// Throws Error(usage) for options that are missing or exclude each other.
void check_options(const TuneOptions& options) {
  if (options.space.empty()) {
    throw Error(ErrorCode::usage,
                "nothing to tune: name a space file, for example\n"
                "  tune --kernel gemm_shared --space spaces/gemm.json\n"
                "`tune --help` lists everything else");
  }
  if (std::ranges::count(search::strategy_names(), options.strategy) == 0) {
    throw Error(ErrorCode::usage,
                fmt::format("--strategy: there is no '{}'{}", options.strategy,
                            did_you_mean(options.strategy, search::strategy_names())));
  }
  if (options.explain_winner && !options.launch.empty()) {
    throw Error(
        ErrorCode::usage,
        "--explain-winner reads the counters of this machine's devices: leave out --launch");
  }
  if (options.dry_run && !options.launch.empty()) {
    throw Error(ErrorCode::usage, "--dry-run launches nothing: leave out --launch");
  }
}

}  // namespace

int tune(const CommonOptions& common, const TuneOptions& options) {
  check_options(options);
  const family::Family family = family::load_family(options.space);
  if (!options.kernel.empty()) static_cast<void>(family.kernel(options.kernel));
  TuningRuns runs(common, options);
  std::vector<std::unique_ptr<OpenedDevice>> opened;
  std::unique_ptr<LaunchedAgents> agents;
  std::vector<ModelCards> models;
  if (options.launch.empty()) {
    opened = OpenedDevice::open_all(options, family, options.seed, compile_threads(options));
    for (const auto& each : opened) models.push_back(each->model());
  } else {
    agents = std::make_unique<LaunchedAgents>(options, family);
    models = agents->models();
  }
  std::vector<std::vector<TuningTask>> tasks;
  std::optional<SlowNotice> notice;
  if (!common.quiet) notice.emplace("finding the valid configurations; Ctrl-C ends it");
  for (const ModelCards& model : models) {
    tasks.push_back(tuning_tasks(family, options, model.device->device()));
  }
  notice.reset();
  if (options.dry_run) {
    return dry_run(family, tasks.front(), opened.front()->device().device(),
                   opened.front()->compiler(), common);
  }

  RunDatabase database(common);
  store::Store& store = database.store();
  runs.add_observer(database.saver());
  try {
    for (std::size_t i = 0; i < models.size(); ++i) {
      runs.run(family, tasks[i], models[i], store, session::Candidates::all);
    }
  } catch (...) {
    database.try_to_save();  // trials of sizes that are not done
    throw;
  }
  std::vector<space::DeviceInfo> devices;  // one of each model
  for (const ModelCards& model : models) devices.push_back(model.device->device());
  if (options.explain_winner) {
    models.clear();
    opened.clear();
    explain_winners(runs, options, family, devices, store);
  }
  database.save();
  runs.print_result();
  if (!options.report.empty()) {
    for (const space::DeviceInfo& device : devices) {
      for (const auto& path : report::write_reports(store, device.name, options.report)) {
        tell(fmt::format("report: {}\n", path.string()));
      }
    }
  }
  return runs.exit_code();
}

}  // namespace tuner::cli
