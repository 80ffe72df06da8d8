// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/verifier.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/failpoint.hpp"
#include "tuner/core/hash.hpp"
#include "tuner/family/awkward_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace tuner::verify {
namespace {

/// The share of device memory that instances may fill; the one in use may exceed it.
constexpr std::size_t kMemoryShare = 4;

// Kinds of launches in PerformedCheck::launch.
constexpr std::string_view kChecked = "checked";
constexpr std::string_view kReadOnly = "read-only inputs";
constexpr std::string_view kBehindOthers = "behind others";

/// What the last launch on an instance did beside the candidate's scratch.
std::optional<Failure> scratch_failure(LoadedCandidate& candidate, const Instance& instance) {
  const auto scratch = candidate.scratch.find(instance.recipe().size);
  if (scratch == candidate.scratch.end()) return std::nullopt;
  const auto overrun = scratch->second.overrun();
  if (!overrun) return std::nullopt;
  return Failure{Outcome::out_of_bounds,
                 fmt::format("{} ({})", *overrun, instance.circumstances())};
}

/// What shared memory holds before a launch with this poison, as words: as floats what the kind
/// says, as integers a very large or a very small number.
std::uint32_t shared_poison(PoisonKind kind) {
  switch (kind) {
    case highest_poison:
      return 0x7F800000U;
    case lowest_poison:
      return 0xFF800000U;
    case huge_poison:
      return 0x7F7FFFFFU;
    case smallest_poison:
      return 1;
    case ordinary_poison:
      return 0x3F8CCCCDU;  // 1.1
    case nan_poison:
      break;
  }
  return backend::kNanWord;
}

/// The size with most elements, by the product of its numbers.
space::Size largest_of(const std::vector<space::Size>& sizes) {
  return *std::ranges::max_element(sizes, {}, [](const space::Size& size) {
    double product = 1;
    for (const std::int64_t number : size) product *= static_cast<double>(number);
    return product;
  });
}

/// The awkward sizes of a candidate; launch_error when a value of it does not exist at one of them.
Expected<std::vector<space::Size>, Failure> sizes_to_check(const family::Family& family,
                                                           const LoadedCandidate& candidate,
                                                           const space::Size& tuned) {
  try {
    return family::awkward_sizes(family, candidate.kernel, candidate.space, candidate.config, tuned)
        .sizes;
  } catch (const Error& error) {
    return Unexpected(Failure{Outcome::launch_error, error.what()});
  }
}

}  // namespace

Expected<backend::Launch, Failure> launch_on(LoadedCandidate& candidate, Instance& instance) {
  const auto& [kernel, space, config, loaded, scratch] = candidate;
  const space::Size& size = instance.recipe().size;
  const auto launch_error = [](const Error& error) {
    return Unexpected(Failure{Outcome::launch_error, error.what()});
  };
  space::ExpressionValues values;
  std::optional<CheckedMemory> memory;
  std::vector<family::TensorLayout> tensors;
  try {
    values = family::values_at_size(kernel, space, config, size);
    tensors = family::tensor_layouts(kernel, values);
    if (!kernel.scratch.empty() && !scratch.contains(size)) {
      memory.emplace(instance.backend(), plan_memory(scratch_data(kernel, values)));
    }
  } catch (const Error& error) {
    return launch_error(error);
  }
  if (memory) {
    candidate.scratch.emplace(
        size, Scratch(instance.backend(), instance.check_kernels(), *std::move(memory)));
  }
  std::vector<backend::LaunchArgument> arguments = instance.arguments();
  if (!kernel.scratch.empty()) {
    for (const backend::Region& region : scratch.at(size).regions()) arguments.emplace_back(region);
  }
  try {
    return launch_of(kernel, values, loaded, with_tensors(std::move(arguments), tensors));
  } catch (const Error& error) {
    return launch_error(error);
  }
}

bool has_state(const backend::Backend& backend, const LoadedCandidate& candidate) {
  return !candidate.kernel.scratch.empty() || backend.has_changed_variables(candidate.loaded);
}

Verifier::Verifier(backend::Backend& backend, const family::Family& family, std::uint64_t seed,
                   VerifyObserver observer, std::optional<ResultsProgram> program)
    : backend_(backend),
      family_(family),
      seed_(seed),
      observer_(std::move(observer)),
      kernels_(backend),
      coverage_(family) {
  if (!std::holds_alternative<family::ResultsReference>(family.check.reference)) return;
  if (program) {
    results_.emplace(family, *std::move(program));
  } else {
    results_.emplace(family);
  }
}

void Verifier::announce(const VerifyStep& step) const {
  if (observer_) observer_(step);
}

Recipe Verifier::recipe(const space::Size& size, Fill fill, std::size_t check_case) const {
  return {.size = size, .fill = fill, .check_case = check_case, .seed = seed_};
}

std::size_t Verifier::instance_bytes() const {
  return static_cast<std::size_t>(backend_.device().attributes.memory_bytes) / kMemoryShare;
}

Instance& Verifier::instance(const Recipe& recipe) {
  const auto known = std::ranges::find(instances_, recipe, &Instance::recipe);
  if (known != instances_.end()) {
    instances_.splice(instances_.begin(), instances_, known);
    return instances_.front();
  }
  std::size_t kept = 0;
  const std::size_t limit = instance_bytes();
  for (auto it = instances_.begin(); it != instances_.end();) {
    kept += it->size_bytes();
    it = kept > limit ? instances_.erase(it) : std::next(it);
  }
  announce({VerifyStep::Kind::prepare, recipe.size});
  return instances_.emplace_front(backend_, kernels_, family_, recipe,
                                  results_ ? &*results_ : nullptr);
}

/// That memory is short of what it takes is no fault of a candidate's.
void Verifier::look_at_reference(const Recipe& recipe) {
  if (!coverage_.is_open() || !looked_at_.insert(recipe).second) return;
  Instance& its = instance(recipe);
  try {
    its.cover(coverage_);
  } catch (const Error& error) {
    coverage_.fail({Outcome::launch_error, error.what()});
  }
}

std::optional<Coverage> Verifier::take_coverage() {
  if (coverage_taken_ ||
      !std::holds_alternative<family::KernelReference>(family_.check.reference)) {
    return std::nullopt;
  }
  coverage_taken_ = true;
  coverage_.close();
  return coverage_.coverage();
}

Coverage Verifier::cover(const space::Size& size) {
  const auto look_at = [&](const std::vector<Recipe>& recipes) {
    for (const Recipe& each : recipes) look_at_reference(each);
  };
  for (const family::Kernel& kernel : family_.kernels) {
    const space::BoundDefinition space(kernel.space, backend_.device().attributes, size);
    const space::Config config = space.default_config();
    if (space.violation(config)) continue;
    const std::vector<space::Size> sizes =
        family::awkward_sizes(family_, kernel, space, config, size).sizes;
    for (const space::Size& each : sizes) {
      if (coverage_.is_open()) look_at(check_recipes(each, sizes, equal_if_whole(size)));
    }
  }
  look_at(tuned_recipes(size));
  return coverage_.coverage();
}

void Verifier::make_results(const space::Size& size) {
  const std::vector<space::Size> sizes = family::family_check_sizes(family_, size);
  const bool whole = equal_if_whole(size);
  for (const space::Size& each : sizes) {
    for (const Recipe& recipe : check_recipes(each, sizes, whole)) {
      static_cast<void>(instance(recipe));
    }
  }
  for (const Recipe& recipe : tuned_recipes(size)) static_cast<void>(instance(recipe));
  static_cast<void>(law_at_tuned_size(size));
  static_cast<void>(timing_instance(size).changed());
}

std::string Verifier::exact_result(const space::Size& size) {
  return instance(recipe(size, Fill::whole)).result_hash();
}

Instance& Verifier::timing_instance(const space::Size& size) {
  return instance(recipe(size, Fill::normal));
}

Expected<double, Failure> Verifier::launch_and_inspect(LoadedCandidate& candidate,
                                                       Instance& instance,
                                                       const Conditions& conditions) {
  auto launch = launch_on(candidate, instance);
  if (!launch) {
    launch.error().message += fmt::format(
        " (at size {}: if \"check\" asks for it, change the launch or take the size out)",
        space::display(instance.recipe().size, family_.problem.dims));
    return Unexpected(std::move(launch.error()));
  }
  launch->shared_content = shared_poison(conditions.poison.value_or(nan_poison));
  launch->read_only = instance.inputs();
  // What is timed gives the same bits each time; elsewhere the bound holds.
  Recipe original = instance.recipe();
  original.changed = false;
  if (!family_.check.exact && original != timed_) launch->bits = backend::Launch::Bits::any;
  launch->faults_on_write = conditions.inputs == Conditions::Inputs::read_only;
  if (launch->faults_on_write) launch->guards = instance.guards();
  if (conditions.state == Conditions::State::restored) {
    launch->restores = candidate.loaded;
    const auto scratch = candidate.scratch.find(instance.recipe().size);
    if (scratch != candidate.scratch.end()) scratch->second.restore();
  }
  if (conditions.poison) {
    instance.prepare_launch(*conditions.poison);
  } else {
    instance.prepare_inputs();
  }
  failpoint("verify.poisoned");
  announce({VerifyStep::Kind::launch, instance.recipe().size});
  auto done = backend_.run(*launch);
  if (!done && done.error().outcome != Outcome::out_of_bounds) {
    done.error().message +=
        " (at size " + space::display(instance.recipe().size, family_.problem.dims) + ")";
    return Unexpected(std::move(done.error()));
  }
  failpoint("verify.launched");
  auto right = instance.inspect();
  failpoint("verify.compared");
  // What a write left says more than that it happened.
  if (!done && (right || right.error().outcome != Outcome::out_of_bounds)) {
    done.error().message += fmt::format(" ({})", instance.circumstances());
    return Unexpected(std::move(done.error()));
  }
  if (auto failure = scratch_failure(candidate, instance)) return Unexpected(std::move(*failure));
  return right;
}

Expected<double, Failure> Verifier::recorded(const Recipe& recipe, std::string_view launch,
                                             Expected<double, Failure> found) {
  PerformedCheck check{.size = recipe.size,
                       .inputs = std::string(recipe.changed ? "changed"
                                             : recipe.law   ? family::name(recipe.law->law)
                                                            : inputs_name(family_, recipe.fill)),
                       .check_case = recipe.check_case,
                       .seed = recipe.seed,
                       .launch = std::string(launch),
                       .worst_error = std::nullopt,
                       .message = "",
                       .element = std::nullopt};
  if (found) {
    check.worst_error = *found;
  } else {
    check.outcome = found.error().outcome;
    check.message = found.error().message;
    check.element = found.error().element;
  }
  performed_.push_back(std::move(check));
  return found;
}

Expected<double, Failure> Verifier::check(LoadedCandidate& candidate, const Recipe& recipe,
                                          const Conditions& conditions) {
  look_at_reference(recipe);
  return recorded(recipe, kChecked, launch_until_certain(candidate, recipe, conditions));
}

Expected<double, Failure> Verifier::launch_until_certain(LoadedCandidate& candidate,
                                                         const Recipe& recipe,
                                                         const Conditions& conditions) {
  auto right = launch_and_inspect(candidate, instance(recipe), conditions);
  if (right || right.error().outcome != Outcome::out_of_bounds) return right;
  // The reference may have been hit by a candidate before this one, on another instance.
  const bool doubtful = instance(recipe).reference_changed();
  instances_.clear();
  if (!doubtful) return right;
  right = launch_and_inspect(candidate, instance(recipe), conditions);
  if (!right && right.error().outcome == Outcome::out_of_bounds) instances_.clear();
  return right;
}

bool Verifier::equal_if_whole(const space::Size& tuned) {
  if (family_.check.continuous) return false;
  if (!family::has_measured_bound(family_.check)) return true;
  const auto known = whole_at_.find(tuned);
  if (known != whole_at_.end()) return known->second;
  const Instance& whole = instance(recipe(tuned, Fill::whole));
  return whole_at_.emplace(tuned, whole.is_whole() && !whole.is_zero()).first->second;
}

std::vector<Recipe> Verifier::awkward_recipes(const space::Size& size, bool equal_if_whole) const {
  std::vector<Recipe> recipes;
  for (std::size_t check_case = 0; check_case <= family_.check.cases.size(); ++check_case) {
    // Where only continuous numbers mean something, as many checks of these: each has its poison.
    for (const Fill fill : {Fill::whole, Fill::normal, Fill::few}) {
      const bool leaves_out = family_.check.continuous && fill != Fill::normal;
      recipes.push_back(recipe(size, leaves_out ? Fill::normal : fill, check_case));
    }
  }
  for (Recipe& each : recipes) each.equal_if_whole = equal_if_whole;
  return recipes;
}

std::vector<Recipe> Verifier::check_recipes(const space::Size& size,
                                            const std::vector<space::Size>& sizes,
                                            bool equal_if_whole) {
  std::vector<Recipe> recipes = awkward_recipes(size, equal_if_whole);
  if (size != largest_of(sizes)) return recipes;
  std::ranges::move(law_recipes(size), std::back_inserter(recipes));
  std::ranges::move(further_draws(size, equal_if_whole), std::back_inserter(recipes));
  return recipes;
}

const Verifier::FoundLevel& Verifier::level_of(const space::Size& size, family::Law law) {
  const auto known = levels_.find({size, law});
  if (known != levels_.end()) return known->second;
  FoundLevel found;
  Recipe recipe = this->recipe(size, Fill::normal);
  const int levels = ProblemData(backend_, family_, recipe).has_law(law) ? levels_of(law) : 0;
  const auto infinities = levels > 0 ? instance(recipe).infinities() : Instance::Infinities::none;
  for (int level = 0; level < levels && !found.level; ++level) {
    recipe.law = LawLevel{.law = law, .level = level};
    try {
      found.reason = instance(recipe).want_of_meaning(infinities);
      if (found.reason.empty()) found.level = recipe.law;
    } catch (const ResultsError&) {
      throw;
    } catch (const Error& error) {
      // The reference does not take such inputs: it gives no result, or not the same twice.
      found.reason = error.what();
    }
  }
  return levels_.emplace(std::pair(size, law), std::move(found)).first->second;
}

std::vector<Recipe> Verifier::further_draws(const space::Size& size, bool equal_if_whole) const {
  // What is seldom, such as ties of a maximum, is not in every draw.
  constexpr std::uint64_t kDraws = 3;
  std::vector<Recipe> recipes;
  for (std::uint64_t draw = 1; draw <= kDraws; ++draw) {
    for (const Fill fill : {Fill::few, Fill::normal}) {
      if (fill == Fill::few && family_.check.continuous) continue;
      recipes.push_back(recipe(size, fill));
      recipes.back().draw = draw;
      recipes.back().equal_if_whole = equal_if_whole;
    }
  }
  return recipes;
}

std::vector<Recipe> Verifier::law_recipes(const space::Size& size) {
  std::vector<Recipe> recipes;
  for (const family::Law law : family::all_laws()) {
    const FoundLevel& found = level_of(size, law);
    if (!found.reason.empty()) {
      laws_left_out_.push_back(
          {.size = size, .law = std::string(name(law)), .reason = found.reason});
    }
    if (!found.level) continue;
    recipes.push_back(recipe(size, Fill::normal));
    recipes.back().law = found.level;
  }
  return recipes;
}

Expected<void, Failure> Verifier::check_awkward_sizes(LoadedCandidate& candidate,
                                                      const space::Size& tuned) {
  // Without awkward sizes the tuned one takes their place; the inputs of a large one take long to
  // copy.
  constexpr std::size_t kMostReadOnlyBytes = std::size_t{256} << 20;
  // A maximum ignores the least number, a minimum the greatest: each size sees both, and NaN.
  constexpr std::array kPoisons = {nan_poison, highest_poison, lowest_poison, huge_poison,
                                   smallest_poison};
  const family::Kernel& kernel = candidate.kernel;
  const auto sizes = sizes_to_check(family_, candidate, tuned);
  if (!sizes) return Unexpected(sizes.error());
  const std::string code =
      family::compile_job(kernel,
                          family::values_at_size(kernel, candidate.space, candidate.config, tuned),
                          candidate.config)
          .key;
  const std::string config_json = space::canonical_json(*kernel.space, candidate.config);
  const auto identity_at = [&](const space::Size& size) {
    const std::string at = space::canonical_size(size, family_.problem.dims);
    return content_hash({{kernel.hash, code, config_json, at}});
  };
  for (const space::Size& size : *sizes) {
    std::string identity = identity_at(size);
    if (right_at_awkward_sizes_.contains(identity)) continue;
    std::size_t checks = 0;
    for (const Recipe& recipe : check_recipes(size, *sizes, equal_if_whole(tuned))) {
      instance(recipe).forget_outputs();  // of another candidate, whose tuned size this is
      const auto state = checks == 0 ? Conditions::State::restored : Conditions::State::kept;
      auto right = check(candidate, recipe,
                         {.poison = kPoisons[checks++ % kPoisons.size()], .state = state});
      if (!right) return Unexpected(std::move(right.error()));
    }
    // Last, and once: a fault costs the process and names no element, and pages take time to map.
    if (size == sizes->back()) {
      Recipe normal = recipe(size, Fill::normal);
      normal.equal_if_whole = equal_if_whole(tuned);
      auto right = check_read_only(candidate, normal);
      if (!right) return right;
    }
    right_at_awkward_sizes_.insert(std::move(identity));
  }
  std::string identity = identity_at(tuned);
  if (!sizes->empty() || right_at_awkward_sizes_.contains(identity) ||
      instance(recipe(tuned, Fill::normal)).size_bytes() > kMostReadOnlyBytes) {
    return {};
  }
  auto right = check_read_only(candidate, recipe(tuned, Fill::normal));
  if (right) right_at_awkward_sizes_.insert(std::move(identity));
  return right;
}

Expected<void, Failure> Verifier::check_read_only(LoadedCandidate& candidate,
                                                  const Recipe& recipe) {
  instance(recipe).forget_outputs();
  auto right = recorded(
      recipe, kReadOnly,
      launch_and_inspect(candidate, instance(recipe), {.inputs = Conditions::Inputs::read_only}));
  if (!right) return Unexpected(std::move(right.error()));
  return {};
}

std::vector<Recipe> Verifier::tuned_recipes(const space::Size& size) const {
  std::vector<Recipe> recipes;
  if (!family_.check.continuous) recipes.push_back(recipe(size, Fill::whole));
  for (std::size_t check_case = 1; check_case <= family_.check.cases.size(); ++check_case) {
    recipes.push_back(recipe(size, Fill::normal, check_case));
  }
  recipes.push_back(recipe(size, Fill::normal));
  return recipes;
}

std::optional<Recipe> Verifier::law_at_tuned_size(const space::Size& size) {
  constexpr std::size_t kInstances = 4;  // normal, changed, whole and this one
  const auto known = laws_at_tuned_.find(size);
  if (known != laws_at_tuned_.end()) return known->second;
  std::optional<Recipe> found;
  const std::size_t size_bytes = instance(recipe(size, Fill::normal)).size_bytes();
  const std::vector<family::Law>& laws = family::all_laws();
  for (std::size_t i = 0; i < laws.size() && !found; ++i) {
    if (size_bytes > instance_bytes() / kInstances) break;
    const FoundLevel& level = level_of(size, laws[(seed_ + i) % laws.size()]);
    if (!level.level) continue;
    found = recipe(size, Fill::normal);
    found->law = level.level;
  }
  return laws_at_tuned_.emplace(size, std::move(found)).first->second;
}

Expected<double, Failure> Verifier::check_tuned_size(LoadedCandidate& candidate,
                                                     const space::Size& size) {
  double worst = 0;
  std::vector<Recipe> recipes = tuned_recipes(size);
  const Recipe normal = recipes.back();
  recipes.pop_back();
  for (const Recipe& each : recipes) {
    const bool is_whole = each.fill == Fill::whole;
    auto right = check(candidate, each, {.poison = is_whole ? nan_poison : huge_poison});
    if (!right) return right;
    if (!is_whole) worst = std::max(worst, *right);
  }
  if (const auto by_law = law_at_tuned_size(size)) {
    const auto right = check(candidate, *by_law,
                             {.poison = smallest_poison, .state = Conditions::State::restored});
    if (!right) return right;
  }
  // Last, on the instance that candidates are timed on. Making its other inputs changes its
  // outputs.
  instance(normal).forget_outputs();
  static_cast<void>(instance(normal).changed());
  auto first =
      check(candidate, normal, {.poison = highest_poison, .state = Conditions::State::restored});
  if (!first) return first;
  instance(normal).keep_outputs();
  failpoint("verify.outputs_kept");
  auto second = check(candidate, normal, {.poison = lowest_poison});
  if (!second) return second;
  auto others = check_dependence_on_launches(candidate, instance(normal));
  if (!others) return others;
  return std::max({worst, *first, *second, *others});
}

Expected<double, Failure> Verifier::check_dependence_on_launches(LoadedCandidate& candidate,
                                                                 Instance& original) {
  Instance* const changed = original.changed();
  if (changed != nullptr) changed->forget_outputs();
  struct Launch {
    bool on_changed;
    Conditions conditions;
  };
  std::vector<Launch> launches;
  // The outputs hold what was right for other inputs, where nothing is added to them.
  if (changed != nullptr && !original.updates_in_place()) {
    const auto poison =
        original.writes_all() && changed->writes_all() ? std::nullopt : std::optional(huge_poison);
    launches.push_back({.on_changed = true, .conditions = {.poison = poison}});
  }
  if (has_state(backend_, candidate)) {
    // The cpu backend may run two images of a kernel in turn: both see both inputs.
    std::array<PoisonKind, kPoisonKinds> kinds{nan_poison,      huge_poison,    smallest_poison,
                                               ordinary_poison, highest_poison, lowest_poison};
    std::ranges::shuffle(kinds, random_);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      launches.push_back(
          {.on_changed = changed != nullptr && i % 4 < 2, .conditions = {.poison = kinds[i]}});
    }
  }
  double worst = 0;
  for (const Launch& launch : launches) {
    Instance& problem = launch.on_changed ? *changed : original;
    auto right = recorded(problem.recipe(), kBehindOthers,
                          launch_and_inspect(candidate, problem, launch.conditions));
    if (!right) {
      right.error().message +=
          "; launches before, on these or on other inputs, were right: a result of one of them is "
          "taken for another's, or the kernel does not begin as the first time";
      if (right.error().outcome == Outcome::out_of_bounds) instances_.clear();
      return right;
    }
    worst = std::max(worst, *right);
  }
  return worst;
}

Expected<Verdict, Failure> Verifier::verify(LoadedCandidate& candidate, const space::Size& size) {
  timed_ = recipe(size, Fill::normal);
  performed_.clear();
  laws_left_out_.clear();
  if (auto right = check_awkward_sizes(candidate, size); !right) {
    return Unexpected(std::move(right.error()));
  }
  const auto worst = check_tuned_size(candidate, size);
  if (!worst) return Unexpected(worst.error());
  return Verdict{.worst_error = *worst};
}

Expected<std::vector<std::string>, Failure> Verifier::right_algorithms(
    const space::Size& size, std::vector<std::string> algorithms) {
  // All on one instance before the next: two of a large size may not fit at once.
  for (const Fill fill : {Fill::whole, Fill::normal}) {
    std::vector<std::string> right;
    for (const std::string& algorithm : algorithms) {
      Instance& problem = instance(recipe(size, fill));
      auto call = std::get<backend::LibraryCall>(problem.library_work().value());
      call.algorithm = algorithm;
      problem.forget_outputs();  // another algorithm may round otherwise
      problem.prepare_launch();
      announce({VerifyStep::Kind::launch, size});
      const auto done = backend_.run(call);
      if (!done && done.error().outcome == Outcome::crashed) return Unexpected(done.error());
      if (!done) continue;
      const auto report = problem.inspect();
      if (report) right.push_back(algorithm);
      if (!report && report.error().outcome == Outcome::out_of_bounds) instances_.clear();
    }
    algorithms = std::move(right);
  }
  return algorithms;
}

Expected<void, Failure> Verifier::verify_timed(LoadedCandidate& candidate,
                                               const space::Size& size) {
  // A kernel that was right once may be wrong the tenth time.
  auto right = check(candidate, recipe(size, Fill::normal), {.poison = smallest_poison});
  if (!right) {
    right.error().message += " in a launch after the timed ones";
    return Unexpected(std::move(right.error()));
  }
  return {};
}

}  // namespace tuner::verify
