// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/sweep_contenders.hpp"

#include "tuner/cli/database.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/select/catalogue_json.hpp"
#include "tuner/select/rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace tuner::cli {
namespace {

constexpr std::size_t kTableLimit = std::size_t{256} << 20;

/// What the dispatcher would be served from, or what was tuned on a device; none when nothing was.
std::shared_ptr<const Catalogue> known_results(const CommonOptions& common,
                                               const BenchOptions& options, const Family& family,
                                               const DeviceInfo& device) {
  if (!options.table.empty()) {
    return std::make_shared<const Catalogue>(
        parse_catalogue(read_file(options.table, kTableLimit), options.table));
  }
  if (!std::filesystem::exists(database_path(common))) return nullptr;
  try {
    return std::make_shared<const Catalogue>(
        catalogue(open_database(common, Store::Mode::read_only),
                  {.device = device.name, .family = family.name}));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::nothing_found) throw;
    return nullptr;
  }
}

/// Whether a kernel is written for processors.
bool is_for_processors(const Kernel& kernel) {
  return kernel.backends == std::vector<std::string>{"cpu"};
}

bool runs_on(const Kernel& kernel, const std::string& backend) {
  return kernel.backends.empty() || std::ranges::count(kernel.backends, backend) > 0;
}

/// The configuration of an answer; none when the space has changed since and no longer has it.
std::optional<Config> config_of(const Selection& answer, const Kernel& kernel) {
  try {
    return config_from_json(*kernel.space, answer.config_json);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// The best answer that is a kernel of the family as it is now.
std::optional<SweepChoice> tuned_choice(const Catalogue& known, const Family& family,
                                        const std::string& backend, const Size& size) {
  const auto ranking = rank(known, {.family = family.name,
                                    .kernel = std::nullopt,
                                    .size = canonical_size(size, family.problem.dims)});
  for (const Selection& answer : ranking.answers) {
    if (answer.kernel == nullptr) continue;  // the library is a contender of its own
    const auto kernel = std::ranges::find(family.kernels, answer.kernel->hash, &Kernel::hash);
    if (kernel == family.kernels.end() || !runs_on(*kernel, backend)) continue;
    if (auto config = config_of(answer, *kernel)) {
      return SweepChoice{.kernel = &*kernel, .config = std::move(config)};
    }
  }
  return std::nullopt;
}

/// The library, and the kernels of the family that `takes_part` takes, at their defaults.
template <class TakesPart>
std::vector<SweepContender> contenders(const Family& family, const EnvironmentInfo& environment,
                                       const TakesPart& takes_part) {
  std::vector<SweepContender> all;
  if (library_arguments(family.check) != nullptr) all.push_back({.name = environment.library});
  for (const Kernel& kernel : family.kernels) {
    if (!takes_part(kernel)) continue;
    all.push_back({.name = kernel.name,
                   .choose = [&kernel](const Size&) { return SweepChoice{.kernel = &kernel}; }});
  }
  return all;
}

}  // namespace

std::vector<SweepContender> host_contenders(const Family& family, const DeviceWorker& host) {
  return contenders(family, host.environment(), is_for_processors);
}

std::vector<SweepContender> device_contenders(const CommonOptions& common,
                                              const BenchOptions& options, const Family& family,
                                              const DeviceWorker& device) {
  const std::string& backend = device.device().backend;
  auto all = contenders(family, device.environment(), [&](const Kernel& kernel) {
    return runs_on(kernel, backend) && !is_for_processors(kernel) &&
           (options.kernel.empty() || options.kernel == kernel.name);
  });
  if (const auto known = known_results(common, options, family, device.device())) {
    all.push_back({.name = "tuned", .choose = [known, &family, backend](const Size& size) {
                     return tuned_choice(*known, family, backend, size);
                   }});
  } else {
    tell(fmt::format("nothing of {} was tuned on {}: there is no contender 'tuned'\n", family.name,
                     device.device().name));
  }
  return all;
}

}  // namespace tuner::cli
