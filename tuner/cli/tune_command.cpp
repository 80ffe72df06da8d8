// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/registry.hpp"
#include "tuner/cli/commands.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/cli/format.hpp"
#include "tuner/cli/launched_agents.hpp"
#include "tuner/cli/live_report.hpp"
#include "tuner/cli/opened_device.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/recorded_families.hpp"
#include "tuner/cli/sizes.hpp"
#include "tuner/cli/time_limit.hpp"
#include "tuner/cli/tuning_runs.hpp"
#include "tuner/cli/tuning_tasks.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/report/report.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/session/observer.hpp"
#include "tuner/session/spaces_at.hpp"
#include "tuner/store/local_copy.hpp"
#include "tuner/store/store.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
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
  /// Saves as save(), but says why it cannot be saved.
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

  void tell(const session::Event& event) override {
    if (std::holds_alternative<session::SizeResult>(event)) database_.try_to_save();
  }

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
void dry_run(const family::Family& family, const std::vector<TuningTask>& tasks,
             const space::DeviceInfo& device, const backend::Compiler& compiler,
             const CommonOptions& common) {
  const Output output(common);
  Json document = {
      {"schema", "tune.dry-run/1"}, {"device", device.name}, {"kernels", Json::array()}};
  for (const TuningTask& task : tasks) {
    const auto& [kernel, sizes] = std::tie(task.kernel, task.sizes);
    Json of_sizes = Json::array();
    const std::vector<space::Space> spaces =
        session::spaces_at(kernel.space, device.attributes, sizes);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const space::Size& size = sizes[i];
      const space::Space& space = spaces[i];
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
  const bool one_family = !options.kernel.empty() || !options.sizes.empty() ||
                          !options.set.empty() || options.explain_winner ||
                          std::ranges::any_of(options.lists, space::is_word);
  if (options.space.empty() && (options.lists.empty() || one_family)) {
    throw Error(ErrorCode::usage,
                "nothing to tune: name a space file, or sizes that `tune record` has written, for "
                "example\n"
                "  tune --kernel gemm_shared --space spaces/gemm.json\n"
                "  tune --sizes sizes.json\n"
                "`tune --help` lists everything else");
  }
  require_word("--strategy", options.strategy, search::strategy_names());
  if (options.explain_winner && !options.launch.empty()) {
    throw Error(
        ErrorCode::usage,
        "--explain-winner reads the counters of this machine's devices: leave out --launch");
  }
  if (options.dry_run && !options.launch.empty()) {
    throw Error(ErrorCode::usage, "--dry-run launches nothing: leave out --launch");
  }
}

/// As RunPlan has it: in units of the mean, and a size that takes hardly any of the time is not
/// left without any. A size that was not recorded is as important as the mean.
void set_importance(TuningTask& task, const std::map<space::Size, double>& importance) {
  constexpr double kLeast = 0.1;
  if (importance.empty()) return;
  double sum = 0;
  for (const auto& [size, ns] : importance) sum += ns;
  const double mean = sum / static_cast<double>(importance.size());
  for (const space::Size& size : task.sizes) {
    const auto found = importance.find(size);
    task.importance.push_back(found == importance.end() ? 1.0
                                                        : std::max(kLeast, found->second / mean));
  }
}

/// The first thing that this machine lacks to tune on a GPU: "no NVIDIA driver found".
std::string what_is_missing() {
  const std::vector<backend::Finding> findings = backend::examine_machine();
  const auto found =
      std::ranges::find(findings, backend::Finding::Status::missing, &backend::Finding::status);
  return found == findings.end() ? "no GPU is found" : found->detail;
}

/// The families of a command, one after the other.
class TuneCommand {
 public:
  TuneCommand(const CommonOptions& common, const TuneOptions& options)
      : common_(common),
        options_(options),
        runs_(common, options),
        recordings_(recordings_of(options)),
        families_(families_to_tune(common, options, recordings_)) {}

  int run();

 private:
  /// The devices of a family, and what is to be done on them.
  struct Opened {
    std::vector<std::unique_ptr<OpenedDevice>> devices;
    std::unique_ptr<LaunchedAgents> agents;
    std::vector<ModelCards> models;
    std::vector<std::vector<TuningTask>> tasks;  // by model
  };
  [[nodiscard]] Opened open(const FamilyToTune& work) const;
  /// Opens the devices of a family; none where it is one of several families and cannot be tuned on
  /// this machine.
  [[nodiscard]] std::optional<Opened> try_to_open(const FamilyToTune& work);
  /// Says once that `auto` took the CPU and why, and bounds the time of a search that nobody
  /// bounded: what is fit for a GPU may take hours.
  void tell_of_missing_gpu(const space::DeviceInfo& device);
  /// Tunes a family in a share, from 0 to 1, of the time that is left.
  void tune(const FamilyToTune& work, Opened opened, double share);
  [[nodiscard]] double share_of(std::size_t index) const;
  [[nodiscard]] RunDatabase& database();

  const CommonOptions& common_;
  const TuneOptions& options_;
  TuningRuns runs_;
  std::vector<family::RecordedCalls> recordings_;
  std::vector<FamilyToTune> families_;
  std::optional<RunDatabase> database_;  // once there is something to tune
  std::vector<std::string> device_names_;
  std::optional<Error> refused_;
  bool told_of_missing_gpu_ = false;
};

RunDatabase& TuneCommand::database() {
  if (!database_) {
    database_.emplace(common_);
    runs_.add_observer(database_->saver());
    if (!options_.report.empty()) {
      runs_.add_observer(std::make_unique<LiveReport>(database_->store().path(), options_.report));
    }
  }
  return *database_;
}

TuneCommand::Opened TuneCommand::open(const FamilyToTune& work) const {
  const auto& [family, options, importance, weight] = work;
  Opened opened;
  if (options.launch.empty()) {
    opened.devices =
        OpenedDevice::open_all(options, family, options.seed, compile_threads(options));
    for (const auto& each : opened.devices) opened.models.push_back(each->model());
  } else {
    opened.agents = std::make_unique<LaunchedAgents>(options, family);
    opened.models = opened.agents->models();
  }
  std::optional<SlowNotice> notice;
  if (!common_.quiet) notice.emplace("finding the valid configurations; Ctrl-C ends it");
  for (const ModelCards& model : opened.models) {
    opened.tasks.push_back(tuning_tasks(family, options, model.device->device()));
    for (TuningTask& task : opened.tasks.back()) set_importance(task, importance);
  }
  return opened;
}

std::optional<TuneCommand::Opened> TuneCommand::try_to_open(const FamilyToTune& work) {
  if (families_.size() == 1) return open(work);
  try {
    return open(work);
  } catch (const Error& error) {
    const bool is_of_the_family =
        error.code() == ErrorCode::no_valid_config || error.code() == ErrorCode::no_device;
    if (!is_of_the_family) throw;
    tell(fmt::format("skipped: family {}: {}\n", work.family.name, error.what()));
    refused_ = error;
    return std::nullopt;
  }
}

void TuneCommand::tell_of_missing_gpu(const space::DeviceInfo& device) {
  constexpr std::chrono::minutes kTime{10};
  const bool is_chosen = options_.backend != "auto" || !options_.launch.empty();
  if (is_chosen || !space::runs_on_host(device.backend) ||
      std::exchange(told_of_missing_gpu_, true))
    return;
  const bool is_limited = !options_.dry_run && runs_.limit_time(kTime);
  if (common_.quiet) return;
  tell(fmt::format("{}: tuning the CPU ({}){}; --backend cuda requires a GPU{}\n",
                   what_is_missing(), device.name,
                   is_limited ? fmt::format(" for at most {}", quantity::duration(kTime)) : "",
                   is_limited ? ", --max-time or --effort full sets another time" : ""));
}

double TuneCommand::share_of(std::size_t index) const {
  double rest = 0;
  for (std::size_t i = index; i < families_.size(); ++i) rest += families_[i].weight;
  return families_[index].weight / rest;
}

void TuneCommand::tune(const FamilyToTune& work, Opened opened, double share) {
  store::Store& store = database().store();
  const auto models = opened.models.size();
  try {
    for (std::size_t i = 0; i < models; ++i) {
      runs_.run(work.family, opened.tasks[i], opened.models[i], store, session::Candidates::all,
                share / static_cast<double>(models - i));
    }
  } catch (...) {
    database().try_to_save();  // trials of sizes that are not done
    throw;
  }
  std::vector<space::DeviceInfo> devices;  // one of each model
  for (const ModelCards& model : opened.models) devices.push_back(model.device->device());
  for (const space::DeviceInfo& device : devices) {
    if (std::ranges::count(device_names_, device.name) == 0) device_names_.push_back(device.name);
  }
  if (!options_.explain_winner) return;
  opened.models.clear();
  opened.devices.clear();
  explain_winners(runs_, options_, work.family, devices, store);
}

int TuneCommand::run() {
  if (!options_.kernel.empty()) {
    static_cast<void>(families_.front().family.kernel(options_.kernel));
  }
  for (std::size_t i = 0; i < families_.size(); ++i) {
    const FamilyToTune& work = families_[i];
    std::optional<Opened> opened = try_to_open(work);
    if (!opened) continue;
    tell_of_missing_gpu(opened->models.front().device->device());
    if (options_.dry_run) {
      dry_run(work.family, opened->tasks.front(), opened->devices.front()->device().device(),
              opened->devices.front()->compiler(), common_);
      device_names_.push_back(opened->devices.front()->device().device().name);
    } else if (!runs_.is_interrupted()) {
      if (opened->models.size() > 1 && report::page_path(options_.report, "") == options_.report) {
        throw Error(
            ErrorCode::usage,
            fmt::format("--report {}: several device models have a page each: name a folder",
                        options_.report));
      }
      tune(work, std::move(*opened), share_of(i));
    }
  }
  if (device_names_.empty()) throw *refused_;
  if (options_.dry_run) return 0;
  database().save();
  runs_.tell_gain(recordings_);
  runs_.print_result();
  if (!options_.report.empty()) {
    for (const std::string& device : device_names_) {
      const std::filesystem::path path = report::page_path(options_.report, device);
      report::write_report(database().store(), device, path);
      tell(fmt::format("report: {}\n", path.string()));
    }
  }
  return runs_.exit_code();
}

}  // namespace

int tune(const CommonOptions& common, const TuneOptions& options) {
  check_options(options);
  return TuneCommand(common, options).run();
}

}  // namespace tuner::cli
