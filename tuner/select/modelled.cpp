// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/modelled.hpp"

#include "tuner/core/quantity.hpp"
#include "tuner/select/gain_model.hpp"
#include "tuner/select/library_model.hpp"
#include "tuner/select/portfolio.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
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
  static std::string rate_text(double gflops) {
    return gflops < 1e3 ? quantity::number(gflops, 3) + " GFLOP/s"
                        : quantity::number(gflops / 1e3, 3) + " TFLOP/s";
  }

  void explain(const AskedKernel& asked, std::size_t valid, const std::string& rejection) {
    const CatalogueKernel& kernel = *asked.kernel;
    const CostParameters& p = kernel.model->parameters();
    result_.explanation.push_back(fmt::format(
        "{}: {} of its {} configurations are valid here{}; the model: {} for each launch, "
        "and waves of blocks at {} and {} GB/s",
        kernel.record->kernel, valid, kernel.configs.size(),
        valid == 0 && !rejection.empty() ? fmt::format(" ({})", rejection) : "",
        quantity::time(p.fixed_ns, 2),
        rate_text(p.flops_per_ns * static_cast<double>(device_.sm_count)),
        quantity::number(p.bytes_per_ns, 3)));
  }

  void show(const Modelled& it) {
    const auto multiprocessors = static_cast<double>(std::max<std::int64_t>(1, device_.sm_count));
    const KnownConfig& config = config_of(it.candidate);
    result_.explanation.push_back(fmt::format(
        "{} {}: {} expected, {} in {:.2f} waves; timed at {}, the nearest at a distance of "
        "×{:.3g}{}",
        it.candidate.asked->kernel->record->kernel, config.json,
        quantity::time(it.candidate.expected->ns, 4),
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
  double ln_ns;  ///< the library's, back to back
  space::Size numbers;
  const RankedKernel* kernel;
};

/// Of the configuration that was the best at a size, beside which the library was timed.
double best_ns(const CatalogueKernel& kernel, const Entry& entry) {
  for (const Timing& timing : kernel.configs[entry.config].timings) {
    if (kernel.sizes[timing.size].text == entry.size.text) return timing.ns;
  }
  return entry.best.time.median_ns;
}

/// Of the asked types.
std::map<std::string, TimedSize> timed_sizes(const std::vector<AskedKernel>& asked) {
  std::map<std::string, TimedSize> sizes;
  for (const AskedKernel& it : asked) {
    if (!it.kernel->stored || !it.size) continue;
    const auto& dims = it.kernel->stored->dims();
    const std::string types = types_of(it.size->numbers, dims);
    for (const Entry& entry : it.kernel->entries) {
      if (!entry.best.ratio_to_library || entry.size.text == it.size->text ||
          types_of(entry.size.numbers, dims) != types) {
        continue;
      }
      const double ratio = *entry.best.ratio_to_library;
      const TimedSize timed{.ratio = ratio,
                            .ln_ns = std::log(ratio * best_ns(*it.kernel, entry)),
                            .numbers = entry.size.numbers,
                            .kernel = it.kernel->stored.get()};
      const auto [at, added] = sizes.try_emplace(entry.size.text, timed);
      if (!added && timed.ratio > at->second.ratio) at->second = timed;
    }
  }
  return sizes;
}

/// Where a size stands among those of all kinds of problem: another layout, say, is another place.
SizeFeatures place_among_kinds(const space::Size& size, const RankedKernel& kernel) {
  SizeFeatures features = size_features(size, kernel);
  for (std::size_t i = 0; i < size.size(); ++i) {
    if (kernel.dims()[i].is_kind()) features.push_back(static_cast<double>(size[i]));
  }
  return features;
}

/// The library takes much the same time for all kinds of problem with the same dimensions.
ExpectedTime library_time(const std::map<std::string, TimedSize>& sizes, const AskedKernel& asked) {
  std::vector<SizeFeatures> places;
  std::vector<double> ln_ns;
  for (const auto& [text, timed] : sizes) {
    places.push_back(place_among_kinds(timed.numbers, *timed.kernel));
    ln_ns.push_back(timed.ln_ns);
  }
  const GainModel model(places, place_among_kinds(asked.size->numbers, *asked.kernel->stored));
  const ExpectedRatio expected = model.power_law(ln_ns);
  return {.ns = std::exp(expected.ln_ratio), .error = expected.error};
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
  const AskedKernel& first = *std::ranges::find_if(
      asked, [](const AskedKernel& it) { return it.kernel->stored && it.size; });
  const SizeFeatures here = size_features(first.size->numbers, *first.kernel->stored);
  LibraryEstimate estimate{.time = library_time(sizes, first)};
  std::vector<LibraryRatio> known;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [text, timed] : sizes) {
    if (!nearness(first.size->numbers, timed.numbers, first.kernel->stored->dims())) continue;
    known.push_back({size_features(timed.numbers, *timed.kernel), std::log(timed.ratio)});
    const double distance = squared_distance(known.back().features, here);
    if (distance < least) estimate.nearest = text;
    least = std::min(least, distance);
  }
  if (known.empty()) return std::nullopt;
  const ExpectedRatio expected = expected_ratio(known, here);
  estimate.ratio = std::exp(expected.ln_ratio);
  estimate.error = expected.error;
  estimate.sizes = known.size();
  return estimate;
}

}  // namespace tuner::select
