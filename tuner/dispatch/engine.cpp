// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/engine.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/dispatch/blas_family.hpp"
#include "tuner/dispatch/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <thread>
#include <utility>

namespace tuner::dispatch {
namespace {

/// The slot of the same problem whose claim the arguments keep; null when there is none.
std::shared_ptr<SizeSlot> aligned(FamilyTable& family, const std::shared_ptr<SizeSlot>& asked,
                                  std::span<const DispatchArgument> arguments) {
  if (holds(asked->claim, arguments)) return asked;
  for (const Realignment& other : asked->realignments) {
    if (holds(other.claim, arguments)) return family.slot(other.size, SlotLife::droppable);
  }
  return nullptr;
}

/// Why a plan is not one of a tuned kernel; none where it is.
std::optional<KernelEnd> no_tuned_kernel(const LaunchPlan& plan) {
  if (!plan.kernel) return plan.answer.expected_ns ? KernelEnd::library : KernelEnd::untuned;
  if (plan.answer.rung == Rung::default_config) return KernelEnd::untuned;
  if (plan.library_comes_first) return KernelEnd::library;
  return std::nullopt;
}

bool is_measured(const LaunchPlan& plan) {
  return plan.chosen_by == ChooseBy::measurement;
}

/// Calls `work` with each number below `count`.
void on_all_cores(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    for (std::size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) work(i);
  };
  std::vector<std::jthread> helpers;
  const std::size_t most = std::max(1U, std::thread::hardware_concurrency());
  for (std::size_t i = 1; i < std::min(most, count); ++i) helpers.emplace_back(run);
  run();
}

/// What the environment says stands before what the application does.
DispatchSettings merged(DispatchSettings settings, const DispatchOptions& options) {
  if (settings.mode == DispatchMode::any) {
    settings.mode = options.mode;
    settings.pins = options.pins;
  }
  if (settings.mode == DispatchMode::pinned && settings.pins.empty()) {
    throw DispatchError("DispatchMode::pinned needs DispatchOptions::pins, a file of choices");
  }
  return settings;
}

[[noreturn]] void throw_halfway(const FamilyTable& family, const SizeSlot& slot,
                                const Failure& failure) {
  throw HalfwayError(
      fmt::format("{} at {}: a kernel of several launches failed before its last launch: {}; do "
                  "not use its outputs",
                  family.family().name, slot.text, failure.message));
}

/// The sizes of which it is remembered that the user was told.
constexpr std::size_t kMostNoted = 10'000;

constexpr std::uint64_t kMostTableBytes = std::uint64_t{256} << 20;

std::filesystem::path table_cache(const DispatchOptions& options) {
  const auto kernels = options.cache.empty() ? backend::default_binary_cache() : options.cache;
  return kernels.empty() ? kernels : kernels / "tables";
}

[[noreturn]] void fail_device(const Failure& failure) {
  throw DispatchError(
      fmt::format("the device failed, possibly before this launch: {}. This process cannot use it "
                  "any more; compute-sanitizer finds the faulty kernel",
                  failure.message));
}

}  // namespace

FamilyTable* Engine::TableSnapshot::find(FamilyId id) const {
  const auto place = static_cast<std::size_t>(id);
  return place < families.size() ? families[place].get() : nullptr;
}

FamilyTable& Engine::TableSnapshot::at(FamilyId id) const {
  if (FamilyTable* const family = find(id)) return *family;
  throw DispatchError(
      "the table in use has no such family: it was reloaded since, or the number "
      "is of another dispatcher");
}

Engine::Engine(std::unique_ptr<backend::Executor> executor, const Table& table,
               const DispatchOptions& options, DispatchSettings settings)
    : settings_(merged(std::move(settings), options)),
      stale_(options.stale),
      executor_(std::move(executor)),
      kernels_(*executor_, options, settings_),
      tables_(table_cache(options), kMostTableBytes),
      scratch_(*executor_, reclaimer_),
      measured_(*executor_, tables_,
                tables_.problem().empty() ? table_cache(options) : std::filesystem::path(),
                settings_),
      pins_(executor_->device(), executor_->environment()),
      maker_(*executor_, kernels_, scratch_, measured_, pins_, settings_),
      recorder_(settings_.record) {
  awaits_capture_ = !settings_.capture.empty();
  if (!kernels_.cache_problem().empty()) log(settings_, LogLevel::info, kernels_.cache_problem());
  if (kernels_.lacks_helper()) {
    log(settings_, LogLevel::info,
        "kernels are compiled in this process, without a limit of time and memory: "
        "libexec/tuner/tuner-compile is not installed beside the library");
  }
  if (settings_.mode == DispatchMode::pinned) pins_.read(settings_.pins);
  snapshot_ = read(table);
  current_ = snapshot_.get();
}

Engine::~Engine() = default;

std::size_t Engine::number_of(const std::string& family) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(names_, family);
  if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
  names_.push_back(family);
  return names_.size() - 1;
}

std::shared_ptr<const Engine::TableSnapshot> Engine::read(const Table& table) {
  auto next = std::make_shared<TableSnapshot>();
  if (table.source().kind != TableSource::Kind::text) kernels_.expect_foreign_sources();
  auto families =
      read_families(table.source(), executor_->device(), executor_->environment(), tables_);
  for (auto& [name, source] : families) {
    select::CatalogueOutline& outline = source.outline;
    if (const std::string unusable = without_sources(outline); !unusable.empty()) {
      log(settings_, LogLevel::warn, unusable);
      next->without_sources[name] = unusable;
    }
    if (std::ranges::none_of(outline.known.kernels, has_sources)) continue;
    const std::size_t place = number_of(name);
    if (next->families.size() <= place) next->families.resize(place + 1);
    next->families[place] = std::make_unique<FamilyTable>(std::move(outline), stale_, reclaimer_);
    if (source.shipped) {
      next->families[place]->add_shipped(*std::move(source.shipped), stale_, reclaimer_);
    }
    const FamilyId id{static_cast<unsigned>(place)};
    add_gemm_family(next->gemm, "gemm", id, *next->families[place]);
    add_gemm_family(next->gemm_tensor, "gemm_tensor", id, *next->families[place]);
  }
  return next;
}

std::shared_ptr<const Engine::TableSnapshot> Engine::snapshot() const {
  const std::scoped_lock lock(mutex_);
  return snapshot_;
}

void Engine::reload(const Table& table) {
  std::shared_ptr<const TableSnapshot> next = read(table);
  {
    const std::scoped_lock lock(mutex_);
    snapshot_.swap(next);
    current_ = snapshot_.get();
  }
  reclaimer_.wait();  // then only launches that make a plan hold the old one
}

std::optional<FamilyId> Engine::find_family(std::string_view name) const {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(names_, name);
  const FamilyId id{static_cast<std::uint32_t>(found - names_.begin())};
  if (found == names_.end() || snapshot_->find(id) == nullptr) return std::nullopt;
  return id;
}

FamilyId Engine::family(std::string_view name) const {
  if (const auto found = find_family(name)) return *found;
  const std::scoped_lock lock(mutex_);
  const auto unusable = snapshot_->without_sources.find(std::string(name));
  if (unusable != snapshot_->without_sources.end()) throw DispatchError(unusable->second);
  throw DispatchError(fmt::format("the table has no family '{}'{}: tune one of its kernels first",
                                  name, did_you_mean(name, names_)));
}

std::optional<GemmFamily> Engine::gemm_family(GemmType type) const {
  const auto section = reclaimer_.enter();
  return current_.load()->gemm.at(static_cast<std::size_t>(type));
}

std::optional<GemmFamily> Engine::gemm_tensor_family(GemmType type) const {
  const auto section = reclaimer_.enter();
  return current_.load()->gemm_tensor.at(static_cast<std::size_t>(type));
}

void Engine::launch(FamilyId id, std::span<const std::int64_t> size,
                    std::span<const DispatchArgument> arguments, backend::StreamHandle stream) {
  if (awaits_capture_.load(std::memory_order_relaxed) && takes_capture(id)) {
    return launch_asked_for(id, size, arguments, stream);
  }
  launch_uncaptured(id, size, arguments, stream);
}

void Engine::launch_asked_for(FamilyId id, std::span<const std::int64_t> size,
                              std::span<const DispatchArgument> arguments,
                              backend::StreamHandle stream) {
  // A capture that fails does not fail the launch.
  const auto tell = [&](const std::string& what) {
    log(settings_, LogLevel::warn, fmt::format("TUNER_CAPTURE={}: {}", settings_.capture, what));
  };
  const std::shared_ptr<const TableSnapshot> snapshot = this->snapshot();
  std::optional<LaunchCapture> capture;
  try {
    capture.emplace(
        begin_capture(*snapshot, id, size, arguments, stream, settings_.capture_limit_bytes));
  } catch (const std::exception& exception) {
    tell(fmt::format("not captured: {}", exception.what()));
  }
  launch_uncaptured(id, size, arguments, stream);
  if (!capture) return;
  try {
    tell(fmt::format("captured: tune --space {}",
                     capture->write(settings_.capture_folder).string()));
  } catch (const std::exception& exception) {
    tell(fmt::format("not captured: {}", exception.what()));
  }
}

bool Engine::takes_capture(FamilyId id) {
  const FamilyTable* const family = snapshot()->find(id);
  if (family == nullptr) return false;
  const auto is_wanted = [&](const family::Kernel& it) { return it.name == settings_.capture; };
  return (family->family().name == settings_.capture ||
          std::ranges::any_of(family->family().kernels, is_wanted)) &&
         awaits_capture_.exchange(false);
}

LaunchCapture Engine::begin_capture(const TableSnapshot& snapshot, FamilyId id,
                                    std::span<const std::int64_t> size,
                                    std::span<const DispatchArgument> arguments,
                                    backend::StreamHandle stream, std::uint64_t limit_bytes) {
  FamilyTable& family = snapshot.at(id);
  const std::shared_ptr<SizeSlot> slot = family.slot(size, SlotLife::droppable);
  family.check_arguments(*slot, arguments);
  family.check_not_null(*slot, arguments);
  const auto state = executor_->state(stream);
  if (!state || state->capture) {
    throw DispatchError(
        fmt::format("{}: a launch that is recorded into a graph has no data: "
                    "capture one outside of the graph",
                    family.family().name));
  }
  return {*executor_, family, slot->size, arguments, stream, limit_bytes};
}

std::filesystem::path Engine::capture_launch(FamilyId id, std::span<const std::int64_t> size,
                                             std::span<const DispatchArgument> arguments,
                                             backend::StreamHandle stream,
                                             const std::filesystem::path& folder,
                                             std::uint64_t limit_bytes) {
  const std::shared_ptr<const TableSnapshot> snapshot = this->snapshot();
  LaunchCapture capture = begin_capture(*snapshot, id, size, arguments, stream, limit_bytes);
  launch_uncaptured(id, size, arguments, stream);
  return capture.write(folder);
}

void Engine::launch_uncaptured(FamilyId id, std::span<const std::int64_t> size,
                               std::span<const DispatchArgument> arguments,
                               backend::StreamHandle stream) {
  if (launch_prepared(id, size, arguments, stream, ServedBy::anything)) return;
  launch_anew(id, size, arguments, stream);
}

std::optional<KernelUse> Engine::launch_prepared(FamilyId id, std::span<const std::int64_t> size,
                                                 std::span<const DispatchArgument> arguments,
                                                 backend::StreamHandle stream, ServedBy by) {
  const auto section = reclaimer_.enter();
  FamilyTable* const family = current_.load()->find(id);
  SizeSlot* slot = family == nullptr ? nullptr : family->find(size);
  if (slot == nullptr) return std::nullopt;
  family->check_arguments(*slot, arguments);
  if (!holds(slot->claim, arguments)) {
    const auto other = std::ranges::find_if(
        slot->realignments, [&](const Realignment& it) { return holds(it.claim, arguments); });
    slot = other == slot->realignments.end() ? nullptr : family->find(other->size);
    if (slot == nullptr) return std::nullopt;
  }
  const LaunchPlan* const plan = slot->plan.load(std::memory_order_acquire);
  if (plan == nullptr) return std::nullopt;
  const bool tuned_only = by == ServedBy::tuned_kernels;
  if (tuned_only) {
    if (const auto end = no_tuned_kernel(*plan)) return KernelUse{.end = *end};
  }
  const auto end = tuner::dispatch::enqueue(*executor_, *plan, arguments, stream);
  if (end && *end == LaunchEnd::enqueued) {
    plan->counter->add_launch();
    return KernelUse{.end = KernelEnd::launched,
                     .saved_ns = tuned_only ? plan->answer.saved_ns : 0};
  }
  // A launch that did nothing is done anew; that decides whether the plan is used again.
  if (!end && plan->may_end_halfway() &&
      (tuned_only || end.error().outcome == Outcome::launch_error)) {
    discard_failed(*family, *slot, *plan, end.error());
  }
  return std::nullopt;
}

Expected<Engine::CheckedLaunch, Failure> Engine::check_launch(
    FamilyTable& family, std::span<const std::int64_t> size,
    std::span<const DispatchArgument> arguments, backend::StreamHandle stream) const {
  CheckedLaunch checked;
  checked.asked = family.slot(size, SlotLife::droppable);
  family.check_arguments(*checked.asked, arguments);
  family.check_not_null(*checked.asked, arguments);
  // Here, because a stream that cannot be used must not be held against every plan.
  const auto state = executor_->state(stream);
  if (!state) return Unexpected(state.error());
  checked.is_captured = state->capture.has_value();
  checked.slot = aligned(family, checked.asked, arguments);
  return checked;
}

void Engine::launch_anew(FamilyId id, std::span<const std::int64_t> size,
                         std::span<const DispatchArgument> arguments,
                         backend::StreamHandle stream) {
  const std::shared_ptr<const TableSnapshot> snapshot = this->snapshot();
  FamilyTable& family = snapshot->at(id);
  const auto checked = check_launch(family, size, arguments, stream);
  if (!checked) {
    throw DispatchError(fmt::format("the stream cannot be used: {}", checked.error().message));
  }
  if (checked->slot == nullptr) {
    return launch_once(family, *checked->asked, PlanChoice::library,
                       family.misalignment(*checked->asked, arguments), arguments, stream);
  }
  SizeSlot& slot = *checked->slot;
  if (checked->is_captured) return launch_captured(family, slot, arguments, stream);
  for (;;) {
    const LaunchPlan& plan = plan_for(family, slot);
    const auto done = enqueue(plan, arguments, stream);
    if (done) return;
    // What may succeed later has launched nothing.
    if (done.error().is_transient && settings_.mode == DispatchMode::pinned) {
      refuse(fmt::format("what {} pins for {} {} cannot be launched now: {}",
                         settings_.pins.string(), family.family().name, slot.text,
                         done.error().message));
    }
    if (done.error().is_transient) {
      return launch_once(family, slot, PlanChoice::library, done.error().message, arguments,
                         stream);
    }
    discard_failed(family, slot, plan, done.error());
  }
}

KernelUse Engine::launch_gemm_kernel(GemmType type, const blas::GemmShape& shape,
                                     const Epilogue& epilogue,
                                     std::span<const DispatchArgument, 7> arguments,
                                     backend::StreamHandle stream) {
  KernelUse first{.end = KernelEnd::untuned};
  for (const auto& family : {gemm_tensor_family(type), gemm_family(type)}) {
    if (!family || (!family->epilogue && !epilogue.is_none())) continue;
    const GemmSize size(*family, shape, epilogue);
    const auto taken = size.taken(arguments);
    auto use = launch_prepared(family->id, size.numbers(), taken, stream, ServedBy::tuned_kernels);
    if (!use) use = launch_kernel_anew(family->id, size.numbers(), taken, stream);
    if (use->end == KernelEnd::launched || use->end == KernelEnd::failed) return *use;
    if (first.end == KernelEnd::untuned) first = *use;
  }
  return first;
}

KernelUse Engine::launch_kernel_anew(FamilyId id, std::span<const std::int64_t> size,
                                     std::span<const DispatchArgument> arguments,
                                     backend::StreamHandle stream) {
  const std::shared_ptr<const TableSnapshot> snapshot = this->snapshot();
  FamilyTable* const family = snapshot->find(id);
  if (family == nullptr) return {.end = KernelEnd::untuned};  // it was reloaded since
  if (!family->is_size(size)) return {.end = KernelEnd::unsuited};
  const auto checked = check_launch(*family, size, arguments, stream);
  if (!checked) return {.end = KernelEnd::failed};
  if (checked->slot == nullptr) return {.end = KernelEnd::unsuited};
  SizeSlot& slot = *checked->slot;
  const LaunchPlan* plan = slot.plan.load(std::memory_order_acquire);
  if (plan == nullptr && checked->is_captured) return {.end = KernelEnd::unprepared};
  if (plan == nullptr) plan = &plan_for(*family, slot);
  if (const auto end = no_tuned_kernel(*plan)) return {.end = *end};
  const auto done = enqueue(*plan, arguments, stream);
  if (done) return {.end = KernelEnd::launched, .saved_ns = plan->answer.saved_ns};
  discard_failed(*family, slot, *plan, done.error());
  return {.end = KernelEnd::failed};
}

void Engine::launch_captured(const FamilyTable& family, const SizeSlot& slot,
                             std::span<const DispatchArgument> arguments,
                             backend::StreamHandle stream) {
  const LaunchPlan* const plan = slot.plan.load(std::memory_order_acquire);
  if (plan != nullptr) {
    const auto done = enqueue(*plan, arguments, stream);
    if (done) return;
    if (plan->may_end_halfway()) throw_halfway(family, slot, done.error());
  }
  launch_once(family, slot, PlanChoice::ready,
              "During capture only loaded kernels can be launched: prepare() the size first.",
              arguments, stream);
}

void Engine::launch_once(const FamilyTable& family, const SizeSlot& slot, PlanChoice choice,
                         std::string_view hint, std::span<const DispatchArgument> arguments,
                         backend::StreamHandle stream) {
  auto plan = maker_.make(family, slot, choice);
  if (!plan) refuse(fmt::format("{}\n{}", plan.error(), hint));
  plan->counter = &counter_of(family, *plan);
  const auto done = enqueue(*plan, arguments, stream);
  if (done) return;
  throw DispatchError(fmt::format("{} at {} cannot be launched here: {}", family.family().name,
                                  slot.text, done.error().message));
}

Expected<void, Failure> Engine::enqueue(const LaunchPlan& plan,
                                        std::span<const DispatchArgument> arguments,
                                        backend::StreamHandle stream) {
  auto done = enqueue_anew(*executor_, reclaimer_, plan, arguments, stream);
  if (!done && done.error().outcome == Outcome::crashed) fail_device(done.error());
  if (done) plan.counter->add_launch();
  return done;
}

void Engine::refuse(const std::string& why) const {
  if (settings_.mode == DispatchMode::pinned) throw DispatchError(why);
  throw NotServed(why);
}

void Engine::pin(const std::filesystem::path& file) const {
  Pins pins(executor_->device(), executor_->environment());
  const std::shared_ptr<const TableSnapshot> snapshot = this->snapshot();
  for (const auto& family : snapshot->families) {
    if (family == nullptr) continue;
    for (const std::shared_ptr<SizeSlot>& slot : family->slots()) {
      const LaunchPlan* const plan = slot->plan.load(std::memory_order_acquire);
      if (plan != nullptr) pins.add(family->family().name, slot->text, plan->pin);
    }
  }
  pins.write(file);
}

ServedCounter& Engine::counter_of(const FamilyTable& family, const LaunchPlan& plan) {
  return counts_.of(family.family().name, plan.answer.rung, plan.knowledge);
}

const LaunchPlan& Engine::plan_for(const FamilyTable& family, SizeSlot& slot, TrialMemory* memory) {
  const std::scoped_lock lock(slot.mutex);
  const LaunchPlan* const known = slot.plan.load(std::memory_order_acquire);
  if (known != nullptr && (memory == nullptr || is_measured(*known))) return *known;
  auto plan = memory != nullptr ? maker_.make_measured(family, slot, *memory)
                                : maker_.make(family, slot, PlanChoice::any);
  if (!plan) refuse(plan.error());
  plan->counter = &counter_of(family, *plan);
  plan->counter->add_size();
  note(family, slot, *plan);
  slot.plans.push_back(std::make_unique<const LaunchPlan>(std::move(*plan)));
  slot.plan.store(slot.plans.back().get(), std::memory_order_release);
  return *slot.plans.back();
}

void Engine::discard_failed(const FamilyTable& family, SizeSlot& slot, const LaunchPlan& plan,
                            const Failure& why) {
  if (why.is_transient) return;
  maker_.remember_failure(plan.identity, why);
  const LaunchPlan* expected = &plan;
  slot.plan.compare_exchange_strong(expected, nullptr);
  if (plan.may_end_halfway()) throw_halfway(family, slot, why);
}

void Engine::record(const std::string& family, const space::Dimensions& dims,
                    const space::Size& size) {
  if (settings_.record.empty()) return;
  try {
    recorder_.record(family, dims, size);
  } catch (const std::exception& exception) {
    log(settings_, LogLevel::warn, exception.what());
  }
}

void Engine::note(const FamilyTable& family, const SizeSlot& slot, const LaunchPlan& plan) {
  const std::string& name = family.family().name;
  {
    const std::scoped_lock lock(mutex_);
    if (noted_.size() >= kMostNoted) noted_.clear();
    if (!noted_.insert(name + " " + slot.text).second) return;
  }
  record(name, family.family().problem.dims, slot.size);
  if (plan.knowledge == SizeKnowledge::tuned) return;
  const Answer& answer = plan.answer;
  if (settings_.tuned == TunedKernels::ignored) {
    return log(settings_, LogLevel::info,
               fmt::format("{} {}: tuned results are excluded by TUNER_DISABLE=1: {} runs", name,
                           slot.text, tuner::name(answer.rung)));
  }
  log(settings_, answer.rung == Rung::default_config ? LogLevel::warn : LogLevel::info,
      fmt::format(
          "{} {} was not tuned on {}: {} runs{}{}. To tune it: tune --space SPACE_FILE_OF_{}"
          " --size {}",
          name, slot.text, executor_->device().name, tuner::name(answer.rung),
          answer.kernel.empty() ? "" : ", ", answer.kernel, name, slot.text));
}

Preparation Engine::prepare_one(FamilyTable& family, const space::Size& size, TrialMemory* memory) {
  std::shared_ptr<SizeSlot> slot;
  try {
    slot = family.slot(size, SlotLife::kept);
    return {.size = size, .answer = plan_for(family, *slot, memory).answer, .error = {}};
  } catch (const std::exception& exception) {
    if (slot != nullptr && slot->plan == nullptr) family.let_go(*slot);
    return {.size = size, .answer = {}, .error = exception.what()};
  }
}

std::vector<Preparation> Engine::prepare(FamilyId id, std::span<const space::Size> sizes,
                                         ChooseBy choose_by) {
  const std::shared_ptr<const TableSnapshot> snapshot = this->snapshot();
  FamilyTable& family = snapshot->at(id);
  if (family::library_arguments(family.family().check) != nullptr) {
    if (auto done = executor_->prepare_library(); !done) {
      log(settings_, LogLevel::warn, done.error().message);
    }
  }
  std::vector<Preparation> results(sizes.size());
  if (choose_by == ChooseBy::expectation) {
    on_all_cores(sizes.size(),
                 [&](std::size_t i) { results[i] = prepare_one(family, sizes[i], nullptr); });
    return results;
  }
  load_contenders(family, sizes);
  // By this thread alone: what is timed has the device to itself, and the memory has one context.
  TrialMemory memory(*executor_);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    results[i] = prepare_one(family, sizes[i], &memory);
  }
  return results;
}

void Engine::load_contenders(FamilyTable& family, std::span<const space::Size> sizes) {
  std::vector<std::function<void()>> loads;
  for (const space::Size& size : sizes) {
    try {
      const std::shared_ptr<SizeSlot> slot = family.slot(size, SlotLife::droppable);
      const LaunchPlan* const plan = slot->plan.load(std::memory_order_acquire);
      if (plan != nullptr && is_measured(*plan)) continue;
      for (auto& load : maker_.loading(family, slot)) loads.push_back(std::move(load));
    } catch (const NotServed&) {
      continue;  // prepare_one says so
    }
  }
  on_all_cores(loads.size(), [&](std::size_t i) { loads[i](); });
}

space::Size Engine::parse_size(FamilyId id, std::string_view text) const {
  return space::parse_size(text, snapshot()->at(id).family().problem.dims);
}

bool Engine::is_size(FamilyId id, std::span<const std::int64_t> size) const {
  return snapshot()->at(id).is_size(size);
}

std::vector<ArgumentInfo> Engine::arguments(FamilyId id, std::span<const std::int64_t> size) const {
  return snapshot()->at(id).arguments(size);
}

Answer Engine::answer(FamilyId id, std::span<const std::int64_t> size) const {
  const std::shared_ptr<const TableSnapshot> snapshot = this->snapshot();
  FamilyTable& family = snapshot->at(id);
  const std::shared_ptr<SizeSlot> slot = family.slot(size, SlotLife::droppable);
  if (const LaunchPlan* const plan = slot->plan.load(std::memory_order_acquire)) {
    return plan->answer;
  }
  auto answer = maker_.foresee(family, *slot);
  if (!answer) throw DispatchError(answer.error());
  return *std::move(answer);
}

}  // namespace tuner::dispatch
