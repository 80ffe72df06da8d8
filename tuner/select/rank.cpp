// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/rank.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/select/nearest.hpp"
#include "tuner/select/portfolio_candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace tuner::select {
namespace {

/// A kernel is taken before the library where its expected gain exceeds so many standard errors of
/// the gain (docs/reference/selection.md).
constexpr double kErrorsOfGain = 1.1;
/// Of ln time, one standard deviation: how well the result of the nearest size does at another one,
/// where too little was timed for a cost model. Among hundreds of tuned sizes it is 0.2
/// (selection_benchmark); among a few the nearest is further, so more is assumed.
constexpr double kErrorWithoutModel = 0.35;

/// The times of an entry, for an explanation: "8.100 µs back to back, 12.30 µs cold".
std::string time_text(const store::BestRecord& best) {
  const std::string cold = quantity::time(best.time.median_ns, 4) + " cold";
  if (!best.sustained_ns) return cold;
  return fmt::format("{} back to back, {}", quantity::time(*best.sustained_ns, 4), cold);
}

/// What is to be said of an entry that was not measured here, or not alone; else empty.
std::string reservation(const store::BestRecord& best) {
  if (best.shared) return "; measured while other processes used the device";
  if (best.verified) return "";
  return fmt::format("; imported from {}, not yet verified on this machine", best.origin);
}

/// The kernels that a question is about, each with the size in its dimensions.
std::vector<AskedKernel> asked_kernels(const Catalogue& catalogue, const RankQuestion& question) {
  const std::string size = space::normalised_size(question.size);
  std::vector<AskedKernel> asked;
  std::vector<std::string> known;
  for (const CatalogueKernel& kernel : catalogue.kernels) {
    if (kernel.record->family != question.family) continue;
    known.push_back(kernel.record->kernel);
    if (question.kernel && kernel.record->kernel != *question.kernel) continue;
    asked.push_back({.kernel = &kernel, .size = known_size(size, kernel)});
  }
  if (!asked.empty()) return asked;
  const std::string name = known.empty() ? question.family : question.kernel.value_or("");
  if (known.empty()) {
    for (const CatalogueKernel& kernel : catalogue.kernels) known.push_back(kernel.record->family);
  }
  throw Error(ErrorCode::nothing_found, fmt::format("there are no results of '{}'{}: tune it first",
                                                    name, did_you_mean(name, known)));
}

class Ladder {
 public:
  Ladder(const Catalogue& catalogue, const RankQuestion& question)
      : catalogue_(catalogue), question_(question), asked_(asked_kernels(catalogue, question)) {
    const auto& size = asked_.front().size;
    size_text_ = size ? size->text : space::normalised_size(question.size);
    ranking_.explanation = catalogue.explanation;
  }

  [[nodiscard]] Ranking climb() && {
    at_the_size(Rung::exact);
    at_the_size(Rung::stale);
    if (ranking_.answers.empty()) require_size_that_fits();
    if (question_.policy == Policy::nearest) {
      at_other_sizes();
      if (!as_the_product_alone()) by_library();
      by_default();
    }
    return std::move(ranking_);
  }

 private:
  /// Once there is an answer, there is nothing more to explain.
  template <class... Parts>
  void explain(Rung rung, fmt::format_string<Parts...> format, Parts&&... parts) {
    if (!ranking_.answers.empty()) return;
    ranking_.explanation.push_back(
        fmt::format("{}: {}", name(rung), fmt::format(format, std::forward<Parts>(parts)...)));
  }

  [[nodiscard]] Selection answer(Rung rung, const AskedKernel& asked) const {
    return {.rung = rung,
            .device = catalogue_.device,
            .family = question_.family,
            .kernel = asked.kernel->record,
            .stored = asked.kernel->stored,
            .size_text = asked.size->text,
            .size = asked.size->numbers,
            .config_json = {},
            .entry = {},
            .expected_ns = {},
            .explanation = {}};
  }

  [[nodiscard]] Selection answer(Rung rung, const AskedKernel& asked, const Entry& entry) const {
    Selection selection = answer(rung, asked);
    selection.config_json = entry.best.config_json;
    selection.entry = entry;
    return selection;
  }

  /// The rungs exact and stale: every kernel tuned for the very size.
  void at_the_size(Rung rung) {
    std::vector<std::pair<const AskedKernel*, const Entry*>> found;
    for (const AskedKernel& asked : asked_) {
      const std::string& kernel = asked.kernel->record->kernel;
      const Entry* const entry = entry_at_the_size(asked, rung);
      if (entry == nullptr) {
        explain(rung, "no {}result of {} at {}", rung == Rung::stale ? "older " : "", kernel,
                size_text_);
        continue;
      }
      explain(rung, "{} takes {} at {} ({}, {}{})", kernel, time_text(entry->best), size_text_,
              versions(entry->environment), entry->best.recorded_at, reservation(entry->best));
      found.emplace_back(&asked, entry);
    }
    if (found.empty()) return;
    std::vector<const store::BestRecord*> bests;
    for (const auto& [asked, entry] : found) bests.push_back(&entry->best);
    const std::vector<std::size_t> order = store::fastest_first(bests);
    const bool verified = bests.front()->verified;
    const bool differ = std::ranges::any_of(
        bests, [&](const store::BestRecord* best) { return best->verified != verified; });
    explain(rung, "{} is chosen{}{}{}", found[order.front()].first->kernel->record->kernel,
            found.size() > 1 ? ", the fastest" : "",
            differ ? "; imported times count as 10 % longer" : "",
            rung == Rung::stale ? fmt::format("; in use now: {}", versions(catalogue_.environment))
                                : "");
    for (const std::size_t place : order) {
      const auto& [asked, entry] = found[place];
      ranking_.answers.push_back(answer(rung, *asked, *entry));
      ranking_.answers.back().expected_ns = entry->best.time.median_ns;
    }
  }

  [[nodiscard]] static const Entry* entry_at_the_size(const AskedKernel& asked, Rung rung) {
    const auto& entries = asked.kernel->entries;
    const auto found = std::ranges::find_if(entries, [&](const Entry& entry) {
      return asked.size && entry.size.text == asked.size->text &&
             entry.stale == (rung == Rung::stale);
    });
    return found == entries.end() ? nullptr : &*found;
  }

  /// Whether answers for the product alone are those for a product that something follows.
  bool as_the_product_alone() {
    const AskedKernel* const known = first_with_space();
    if (known == nullptr || !ranking_.answers.empty()) return false;
    const RankedKernel& kernel = *known->kernel->stored;
    const auto size = family::without_epilogue(kernel.family(), known->size->numbers);
    if (!size) return false;
    const std::string text = space::canonical_size(*size, kernel.dims());
    Ranking alone =
        rank(catalogue_, {.family = question_.family, .kernel = question_.kernel, .size = text});
    for (Selection& selection : alone.answers) take_for_more(std::move(selection));
    if (ranking_.answers.empty()) return false;
    ranking_.explanation.push_back(
        fmt::format("{}: as for the product alone, {}:", name(Rung::nearest), text));
    const auto own =
        alone.explanation.begin() + static_cast<std::ptrdiff_t>(catalogue_.explanation.size());
    ranking_.explanation.insert(ranking_.explanation.end(), own, alone.explanation.end());
    ranking_.members = alone.members;
    ranking_.product_alone = text;
    return true;
  }

  /// An answer for the product alone; left out where it cannot be used with what follows.
  void take_for_more(Selection selection) {
    if (selection.rung == Rung::default_config || selection.rung == Rung::library_tuned) return;
    if (selection.kernel != nullptr) {
      const auto asked = std::ranges::find_if(asked_, [&](const AskedKernel& it) {
        return it.kernel->record == selection.kernel && it.kernel->stored && it.size;
      });
      if (asked == asked_.end()) return;
      const RankedKernel& kernel = *asked->kernel->stored;
      const space::BoundDefinition at =
          kernel.at(catalogue_.device.attributes, asked->size->numbers);
      const space::Config config =
          space::config_from_json(kernel.definition(), selection.config_json);
      if (why_invalid(kernel, at, config)) return;
      selection.rung = Rung::nearest;
    }
    selection.size_text = asked_.front().size->text;
    selection.size = asked_.front().size->numbers;
    ranking_.answers.push_back(std::move(selection));
  }

  void at_other_sizes() {
    Nearest nearest = near_candidates();
    if (nearest.candidates.empty()) return;
    const NearCandidate& first = nearest.candidates.front();
    explain(Rung::nearest, "{} is chosen{}{}", first.asked->kernel->record->kernel,
            first.entry != nullptr ? ", as tuned at " + first.entry->best.problem : "",
            first.entry != nullptr ? reservation(first.entry->best) : "");
    if (may_ask_the_library() && ranking_.answers.empty()) {
      nearest.library ? take(*nearest.library) : estimate_library(first);
    }
    for (const NearCandidate& candidate : nearest.candidates) {
      Selection& selection = ranking_.answers.emplace_back(answer(Rung::nearest, *candidate.asked));
      selection.config_json = candidate.asked->kernel->configs[candidate.config].json;
      if (candidate.entry != nullptr) selection.entry = *candidate.entry;
      selection.distance = candidate.nearness.largest;
      if (candidate.expected) selection.expected_ns = candidate.expected->ns;
    }
  }

  /// The members of a portfolio, or what was tuned for other sizes.
  [[nodiscard]] Nearest near_candidates() {
    const store::PortfolioRecord* const portfolio =
        portfolio_for(catalogue_, question_.family, asked_);
    if (portfolio != nullptr) {
      Nearest members = portfolio_candidates(asked_, catalogue_.device.attributes, *portfolio);
      for (const std::string& line : members.explanation) explain(Rung::nearest, "{}", line);
      ranking_.members = members.candidates.size();
      if (!members.candidates.empty()) return members;
    }
    Nearest nearest = nearest_candidates(asked_, catalogue_.device.attributes);
    for (const std::string& line : nearest.explanation) explain(Rung::nearest, "{}", line);
    return nearest;
  }

  [[nodiscard]] bool may_ask_the_library() const {
    const AskedKernel* const known = first_with_space();
    return !question_.kernel && known != nullptr && known->kernel->stored->has_library();
  }

  void take(const ExpectedLibrary& library) {
    library_ns_ = library.time.ns;
    library_is_first_ = library.is_first;
    explain(Rung::library, "{}", library.explanation);
  }

  /// What the library would take where nothing was tuned for the very size.
  void estimate_library(const NearCandidate& first) {
    const auto estimate = library_estimate(asked_);
    if (!estimate) return;
    const double own_error = first.expected ? first.expected->error : kErrorWithoutModel;
    double errors = std::log(estimate->ratio) / std::hypot(estimate->error, own_error);
    if (first.expected) {
      // The ratio is that to the best configuration, which may be none of those that are known: the
      // chosen one gains no more than its own time allows.
      library_ns_ = estimate->time.ns;
      errors = std::min(errors, std::log(estimate->time.ns / first.expected->ns) /
                                    std::hypot(estimate->time.error, own_error));
    }
    library_is_first_ = errors < kErrorsOfGain;
    explain(Rung::library,
            "{}{:.3g} times as long as the best configuration (+-{:.0f} %, from {}, the nearest "
            "{}), whose own "
            "time is known to +-{:.0f} %: {}",
            library_ns_ ? fmt::format("{} expected (+-{:.0f} %), ", quantity::time(*library_ns_, 4),
                                      100 * estimate->time.error)
                        : "",
            estimate->ratio, 100 * estimate->error, quantity::count(estimate->sizes, "size"),
            estimate->nearest, 100 * own_error,
            library_is_first_ ? "chosen, since a gain is not certain" : "not chosen");
  }

  void explain_faster_library(std::string_view which, double ratio) {
    ranking_.explanation.push_back(fmt::format(
        "{}: chosen before the kernel: it takes {:.3g} times as long in the final round", which,
        ratio));
  }

  /// The library stands where its time puts it beside the first answer.
  void by_library() {
    if (!may_ask_the_library()) return;
    Selection library = answer(Rung::library, *first_with_space());
    library.kernel = nullptr;
    library.stored = nullptr;
    std::size_t place = ranking_.answers.size();
    if (place > 0 && ranking_.answers.front().rung != Rung::nearest) {
      const Entry& entry = *ranking_.answers.front().entry;
      const auto ratio = entry.best.ratio_to_library;
      library.entry = entry;
      if (ratio) library.expected_ns = entry.best.time.median_ns * *ratio;
      place = ratio && *ratio < 1 ? 0 : 1;
      if (place == 0) explain_faster_library("library", *ratio);
    } else if (library_is_first_) {
      library.expected_ns = library_ns_;
      place = 0;
    } else if (library_ns_) {
      library.expected_ns = library_ns_;
      const auto slower = std::ranges::find_if(
          ranking_.answers, [&](const Selection& it) { return *it.expected_ns > *library_ns_; });
      place = std::max<std::size_t>(1, static_cast<std::size_t>(slower - ranking_.answers.begin()));
    }
    const auto tuned = tuned_library(library);
    const auto at = ranking_.answers.begin() + static_cast<std::ptrdiff_t>(place);
    ranking_.answers.insert(at, std::move(library));
    if (!tuned) return;
    const double tuned_ratio = *tuned->entry->best.ratio_to_library_tuned;
    const bool is_first = tuned_ratio < 1;
    if (is_first) explain_faster_library("library, tuned", tuned_ratio);
    ranking_.answers.insert(ranking_.answers.begin() + (is_first ? 0 : 1), *tuned);
  }

  /// The library by the algorithm that was found beside what answers for the very size; none where
  /// there is none for the library in use, which `library` then explains.
  [[nodiscard]] std::optional<Selection> tuned_library(Selection& library) const {
    if (!library.entry || library.entry->best.library_algorithm.empty()) return std::nullopt;
    const Entry& entry = *library.entry;
    const std::string& in_use = catalogue_.environment.library;
    if (entry.environment.library != in_use) {
      library.explanation.push_back(
          fmt::format("{}: its fastest algorithm was found with {}; in use now: {}",
                      name(Rung::library_tuned), entry.environment.library, in_use));
      return std::nullopt;
    }
    Selection tuned = library;
    tuned.rung = Rung::library_tuned;
    tuned.library_algorithm = entry.best.library_algorithm;
    tuned.expected_ns = entry.best.time.median_ns * *entry.best.ratio_to_library_tuned;
    tuned.explanation.push_back(
        fmt::format("{}: {} takes {} by its fastest algorithm, {:.3g} times the best "
                    "configuration",
                    name(Rung::library_tuned), in_use, quantity::time(*tuned.expected_ns, 4),
                    *entry.best.ratio_to_library_tuned));
    return tuned;
  }

  /// The first kernel in the space file whose default is valid at the size.
  void by_default() {
    const AskedKernel* const known = first_with_space();
    if (known == nullptr) return;
    for (const std::string& kernel_name : known->kernel->stored->family_kernels()) {
      const auto asked = std::ranges::find_if(asked_, [&](const AskedKernel& it) {
        return it.kernel->record->kernel == kernel_name && it.kernel->stored && it.size;
      });
      if (asked == asked_.end()) continue;
      const RankedKernel& kernel = *asked->kernel->stored;
      const space::BoundDefinition at =
          kernel.at(catalogue_.device.attributes, asked->size->numbers);
      const space::Config config = at.default_config();
      const std::string json = space::canonical_json(kernel.definition(), config);
      const auto tried = std::ranges::find(asked->kernel->configs, json, &KnownConfig::json);
      const auto why = tried != asked->kernel->configs.end()
                           ? why_rejected(kernel, at, asked->size->text, *tried)
                           : why_invalid(kernel, at, config);
      if (why) {
        explain(Rung::default_config, "that of {} is rejected: {}", kernel_name, *why);
        continue;
      }
      explain(Rung::default_config, "that of {} is chosen; no tuned result can answer",
              kernel_name);
      Selection selection = answer(Rung::default_config, *asked);
      selection.config_json = json;
      ranking_.answers.push_back(std::move(selection));
      return;
    }
  }

  /// A kernel whose dimensions are known and have the size; null without one.
  [[nodiscard]] const AskedKernel* first_with_space() const {
    const auto found = std::ranges::find_if(
        asked_, [](const AskedKernel& it) { return it.kernel->stored && it.size; });
    return found == asked_.end() ? nullptr : &*found;
  }

  /// Throws when the first kernel whose dimensions are known has no such size.
  void require_size_that_fits() const {
    const auto known = std::ranges::find_if(
        asked_, [](const AskedKernel& it) { return it.kernel->stored != nullptr; });
    if (known == asked_.end() || known->size) return;
    static_cast<void>(space::parse_size(question_.size, known->kernel->stored->dims()));
  }

  const Catalogue& catalogue_;
  const RankQuestion& question_;
  std::vector<AskedKernel> asked_;
  std::string size_text_;             // as the kernel used last writes it
  std::optional<double> library_ns_;  // expected
  bool library_is_first_ = false;
  Ranking ranking_;
};

}  // namespace

Ranking rank(const Catalogue& catalogue, const RankQuestion& question) {
  return Ladder(catalogue, question).climb();
}

}  // namespace tuner::select
