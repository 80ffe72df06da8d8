// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/select.hpp"

#include "tuner/core/error.hpp"
#include "tuner/select/catalogue.hpp"
#include "tuner/select/nearness.hpp"
#include "tuner/select/stored_space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace tuner {
namespace {

/// Kernels whose nearest entry is at most this much further away than the nearest of all compete
/// on their merits: 0.25 is 28 % in one dimension, little beside what a kernel's choice matters.
constexpr double kComparablyNear = 0.25;

/// An entry of one kernel that fits the question.
struct Candidate {
  const CatalogueKernel* kernel = nullptr;
  const Entry* entry = nullptr;
  Nearness nearness;
};

double median_ns(const Candidate& candidate) {
  return candidate.entry->stored.best.time.median_ns;
}

double throughput(const Candidate& candidate) {
  return candidate.entry->stored.best.flops / median_ns(candidate);
}

bool is_verified(const Candidate& candidate) {
  return candidate.entry->stored.best.verified;
}

/// What is to be said of an entry that was not measured here, or not alone; else empty.
std::string reservation(const Entry& entry) {
  const BestRecord& best = entry.stored.best;
  if (best.shared) return "; measured while other processes used the device";
  if (best.verified) return "";
  return fmt::format("; imported from {}, not yet verified on this machine", best.origin);
}

class Ladder {
 public:
  Ladder(const Question& question, Catalogue catalogue)
      : question_(question),
        catalogue_(std::move(catalogue)),
        asked_(asked_text(question, catalogue_)),
        explanation_(std::move(catalogue_.explanation)) {}

  [[nodiscard]] Selection climb() {
    if (auto found = at_the_size(Rung::exact)) return std::move(*found);
    if (auto found = at_the_size(Rung::stale)) return std::move(*found);
    require_size_that_fits();
    if (question_.policy == Policy::nearest) {
      if (auto found = at_the_nearest_size()) return std::move(*found);
      if (auto found = by_default()) return std::move(*found);
    }
    throw Error(ErrorCode::nothing_found,
                fmt::format("there is no configuration for {} at {} on {}:\n  {}\ntune it, or ask "
                            "with another policy",
                            question_.kernel.value_or(question_.family.value_or("")), asked_,
                            catalogue_.device.name, fmt::join(explanation_, "\n  ")));
  }

 private:
  /// The size as the kernel used last writes it.
  [[nodiscard]] static std::string asked_text(const Question& question,
                                              const Catalogue& catalogue) {
    const auto& asked = catalogue.kernels.front().asked;
    return asked ? asked->text : normalised_size(question.size);
  }

  template <class... Parts>
  void explain(Rung rung, fmt::format_string<Parts...> format, Parts&&... parts) {
    explanation_.push_back(
        fmt::format("{}: {}", name(rung), fmt::format(format, std::forward<Parts>(parts)...)));
  }

  [[nodiscard]] Selection answer(Rung rung, const Candidate& candidate) {
    const BestRecord& best = candidate.entry->stored.best;
    Selection selection{.rung = rung,
                        .device = catalogue_.device,
                        .kernel = candidate.kernel->record,
                        .dims = candidate.kernel->dims,
                        .size_text = candidate.kernel->asked->text,
                        .size = candidate.kernel->asked->numbers,
                        .config_json = best.config_json,
                        .entry = candidate.entry->stored,
                        .expected_ns = {},
                        .distance = candidate.nearness.largest,
                        .explanation = explanation_};
    if (rung != Rung::nearest) selection.expected_ns = best.time.median_ns;
    return selection;
  }

  /// The rungs exact and stale: the fastest of the kernels tuned for the very size.
  [[nodiscard]] std::optional<Selection> at_the_size(Rung rung) {
    std::vector<Candidate> candidates;
    for (const CatalogueKernel& kernel : catalogue_.kernels) {
      const auto found =
          std::find_if(kernel.entries.begin(), kernel.entries.end(), [&](const Entry& entry) {
            return kernel.asked && entry.size.text == kernel.asked->text &&
                   entry.stale == (rung == Rung::stale);
          });
      if (found == kernel.entries.end()) {
        explain(rung, "no entry of {} for {}", kernel.record.kernel, asked_);
        continue;
      }
      explain(rung, "{} takes {:.5g} us at {} ({}, {}{})", kernel.record.kernel,
              found->stored.best.time.median_ns / 1e3, asked_,
              versions(found->stored.subject.environment), found->stored.best.recorded_at,
              reservation(*found));
      candidates.push_back({.kernel = &kernel, .entry = &*found, .nearness = {}});
    }
    if (candidates.empty()) return std::nullopt;
    keep_verified(candidates);
    const Candidate& best = *std::min_element(
        candidates.begin(), candidates.end(),
        [](const Candidate& a, const Candidate& b) { return median_ns(a) < median_ns(b); });
    explain(rung, "{} is taken{}{}", best.kernel->record.kernel,
            candidates.size() > 1 ? ", the fastest" : "",
            rung == Rung::stale ? fmt::format("; in use now: {}", versions(catalogue_.environment))
                                : "");
    return answer(rung, best);
  }

  /// Of entries on one rung, those that were proved right here, if there are such.
  static void keep_verified(std::vector<Candidate>& candidates) {
    if (std::any_of(candidates.begin(), candidates.end(), is_verified)) {
      std::erase_if(candidates, std::not_fn(is_verified));
    }
  }

  [[nodiscard]] std::optional<Selection> at_the_nearest_size() {
    std::vector<Candidate> candidates;
    for (const CatalogueKernel& kernel : catalogue_.kernels) {
      if (auto found = nearest_valid(kernel)) candidates.push_back(std::move(*found));
    }
    if (candidates.empty()) return std::nullopt;
    keep_verified(candidates);
    const Candidate& best = best_of(std::move(candidates));
    explain(Rung::nearest, "{} at {} is taken{}", best.kernel->record.kernel,
            best.entry->stored.best.problem, reservation(*best.entry));
    return answer(Rung::nearest, best);
  }

  /// The nearest entry of a kernel whose configuration is valid at the asked size; a verified one
  /// before all others.
  [[nodiscard]] std::optional<Candidate> nearest_valid(const CatalogueKernel& kernel) {
    if (!kernel.dims) {
      explain(Rung::nearest, "{} was imported without its space file, so no other size will do",
              kernel.record.kernel);
      return std::nullopt;
    }
    if (!kernel.asked) {
      explain(Rung::nearest, "{} has no such size in the version used last", kernel.record.kernel);
      return std::nullopt;
    }
    std::vector<Candidate> candidates = entries_of_the_kind(kernel);
    if (candidates.empty()) {
      explain(Rung::nearest, "no entry of {} on this device{}", kernel.record.kernel,
              kernel.entries.empty() ? "" : " for this kind of problem");
      return std::nullopt;
    }
    std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
      if (is_verified(a) != is_verified(b)) return is_verified(a);
      return a.nearness < b.nearness;
    });
    const Space space =
        stored_space(kernel.record, catalogue_.device.attributes, kernel.asked->numbers);
    for (Candidate& candidate : candidates) {
      const BestRecord& best = candidate.entry->stored.best;
      const auto rejected = why_invalid(space, best.config_json);
      explain(Rung::nearest, "{} at {}, {:.3g} times off: {}", kernel.record.kernel, best.problem,
              std::exp(candidate.nearness.largest), rejected ? *rejected : "valid here");
      if (!rejected) return std::move(candidate);
    }
    return std::nullopt;
  }

  [[nodiscard]] static std::vector<Candidate> entries_of_the_kind(const CatalogueKernel& kernel) {
    std::vector<Candidate> candidates;
    for (const Entry& entry : kernel.entries) {
      auto distance = nearness(kernel.asked->numbers, entry.size.numbers, *kernel.dims);
      if (distance) candidates.push_back({&kernel, &entry, *std::move(distance)});
    }
    return candidates;
  }

  /// Why a stored configuration cannot be used in a space; none when it can.
  [[nodiscard]] static std::optional<std::string> why_invalid(const Space& space,
                                                              const std::string& config_json) {
    try {
      const auto violation = space.violation(config_from_json(space.definition(), config_json));
      if (!violation) return std::nullopt;
      return "rejected: " + violation->message;
    } catch (const Error& error) {  // the space no longer has one of its parameters or values
      return fmt::format("rejected: {}", error.what());
    }
  }

  /// Of the kernels that are comparably near, the one that does best beside the library; where one
  /// of them was not compared with it, the one with the highest throughput.
  [[nodiscard]] Candidate best_of(std::vector<Candidate> candidates) {
    const auto nearest = std::min_element(
        candidates.begin(), candidates.end(),
        [](const Candidate& a, const Candidate& b) { return a.nearness < b.nearness; });
    const double limit = nearest->nearness.largest + kComparablyNear;
    std::erase_if(candidates, [&](const Candidate& it) { return it.nearness.largest > limit; });
    if (candidates.size() == 1) return std::move(candidates.front());
    const auto ratio = [](const Candidate& it) { return it.entry->stored.best.ratio_to_library; };
    const bool compared = std::all_of(candidates.begin(), candidates.end(), ratio);
    const auto merit = [&](const Candidate& it) { return compared ? *ratio(it) : throughput(it); };
    explain(Rung::nearest, "of {} kernels the one with the best {} wins", candidates.size(),
            compared ? "ratio to the library" : "throughput");
    return *std::max_element(
        candidates.begin(), candidates.end(),
        [&](const Candidate& a, const Candidate& b) { return merit(a) < merit(b); });
  }

  /// The first kernel in the space file whose default is valid at the size.
  [[nodiscard]] std::optional<Selection> by_default() {
    const CatalogueKernel* const known = first_with_space();
    if (known == nullptr) return std::nullopt;
    for (const std::string& kernel_name : stored_kernel_names(known->record)) {
      const auto kernel =
          std::find_if(catalogue_.kernels.begin(), catalogue_.kernels.end(),
                       [&](const CatalogueKernel& it) { return it.record.kernel == kernel_name; });
      if (kernel == catalogue_.kernels.end() || !kernel->dims || !kernel->asked) continue;
      const Space space =
          stored_space(kernel->record, catalogue_.device.attributes, kernel->asked->numbers);
      const Config config = space.default_config();
      if (const auto violation = space.violation(config)) {
        explain(Rung::default_config, "of {}: rejected: {}", kernel_name, violation->message);
        continue;
      }
      explain(Rung::default_config, "of {}: taken; it was not tuned for", kernel_name);
      return Selection{.rung = Rung::default_config,
                       .device = catalogue_.device,
                       .kernel = kernel->record,
                       .dims = kernel->dims,
                       .size_text = kernel->asked->text,
                       .size = kernel->asked->numbers,
                       .config_json = canonical_json(space.definition(), config),
                       .entry = {},
                       .expected_ns = {},
                       .explanation = explanation_};
    }
    return std::nullopt;
  }

  [[nodiscard]] const CatalogueKernel* first_with_space() const {
    const auto found = std::find_if(catalogue_.kernels.begin(), catalogue_.kernels.end(),
                                    [](const CatalogueKernel& it) { return it.dims.has_value(); });
    return found == catalogue_.kernels.end() ? nullptr : &*found;
  }

  void require_size_that_fits() const {
    const CatalogueKernel* const known = first_with_space();
    if (known == nullptr || known->asked) return;
    static_cast<void>(
        parse_size(question_.size, *known->dims));  // throws: it is none of this kernel
  }

  const Question& question_;
  Catalogue catalogue_;
  std::string asked_;
  std::vector<std::string> explanation_;
};

}  // namespace

std::string_view name(Rung rung) {
  switch (rung) {
    case Rung::exact:
      return "exact";
    case Rung::stale:
      return "stale";
    case Rung::nearest:
      return "nearest";
    case Rung::default_config:
      return "default";
  }
  return "unknown";
}

Selection select_configuration(const Store& store, const Question& question) {
  return Ladder(question, catalogue(store, question)).climb();
}

}  // namespace tuner
