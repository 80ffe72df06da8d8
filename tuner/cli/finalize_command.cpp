// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/cli/opened_device.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/tuning_runs.hpp"
#include "tuner/core/error.hpp"
#include "tuner/session/screened_sizes.hpp"

#include <utility>
#include <vector>

namespace tuner::cli {
namespace {

std::vector<TuningTask> screened_tasks(const family::Family& family, const TuneOptions& options,
                                       const store::Store& store, OpenedDevice& opened) {
  std::vector<TuningTask> tasks;
  for (const family::Kernel& kernel : family.kernels) {
    if (!options.kernel.empty() && kernel.name != options.kernel) continue;
    std::vector<space::Size> sizes = session::screened_sizes(
        store, family, kernel, opened.device().device(), opened.device().environment());
    if (!sizes.empty()) tasks.push_back({.kernel = kernel, .sizes = std::move(sizes)});
  }
  return tasks;
}

}  // namespace

int finalize(const CommonOptions& common, const TuneOptions& options) {
  if (options.space.empty()) {
    throw Error(ErrorCode::usage,
                "which kernels? Name their space file, for example\n"
                "  tune finalize --space spaces/gemm.json");
  }
  const family::Family family = family::load_family(options.space);
  if (!options.kernel.empty()) static_cast<void>(family.kernel(options.kernel));
  // There must be one; writing would make it.
  static_cast<void>(open_database(common, store::Store::Mode::read_only));
  TuningRuns runs(common, options);
  store::Store store = open_database(common, store::Store::Mode::read_write);
  bool any = false;
  for (const auto& model :
       OpenedDevice::open_all(options, family, options.seed, compile_threads(options))) {
    const std::vector<TuningTask> tasks = screened_tasks(family, options, store, *model);
    any = any || !tasks.empty();
    runs.run(family, tasks, model->model(), store, session::Candidates::known);
  }
  runs.print_result();
  if (any) return runs.exit_code();
  if (!common.json) {
    Output(common).tell("every size of this device and these versions has its final round\n");
  }
  return 0;
}

}  // namespace tuner::cli
