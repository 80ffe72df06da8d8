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
std::shared_ptr<const select::Catalogue> known_results(const CommonOptions& common,
                                                       const BenchOptions& options,
                                                       const family::Family& family,
                                                       const space::DeviceInfo& device) {
  if (!options.table.empty()) {
    return std::make_shared<const select::Catalogue>(
        select::parse_catalogue(read_file(options.table, kTableLimit), options.table));
  }
  if (!std::filesystem::exists(database_path(common))) return nullptr;
  try {
    return std::make_shared<const select::Catalogue>(
        select::catalogue(open_database(common, store::Store::Mode::read_only),
                          {.device = device.name, .family = family.name}));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::nothing_found) throw;
    return nullptr;
  }
}

/// Whether a kernel is written for processors.
bool is_for_processors(const family::Kernel& kernel) {
  return kernel.backends == std::vector<std::string>{"cpu"};
}

bool runs_on(const family::Kernel& kernel, const std::string& backend) {
  return kernel.backends.empty() || std::ranges::count(kernel.backends, backend) > 0;
}

/// The configuration of an answer; none when the space has changed since and no longer has it.
std::optional<space::Config> config_of(const select::Selection& answer,
                                       const family::Kernel& kernel) {
  try {
    return space::config_from_json(*kernel.space, answer.config_json);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// The best answer that is a kernel of the family as it is now.
std::optional<session::SweepChoice> tuned_choice(const select::Catalogue& known,
                                                 const family::Family& family,
                                                 const std::string& backend,
                                                 const space::Size& size) {
  const auto ranking =
      select::rank(known, {.family = family.name,
                           .kernel = std::nullopt,
                           .size = space::canonical_size(size, family.problem.dims)});
  for (const select::Selection& answer : ranking.answers) {
    if (answer.kernel == nullptr) continue;  // the library is a contender of its own
    const auto kernel =
        std::ranges::find(family.kernels, answer.kernel->hash, &family::Kernel::hash);
    if (kernel == family.kernels.end() || !runs_on(*kernel, backend)) continue;
    if (auto config = config_of(answer, *kernel)) {
      return session::SweepChoice{.kernel = &*kernel, .config = std::move(config)};
    }
  }
  return std::nullopt;
}

/// The library, and the kernels of the family that `takes_part` takes, at their defaults.
template <class TakesPart>
std::vector<session::SweepContender> contenders(const family::Family& family,
                                                const space::EnvironmentInfo& environment,
                                                const TakesPart& takes_part) {
  std::vector<session::SweepContender> all;
  if (family::library_arguments(family.check) != nullptr)
    all.push_back({.name = environment.library});
  for (const family::Kernel& kernel : family.kernels) {
    if (!takes_part(kernel)) continue;
    all.push_back({.name = kernel.name, .choose = [&kernel](const space::Size&) {
                     return session::SweepChoice{.kernel = &kernel};
                   }});
  }
  return all;
}

}  // namespace

std::vector<session::SweepContender> host_contenders(const family::Family& family,
                                                     const worker::DeviceWorker& host) {
  return contenders(family, host.environment(), is_for_processors);
}

std::vector<session::SweepContender> device_contenders(const CommonOptions& common,
                                                       const BenchOptions& options,
                                                       const family::Family& family,
                                                       const worker::DeviceWorker& device) {
  const std::string& backend = device.device().backend;
  auto all = contenders(family, device.environment(), [&](const family::Kernel& kernel) {
    return runs_on(kernel, backend) && !is_for_processors(kernel) &&
           (options.kernel.empty() || options.kernel == kernel.name);
  });
  if (const auto known = known_results(common, options, family, device.device())) {
    all.push_back({.name = "tuned", .choose = [known, &family, backend](const space::Size& size) {
                     return tuned_choice(*known, family, backend, size);
                   }});
  } else {
    tell(fmt::format("nothing of {} was tuned on {}: there is no contender 'tuned'\n", family.name,
                     device.device().name));
  }
  return all;
}

}  // namespace tuner::cli
