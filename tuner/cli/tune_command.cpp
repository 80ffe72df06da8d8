// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/launched_agents.hpp"
#include "tuner/cli/opened_device.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/run_database.hpp"
#include "tuner/cli/slow_notice.hpp"
#include "tuner/cli/tuning_runs.hpp"
#include "tuner/cli/tuning_tasks.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/report/report.hpp"
#include "tuner/search/strategy.hpp"

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

/// Compiles the default configuration of every kernel and launches nothing.
int dry_run(const std::vector<TuningTask>& tasks, const space::DeviceInfo& device,
            const backend::Compiler& compiler, const CommonOptions& common) {
  const Output output(common);
  Json document = {
      {"schema", "tune.dry-run/1"}, {"device", device.name}, {"kernels", Json::array()}};
  for (const auto& [kernel, sizes] : tasks) {
    Json of_sizes = Json::array();
    for (const space::Size& size : sizes) {
      const space::Space space(kernel.space, device.attributes, size);
      of_sizes.push_back(
          {{"size", space::size_json(size, kernel.space->dims)}, {"valid", space.size()}});
      if (common.json) continue;
      output.tell("{} {}: {}\n", kernel.name, space::display(size, kernel.space->dims),
                  quantity::count(space.size(), "valid configuration"));
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

}  // namespace

int tune(const CommonOptions& common, const TuneOptions& options) {
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
  const family::Family family = family::load_family(options.space);
  if (!options.kernel.empty()) static_cast<void>(family.kernel(options.kernel));
  if (options.explain_winner && !options.launch.empty()) {
    throw Error(
        ErrorCode::usage,
        "--explain-winner reads the counters of this machine's devices: leave out --launch");
  }
  if (options.dry_run && !options.launch.empty()) {
    throw Error(ErrorCode::usage, "--dry-run launches nothing: leave out --launch");
  }
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
    return dry_run(tasks.front(), opened.front()->device().device(), opened.front()->compiler(),
                   common);
  }

  RunDatabase database(common);
  store::Store& store = database.store();
  runs.add_observer(database.saver());
  for (std::size_t i = 0; i < models.size(); ++i) {
    runs.run(family, tasks[i], models[i], store, session::Candidates::all);
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
