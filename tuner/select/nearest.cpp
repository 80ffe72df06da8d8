// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/nearest.hpp"

#include "tuner/select/modelled.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace tuner::select {
namespace {

/// Kernels whose nearest entry is at most this much further away than the nearest of all compete
/// on their merits: 0.25 is 28 % in one dimension, little beside what a kernel's choice matters.
constexpr double kComparablyNear = 0.25;

class Search {
 public:
  Search(const std::vector<AskedKernel>& asked, const space::DeviceAttributes& device)
      : asked_(asked), device_(device) {}

  [[nodiscard]] Nearest run() && {
    std::vector<NearCandidate> firsts;
    for (const AskedKernel& asked : asked_) {
      std::vector<NearCandidate> valid = valid_candidates(asked);
      if (valid.empty()) continue;
      firsts.push_back(valid.front());
      std::ranges::move(valid, std::back_inserter(result_.candidates));
    }
    if (firsts.empty()) return std::move(result_);
    std::ranges::stable_sort(result_.candidates, before);
    const Entry* const best = best_of(std::move(firsts));
    const auto found = std::ranges::find(result_.candidates, best, &NearCandidate::entry);
    std::rotate(result_.candidates.begin(), found, std::next(found));
    return std::move(result_);
  }

 private:
  template <class... Parts>
  void explain(fmt::format_string<Parts...> format, Parts&&... parts) {
    result_.explanation.push_back(fmt::format(format, std::forward<Parts>(parts)...));
  }

  [[nodiscard]] static bool before(const NearCandidate& a, const NearCandidate& b) {
    return a.nearness < b.nearness;
  }

  /// The entries of a kernel whose configuration is valid at the asked size, in order.
  [[nodiscard]] std::vector<NearCandidate> valid_candidates(const AskedKernel& asked) {
    const std::string& name = asked.kernel->record->kernel;
    if (!asked.kernel->stored) {
      explain("{} was imported without its space file, so it answers for its own size only", name);
      return {};
    }
    if (!asked.size) {
      explain("{} has no such size in the version used last", name);
      return {};
    }
    std::vector<NearCandidate> candidates = entries_of_the_kind(asked);
    if (candidates.empty()) {
      explain("no result of {} on this device{}", name,
              asked.kernel->entries.empty() ? "" : " for this kind of problem");
      return {};
    }
    std::ranges::sort(candidates, before);
    const space::BoundDefinition kernel = asked.kernel->stored->at(device_, asked.size->numbers);
    std::vector<NearCandidate> valid;
    for (NearCandidate& candidate : candidates) {
      const KnownConfig& known = asked.kernel->configs[candidate.entry->config];
      const auto rejected = why_rejected(*asked.kernel->stored, kernel, asked.size->text, known);
      if (valid.empty()) {
        explain("{} at {}, at a distance of ×{:.3g}: {}", name, candidate.entry->best.problem,
                std::exp(candidate.nearness.largest),
                rejected ? "rejected: " + *rejected : "valid here");
      }
      if (!rejected) valid.push_back(std::move(candidate));
    }
    return valid;
  }

  [[nodiscard]] static std::vector<NearCandidate> entries_of_the_kind(const AskedKernel& asked) {
    std::vector<NearCandidate> candidates;
    for (const Entry& entry : asked.kernel->entries) {
      if (entry.size.text == asked.size->text) continue;
      auto distance =
          nearness(asked.size->numbers, entry.size.numbers, asked.kernel->stored->dims());
      if (distance) candidates.push_back({&asked, entry.config, &entry, *std::move(distance)});
    }
    return candidates;
  }

  /// Of the kernels that are comparably near, the one that does best beside the library; where one
  /// of them was not compared with it, the one with the highest throughput.
  [[nodiscard]] const Entry* best_of(std::vector<NearCandidate> firsts) {
    const auto first = std::ranges::min_element(firsts, before);
    const double limit = first->nearness.largest + kComparablyNear;
    std::erase_if(firsts, [&](const NearCandidate& it) { return it.nearness.largest > limit; });
    if (firsts.size() == 1) return firsts.front().entry;
    const bool compared = std::ranges::all_of(firsts, [](const NearCandidate& it) {
      return it.entry->best.ratio_to_library.has_value();
    });
    explain("of {} kernels the one with the best {} is chosen", firsts.size(),
            compared ? "ratio to the library" : "throughput");
    return std::ranges::max_element(firsts, {},
                                    [&](const NearCandidate& it) {
                                      const store::BestRecord& best = it.entry->best;
                                      return compared ? *best.ratio_to_library
                                                      : best.flops / best.time.median_ns;
                                    })
        ->entry;
  }

  const std::vector<AskedKernel>& asked_;
  const space::DeviceAttributes& device_;
  Nearest result_;
};

}  // namespace

std::optional<std::string> why_rejected(const RankedKernel& kernel,
                                        const space::BoundDefinition& at, const std::string& size,
                                        const KnownConfig& config) {
  if (!config.refutation.empty()) return config.refutation;
  const auto failed = std::ranges::find(config.failed, size, &FailedTrial::size);
  if (failed != config.failed.end()) {
    return fmt::format("its trial at {} ended as {}", size, name(failed->outcome));
  }
  if (!config.config) return config.refusal;
  return why_invalid(kernel, at, *config.config);
}

Nearest nearest_candidates(const std::vector<AskedKernel>& asked,
                           const space::DeviceAttributes& device) {
  auto modelled = modelled_candidates(asked, device);
  return modelled ? *std::move(modelled) : Search(asked, device).run();
}

}  // namespace tuner::select
