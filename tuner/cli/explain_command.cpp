// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/cli/explained_winner.hpp"
#include "tuner/cli/interrupt.hpp"
#include "tuner/cli/opened_device.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/reproduction.hpp"
#include "tuner/cli/sizes.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace tuner::cli {
namespace {

/// The database, which must be there, to write to where that is allowed.
store::Store open_results(const CommonOptions& common) {
  store::Store store = open_database(common, store::Store::Mode::read_only);
  try {
    return open_database(common, store::Store::Mode::read_write);
  } catch (const Error&) {
    return store;
  }
}

/// The space file asked for, else that of the kernel's newest run, whose command may have been
/// typed in another folder.
std::string chosen_space(const ExplainOptions& options, const store::Store& store) {
  if (!options.space.empty()) return options.space;
  if (options.kernel.empty()) {
    throw Error(ErrorCode::usage,
                "which kernel? For example\n"
                "  tune explain --kernel gemm_shared --size 4096,4096,4096");
  }
  for (const store::RunRecord& run : store.runs()) {
    if (run.kernel != options.kernel) continue;
    std::string file = space_file_of(run);
    if (std::filesystem::exists(file)) return file;
  }
  throw Error(ErrorCode::usage,
              fmt::format("no run of {} has a space file that exists here: tune it first, or name "
                          "its file with --space",
                          options.kernel));
}

}  // namespace

int explain(const CommonOptions& common, const ExplainOptions& options) {
  store::Store store = open_results(common);
  const family::Family family = family::load_family(chosen_space(options, store));
  const family::Kernel& kernel = chosen_kernel(
      family, options.kernel.empty() ? std::vector<std::string>() : std::vector{options.kernel});
  const space::Size size = chosen_size(family, options.size);
  constexpr std::uint64_t kSeed = 0;
  OpenedDevice opened(options, family, kSeed);
  require_backend(kernel, opened.device().device().backend);
  const Interrupt interrupt;
  const ExplainedWinner winner =
      explain_winner(store, family, kernel, size, opened, [&] { return interrupt.requested(); });
  if (common.json) {
    fmt::print("{}", json_text(winner.document));
  } else {
    Output(common).tell("{}", winner.text);
  }
  return interrupt.exit_code().value_or(0);
}

}  // namespace tuner::cli
