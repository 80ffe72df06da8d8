// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/portfolio_candidates.hpp"

#include "tuner/core/quantity.hpp"
#include "tuner/select/launch_shape.hpp"
#include "tuner/select/portfolio.hpp"
#include "tuner/select/work_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace tuner::select {
namespace {

/// A member is taken before the library where a loss of more than this share of its time is
/// improbable: so many standard errors away (docs/reference/portfolios.md).
constexpr double kToleratedLoss = 0.03;
constexpr double kErrorsFromLoss = 1;
/// And where it was timed at least this near (Nearness::total). Members are timed where they may be
/// among the fastest, so of what they do far from there their times tell too much good.
constexpr double kReachOfMembers = 2;

/// How many members an explanation shows.
constexpr std::size_t kShownMembers = 5;

const AskedKernel* first_with_size(const std::vector<AskedKernel>& asked) {
  const auto known = std::ranges::find_if(
      asked, [](const AskedKernel& it) { return it.kernel->stored && it.size; });
  return known == asked.end() ? nullptr : &*known;
}

Work work_at(const space::Size& size, const RankedKernel& kernel) {
  const family::Problem& problem = kernel.family().problem;
  return {.flops = family::flops_at(problem, size), .bytes = family::bytes_at(problem, size)};
}

/// The sizes of a portfolio that are of the asked kind of problem, with the time of the library, or
/// where it has none anywhere of the fastest member: back to back, or where no size has such a time
/// by single launches.
class PortfolioSizes {
 public:
  PortfolioSizes(const AskedKernel& asked, const store::PortfolioRecord& portfolio) {
    using Size = store::PortfolioSize;
    for (const auto beside :
         {&Size::library_ns, &Size::library_cold_ns, &Size::member_ns, &Size::member_cold_ns}) {
      add(asked, portfolio, beside);
      if (features_.empty()) continue;
      has_library_ = beside == &Size::library_ns || beside == &Size::library_cold_ns;
      is_cold_ = beside == &Size::library_cold_ns || beside == &Size::member_cold_ns;
      return;
    }
  }

  [[nodiscard]] const std::vector<SizeFeatures>& features() const { return features_; }
  [[nodiscard]] const std::vector<double>& ln_beside_ns() const { return ln_beside_ns_; }
  [[nodiscard]] const std::vector<TimedWork>& beside() const { return beside_; }
  [[nodiscard]] bool has_library() const { return has_library_; }

  /// A configuration's at these sizes, where it was timed as the library was; if it was so nowhere,
  /// all.
  [[nodiscard]] std::vector<KnownGain> gains(const CatalogueKernel& kernel,
                                             const KnownConfig& config) const {
    const auto has_cold = [](const Timing& timing) { return timing.cold_ns > 0; };
    const bool by_cold = is_cold_ && std::ranges::any_of(config.timings, has_cold);
    std::vector<KnownGain> gains;
    for (const Timing& timing : config.timings) {
      const auto size = numbers_.find(kernel.sizes[timing.size].numbers);
      if (size == numbers_.end() || (by_cold && !has_cold(timing))) continue;
      const double ns = by_cold ? timing.cold_ns : timing.ns;
      gains.push_back({.size = size->second,
                       .ln_gain = ln_beside_ns_[size->second] - std::log(ns),
                       .imbalance = timing.imbalance});
    }
    return gains;
  }

 private:
  void add(const AskedKernel& asked, const store::PortfolioRecord& portfolio,
           std::optional<double> store::PortfolioSize::*beside) {
    const auto& dims = asked.kernel->stored->dims();
    for (const store::PortfolioSize& it : portfolio.sizes) {
      const auto size = space::stored_size(it.problem, dims);
      if (!(it.*beside) || !size || !nearness(asked.size->numbers, *size, dims)) continue;
      if (!numbers_.try_emplace(*size, features_.size()).second) continue;
      features_.push_back(size_features(*size, *asked.kernel->stored));
      beside_.push_back({.work = work_at(*size, *asked.kernel->stored), .ns = *(it.*beside)});
      ln_beside_ns_.push_back(std::log(beside_.back().ns));
    }
  }

  std::map<space::Size, std::size_t> numbers_;
  std::vector<SizeFeatures> features_;
  std::vector<TimedWork> beside_;
  std::vector<double> ln_beside_ns_;
  bool has_library_ = false;
  bool is_cold_ = false;
};

/// What the multiprocessors have to do where the busiest one has so much more than its share.
Work busy(Work work, double imbalance) {
  constexpr double kLeastShare = 1e-6;
  work.flops /= std::max(kLeastShare, 1 - imbalance);
  return work;
}

double least_gain(const ExpectedRatio& gain) {
  return gain.ln_ratio - kErrorsFromLoss * gain.error;
}

bool is_far(const NearCandidate& member) {
  return member.nearness.total > kReachOfMembers;
}

/// Of the sizes at which a configuration was timed; one is of the asked kind.
Nearness nearest_timed_size(const AskedKernel& asked, const KnownConfig& config) {
  std::optional<Nearness> nearest;
  for (const Timing& timing : config.timings) {
    auto there = nearness(asked.size->numbers, asked.kernel->sizes[timing.size].numbers,
                          asked.kernel->stored->dims());
    if (there && (!nearest || *there < *nearest)) nearest = std::move(there);
  }
  return *std::move(nearest);
}

std::string gain_text(const ExpectedRatio& gain) {
  return fmt::format("{:.3g} (+-{:.0f} %)", std::exp(gain.ln_ratio), 100 * gain.error);
}

class MemberRanking {
 public:
  MemberRanking(const std::vector<AskedKernel>& asked, const space::DeviceAttributes& device,
                const store::PortfolioRecord& portfolio, const AskedKernel& first,
                const GainParameters& parameters)
      : asked_(asked),
        device_(device),
        portfolio_(portfolio),
        sizes_(first, portfolio),
        model_(sizes_.features(), size_features(first.size->numbers, *first.kernel->stored),
               parameters),
        ln_beside_ns_(model_.power_law(sizes_.ln_beside_ns())),
        work_(work_at(first.size->numbers, *first.kernel->stored)) {}

  [[nodiscard]] Nearest run() && {
    for (const AskedKernel& it : asked_) {
      if (it.kernel->stored && it.size) add_members(it);
    }
    expect_gains();
    std::ranges::stable_sort(result_.candidates, {}, [](const NearCandidate& it) {
      return std::pair(is_far(it), -least_gain(*it.gain));
    });
    explain();
    if (sizes_.has_library() && !result_.candidates.empty()) add_library();
    return std::move(result_);
  }

 private:
  /// In the order of the candidates.
  struct Member {
    std::vector<KnownGain> gains;
    double imbalance = 0;  // at the asked size
  };

  void add_members(const AskedKernel& asked) {
    const CatalogueKernel& kernel = *asked.kernel;
    const space::BoundDefinition at = kernel.stored->at(device_, asked.size->numbers);
    for (std::size_t i = 0; i < kernel.configs.size(); ++i) {
      const KnownConfig& config = kernel.configs[i];
      if (!is_member(portfolio_, *kernel.record, config.json)) continue;
      std::vector<KnownGain> gains = sizes_.gains(kernel, config);
      if (gains.empty() || why_rejected(*kernel.stored, at, asked.size->text, config)) continue;
      members_.push_back(
          {.gains = std::move(gains),
           .imbalance = launch_imbalance(*kernel.stored, device_, at, *config.config)});
      result_.candidates.push_back(
          {.asked = &asked, .config = i, .nearness = nearest_timed_size(asked, config)});
    }
  }

  void expect_gains() {
    if (members_.empty()) return;
    std::vector<TimedWork> all;
    for (const Member& it : members_) {
      const std::vector<TimedWork> times = times_of(it);
      all.insert(all.end(), times.begin(), times.end());
    }
    const WorkTime beside = fit_work_time(sizes_.beside());
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const WorkTime own = fit_work_time(times_of(members_[i]), all);
      const ExpectedRatio gain = expected_gain(members_[i], beside, own);
      NearCandidate& candidate = result_.candidates[i];
      candidate.gain = gain;
      candidate.expected = ExpectedTime{.ns = std::exp(ln_beside_ns_.ln_ratio - gain.ln_ratio),
                                        .error = std::hypot(ln_beside_ns_.error, gain.error)};
    }
  }

  [[nodiscard]] std::vector<TimedWork> times_of(const Member& member) const {
    std::vector<TimedWork> times;
    for (const KnownGain& it : member.gains) {
      const TimedWork& beside = sizes_.beside()[it.size];
      times.push_back(
          {.work = busy(beside.work, it.imbalance), .ns = beside.ns / std::exp(it.ln_gain)});
    }
    return times;
  }

  [[nodiscard]] ExpectedRatio expected_gain(const Member& member, const WorkTime& beside,
                                            const WorkTime& own) const {
    const auto ln_by_work = [&](const Work& work, double imbalance) {
      return std::log(beside.ns(work) / own.ns(busy(work, imbalance)));
    };
    std::vector<KnownGain> gains = member.gains;
    for (KnownGain& it : gains) {
      it.ln_by_work = ln_by_work(sizes_.beside()[it.size].work, it.imbalance);
    }
    return model_.gain(gains, member.imbalance, ln_by_work(work_, member.imbalance));
  }

  void explain() {
    const auto& members = result_.candidates;
    result_.explanation.push_back(
        fmt::format("{} of the {} of the portfolio of {} are valid here and were timed for this "
                    "kind of problem",
                    members.size(), quantity::count(portfolio_.members.size(), "member"),
                    portfolio_.recorded_at));
    for (std::size_t i = 0; i < std::min(kShownMembers, members.size()); ++i) {
      const NearCandidate& it = members[i];
      const CatalogueKernel& kernel = *it.asked->kernel;
      result_.explanation.push_back(
          fmt::format("{} {}: {} times as fast as {}; the nearest size at a distance of ×{:.3g}",
                      kernel.record->kernel, kernel.configs[it.config].json, gain_text(*it.gain),
                      sizes_.has_library() ? "the library" : "the fastest member",
                      std::exp(it.nearness.largest)));
    }
    if (members.size() > kShownMembers) {
      result_.explanation.push_back(fmt::format("and {} more", members.size() - kShownMembers));
    }
  }

  void add_library() {
    const NearCandidate& first = result_.candidates.front();
    const ExpectedRatio& gain = *first.gain;
    const bool is_first = is_far(first) || least_gain(gain) < std::log(1 - kToleratedLoss);
    const double ns = std::exp(ln_beside_ns_.ln_ratio);
    result_.library =
        ExpectedLibrary{.time = {.ns = ns, .error = ln_beside_ns_.error},
                        .is_first = is_first,
                        .explanation = fmt::format(
                            "{} expected (+-{:.0f} %), {} times the first member, from {}: {}",
                            quantity::time(ns, 4), 100 * ln_beside_ns_.error, gain_text(gain),
                            quantity::count(sizes_.features().size(), "size"),
                            is_first ? "chosen, since a gain is not certain" : "not chosen")};
  }

  const std::vector<AskedKernel>& asked_;
  const space::DeviceAttributes& device_;
  const store::PortfolioRecord& portfolio_;
  PortfolioSizes sizes_;
  GainModel model_;
  ExpectedRatio ln_beside_ns_;
  Work work_;  // at the asked size
  std::vector<Member> members_;
  Nearest result_;
};

}  // namespace

const store::PortfolioRecord* portfolio_for(const Catalogue& catalogue, std::string_view family,
                                            const std::vector<AskedKernel>& asked) {
  const AskedKernel* const known = first_with_size(asked);
  if (known == nullptr) return nullptr;
  const std::string types = types_of(known->size->numbers, known->kernel->stored->dims());
  const auto found = std::ranges::find_if(
      catalogue.portfolios,
      [&](const store::PortfolioRecord& it) { return it.family == family && it.types == types; });
  return found == catalogue.portfolios.end() ? nullptr : &*found;
}

Nearest portfolio_candidates(const std::vector<AskedKernel>& asked,
                             const space::DeviceAttributes& device,
                             const store::PortfolioRecord& portfolio,
                             const GainParameters& parameters) {
  const AskedKernel* const known = first_with_size(asked);
  if (known == nullptr) return {};
  return MemberRanking(asked, device, portfolio, *known, parameters).run();
}

}  // namespace tuner::select
