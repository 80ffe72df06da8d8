// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/catalogue.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/quantile.hpp"
#include "tuner/core/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <set>
#include <utility>

namespace tuner::select {
namespace {

/// The identity under which the database keeps a device.
bool same_model(const space::DeviceInfo& a, const space::DeviceInfo& b) {
  return a.backend == b.backend && a.name == b.name && a.architecture == b.architecture &&
         a.attributes.sm_count == b.attributes.sm_count;
}

/// What decides how a kernel is compiled and run; the library and this program do not.
bool same_versions(const space::EnvironmentInfo& a, const space::EnvironmentInfo& b) {
  return a.driver == b.driver && a.compiler == b.compiler;
}

[[noreturn]] void fail_unknown(const store::Store& store, std::string_view what,
                               const std::string& name, const std::set<std::string>& known) {
  const std::vector<std::string> names(known.begin(), known.end());
  throw Error(ErrorCode::nothing_found,
              fmt::format("{}: there are no results of {} '{}'{}: run `tune` on it first",
                          store.path().string(), what, name, did_you_mean(name, names)));
}

space::DeviceInfo choose_device(const store::Store& store, const CatalogueQuery& query,
                                Catalogue& catalogue) {
  const std::vector<space::DeviceInfo> devices = store.devices();
  if (devices.empty()) {
    throw Error(
        ErrorCode::nothing_found,
        fmt::format("{}: the database holds no results: run `tune` first", store.path().string()));
  }
  if (!query.device) {
    const char* why = devices.size() == 1 ? "the only one in the database" : "the one used last";
    catalogue.explanation.push_back(fmt::format("device: {}, {}", devices[0].name, why));
    return devices[0];
  }
  const auto named = [&](const space::DeviceInfo& device) { return device.name == *query.device; };
  const auto found = std::find_if(devices.begin(), devices.end(), named);
  if (found == devices.end()) {
    std::set<std::string> known;
    for (const space::DeviceInfo& device : devices) known.insert(device.name);
    fail_unknown(store, "device", *query.device, known);
  }
  catalogue.explanation.push_back(fmt::format("device: {}, as requested", found->name));
  if (std::count_if(devices.begin(), devices.end(), named) > 1) {
    catalogue.explanation.push_back(
        fmt::format("device: of several models of this name the one used last ({}, {} "
                    "multiprocessors)",
                    found->architecture, found->attributes.sm_count));
  }
  return *found;
}

[[noreturn]] void fail_no_kernel(const store::Store& store, const CatalogueQuery& query) {
  std::set<std::string> families;
  std::set<std::string> kernels;
  for (const store::KernelRecord& kernel : store.kernels({})) {
    families.insert(kernel.family);
    if (!query.family || kernel.family == *query.family) kernels.insert(kernel.kernel);
  }
  if (query.family && !families.contains(*query.family)) {
    fail_unknown(store, "family", *query.family, families);
  }
  fail_unknown(store, "kernel", query.kernel.value_or(""), kernels);
}

/// The families that have a result of the kernel, on any device.
std::set<std::string> families_with_results(const store::Store& store, const std::string& kernel) {
  std::set<std::string> families;
  for (const store::StoredBest& stored : store.bests({.kernel = kernel})) {
    families.insert(stored.subject->kernel.family);
  }
  return families;
}

/// Each kernel asked for, in the version used last.
std::vector<CatalogueKernel> choose_kernels(const store::Store& store,
                                            const CatalogueQuery& query) {
  std::vector<CatalogueKernel> kernels;
  std::set<std::pair<std::string, std::string>> seen;
  std::set<std::string> families;
  for (store::KernelRecord& record :
       store.kernels({.family = query.family, .kernel = query.kernel})) {
    families.insert(record.family);
    if (!seen.emplace(record.family, record.kernel).second) continue;
    CatalogueKernel& kernel = kernels.emplace_back();
    kernel.stored = ranked_kernel(record);
    kernel.record = std::make_shared<const store::KernelRecord>(std::move(record));
  }
  if (kernels.empty() && (query.kernel || query.family)) fail_no_kernel(store, query);
  if (query.kernel && families.size() > 1) {
    const std::set<std::string> measured = families_with_results(store, *query.kernel);
    if (measured.size() != 1) {
      throw Error(ErrorCode::usage,
                  fmt::format("kernel '{}' is in the families {} and {}: say which with --family",
                              *query.kernel, *families.begin(), *std::next(families.begin())));
    }
    std::erase_if(kernels,
                  [&](const CatalogueKernel& it) { return !measured.contains(it.record->family); });
  }
  return kernels;
}

/// Whether an entry takes the place of a newer one of the same size.
bool outranks(const Entry& entry, const Entry& newer) {
  if (entry.stale != newer.stale) return !entry.stale;
  return entry.best.verified && !newer.best.verified;
}

/// Collects the entries of one kernel, which come newest first.
class EntryCollector {
 public:
  explicit EntryCollector(CatalogueKernel& kernel) : kernel_(kernel) {}

  /// Takes an entry unless the one of the same size that is there is better.
  void add(Entry entry) {
    const auto [at, added] = by_size_.try_emplace(entry.size.text, kernel_.entries.size());
    if (added) {
      kernel_.entries.push_back(std::move(entry));
    } else if (outranks(entry, kernel_.entries[at->second])) {
      kernel_.entries[at->second] = std::move(entry);
    }
  }

 private:
  CatalogueKernel& kernel_;
  std::map<std::string, std::size_t> by_size_;
};

/// Times back to back, also of what was only timed in single launches: these take longer by a
/// nearly constant time, which events and the way to the device add.
class SeriesTimes {
 public:
  explicit SeriesTimes(const std::vector<store::StoredTrial>& trials) {
    std::vector<double> beyond_ns;
    for (const store::StoredTrial& it : trials) {
      if (!it.trial.time || !it.trial.series_ns) continue;
      shortest_ns_ = std::min(shortest_ns_.value_or(*it.trial.series_ns), *it.trial.series_ns);
      if (*it.trial.series_ns > kShort_ns) continue;
      beyond_ns.push_back(it.trial.time->median_ns - *it.trial.series_ns);
    }
    single_launch_ns_ = std::max(0.0, quantile(beyond_ns, 0.5).value_or(0));
  }

  /// Never less than the shortest that was timed so.
  [[nodiscard]] double of(double single_ns, const std::optional<double>& series_ns) const {
    if (series_ns) return *series_ns;
    return std::max(single_ns - single_launch_ns_,
                    std::min(single_ns, shortest_ns_.value_or(single_ns)));
  }

 private:
  static constexpr double kShort_ns = 20'000;  // of longer ones the clock decides, too

  double single_launch_ns_ = 0;
  std::optional<double> shortest_ns_;
};

/// Collects what is known of one kernel's configurations: the times that its cost model is fitted
/// to, of those that were best somewhere or were timed at several sizes, and where they failed.
class ConfigCollector {
 public:
  explicit ConfigCollector(CatalogueKernel& kernel) : kernel_(kernel) {}

  void add_entries(const SeriesTimes& series) {
    for (Entry& entry : kernel_.entries) {
      entry.config = config_index(entry.best.config_json);
      add(entry.best.config_json, entry.size.text, entry.size.numbers,
          {.ns = series.of(entry.best.time.median_ns, entry.best.sustained_ns)});
      if (entry.best.verified) kernel_.configs[entry.config].verified = true;
    }
  }

  /// Adds configurations that are members of a portfolio, at whatever sizes they were timed.
  void add_members(const std::vector<store::PortfolioRecord>& portfolios) {
    for (const store::PortfolioRecord& portfolio : portfolios) {
      if (portfolio.family != kernel_.record->family) continue;
      for (const store::PortfolioMember& member : portfolio.members) {
        if (member.kernel == kernel_.record->kernel) config_index(member.config_json);
      }
    }
  }

  /// Of the members, where they have times.
  void add_imbalances(const std::vector<store::PortfolioRecord>& portfolios,
                      const space::DeviceAttributes& device) {
    if (!kernel_.stored) return;
    std::vector<std::optional<space::BoundDefinition>> at_sizes(kernel_.sizes.size());
    for (KnownConfig& config : kernel_.configs) {
      if (!config.config || !is_member(portfolios, *kernel_.record, config.json)) continue;
      for (Timing& timing : config.timings) {
        auto& at = at_sizes[timing.size];
        if (!at) at = kernel_.stored->at(device, kernel_.sizes[timing.size].numbers);
        timing.imbalance = launch_imbalance(*kernel_.stored, device, *at, *config.config);
      }
    }
  }

  void add_trials(const std::vector<store::StoredTrial>& trials, const SeriesTimes& series) {
    std::map<std::string_view, std::set<std::string_view>> sizes;
    for (const store::StoredTrial& it : trials) {
      if (it.trial.time) sizes[it.trial.config_json].insert(it.trial.problem);
    }
    for (const store::StoredTrial& it : trials) {
      const bool known = configs_.contains(it.trial.config_json);
      if (!it.trial.time) continue;
      if (!known && sizes[it.trial.config_json].size() < kManySizes) continue;
      if (const auto size = known_size(it.trial.problem, kernel_)) {
        add(it.trial.config_json, size->text, size->numbers,
            {.ns = series.of(it.trial.time->median_ns, it.trial.series_ns),
             .registers = it.trial.registers,
             .cold_ns = it.trial.time->median_ns});
        config_of(it.trial.config_json).verified = true;
      }
    }
  }

  /// Of what can answer: the configurations that were timed, and the default, which must not have
  /// crashed or hung anywhere: nothing else speaks for it.
  void add_failures(const std::vector<store::StoredTrial>& trials,
                    const space::DeviceAttributes& device) {
    using LastOutcomes = std::map<std::string, Outcome>;  // by configuration
    std::map<std::string, LastOutcomes> by_size;
    for (const store::StoredTrial& it : trials) {
      by_size[it.trial.problem][it.trial.config_json] = it.trial.outcome;
    }
    const auto is_right = [](Outcome outcome) {
      return outcome == Outcome::ok || outcome == Outcome::unstable;
    };
    for (const auto& [problem, outcomes] : by_size) {
      if (std::ranges::all_of(outcomes | std::views::values, is_right)) continue;
      const auto size = known_size(problem, kernel_);
      if (!size) continue;
      const std::string by_default = default_json(*size, device);
      for (const auto& [json, outcome] : outcomes) {
        const bool is_timed = configs_.contains(json) && !config_of(json).timings.empty();
        if (is_right(outcome) || (!is_timed && json != by_default)) continue;
        KnownConfig& config = config_of(json);
        if (is_refutation(outcome) || (!is_timed && is_dangerous(outcome))) {
          config.refutation = fmt::format("its trial at {} ended as {}", size->text, name(outcome));
        } else {
          config.failed.push_back({.size = size->text, .outcome = outcome});
        }
      }
    }
  }

 private:
  static constexpr std::size_t kManySizes = 4;

  [[nodiscard]] static bool is_dangerous(Outcome outcome) {
    return outcome == Outcome::crashed || outcome == Outcome::timeout ||
           outcome == Outcome::quarantined;
  }

  /// Empty where the kernel came without its space file.
  [[nodiscard]] std::string default_json(const KnownSize& size,
                                         const space::DeviceAttributes& device) const {
    if (!kernel_.stored) return {};
    return space::canonical_json(kernel_.stored->definition(),
                                 kernel_.stored->at(device, size.numbers).default_config());
  }

  std::size_t config_index(const std::string& json) {
    const auto [at, added] = configs_.try_emplace(json, kernel_.configs.size());
    if (added) kernel_.configs.push_back(known_config(json, kernel_));
    return at->second;
  }

  KnownConfig& config_of(const std::string& json) { return kernel_.configs[config_index(json)]; }

  /// A trial takes the place of an entry: beside other trials, its time is the comparable one.
  void add(const std::string& json, const std::string& size, const space::Size& numbers,
           Timing timing) {
    KnownConfig& config = config_of(json);
    const auto [at, added] = sizes_.try_emplace(size, kernel_.sizes.size());
    if (added) kernel_.sizes.push_back({.text = size, .numbers = numbers});
    timing.size = at->second;
    const auto found = std::ranges::find(config.timings, timing.size, &Timing::size);
    if (found == config.timings.end()) {
      config.timings.push_back(timing);
    } else {
      *found = timing;
    }
  }

  CatalogueKernel& kernel_;
  std::map<std::string, std::size_t> configs_;
  std::map<std::string, std::size_t> sizes_;
};

/// The portfolios of the device, with the members that kernels of the catalogue have. A kernel that
/// has changed since has none.
std::vector<store::PortfolioRecord> portfolios_of(const store::Store& store,
                                                  const Catalogue& catalogue) {
  std::vector<store::PortfolioRecord> portfolios = store.portfolios(catalogue.device);
  for (store::PortfolioRecord& portfolio : portfolios) {
    std::erase_if(portfolio.members, [&](const store::PortfolioMember& member) {
      return std::ranges::none_of(catalogue.kernels, [&](const CatalogueKernel& it) {
        return it.record->family == portfolio.family && it.record->kernel == member.kernel &&
               it.record->hash == member.kernel_hash;
      });
    });
  }
  std::erase_if(portfolios, [](const auto& portfolio) { return portfolio.members.empty(); });
  return portfolios;
}

/// Of the newest result of this machine; without one, of the newest; unset without any.
space::EnvironmentInfo environment_in_use(const std::vector<store::StoredBest>& bests) {
  if (bests.empty()) return {};
  const auto own = std::find_if(bests.begin(), bests.end(),
                                [](const store::StoredBest& it) { return it.best.verified; });
  return (own == bests.end() ? bests.front() : *own).subject->environment;
}

void add_entries(Catalogue& catalogue, CatalogueKernel& kernel,
                 const std::vector<store::StoredBest>& bests) {
  EntryCollector collector(kernel);
  std::size_t outdated = 0;
  for (const store::StoredBest& stored : bests) {
    const store::KernelRecord& record = stored.subject->kernel;
    if (record.family != kernel.record->family || record.kernel != kernel.record->kernel) continue;
    auto size = known_size(stored.best.problem, kernel);
    if (record.hash != kernel.record->hash || !size) {
      ++outdated;
      continue;
    }
    collector.add({.best = stored.best,
                   .environment = stored.subject->environment,
                   .size = *std::move(size),
                   .stale = !same_versions(stored.subject->environment, catalogue.environment)});
  }
  if (outdated == 0) return;
  catalogue.explanation.push_back(
      fmt::format("kernel: {} {}; its entries from before ({}) are not used", kernel.record->kernel,
                  kChangedSince, outdated));
}

/// The trials of the kernel's current version on this device.
std::vector<store::StoredTrial> trials_of(const store::Store& store, const Catalogue& catalogue,
                                          const CatalogueKernel& kernel) {
  std::vector<store::StoredTrial> trials;
  std::vector<store::RunRecord> runs = store.runs();
  std::ranges::reverse(runs);  // the latest time counts
  for (const store::RunRecord& run : runs) {
    if (run.kernel_hash != kernel.record->hash || run.kernel != kernel.record->kernel ||
        run.family != kernel.record->family || run.device != catalogue.device.name) {
      continue;
    }
    std::ranges::move(store.trials(run.id), std::back_inserter(trials));
  }
  return trials;
}

}  // namespace

bool is_member(const store::PortfolioRecord& portfolio, const store::KernelRecord& kernel,
               std::string_view config_json) {
  return portfolio.family == kernel.family &&
         std::ranges::any_of(portfolio.members, [&](const store::PortfolioMember& member) {
           return member.kernel == kernel.kernel && member.config_json == config_json;
         });
}

bool is_member(const std::vector<store::PortfolioRecord>& portfolios,
               const store::KernelRecord& kernel, std::string_view config_json) {
  return std::ranges::any_of(portfolios,
                             [&](const auto& it) { return is_member(it, kernel, config_json); });
}

void fit_model(CatalogueKernel& kernel, const space::DeviceAttributes& device) {
  if (!kernel.stored) return;
  kernel.model = CostModel::fit(*kernel.stored, device, kernel.sizes, kernel.configs);
}

std::optional<KnownSize> known_size(const std::string& text, const CatalogueKernel& kernel) {
  if (!kernel.stored) return KnownSize{.text = text, .numbers = {}};
  auto numbers = space::stored_size(text, kernel.stored->dims());
  if (!numbers) return std::nullopt;
  return KnownSize{.text = space::canonical_size(*numbers, kernel.stored->dims()),
                   .numbers = *std::move(numbers)};
}

KnownConfig known_config(const std::string& json, const CatalogueKernel& kernel) {
  if (!kernel.stored) return {.json = json, .config = {}, .refusal = "it has no space file"};
  try {
    return {.json = json,
            .config = space::config_from_json(kernel.stored->definition(), json),
            .refusal = {}};
  } catch (const Error& error) {  // the space no longer has one of its parameters or values
    return {.json = json, .config = {}, .refusal = error.what()};
  }
}

std::string versions(const space::EnvironmentInfo& environment) {
  if (environment.driver.empty()) return environment.compiler;
  return fmt::format("driver {}, {}", environment.driver, environment.compiler);
}

Catalogue in_environment(Catalogue catalogue, const space::EnvironmentInfo& environment) {
  catalogue.environment = environment;
  for (CatalogueKernel& kernel : catalogue.kernels) {
    for (Entry& entry : kernel.entries) {
      entry.stale = !same_versions(entry.environment, environment);
    }
  }
  return catalogue;
}

Catalogue catalogue(const store::Store& store, const CatalogueQuery& query) {
  Catalogue result;
  result.kernels = choose_kernels(store, query);
  result.device = choose_device(store, query, result);
  std::vector<store::StoredBest> bests = store.bests({.device = result.device.name});
  std::erase_if(bests, [&](const store::StoredBest& stored) {
    return !same_model(stored.subject->device, result.device);
  });
  result.portfolios = portfolios_of(store, result);
  result.environment = query.environment ? *query.environment : environment_in_use(bests);
  if (bests.empty() && !query.environment && !result.portfolios.empty()) {
    result.environment = result.portfolios.front().environment;
  }
  for (CatalogueKernel& kernel : result.kernels) {
    add_entries(result, kernel, bests);
    ConfigCollector collector(kernel);
    const std::vector<store::StoredTrial> trials = trials_of(store, result, kernel);
    const SeriesTimes series(trials);
    collector.add_entries(series);
    collector.add_members(result.portfolios);
    collector.add_trials(trials, series);
    collector.add_imbalances(result.portfolios, result.device.attributes);
    collector.add_failures(trials, result.device.attributes);
    fit_model(kernel, result.device.attributes);
  }
  return result;
}

}  // namespace tuner::select
