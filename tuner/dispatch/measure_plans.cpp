// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/measure_plans.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <utility>

namespace tuner::dispatch {
namespace {

constexpr int kFewestRounds = 3;
constexpr int kMostRounds = 9;
constexpr double kBudgetNs = 100e6;  // after which there are no more than the fewest

constexpr std::array<std::byte, family::kMostArrayBytes> kZeros{};

/// Numbers around zero, of which a device draws as much power as of those of applications.
std::vector<std::byte> random_numbers(ElementType type) {
  constexpr std::size_t kNumbers = 1 << 15;
  std::minstd_rand random(1);
  std::uniform_real_distribution<double> uniform(-2, 2);
  const std::size_t size_bytes = family::size_bytes(type);
  std::vector<std::byte> bytes(kNumbers * size_bytes);
  for (std::size_t i = 0; i < kNumbers; ++i) {
    const double number = uniform(random) + uniform(random);
    const std::uint64_t bits = family::is_floating(type)
                                   ? family::bits_of(type, number)
                                   : static_cast<std::uint64_t>(std::llround(number));
    std::memcpy(bytes.data() + i * size_bytes, &bits, size_bytes);
  }
  return bytes;
}

/// Whether any numbers may stand in a buffer: none that are places of others.
bool holds_any_numbers(const family::BufferArgument& buffer) {
  return buffer.role == family::BufferRole::input && buffer.fill.kind == family::FillKind::normal;
}

/// Arguments for a launch that the application did not request.
struct TrialArguments {
  std::vector<std::shared_ptr<void>> memory;
  std::vector<DispatchArgument> values;
};

DispatchArgument number(DispatchArgument::Type type, std::int64_t value) {
  switch (type) {
    case DispatchArgument::Type::i32:
      return static_cast<std::int32_t>(value);
    case DispatchArgument::Type::u32:
      return static_cast<std::uint32_t>(value);
    case DispatchArgument::Type::f32:
      return static_cast<float>(value);
    case DispatchArgument::Type::f64:
      return static_cast<double>(value);
    default:
      return value;
  }
}

Unexpected<Failure> no_value(const std::string& argument) {
  return Unexpected(
      Failure{Outcome::launch_error, "an expression of " + argument + " has no value"});
}

Expected<TrialArguments, Failure> trial_arguments(backend::Executor& executor,
                                                  const FamilyTable& family,
                                                  const space::Size& size) {
  TrialArguments trial;
  const space::ExpressionValues values = family.expression_values(size);
  const std::vector<DispatchArgument::Type> types = family.given_types(size);
  for (std::size_t i = 0; i < types.size(); ++i) {
    const GivenArgument& given = family.given()[i];
    const auto& what = family.family().arguments[given.place].what;
    if (const auto* const scalar = std::get_if<family::ScalarArgument>(&what)) {
      const auto value = scalar->value.evaluate(values);
      if (!value) return no_value(given.name);
      trial.values.push_back(number(types[i], *value));
      continue;
    }
    if (std::holds_alternative<family::ArrayArgument>(what)) {
      trial.values.push_back(DispatchArgument::array(kZeros.data()));
      continue;
    }
    const auto& buffer = std::get<family::BufferArgument>(what);
    const auto count = buffer.count.evaluate(values);
    const auto offset = buffer.offset.evaluate(values);
    if (!count || !offset || *count < 0 || *offset < 0) return no_value(given.name);
    const std::size_t element_bytes = family::size_bytes(buffer.type.at(values));
    const std::size_t skipped = static_cast<std::size_t>(*offset) * element_bytes;
    const std::size_t bytes = static_cast<std::size_t>(*count) * element_bytes;
    auto memory = executor.memory(std::max<std::size_t>(skipped + bytes, 1));
    if (!memory) return Unexpected(memory.error());
    trial.memory.push_back(*std::move(memory));
    if (holds_any_numbers(buffer)) {
      const auto numbers = random_numbers(buffer.type.at(values));
      auto done = executor.repeat(numbers, trial.memory.back().get(), skipped + bytes);
      if (!done) return Unexpected(done.error());
    }
    trial.values.emplace_back(static_cast<std::byte*>(trial.memory.back().get()) + skipped);
  }
  return trial;
}

backend::StreamWork work_of(backend::Executor& executor, EpochReclaimer& reclaimer,
                            const LaunchPlan& plan, std::span<const DispatchArgument> arguments) {
  return [&executor, &reclaimer, &plan, arguments](backend::StreamHandle stream) {
    return enqueue_anew(executor, reclaimer, plan, arguments, stream);
  };
}

double median(std::vector<double> times_ns) {
  const auto middle = times_ns.begin() + static_cast<std::ptrdiff_t>(times_ns.size() / 2);
  std::ranges::nth_element(times_ns, middle);
  return *middle;
}

}  // namespace

Expected<std::vector<std::optional<double>>, Failure> measure_plans(
    backend::Executor& executor, EpochReclaimer& reclaimer, const FamilyTable& family,
    const SizeSlot& slot, std::span<const LaunchPlan> plans) {
  if (family::extends_lists(family.family().arguments)) {
    return Unexpected(Failure{Outcome::launch_error,
                              "launched repeatedly, the kernels would write beyond their lists"});
  }
  const auto arguments = trial_arguments(executor, family, slot.size);
  if (!arguments) return Unexpected(arguments.error());
  // Alone first: what cannot be launched is left out, and the others are ready.
  std::vector<backend::StreamWork> works;
  std::vector<std::size_t> places;
  double round_ns = 0;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    backend::StreamWork work = work_of(executor, reclaimer, plans[i], arguments->values);
    const auto alone = executor.time({&work, 1}, 1);
    if (!alone && alone.error().outcome == Outcome::crashed) return Unexpected(alone.error());
    if (!alone) continue;
    round_ns += alone->front().front();
    works.push_back(std::move(work));
    places.push_back(i);
  }
  std::vector<std::optional<double>> result(plans.size());
  const int rounds = static_cast<int>(
      std::clamp(kBudgetNs / std::max(round_ns, 1.0), double{kFewestRounds}, double{kMostRounds}));
  const auto times_ns = executor.time(works, rounds);
  if (!times_ns) return Unexpected(times_ns.error());
  for (std::size_t i = 0; i < places.size(); ++i) result[places[i]] = median((*times_ns)[i]);
  return result;
}

}  // namespace tuner::dispatch
