// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/merged_catalogue.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tuner::select {
namespace {

/// Adds what one catalogue knows of a kernel to what another one knows of the same source.
class KernelMerge {
 public:
  KernelMerge(CatalogueKernel& base, const CatalogueKernel& added) : base_(base), added_(added) {}

  void merge(const space::DeviceAttributes& device) {
    agree_on_space();
    for (const KnownSize& size : added_.sizes) size_places_.push_back(place_of(size));
    for (const KnownConfig& config : added_.configs) config_places_.push_back(place_of(config));
    for (const Entry& entry : added_.entries) add(entry);
    if (base_.model != nullptr || added_.model != nullptr) fit_model(base_, device);
  }

 private:
  std::size_t place_of(const KnownSize& size) {
    auto found = std::ranges::find(base_.sizes, size.text, &KnownSize::text);
    if (found == base_.sizes.end()) found = base_.sizes.insert(found, size);
    return static_cast<std::size_t>(found - base_.sizes.begin());
  }

  /// One source may have been tuned in several spaces, in which values have different places. The
  /// space that has more of the configurations is kept; where both have as many, the added one.
  void agree_on_space() {
    if (base_.record->space_text == added_.record->space_text) return;
    if (configurations_in(base_) <= configurations_in(added_)) {
      base_.record = added_.record;
      base_.stored = added_.stored;
    }
    for (KnownConfig& config : base_.configs) {
      KnownConfig read = known_config(config.json, base_);
      config.config = std::move(read.config);
      config.refusal = std::move(read.refusal);
    }
  }

  /// How many configurations of both kernels the space of `kernel` has.
  [[nodiscard]] std::ptrdiff_t configurations_in(const CatalogueKernel& kernel) const {
    const auto has = [&](const KnownConfig& it) {
      return known_config(it.json, kernel).config.has_value();
    };
    return std::ranges::count_if(base_.configs, has) + std::ranges::count_if(added_.configs, has);
  }

  std::size_t place_of(const KnownConfig& config) {
    auto found = std::ranges::find(base_.configs, config.json, &KnownConfig::json);
    if (found == base_.configs.end()) {
      found = base_.configs.insert(found, known_config(config.json, base_));
    }
    add(config, *found);
    return static_cast<std::size_t>(found - base_.configs.begin());
  }

  /// Behind the sizes, whose places must be known.
  void add(const KnownConfig& config, KnownConfig& known) const {
    known.verified |= config.verified;
    if (known.refutation.empty()) known.refutation = config.refutation;
    for (const FailedTrial& it : config.failed) {
      const bool is_there = std::ranges::any_of(
          known.failed, [&](const FailedTrial& other) { return other.size == it.size; });
      if (!is_there) known.failed.push_back(it);
    }
    for (Timing timing : config.timings) {
      timing.size = size_places_[timing.size];
      const auto there = std::ranges::find(known.timings, timing.size, &Timing::size);
      if (there == known.timings.end()) {
        known.timings.push_back(timing);
      } else if (timing.ns < there->ns) {
        *there = timing;
      }
    }
  }

  void add(Entry entry) {
    entry.config = config_places_[entry.config];
    const auto there = std::ranges::find(base_.entries, entry.size.text, [](const Entry& it) {
      return std::string_view(it.size.text);
    });
    if (there == base_.entries.end()) {
      base_.entries.push_back(std::move(entry));
      return;
    }
    const store::BestRecord* const both[] = {&there->best, &entry.best};
    if (store::fastest_first(both).front() == 1) *there = std::move(entry);
  }

  CatalogueKernel& base_;
  const CatalogueKernel& added_;
  std::vector<std::size_t> size_places_, config_places_;  // in the base, of what is added
};

/// The newer of two portfolios for the same types, with the members and sizes that only the other
/// has where the same code was timed with the same versions.
store::PortfolioRecord merged(store::PortfolioRecord newer, const store::PortfolioRecord& older,
                              const std::vector<CatalogueKernel>& kernels) {
  const auto is_same_code = [&](const store::PortfolioMember& it) {
    return std::ranges::any_of(kernels, [&](const CatalogueKernel& kernel) {
      return kernel.record->family == newer.family && kernel.record->kernel == it.kernel &&
             kernel.record->hash == it.kernel_hash;
    });
  };
  if (!same_versions(newer.environment, older.environment) ||
      !std::ranges::all_of(older.members, is_same_code)) {
    return newer;
  }
  for (const store::PortfolioMember& it : older.members) {
    if (std::ranges::count(newer.members, it) == 0) newer.members.push_back(it);
  }
  std::set<std::string> sizes;
  for (const store::PortfolioSize& it : newer.sizes) sizes.insert(it.problem);
  for (const store::PortfolioSize& it : older.sizes) {
    if (sizes.insert(it.problem).second) newer.sizes.push_back(it);
  }
  return newer;
}

void add(Catalogue& base, const store::PortfolioRecord& added) {
  const auto there = std::ranges::find_if(base.portfolios, [&](const auto& it) {
    return it.family == added.family && it.types == added.types;
  });
  if (there == base.portfolios.end()) {
    base.portfolios.push_back(added);
  } else if (there->recorded_at < added.recorded_at) {
    *there = merged(added, *there, base.kernels);
  } else {
    *there = merged(*there, added, base.kernels);
  }
}

}  // namespace

MergedCatalogue merged_catalogue(Catalogue base, const Catalogue& added) {
  if (base.device.backend != added.device.backend || base.device.name != added.device.name) {
    throw Error(ErrorCode::usage,
                fmt::format("one table is of {} ({}), another of {} ({}): merge tables of one "
                            "device model",
                            base.device.name, base.device.backend, added.device.name,
                            added.device.backend));
  }
  if (base.device.architecture != added.device.architecture) {
    throw Error(ErrorCode::usage,
                fmt::format("one table of {} is of {}, another of {}: a model has one architecture",
                            base.device.name, base.device.architecture, added.device.architecture));
  }
  std::vector<std::string> replaced;
  for (const CatalogueKernel& kernel : added.kernels) {
    const auto there = std::ranges::find_if(base.kernels, [&](const CatalogueKernel& it) {
      return it.record->family == kernel.record->family &&
             it.record->kernel == kernel.record->kernel;
    });
    if (there == base.kernels.end()) {
      base.kernels.push_back(kernel);
    } else if (there->record->hash == kernel.record->hash) {
      KernelMerge(*there, kernel).merge(base.device.attributes);
    } else {
      replaced.push_back(
          fmt::format("{} has another source in a later table: {} of the earlier one left out",
                      kernel.record->kernel, quantity::count(there->entries.size(), "tuned size")));
      *there = kernel;
    }
  }
  for (const store::PortfolioRecord& portfolio : added.portfolios) add(base, portfolio);
  return {std::move(base), std::move(replaced)};
}

}  // namespace tuner::select
