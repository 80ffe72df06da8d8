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
  OpenedDevice opened(options, family, options.seed);
  std::vector<TuningTask> tasks;
  for (const family::Kernel& kernel : family.kernels) {
    if (!options.kernel.empty() && kernel.name != options.kernel) continue;
    std::vector<space::Size> sizes = session::screened_sizes(
        store, family, kernel, opened.device().device(), opened.device().environment());
    if (!sizes.empty()) tasks.push_back({.kernel = kernel, .sizes = std::move(sizes)});
  }
  runs.run(family, tasks, opened, store, session::Candidates::known);
  runs.print_result();
  if (!tasks.empty()) return runs.exit_code();
  if (!common.json) {
    Output(common).tell("no size of this device and these versions lacks its final round\n");
  }
  return 0;
}

}  // namespace tuner::cli
