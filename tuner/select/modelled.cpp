// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/modelled.hpp"

#include "tuner/core/quantity.hpp"
#include "tuner/select/library_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

namespace tuner::select {
namespace {

/// How many candidates an explanation shows.
constexpr std::size_t kShown = 5;

/// A candidate with what the explanation says of it.
struct Modelled {
  NearCandidate candidate;
  LaunchShape shape;
};

const KnownConfig& config_of(const NearCandidate& it) {
  return it.asked->kernel->configs[it.config];
}

/// Where a configuration was timed nearest, and its registers there; 0 where they are not known.
struct NearestTimed {
  Nearness nearness;
  int registers = 0;
};

/// Of the sizes of this kind of problem at which a configuration was timed; none without one.
std::optional<NearestTimed> nearest_timed(const AskedKernel& asked, const KnownConfig& config) {
  std::optional<Nearness> nearest, with_registers;
  int registers = 0;
  for (const Timing& timing : config.timings) {
    const auto there = nearness(asked.size->numbers, asked.kernel->sizes[timing.size].numbers,
                                asked.kernel->stored->dims());
    if (!there) continue;
    if (!nearest || *there < *nearest) nearest = there;
    if (timing.registers == 0 || (with_registers && !(*there < *with_registers))) continue;
    with_registers = there;
    registers = timing.registers;
  }
  if (!nearest) return std::nullopt;
  return NearestTimed{*std::move(nearest), registers};
}

const Entry* nearest_entry(const AskedKernel& asked, std::size_t config) {
  const Entry* nearest = nullptr;
  std::optional<Nearness> least;
  for (const Entry& entry : asked.kernel->entries) {
    if (entry.config != config || entry.size.text == asked.size->text) continue;
    auto there = nearness(asked.size->numbers, entry.size.numbers, asked.kernel->stored->dims());
    if (!there || (least && *least < *there)) continue;
    least = std::move(there);
    nearest = &entry;
  }
  return nearest;
}

bool is_of_the_kind(const AskedKernel& asked) {
  if (!asked.kernel->stored || !asked.size) return false;
  for (std::size_t i = 0; i < asked.kernel->configs.size(); ++i) {
    if (nearest_timed(asked, asked.kernel->configs[i])) return true;
  }
  return false;
}

class Modelling {
 public:
  explicit Modelling(const space::DeviceAttributes& device) : device_(device) {}

  void add(const AskedKernel& asked) {
    const CatalogueKernel& kernel = *asked.kernel;
    const space::BoundDefinition at_size = kernel.stored->at(device_, asked.size->numbers);
    const CostModel::AtSize model(*kernel.model, asked.size->numbers);
    std::size_t valid = 0;
    std::string rejection;
    for (std::size_t i = 0; i < kernel.configs.size(); ++i) {
      const KnownConfig& config = kernel.configs[i];
      auto near = nearest_timed(asked, config);
      if (!near) continue;
      if (const auto why = why_rejected(*kernel.stored, at_size, asked.size->text, config)) {
        rejection = *why;
        continue;
      }
      auto shape = launch_shape(*kernel.stored, device_, at_size, *config.config, near->registers);
      if (!shape) continue;
      ++valid;
      const ExpectedTime expected = model.expected(i, *shape);
      found_.push_back({.candidate = {.asked = &asked,
                                      .config = i,
                                      .entry = nearest_entry(asked, i),
                                      .nearness = std::move(near->nearness),
                                      .expected = expected},
                        .shape = *std::move(shape)});
    }
    explain(asked, valid, rejection);
  }

  [[nodiscard]] Nearest ranked() && {
    std::ranges::stable_sort(found_, {}, [](const Modelled& it) {
      return store::ranked_ns(it.candidate.expected->cautious_ns(),
                              config_of(it.candidate).verified);
    });
    for (std::size_t i = 0; i < std::min(kShown, found_.size()); ++i) show(found_[i]);
    if (found_.size() > kShown) {
      result_.explanation.push_back(fmt::format("and {} more", found_.size() - kShown));
    }
    for (Modelled& it : found_) result_.candidates.push_back(std::move(it.candidate));
    return std::move(result_);
  }

 private:
  void explain(const AskedKernel& asked, std::size_t valid, const std::string& rejection) {
    const CatalogueKernel& kernel = *asked.kernel;
    const CostParameters& p = kernel.model->parameters();
    result_.explanation.push_back(fmt::format(
        "{}: {} of its {} configurations are valid here{}; the model: {:.2g} us for each launch, "
        "and waves of blocks at {:.3g} Tflop/s and {:.3g} GB/s",
        kernel.record->kernel, valid, kernel.configs.size(),
        valid == 0 && !rejection.empty() ? fmt::format(" ({})", rejection) : "", p.fixed_ns / 1e3,
        p.flops_per_ns * static_cast<double>(device_.sm_count) / 1e3, p.bytes_per_ns));
  }

  void show(const Modelled& it) {
    const auto multiprocessors = static_cast<double>(std::max<std::int64_t>(1, device_.sm_count));
    const KnownConfig& config = config_of(it.candidate);
    result_.explanation.push_back(fmt::format(
        "{} {}: {:.5g} us expected, {} in {:.2f} waves; timed at {}, the nearest at a distance of "
        "x{:.3g}{}",
        it.candidate.asked->kernel->record->kernel, config.json, it.candidate.expected->ns / 1e3,
        quantity::count(static_cast<std::uint64_t>(it.shape.blocks), "block"),
        it.shape.blocks / (multiprocessors * it.shape.resident),
        quantity::count(config.timings.size(), "size"), std::exp(it.candidate.nearness.largest),
        config.verified ? "" : "; not yet verified on this machine"));
  }

  const space::DeviceAttributes& device_;
  std::vector<Modelled> found_;
  Nearest result_;
};

/// The library beside the best of all kernels in the final round of one size.
struct TimedSize {
  double ratio;  ///< the library's time / ours
  SizeFeatures features;
};

std::map<std::string, TimedSize> timed_sizes(const std::vector<AskedKernel>& asked) {
  std::map<std::string, TimedSize> sizes;
  for (const AskedKernel& it : asked) {
    if (!it.kernel->stored || !it.size) continue;
    for (const Entry& entry : it.kernel->entries) {
      const auto& dims = it.kernel->stored->dims();
      if (!entry.best.ratio_to_library || entry.size.text == it.size->text ||
          !nearness(it.size->numbers, entry.size.numbers, dims)) {
        continue;
      }
      const TimedSize timed{*entry.best.ratio_to_library,
                            size_features(entry.size.numbers, *it.kernel->stored)};
      const auto [at, added] = sizes.try_emplace(entry.size.text, timed);
      if (!added && timed.ratio > at->second.ratio) at->second = timed;
    }
  }
  return sizes;
}

/// Where the asked size stands; it is one of some kernel's.
SizeFeatures asked_features(const std::vector<AskedKernel>& asked) {
  const auto known = std::ranges::find_if(
      asked, [](const AskedKernel& it) { return it.kernel->stored && it.size; });
  return size_features(known->size->numbers, *known->kernel->stored);
}

}  // namespace

std::optional<Nearest> modelled_candidates(const std::vector<AskedKernel>& asked,
                                           const space::DeviceAttributes& device) {
  Modelling modelling(device);
  bool any = false;
  for (const AskedKernel& it : asked) {
    if (!is_of_the_kind(it)) continue;
    if (!it.kernel->model) return std::nullopt;
    modelling.add(it);
    any = true;
  }
  if (!any) return std::nullopt;
  return std::move(modelling).ranked();
}

std::optional<LibraryEstimate> library_estimate(const std::vector<AskedKernel>& asked) {
  const std::map<std::string, TimedSize> sizes = timed_sizes(asked);
  if (sizes.empty()) return std::nullopt;
  const SizeFeatures here = asked_features(asked);
  std::vector<LibraryRatio> known;
  for (const auto& [text, timed] : sizes) {
    known.push_back({timed.features, std::log(timed.ratio)});
  }
  const auto nearest = std::ranges::min_element(
      sizes, {}, [&](const auto& it) { return squared_distance(it.second.features, here); });
  const ExpectedRatio expected = expected_ratio(known, here);
  return LibraryEstimate{.ratio = std::exp(expected.ln_ratio),
                         .error = expected.error,
                         .sizes = sizes.size(),
                         .nearest = nearest->first};
}

}  // namespace tuner::select
