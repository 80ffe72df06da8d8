// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/verifier.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/failpoint.hpp"
#include "tuner/core/hash.hpp"
#include "tuner/family/awkward_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace tuner::verify {
namespace {

/// The share of device memory that instances may fill; the one in use may exceed it.
constexpr std::size_t kMemoryShare = 4;

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

Verifier::Verifier(backend::Backend& backend, const family::Family& family, std::uint64_t seed,
                   VerifyObserver observer)
    : backend_(backend),
      family_(family),
      seed_(seed),
      observer_(std::move(observer)),
      kernels_(backend),
      coverage_(family) {}

void Verifier::announce(const VerifyStep& step) const {
  if (observer_) observer_(step);
}

Recipe Verifier::recipe(const space::Size& size, Fill fill, std::size_t check_case) const {
  return {.size = size, .fill = fill, .check_case = check_case, .seed = seed_};
}

Instance& Verifier::instance(const Recipe& recipe) {
  const auto known = std::ranges::find(instances_, recipe, &Instance::recipe);
  if (known != instances_.end()) {
    instances_.splice(instances_.begin(), instances_, known);
    return instances_.front();
  }
  std::size_t kept = 0;
  const auto limit =
      static_cast<std::size_t>(backend_.device().attributes.memory_bytes) / kMemoryShare;
  for (auto it = instances_.begin(); it != instances_.end();) {
    kept += it->size_bytes();
    it = kept > limit ? instances_.erase(it) : std::next(it);
  }
  announce({VerifyStep::Kind::prepare, recipe.size});
  return instances_.emplace_front(backend_, kernels_, family_, recipe);
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
    for (const space::Size& each :
         family::awkward_sizes(family_, kernel, space, config, size).sizes) {
      if (coverage_.is_open()) look_at(awkward_recipes(each, equal_if_whole(size)));
    }
  }
  look_at(tuned_recipes(size));
  return coverage_.coverage();
}

std::string Verifier::exact_result(const space::Size& size) {
  return instance(recipe(size, Fill::whole)).result_hash();
}

Instance& Verifier::timing_instance(const space::Size& size) {
  return instance(recipe(size, Fill::normal));
}

Expected<double, Failure> Verifier::launch_and_inspect(LoadedCandidate& candidate,
                                                       Instance& instance, PoisonKind poison,
                                                       Inputs inputs) {
  auto launch = launch_on(candidate, instance);
  if (!launch) {
    launch.error().message += fmt::format(
        " (at size {}: if \"check\" asks for it, change the launch or take the size out)",
        space::display(instance.recipe().size, family_.problem.dims));
    return Unexpected(std::move(launch.error()));
  }
  launch->shared_content = shared_poison(poison);
  launch->read_only = instance.inputs();
  launch->faults_on_write = inputs == Inputs::read_only;
  instance.prepare_launch(poison);
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

Expected<double, Failure> Verifier::check(LoadedCandidate& candidate, const Recipe& recipe,
                                          PoisonKind poison) {
  look_at_reference(recipe);
  auto right = launch_and_inspect(candidate, instance(recipe), poison);
  if (right || right.error().outcome != Outcome::out_of_bounds) return right;
  // The reference may have been hit by a candidate before this one, on another instance.
  const bool doubtful = instance(recipe).reference_changed();
  instances_.clear();
  if (!doubtful) return right;
  right = launch_and_inspect(candidate, instance(recipe), poison);
  if (!right && right.error().outcome == Outcome::out_of_bounds) instances_.clear();
  return right;
}

bool Verifier::equal_if_whole(const space::Size& tuned) {
  if (family_.check.continuous) return false;
  if (!std::holds_alternative<family::KernelReference>(family_.check.reference)) return true;
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

Expected<void, Failure> Verifier::check_awkward_sizes(LoadedCandidate& candidate,
                                                      const space::Size& tuned) {
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
  for (const space::Size& size : *sizes) {
    const std::string at = space::canonical_size(size, family_.problem.dims);
    std::string identity = content_hash({{kernel.hash, code, config_json, at}});
    if (right_at_awkward_sizes_.contains(identity)) continue;
    std::size_t checks = 0;
    for (const Recipe& recipe : awkward_recipes(size, equal_if_whole(tuned))) {
      instance(recipe).forget_outputs();  // of another candidate, whose tuned size this is
      auto right = check(candidate, recipe, kPoisons[checks++ % kPoisons.size()]);
      if (!right) return Unexpected(std::move(right.error()));
    }
    // Last, and once: a fault costs the process and names no element, and pages take time to map.
    if (size == sizes->back()) {
      auto right = launch_and_inspect(candidate, instance(recipe(size, Fill::normal)), nan_poison,
                                      Inputs::read_only);
      if (!right) return Unexpected(std::move(right.error()));
    }
    right_at_awkward_sizes_.insert(std::move(identity));
  }
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

Expected<double, Failure> Verifier::check_tuned_size(LoadedCandidate& candidate,
                                                     const space::Size& size) {
  double worst = 0;
  std::vector<Recipe> recipes = tuned_recipes(size);
  const Recipe normal = recipes.back();
  recipes.pop_back();
  for (const Recipe& each : recipes) {
    const bool is_whole = each.fill == Fill::whole;
    auto right = check(candidate, each, is_whole ? nan_poison : huge_poison);
    if (!right) return right;
    if (!is_whole) worst = std::max(worst, *right);
  }
  // Last, on the instance that candidates are timed on.
  instance(normal).forget_outputs();
  auto first = check(candidate, normal, highest_poison);
  if (!first) return first;
  instance(normal).keep_outputs();
  failpoint("verify.outputs_kept");
  auto second = check(candidate, normal, lowest_poison);
  if (!second) return second;
  return std::max({worst, *first, *second});
}

Expected<Verdict, Failure> Verifier::verify(LoadedCandidate& candidate, const space::Size& size) {
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
  auto right = timing_instance(size).inspect();
  if (!right) {
    right.error().message += " after the last timed launch";
    if (right.error().outcome == Outcome::out_of_bounds) instances_.clear();
    return Unexpected(std::move(right.error()));
  }
  right = check(candidate, recipe(size, Fill::normal), smallest_poison);
  if (!right) {
    right.error().message += " in a launch after the timed ones";
    return Unexpected(std::move(right.error()));
  }
  return {};
}

}  // namespace tuner::verify
