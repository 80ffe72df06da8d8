// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/sweep_contenders.hpp"

#include "tuner/cli/database.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/table_code.hpp"
#include "tuner/core/error.hpp"
#include "tuner/select/catalogue_json.hpp"
#include "tuner/select/rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <utility>

namespace tuner::cli {
namespace {

/// What the dispatcher would be served from, or what was tuned on a device; none when nothing was.
std::shared_ptr<const select::Catalogue> known_results(const CommonOptions& common,
                                                       const BenchOptions& options,
                                                       const family::Family& family,
                                                       const space::DeviceInfo& device) {
  if (!options.table.empty()) {
    return std::make_shared<const select::Catalogue>(
        select::parse_catalogue(read_table(options.table), options.table));
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
  return !kernel.backends.empty() && std::ranges::all_of(kernel.backends, space::runs_on_host);
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
std::optional<lab::SweepChoice> tuned_choice(const select::Catalogue& known,
                                             const family::Family& family,
                                             const std::string& backend, const space::Size& size) {
  const auto ranking =
      select::rank(known, {.family = family.name,
                           .kernel = std::nullopt,
                           .size = space::canonical_size(size, family.problem.dims)});
  for (const select::Selection& answer : ranking.answers) {
    if (answer.kernel == nullptr) continue;  // the library is a contender of its own
    const auto kernel =
        std::ranges::find(family.kernels, answer.kernel->hash, &family::Kernel::hash);
    if (kernel == family.kernels.end() || !kernel->runs_on(backend)) continue;
    if (auto config = config_of(answer, *kernel)) {
      return lab::SweepChoice{.kernel = &*kernel, .config = std::move(config)};
    }
  }
  return std::nullopt;
}

lab::SweepContender at_default(const family::Kernel& kernel) {
  return {.name = kernel.name,
          .choose = [&kernel](const space::Size&) { return lab::SweepChoice{.kernel = &kernel}; }};
}

/// The assignments of "BLOCK_X=16,BLOCK_Y=16" whose parameter a kernel has.
std::string assignments_of(const family::Kernel& kernel, const std::string& config) {
  std::string known;
  std::istringstream list(config);
  for (std::string one; std::getline(list, one, ',');) {
    const std::string parameter = one.substr(0, one.find('='));
    if (std::ranges::count(kernel.space->parameters, parameter, &space::Parameter::name) == 0)
      continue;
    known += (known.empty() ? "" : ",") + one;
  }
  return known;
}

lab::SweepContender at_config(const family::Kernel& kernel, const std::string& config) {
  const std::string assignments = assignments_of(kernel, config);
  if (assignments.empty()) return at_default(kernel);
  return {.name = kernel.name + " " + assignments,
          .choose = [&kernel, assignments](const space::Size&) {
            return lab::SweepChoice{.kernel = &kernel,
                                    .config = space::config_from_text(*kernel.space, assignments)};
          }};
}

/// The library of a side; none where the family has no operation of it.
std::vector<lab::SweepContender> library_of(const family::Family& family,
                                            const worker::DeviceWorker& device) {
  if (family::library_arguments(family.check) == nullptr) return {};
  return {{.name = device.environment().library}};
}

/// Adds the kernels of a side at their defaults or at each --config: those asked for, or where none
/// of its kernels is, all but the unproven ones.
template <class IsOnSide>
void add_kernels(std::vector<lab::SweepContender>& all, const BenchOptions& options,
                 const family::Family& family, const IsOnSide& is_on_side) {
  const auto is_asked_for = [&](const family::Kernel& kernel) {
    return std::ranges::count(options.kernels, kernel.name) > 0;
  };
  const bool chooses = std::ranges::any_of(family.kernels, [&](const family::Kernel& kernel) {
    return is_on_side(kernel) && is_asked_for(kernel);
  });
  for (const family::Kernel& kernel : family.kernels) {
    if (!is_on_side(kernel) || (chooses ? !is_asked_for(kernel) : !kernel.unproven.empty())) {
      continue;
    }
    if (options.configs.empty()) all.push_back(at_default(kernel));
    for (const std::string& config : options.configs) {
      auto contender = at_config(kernel, config);  // equal ones: it has none of the parameters
      if (std::ranges::count(all, contender.name, &lab::SweepContender::name) == 0)
        all.push_back(std::move(contender));
    }
  }
}

}  // namespace

bool is_timed_as_host(const BenchOptions& options, const worker::DeviceWorker& device) {
  return options.cpu && device.device().backend == "cpu";
}

void check_kernels(const BenchOptions& options, const family::Family& family) {
  for (const std::string& config : options.configs) {
    const bool is_known = std::ranges::any_of(family.kernels, [&](const family::Kernel& kernel) {
      return !assignments_of(kernel, config).empty();
    });
    if (is_known || config == "default") continue;
    throw Error(ErrorCode::usage,
                fmt::format("--config {}: no kernel of {} has such a parameter; over sizes or "
                            "kernels write BLOCK_X=16,BLOCK_Y=16 or default",
                            config, family.path));
  }
  for (const std::string& name : options.kernels) {
    if (!is_for_processors(family.kernel(name)) || options.cpu) continue;
    throw Error(ErrorCode::usage, fmt::format("--kernel {}: it is a CPU kernel; add --cpu", name));
  }
}

std::vector<lab::SweepContender> host_contenders(const BenchOptions& options,
                                                 const family::Family& family,
                                                 const worker::DeviceWorker& host) {
  auto all = library_of(family, host);
  add_kernels(all, options, family, is_for_processors);
  return all;
}

std::vector<lab::SweepContender> device_contenders(const CommonOptions& common,
                                                   const BenchOptions& options,
                                                   const family::Family& family,
                                                   const worker::DeviceWorker& device) {
  const std::string& backend = device.device().backend;
  std::vector<lab::SweepContender> all;
  if (!is_timed_as_host(options, device)) all = library_of(family, device);
  add_kernels(all, options, family, [&](const family::Kernel& kernel) {
    return kernel.runs_on(backend) && !is_for_processors(kernel);
  });
  if (!options.configs.empty()) return all;
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
