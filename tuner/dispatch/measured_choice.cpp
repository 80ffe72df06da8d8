// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/measured_choice.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/dispatch/contenders.hpp"
#include "tuner/dispatch/kernel_values.hpp"
#include "tuner/dispatch/measure_plans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

namespace tuner::dispatch {
namespace {

/// How long another process may take to compile and time what there is for a size; then this one
/// does so itself.
constexpr std::chrono::seconds kPatience{30};

/// The title of a selection whose plan is made.
std::string full_title(const select::Selection& selection, const LaunchPlan& plan) {
  if (plan.kernel || !plan.library->by_algorithm) return title(selection);
  return "the library by " + plan.library->by_algorithm->name;
}

}  // namespace

KeptMeasurement MeasuredChoice::kept(const Question& question) const {
  std::vector<std::string> identities;
  for (const select::Selection& it : question.ranking.answers) {
    identities.push_back(identity_of(it, question.slot));
  }
  return {cache_, executor_.device(), executor_.environment(), identities};
}

std::optional<std::vector<MeasuredCandidate>> MeasuredChoice::known(
    const Question& question) const {
  if (!may_keep()) return std::nullopt;
  auto found = kept(question).find();
  const bool fits = found && measured_answers(*found, question.ranking, question.slot);
  return fits ? std::move(found) : std::nullopt;
}

std::vector<select::Selection> MeasuredChoice::choose(const Question& question,
                                                      const MakePlan& make_plan,
                                                      TrialMemory& memory,
                                                      std::vector<std::string>& explanation) {
  auto candidates = known(question);
  std::unique_ptr<const MeasurementLock> lock;
  if (!candidates && may_keep() && !locks_.empty()) {
    lock = MeasurementLock::take(locks_, kept(question).key(), kPatience);
    candidates = known(question);  // by whoever had the lock
  }
  const bool is_known = candidates.has_value();
  if (!is_known) {
    auto now = measure(question, make_plan, memory);
    if (!now) {
      explanation.push_back(fmt::format("not measured: {}", now.error().message));
      return {};
    }
    explanation.push_back(now->summary);
    if (may_keep() && now->is_complete) kept(question).keep(now->candidates);
    candidates = std::move(now->candidates);
  }
  for (const MeasuredCandidate& it : *candidates) {
    explanation.push_back(fmt::format("measured{}: {} takes {}", is_known ? " earlier" : "",
                                      it.title, quantity::time(it.time_ns, 4)));
  }
  return measured_answers(*candidates, question.ranking, question.slot).value();
}

Expected<MeasuredChoice::Measured, Failure> MeasuredChoice::measure(const Question& question,
                                                                    const MakePlan& make_plan,
                                                                    TrialMemory& memory) {
  if (family::extends_lists(question.family.family().arguments)) {
    return Unexpected(Failure{Outcome::launch_error,
                              "launched repeatedly, the kernels would write beyond their lists"});
  }
  const auto launches = TrialLaunches::make(executor_, memory, question.family, question.slot.size);
  if (!launches) return Unexpected(launches.error());
  // Of each its own, which goes with those that lose.
  EpochReclaimer reclaimer;
  ScratchPool scratch(executor_, reclaimer, std::numeric_limits<std::size_t>::max());
  std::vector<select::Selection> selections;
  std::vector<LaunchPlan> plans;
  std::optional<std::size_t> library;
  Measured result;
  for (auto& selection : contenders(question.ranking, algorithms(question, *launches))) {
    auto plan = make_plan(selection, scratch);
    result.is_complete = result.is_complete && plan;  // perhaps for want of memory
    if (!plan) continue;
    if (selection.rung == Rung::library) library = plans.size();
    selections.push_back(std::move(selection));
    plans.push_back(*std::move(plan));
  }
  const std::scoped_lock lock(measuring_);
  const auto begin = std::chrono::steady_clock::now();
  const auto measured = measure_plans(executor_, reclaimer, *launches, plans, library);
  if (!measured) return Unexpected(measured.error());
  result.is_complete = result.is_complete && measured->is_complete;
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  result.summary =
      fmt::format("side by side: {} of {} in {} rounds, {:.0f} ms", measured->order.size(),
                  plans.size(), measured->rounds, took.count());
  for (std::size_t place = 0; place < measured->order.size(); ++place) {
    const std::size_t i = measured->order[place];
    const char* const where = place < measured->in_graphs ? " in graphs" : "";
    result.candidates.push_back({.identity = identity_of(selections[i], question.slot),
                                 .title = full_title(selections[i], plans[i]) + where,
                                 .library_algorithm = selections[i].library_algorithm,
                                 .time_ns = *measured->times_ns[i]});
  }
  return result;
}

std::vector<std::string> MeasuredChoice::algorithms(const Question& question,
                                                    const TrialLaunches& launches) {
  const auto library = library_launch(question.family, question.slot.size);
  if (!library) return {};
  blas::Addresses operands;
  for (std::size_t i = 0; i < library->operands.size(); ++i) {
    if (!library->operands[i]) continue;
    const std::uint64_t bits = launches.sets().front()[*library->operands[i]].bits();
    operands[i] = reinterpret_cast<void*>(static_cast<std::uintptr_t>(bits));
  }
  try {
    return executor_.library_algorithms(library->operation, operands);
  } catch (const Error&) {  // there is no library with algorithms
    return {};
  }
}

MeasuredChoice::Needed MeasuredChoice::needed(const Question& question) const {
  if (const auto candidates = known(question); candidates && !candidates->empty()) {
    auto answers = measured_answers(*candidates, question.ranking, question.slot).value();
    answers.resize(1);
    return {.selections = std::move(answers), .lock = nullptr};
  }
  Needed needed;
  if (may_keep() && !locks_.empty()) {
    needed.lock = MeasurementLock::take(locks_, kept(question).key(), {});
    if (needed.lock == nullptr) return needed;
  }
  needed.selections = contenders(question.ranking, {});
  return needed;
}

}  // namespace tuner::dispatch
