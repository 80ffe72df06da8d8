// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/plan_maker.hpp"

#include "tuner/backend/launch_error.hpp"
#include "tuner/core/error.hpp"
#include "tuner/dispatch/contenders.hpp"
#include "tuner/dispatch/kernel_values.hpp"
#include "tuner/select/shipped_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <utility>

namespace tuner::dispatch {
namespace {

/// Failures that are remembered; what is forgotten then fails once more.
constexpr std::size_t kMostFailures = 1024;

/// What a launch saves beside the library by its own choice; 0 where either time is not known.
double saved_ns(const select::Selection& selection, const std::vector<select::Selection>& answers) {
  const auto library = std::ranges::find(answers, Rung::library, &select::Selection::rung);
  if (library == answers.end() || !library->expected_ns || !selection.expected_ns) return 0;
  return *library->expected_ns - *selection.expected_ns;
}

Answer answer_of(const select::Selection& selection, const std::vector<select::Selection>& answers,
                 std::vector<std::string> explanation) {
  explanation.insert(explanation.end(), selection.explanation.begin(), selection.explanation.end());
  return {.rung = selection.rung,
          .kernel = selection.kernel == nullptr ? "" : selection.kernel->kernel,
          .configuration = selection.config_json,
          .expected_ns = selection.expected_ns,
          .saved_ns = saved_ns(selection, answers),
          .distance = selection.distance,
          .explanation = std::move(explanation)};
}

SizeKnowledge knowledge_of(const select::Selection& selection, const SizeSlot& slot) {
  const bool is_tuned = selection.entry && selection.entry->size.text == slot.text;
  return is_tuned ? SizeKnowledge::tuned : SizeKnowledge::untuned;
}

select::Ranking ranking_of(const FamilyTable& family, const SizeSlot& slot) {
  return select::rank(family.catalogue(), {.family = family.family().name, .size = slot.text});
}

/// The table that answers, and its answers.
struct AskedTable {
  const FamilyTable* family = nullptr;
  select::Ranking ranking;
};

bool is_tuned(const AskedTable& asked, const SizeSlot& slot) {
  const auto& answers = asked.ranking.answers;
  return !answers.empty() && knowledge_of(answers.front(), slot) == SizeKnowledge::tuned;
}

/// Whether there are answers, and none of what was tuned for the size.
bool may_be_measured(const select::Ranking& ranking, const SizeSlot& slot) {
  return !ranking.answers.empty() &&
         knowledge_of(ranking.answers.front(), slot) == SizeKnowledge::untuned;
}

/// What was tuned here answers for its own sizes, then what is shipped for its; for others what
/// knows more.
AskedTable ask(const FamilyTable& family, const SizeSlot& slot) {
  AskedTable own{.family = &family, .ranking = ranking_of(family, slot)};
  const FamilyTable* const shipped = family.shipped();
  if (shipped == nullptr || is_tuned(own, slot)) return own;
  AskedTable other{.family = shipped, .ranking = ranking_of(*shipped, slot)};
  // A portfolio that was measured on this card stands before one that was measured on another.
  const bool knows_more =
      own.ranking.members == 0 &&
      select::shipped_knows_more(shipped->catalogue(), family.catalogue(), family.family().name);
  return knows_more || is_tuned(other, slot) ? std::move(other) : std::move(own);
}

/// What a choice by measurement is made of.
struct ToMeasure {
  std::shared_ptr<const SizeSlot> slot;
  select::Ranking ranking;
};

/// The answers for a size; where they are those for the product alone, these at its size, at which
/// the library can be measured, too.
ToMeasure to_measure(const AskedTable& asked, const SizeSlot& slot) {
  const std::string& alone = asked.ranking.product_alone;
  if (alone.empty()) return {.slot = slot.shared_from_this(), .ranking = asked.ranking};
  auto product = std::make_shared<SizeSlot>();
  product->text = alone;
  product->size = space::parse_size(alone, asked.family->family().problem.dims);
  select::Ranking ranking = ranking_of(*asked.family, *product);
  return {.slot = std::move(product), .ranking = std::move(ranking)};
}

/// Leaves out kernels that do not answer for the size itself.
void keep_usable(std::vector<select::Selection>& measured, const select::Ranking& ranking) {
  std::erase_if(measured, [&](const select::Selection& it) {
    return it.kernel != nullptr &&
           std::ranges::none_of(ranking.answers, [&](const select::Selection& own) {
             return own.kernel == it.kernel && own.config_json == it.config_json;
           });
  });
}

/// Of the kernels the first two, and the library.
std::vector<select::Selection> the_fastest(std::vector<select::Selection> in_order) {
  constexpr std::size_t kKernels = 2;
  std::size_t kernels = 0;
  std::erase_if(in_order, [&](const select::Selection& it) {
    return it.kernel != nullptr && ++kernels > kKernels;
  });
  return in_order;
}

std::string nothing_can_run(const FamilyTable& family, const SizeSlot& slot,
                            const std::vector<std::string>& explanation) {
  return fmt::format("nothing can run for {} at {}:\n  {}", family.family().name, slot.text,
                     fmt::join(explanation, "\n  "));
}

}  // namespace

void PlanMaker::remember_failure(const std::string& identity, const Failure& failure) {
  const std::string& why = failure.message;
  if (failure.is_transient) {
    log(settings_, LogLevel::warn, fmt::format("{} cannot be used now: {}", identity, why));
    return;
  }
  {
    const std::scoped_lock lock(mutex_);
    if (failures_.size() >= kMostFailures) failures_.clear();
    failures_.emplace(identity, why);
  }
  log(settings_, LogLevel::warn,
      fmt::format("{} cannot be used and is not tried again: {}", identity, why));
}

std::string PlanMaker::objection(const select::Selection& selection, const SizeSlot& slot,
                                 PlanChoice choice) const {
  const bool is_tuned = selection.rung != Rung::library && selection.rung != Rung::default_config;
  if (is_tuned && settings_.tuned == TunedKernels::ignored) return "excluded by TUNER_DISABLE=1";
  if (choice == PlanChoice::library && selection.rung != Rung::library) {
    return "only the library can serve this launch";
  }
  const bool is_for_others =
      selection.rung == Rung::nearest || selection.rung == Rung::default_config;
  if (is_for_others && settings_.mode == DispatchMode::exact) {
    return "it was not tuned for this size, and only such results are used (DispatchMode::exact)";
  }
  const std::scoped_lock lock(mutex_);
  const auto failed = failures_.find(identity_of(selection, slot));
  return failed == failures_.end() ? "" : fmt::format("it failed before: {}", failed->second);
}

Expected<LaunchPlan, std::string> PlanMaker::make(const FamilyTable& family, const SizeSlot& slot,
                                                  PlanChoice choice) {
  try {
    if (settings_.mode == DispatchMode::pinned) return make_pinned(family, slot, choice);
    AskedTable asked = ask(family, slot);
    return first_that_works(*asked.family, slot, asked.ranking.answers, choice,
                            std::move(asked.ranking.explanation));
  } catch (const Error& error) {
    return Unexpected(nothing_can_run(family, slot, {error.what()}));
  }
}

Expected<PinnedAnswer, std::string> PlanMaker::pinned(const FamilyTable& family,
                                                      const SizeSlot& slot) const {
  const std::string& name = family.family().name;
  const Pin* const pin = pins_.find(name, slot.text);
  auto answer = pinned_answer(family, slot, pin == nullptr ? Pin{.rung = Rung::library} : *pin);
  if (!answer) {
    return Unexpected(fmt::format("what {} pins for {} {} cannot be used: {}",
                                  settings_.pins.string(), name, slot.text, answer.error()));
  }
  answer->selection.explanation.push_back(
      pin == nullptr
          ? fmt::format("{} pins nothing for {}: the library", settings_.pins.string(), slot.text)
          : fmt::format("pinned by {}", settings_.pins.string()));
  return answer;
}

Expected<LaunchPlan, std::string> PlanMaker::make_pinned(const FamilyTable& family,
                                                         const SizeSlot& slot, PlanChoice choice) {
  const auto answer = pinned(family, slot);
  if (!answer) return Unexpected(answer.error());
  const bool is_pinned = pins_.find(family.family().name, slot.text) != nullptr;
  // A buffer that no kernel takes is the library's, as where the choice was made.
  select::Selection selection = answer->selection;
  if (choice == PlanChoice::library) selection.rung = Rung::library;
  if (choice == PlanChoice::library) selection.kernel = nullptr;
  auto plan = first_that_works(*answer->family, slot, {selection}, choice, {});
  if (plan) {
    plan->knowledge = is_pinned ? SizeKnowledge::tuned : SizeKnowledge::untuned;
    return plan;
  }
  return Unexpected(fmt::format("what {} pins for {} {} cannot be used: {}",
                                settings_.pins.string(), family.family().name, slot.text,
                                plan.error()));
}

Expected<LaunchPlan, std::string> PlanMaker::make_measured(const FamilyTable& family,
                                                           const SizeSlot& slot,
                                                           TrialMemory& memory) {
  if (settings_.mode == DispatchMode::pinned) return make(family, slot, PlanChoice::any);
  try {
    AskedTable asked = ask(family, slot);
    const FamilyTable& table = *asked.family;
    select::Ranking& ranking = asked.ranking;
    const ToMeasure measured = to_measure(asked, slot);
    if (settings_.mode == DispatchMode::any && may_be_measured(measured.ranking, *measured.slot)) {
      const auto make_plan = [&](const select::Selection& selection, ScratchPool& scratch) {
        return attempt(table, *measured.slot, selection, PlanChoice::any, scratch);
      };
      auto in_order = measured_.choose({table, *measured.slot, measured.ranking}, make_plan, memory,
                                       ranking.explanation);
      keep_usable(in_order, ranking);
      if (!in_order.empty()) ranking.answers = std::move(in_order);
    }
    if (settings_.mode == DispatchMode::any && !ranking.product_alone.empty() &&
        library_serves(table, slot)) {
      // What follows the product may take a kernel registers, and the library another algorithm.
      ranking.answers = the_fastest(std::move(ranking.answers));
      const auto make_plan = [&](const select::Selection& selection, ScratchPool& scratch) {
        return attempt(table, slot, selection, PlanChoice::any, scratch);
      };
      auto in_order =
          measured_.choose({table, slot, ranking}, make_plan, memory, ranking.explanation);
      if (!in_order.empty()) ranking.answers = std::move(in_order);
    }
    auto plan = first_that_works(table, slot, ranking.answers, PlanChoice::any,
                                 std::move(ranking.explanation));
    if (plan) plan->chosen_by = ChooseBy::measurement;
    return plan;
  } catch (const Error& error) {
    return Unexpected(nothing_can_run(family, slot, {error.what()}));
  }
}

std::vector<std::function<void()>> PlanMaker::loading(const FamilyTable& family,
                                                      std::shared_ptr<const SizeSlot> slot) {
  std::vector<std::function<void()>> loads;
  const auto load = [this, &family, slot] {
    static_cast<void>(make(family, *slot, PlanChoice::any));
  };
  if (settings_.mode != DispatchMode::any) return {load};
  try {
    const AskedTable asked = ask(family, *slot);
    const ToMeasure measured = to_measure(asked, *slot);
    if (!may_be_measured(measured.ranking, *measured.slot)) return {load};
    auto needed = measured_.needed({*asked.family, *measured.slot, measured.ranking});
    for (select::Selection& selection : needed.selections) {
      loads.emplace_back([this, its = asked.family, at = measured.slot,
                          selection = std::move(selection), lock = needed.lock] {
        static_cast<void>(attempt(*its, *at, selection, PlanChoice::any, scratch_));
      });
    }
  } catch (const Error&) {
    // make_measured() says so
  }
  return loads;
}

Expected<LaunchPlan, std::string> PlanMaker::first_that_works(
    const FamilyTable& family, const SizeSlot& slot, const std::vector<select::Selection>& answers,
    PlanChoice choice, std::vector<std::string> explanation) {
  bool library_comes_first = false;
  for (const select::Selection& selection : answers) {
    auto plan = attempt(family, slot, selection, choice, scratch_);
    if (plan) {
      plan->library_comes_first = library_comes_first;
      plan->answer = answer_of(selection, answers, std::move(explanation));
      plan->answer.prepared = true;
      plan->identity = identity_of(selection, slot);
      plan->knowledge = knowledge_of(selection, slot);
      plan->pin = pin_of(selection);
      return plan;
    }
    explanation.push_back(fmt::format("{}: skipped: {}", title(selection), plan.error()));
    library_comes_first = library_comes_first || selection.rung == Rung::library;
  }
  return Unexpected(nothing_can_run(family, slot, explanation));
}

Expected<Answer, std::string> PlanMaker::foresee(const FamilyTable& family,
                                                 const SizeSlot& slot) const {
  std::vector<std::string> explanation;
  try {
    if (settings_.mode == DispatchMode::pinned) {
      const auto answer = pinned(family, slot);
      if (!answer) return Unexpected(answer.error());
      return answer_of(answer->selection, {}, {});
    }
    select::Ranking ranking = ask(family, slot).ranking;
    explanation = std::move(ranking.explanation);
    for (const select::Selection& selection : ranking.answers) {
      const std::string why = objection(selection, slot, PlanChoice::any);
      if (why.empty()) return answer_of(selection, ranking.answers, std::move(explanation));
      explanation.push_back(fmt::format("{}: skipped: {}", title(selection), why));
    }
  } catch (const Error& error) {
    explanation.emplace_back(error.what());
  }
  return Unexpected(nothing_can_run(family, slot, explanation));
}

bool PlanMaker::library_serves(const FamilyTable& family, const SizeSlot& slot) const {
  const auto launch = library_launch(family, slot.size);
  return launch && executor_.library_has(launch->operation.epilogue);
}

Expected<LaunchPlan, std::string> PlanMaker::attempt(const FamilyTable& family,
                                                     const SizeSlot& slot,
                                                     const select::Selection& selection,
                                                     PlanChoice choice, ScratchPool& scratch) {
  if (auto why = objection(selection, slot, choice); !why.empty()) {
    return Unexpected(std::move(why));
  }
  LaunchPlan plan;
  try {
    if (selection.kernel == nullptr) {
      plan.library = library_launch(family, slot.size);
      if (!plan.library) {
        return Unexpected<std::string>("the family's reference is not a library operation");
      }
      if (!executor_.library_has(plan.library->operation.epilogue)) {
        return Unexpected<std::string>("the library has no such bias, activation or residual");
      }
      if (selection.rung != Rung::library_tuned) return plan;
      auto tuned = tune(*plan.library, selection, slot, choice, scratch);
      if (!tuned) return Unexpected(tuned.error());
      return plan;
    }
    auto launch = kernel_launch(family, slot, selection, choice, scratch);
    if (!launch) return Unexpected(launch.error());
    plan.kernel = std::move(*launch);
    return plan;
  } catch (const Error& error) {
    return Unexpected<std::string>(error.what());
  }
}

Expected<void, std::string> PlanMaker::tune(LibraryLaunch& launch,
                                            const select::Selection& selection,
                                            const SizeSlot& slot, PlanChoice choice,
                                            ScratchPool& scratch) {
  if (choice == PlanChoice::ready) return Unexpected<std::string>("it was not prepared");
  auto work = executor_.library_work(launch.operation, selection.library_algorithm);
  if (!work) {
    remember_failure(identity_of(selection, slot), work.error());
    return Unexpected(work.error().message);
  }
  if (work->workspace_bytes > 0) {
    launch.workspace = std::make_unique<ScratchSets>(scratch, std::vector{work->workspace_bytes});
  }
  launch.by_algorithm = *std::move(work);
  return {};
}

Expected<KernelLaunch, std::string> PlanMaker::kernel_launch(const FamilyTable& family,
                                                             const SizeSlot& slot,
                                                             const select::Selection& selection,
                                                             PlanChoice choice,
                                                             ScratchPool& scratch) {
  const family::Kernel* const kernel = family.kernel(selection.kernel->kernel);
  if (kernel == nullptr || selection.stored == nullptr) {
    return Unexpected<std::string>("its source does not fit the family, backend or table");
  }
  const space::Config config = space::config_from_json(*kernel->space, selection.config_json);
  const space::ExpressionValues slots =
      selection.stored->at(executor_.device().attributes, slot.size).expression_values(config);
  const family::CompileJob job = family::compile_job(*kernel, slots, config);
  KernelValues values = kernel_values(family, *kernel, slots);
  const std::string identity = identity_of(selection, slot);
  if (choice == PlanChoice::ready && !(values.scratch_bytes.empty() && kernels_.has(job.key))) {
    return Unexpected<std::string>("it was not prepared, or needs scratch memory of its own");
  }
  const auto functions = kernels_.get(job, {family.code(), selection.kernel->hash});
  if (!functions) {
    if (kernels_.has_compiler()) remember_failure(identity, functions.error());
    return Unexpected(functions.error().message);
  }
  KernelLaunch launch{.steps = {},
                      .values = std::move(values.values),
                      .given = std::move(values.given),
                      .first_scratch = family.family().arguments.size(),
                      .maps = LaunchMaps(std::move(values.tensors))};
  const std::size_t count = kernel->steps.size();
  for (std::size_t i = 0; i < count; ++i) {
    auto& [places, bytes] = values.steps[i];
    if (std::ranges::equal(places, std::views::iota(std::size_t{0}, launch.values.size()))) {
      places.clear();
    }
    launch.steps.push_back({.function = functions->at(i),
                            .geometry = family::geometry(*kernel, i, slots),
                            .taken = std::move(places)});
    const FunctionLaunch& step = launch.steps.back();
    if (auto fits = executor_.admit(step.function, step.geometry, bytes); !fits) {
      const Failure why = backend::in_step(std::move(fits.error()), i, count);
      remember_failure(identity, why);
      return Unexpected(why.message);
    }
  }
  if (!values.scratch_bytes.empty()) {
    launch.scratch = std::make_unique<ScratchSets>(scratch, values.scratch_bytes);
  }
  return launch;
}

}  // namespace tuner::dispatch
