// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/benchmark.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace tuner::gemm_benchmark {
namespace {

const Contender* find(const std::vector<Contender>& contenders, Role role) {
  const auto found = std::ranges::find(contenders, role, &Contender::role);
  return found == contenders.end() ? nullptr : &*found;
}

/// The ratio of one role's times to another's, round by round.
std::optional<measure::MedianInterval> ratio(const std::vector<Contender>& contenders,
                                             const RoundTimes& rounds, Role numerator,
                                             Role denominator) {
  const Contender* const above = find(contenders, numerator);
  const Contender* const below = find(contenders, denominator);
  if (above == nullptr || below == nullptr) return std::nullopt;
  const auto times = [&](const Contender* contender) -> const std::vector<double>& {
    return rounds.times_ns[static_cast<std::size_t>(contender - contenders.data())];
  };
  return measure::median_interval(measure::paired_ratios(times(above), times(below)));
}

void add_times(ShapeResult& result, const std::vector<Contender>& contenders,
               const RoundTimes& rounds) {
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    result.contenders.push_back({.role = contenders[i].role,
                                 .kernel = contenders[i].kernel,
                                 .time_ns = *measure::summarise(rounds.times_ns[i])});
  }
  const auto between = [&](Role numerator, Role denominator) {
    return ratio(contenders, rounds, numerator, denominator);
  };
  result.ours_to_cublas = between(Role::cublas, Role::ours);
  result.ours_to_cublas_lt = between(Role::cublas_lt, Role::ours);
  result.ours_to_default = between(Role::by_default, Role::ours);
  result.cublas_lt_to_cublas = between(Role::cublas, Role::cublas_lt);
  result.cublas_lt_to_default = between(Role::cublas_lt_default, Role::cublas_lt);
  result.clock_mhz = rounds.clock_mhz;
  result.rounds = static_cast<int>(rounds.times_ns.front().size());
}

}  // namespace

Benchmark::Benchmark(const Options& options)
    : options_(options),
      gpu_(options.device),
      clock_(gpu_.device().uuid),
      cublas_(gpu_.stream()),
      cublas_lt_(gpu_.stream()) {
  if (options.database) stored_.emplace(*options.database, options.space, options.shapes, gpu_);
}

RunInfo Benchmark::run_info() {
  return gemm_benchmark::run_info(gpu_, cublas_.version());
}

ShapeResult Benchmark::measure(const SuiteShape& shape) {
  ShapeResult result{.group = shape.group, .shape = shape.shape};
  try {
    measure_into(result);
  } catch (const Error& error) {
    result.notes.push_back(fmt::format("not measured: {}", error.what()));
  }
  return result;
}

void Benchmark::measure_into(ShapeResult& result) {
  const std::size_t sets = operand_sets(result.shape, gpu_.device().attributes.l2_bytes);
  result.sets = static_cast<int>(sets);
  Operands operands(gpu_, result.shape, sets);
  std::vector<Contender> contenders = add_contenders(result, operands);
  if (contenders.empty()) return;
  warm_up(contenders, sets, gpu_);
  double fastest_ns = std::numeric_limits<double>::infinity();
  for (const Contender& contender : contenders) {
    fastest_ns = std::min(fastest_ns, probe(contender, sets, gpu_).value_or(fastest_ns));
  }
  const SeriesPlan plan = plan_series(fastest_ns, sets);
  result.launches = static_cast<int>(plan.launches);
  const RoundTimes times =
      Rounds(contenders, plan, sets, gpu_, clock_, options_.regime).run(options_.time_per_shape_s);
  for (Contender& contender : contenders) contender.kernel = kernel_of(contender);
  add_times(result, contenders, times);
}

std::vector<Contender> Benchmark::add_contenders(ShapeResult& result, Operands& operands) {
  std::vector<Contender> all;
  if (stored_) {
    auto [contenders, notes] = stored_->contenders(result.shape, operands);
    all = std::move(contenders);
    result.notes = std::move(notes);
  }
  all.push_back(cublas_.contender(result.shape, operands));
  std::erase_if(all, [&](const Contender& contender) {
    if (probe(contender, operands.sets(), gpu_)) return false;
    result.notes.push_back(fmt::format("{} refuses this shape", name(contender.role)));
    return true;
  });
  const Contender* const ours = find(all, Role::ours);
  const Contender* const cublas = find(all, Role::cublas);
  if (ours != nullptr && cublas != nullptr) {
    result.worst_difference = operands.worst_difference(ours->launch, cublas->launch);
  }
  add_cublas_lt(all, result, operands);
  if (find(all, Role::cublas_lt) == nullptr) {
    result.notes.emplace_back("cublasLt has no algorithm for this shape");
  }
  return all;
}

void Benchmark::add_cublas_lt(std::vector<Contender>& all, const ShapeResult& result,
                              Operands& operands) {
  constexpr std::size_t kFinalists = 6;
  constexpr double kFailed_ns = 1e15;
  const int rounds = options_.regime == Regime::sustained ? 2 : 5;
  const std::vector<Contender> proposed =
      cublas_lt_.contenders(result.shape, operands, options_.algorithms);
  if (proposed.empty()) return;
  warm_up(all, operands.sets(), gpu_);
  std::vector<std::pair<double, const Contender*>> by_time;
  for (const Contender& each : proposed) {
    const auto time_ns = probe(each, operands.sets(), gpu_);
    if (time_ns) by_time.emplace_back(*time_ns, &each);
  }
  std::ranges::stable_sort(by_time, {}, &std::pair<double, const Contender*>::first);
  // One probe each was taken at another temperature: the first few again, in turns.
  const std::size_t few = std::min<std::size_t>(by_time.size(), kFinalists);
  for (std::size_t i = 0; i < few; ++i) by_time[i].first = 0;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < few; ++i) {
      auto& [sum_ns, contender] = by_time[i];
      sum_ns += time_once(*contender, operands.sets()).value_or(kFailed_ns);
    }
  }
  std::ranges::stable_sort(by_time.begin(), by_time.begin() + static_cast<std::ptrdiff_t>(few), {},
                           &std::pair<double, const Contender*>::first);
  // An algorithm that the heuristic did not propose may be none for this product.
  const Contender* const cublas = find(all, Role::cublas);
  const auto is_right = [&](const Contender& each) {
    return cublas == nullptr || operands.worst_difference(each.launch, cublas->launch) <= 1;
  };
  const auto best =
      std::ranges::find_if(by_time, [&](const auto& timed) { return is_right(*timed.second); });
  const std::optional<Contender> found =
      best == by_time.end() ? std::nullopt : std::optional(*best->second);
  all.push_back(proposed.front());
  all.back().role = Role::cublas_lt_default;
  if (!probe(all.back(), operands.sets(), gpu_)) all.pop_back();
  if (found) all.push_back(*found);
}

std::optional<double> Benchmark::time_once(const Contender& contender, std::size_t sets) {
  // The processor enqueues short launches more slowly than the GPU runs them.
  constexpr double kLong_ns = 20e3;
  const auto time_ns = probe(contender, sets, gpu_);
  if (!time_ns || options_.regime == Regime::alternating || *time_ns < kLong_ns) return time_ns;
  const backend::Enqueue next = [&, turn = std::size_t{0}]() mutable {
    return contender.launch(turn++ % sets);
  };
  return LoadedTimer(gpu_.stream()).time(next, *time_ns, name(contender.role));
}

std::string Benchmark::kernel_of(const Contender& contender) const {
  if (contender.role == Role::ours || contender.role == Role::by_default) return contender.kernel;
  const std::string launched = kernel_names(capture(contender.launch, {0}, gpu_.stream()));
  if (launched.empty() || contender.kernel.empty()) return launched + contender.kernel;
  return fmt::format("{} ({})", launched, contender.kernel);
}

}  // namespace tuner::gemm_benchmark
