// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/energy_windows.hpp"

#include "tuner/core/quantile.hpp"

#include <algorithm>
#include <random>

namespace tuner::session {
namespace {

constexpr int kWindows = 3;
constexpr double kWindow_s = 2;
/// Of each window, before it: the lead, and what finds out how many runs fill it.
constexpr double kLead_s = 0.4;
constexpr double kIdle_s = 1.5;
constexpr std::size_t kFewFinalists = 2;

/// The fastest configurations, as many as the plan has, then the library.
std::vector<std::size_t> chosen(const SideBySideTimes& times, EnergyChoice choice) {
  std::vector<std::size_t> fastest = times.fastest_first();
  if (choice == EnergyChoice::when_short) fastest.resize(std::min(times.configs, kFewFinalists));
  for (std::size_t i = times.configs; i < times.cold.times_ns.size(); ++i) fastest.push_back(i);
  return fastest;
}

EnergySummary summary(const std::vector<backend::EnergySample>& samples, double idle_watts) {
  std::vector<double> joules;
  double watts = 0;
  for (const backend::EnergySample& sample : samples) {
    joules.push_back(sample.joules);
    watts += sample.watts;
  }
  return {.joules = *quantile(joules, 0.5),
          .min_joules = std::ranges::min(joules),
          .max_joules = std::ranges::max(joules),
          .windows = static_cast<int>(samples.size()),
          .watts = watts / static_cast<double>(samples.size()),
          .idle_watts = idle_watts};
}

}  // namespace

Expected<std::vector<std::optional<EnergySummary>>, LostUnderLoad> measure_energy(
    const SideBySideTimes& times, worker::DeviceWorker& device, const EnergyPlan& plan,
    const EnergyBegins& begins, const std::function<bool()>& stop) {
  using Energies = std::vector<std::optional<EnergySummary>>;
  if (plan.choice == EnergyChoice::never) return Energies();
  std::vector<std::size_t> order = chosen(times, plan.choice);
  const double takes_s =
      kIdle_s + static_cast<double>(order.size()) * kWindows * (kWindow_s + kLead_s);
  if (plan.choice == EnergyChoice::when_short && takes_s > plan.most_s) return Energies();
  const std::optional<double> idle_watts = device.idle_watts();
  if (!idle_watts) return Energies();
  begins(order.size(), takes_s);
  std::vector<std::vector<backend::EnergySample>> samples(times.cold.times_ns.size());
  std::mt19937_64 random(plan.seed);
  for (int window = 0; window < kWindows; ++window) {
    std::ranges::shuffle(order, random);
    for (const std::size_t contender : order) {
      if (stop()) return Energies();
      const auto sample = device.measure_contender_energy(contender, kWindow_s);
      if (!sample) return Unexpected(LostUnderLoad{contender, sample.error()});
      if (*sample) samples[contender].push_back(**sample);
    }
  }
  Energies energies(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!samples[i].empty()) energies[i] = summary(samples[i], *idle_watts);
  }
  return energies;
}

}  // namespace tuner::session
