// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/instance.hpp"

#include "tuner/backend/owned.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/failpoint.hpp"
#include "tuner/core/hash.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/verify/check_report.hpp"
#include "tuner/verify/reference_zones.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

namespace tuner::verify {
namespace {

/// What outputs hold before the second run of a reference: a number in every type, since a NaN or
/// infinity remains when a number is added to it.
constexpr std::uint32_t kOtherUnwritten = 0x3FC00000U;

CheckKernels::Elements elements(backend::Region region, const CheckedData& data) {
  return {.region = region, .type = data.type, .count = data.count};
}

CheckKernels::Elements errors(backend::Region region, const CheckedData& data) {
  return {.region = region, .type = family::error_type(data.type), .count = data.count};
}

/// The share of a result by which it and its reference may differ where both are rounded from a
/// finer type, once: they are neighbours then.
double of_rounding(const ProblemData& problem, family::ElementType type) {
  return problem.is_rounded(type) ? 2 * family::unit_roundoff(type) : 0;
}

}  // namespace

Instance::Instance(backend::Backend& backend, CheckKernels& kernels, const family::Family& family,
                   Recipe recipe, StoredResults* results)
    : backend_(backend),
      kernels_(kernels),
      problem_(backend, family, std::move(recipe)),
      memory_(backend, plan_memory(problem_.data())),
      records_(backend, problem_, memory_),
      results_(results) {
  make();
}

void Instance::make() {
  reference_.emplace(backend_, kernels_, problem_, results_);
  shared_->inputs_of = this;
  make_data();
  make_bounds();
  kernels_.prepare(memory_, shared_->poison);
  intact_ = kernels_.inspect(memory_, shared_->poison, CheckKernels::Repeats::ignored);
  reference_.reset();
  try_nothing();
  failpoint("verify.instance_made");
}

void Instance::try_nothing() {
  const std::vector<CheckedData>& all = memory_.plan().data;
  for (std::size_t place = 0; place < all.size(); ++place) {
    const CheckedData& data = all[place];
    if (!data.allowed || data.records || problem_.tolerance_of(data.argument) == nullptr) continue;
    const CheckKernels::Elements expected = elements(memory_.reference(*data.expected), data);
    if (are_zero(backend_, expected.region, data) || kernels_.are_alike(expected)) continue;
    const auto passes = [&](std::string_view what) {
      const auto reports =
          kernels_.inspect(memory_, shared_->poison, CheckKernels::Repeats::ignored);
      const auto part = std::ranges::find_if(memory_.plan().parts, [&](const CheckPart& each) {
        return each.kind == CheckPart::output &&
               each.offset == static_cast<long long>(data.candidate);
      });
      if (reports[static_cast<std::size_t>(part - memory_.plan().parts.begin())].wrong > 0) return;
      const backend::Buffer magnitude(backend_, data.size_bytes());
      kernels_.absolute(magnitude.id(), expected);
      loose_.push_back(place);
      if (!caution_.empty()) return;
      caution_ = fmt::format(
          "{} satisfy the tolerance of {}, whose typical result is {:.2g}: a kernel that computes "
          "nothing passes; give a smaller \"tolerance\"",
          what, data.name, kernels_.typical(elements(magnitude.id(), data)));
    };
    if (data.initial) passes("the old contents");
    backend_.fill(memory_.candidate(data.candidate), 0, data.size_bytes());
    passes("all zeros");
    for (const CheckedData& input : all) {
      if (input.role != family::BufferRole::input || input.type != data.type ||
          input.count < data.count) {
        continue;
      }
      backend_.copy(memory_.candidate(data.candidate), memory_.candidate(input.candidate),
                    data.size_bytes());
      passes(fmt::format("the elements of {}", input.name));
    }
    kernels_.prepare(memory_, shared_->poison);
  }
}

std::optional<Failure> Instance::nothing_computed() const {
  for (const std::size_t place : loose_) {
    const CheckedData& data = memory_.plan().data[place];
    if (!kernels_.are_alike(elements(memory_.candidate(data.candidate), data))) continue;
    return Failure{Outcome::wrong_result,
                   fmt::format("all elements of {} are the same number, which the tolerance takes "
                               "although those of the reference differ: give a smaller "
                               "\"tolerance\" ({})",
                               data.name, problem_.circumstances())};
  }
  return std::nullopt;
}

void Instance::make_data() {
  problem_.make_arrays(kernels_);
  // Beside the buffers is 0 in the first run of a reference, poison in the second.
  backend_.fill(memory_.candidate(), 0, memory_.plan().candidate_bytes);
  std::vector<backend::Region> buffers = memory_.candidates(problem_.family().arguments.size());
  for (const CheckedData& data : memory_.plan().data) {
    if (data.role == family::BufferRole::input) {
      problem_.fill(kernels_, memory_.candidate(data.candidate), data);
      continue;
    }
    const backend::Region expected = memory_.reference(*data.expected);
    if (data.initial) {
      problem_.fill(kernels_, memory_.reference(*data.initial), data);
      backend_.copy(expected, memory_.reference(*data.initial), data.size_bytes());
    } else {
      backend_.fill(expected, data.starts_zero ? 0 : kUnwritten, data.size_bytes());
    }
    buffers[data.argument] = expected;
  }
  reference_->run(buffers, {});
  if (!records_.is_empty()) learn_records();
  is_whole_ = std::ranges::all_of(memory_.plan().data, [&](const CheckedData& data) {
    return !data.expected || kernels_.are_whole(elements(memory_.reference(*data.expected), data));
  });
}

Instance::Infinities Instance::infinities() const {
  CheckKernels::NotFinite all;
  for (const CheckedData& data : memory_.plan().data) {
    if (!data.expected) continue;
    const auto found = kernels_.not_finite(elements(memory_.reference(*data.expected), data));
    all.nans += found.nans;
    all.infinities += found.infinities;
  }
  return all.nans == 0 && all.infinities > 0 ? Infinities::usual : Infinities::none;
}

std::string Instance::want_of_meaning(Infinities on_ordinary_inputs) const {
  // Errors of that share of a typical result are allowed where rounding decides what it is.
  constexpr double kMostAllowed = 0.125;
  for (const CheckedData& data : memory_.plan().data) {
    if (!data.expected) continue;
    const CheckKernels::Elements expected = elements(memory_.reference(*data.expected), data);
    const auto [nans, infinities] = kernels_.not_finite(expected);
    if (nans > 0 || (infinities > 0 && on_ordinary_inputs == Infinities::none)) {
      return fmt::format("the reference gives NaN or infinity in {}", data.name);
    }
    if (is_equality_ || !has_computed_bound(data)) continue;
    const backend::Buffer magnitude(backend_, data.size_bytes());
    kernels_.absolute(magnitude.id(), expected);
    if (kernels_.typical(errors(memory_.reference(*data.allowed), data)) >
        kMostAllowed * kernels_.typical(elements(magnitude.id(), data))) {
      return fmt::format("rounding errors of the inputs change the reference's results in {}",
                         data.name);
    }
  }
  return {};
}

bool Instance::is_zero() const {
  return std::ranges::all_of(memory_.plan().data, [&](const CheckedData& data) {
    return !data.expected || are_zero(backend_, memory_.reference(*data.expected), data);
  });
}

void Instance::learn_records() {
  Outputs again;
  if (family::has_measured_bound(problem_.family().check)) {
    again = run_reference({}, kOtherUnwritten);
  }
  records_.learn(again.regions, kOtherUnwritten);
}

void Instance::make_bounds() {
  const family::Check& check = problem_.family().check;
  const bool is_measured = family::has_measured_bound(check);
  if (is_measured) check_reference();
  std::size_t bounded = 0, given = 0;  // outputs that may differ, and those with a tolerance
  for (const CheckedData& data : memory_.plan().data) {
    if (!data.allowed) continue;
    ++bounded;
    if (problem_.tolerance_of(data.argument) != nullptr) ++given;
  }
  const Recipe& recipe = problem_.recipe();
  is_equality_ = bounded == 0 || (is_measured && given == 0 && recipe.fill != Fill::normal &&
                                  is_whole_ && recipe.equal_if_whole);
  if (is_equality_) return memory_.require_equality(backend_);
  if (given < bounded) is_measured ? allow_spreads() : allow_magnitudes();
  allow_tolerances();
}

bool Instance::has_computed_bound(const CheckedData& data) const {
  return data.allowed && problem_.tolerance_of(data.argument) == nullptr;
}

void Instance::allow_tolerances() {
  for (const CheckedData& data : memory_.plan().data) {
    const family::Tolerance* const tolerance = problem_.tolerance_of(data.argument);
    if (!data.allowed || tolerance == nullptr) continue;
    kernels_.allow(memory_.reference(*data.allowed),
                   elements(memory_.reference(*data.expected), data), *tolerance);
  }
}

void Instance::allow_magnitudes() {
  const Outputs absolutes = run_reference({.kind = InputValues::absolute}, 0);
  for (const CheckedData& data : memory_.plan().data) {
    if (!has_computed_bound(data)) continue;
    const double terms = problem_.error_growth(data.type);
    const backend::Region allowed = memory_.reference(*data.allowed);
    const double unit =
        problem_.computation_unit(data.type) * largest_slope(problem_.epilogue().activation);
    kernels_.as_errors(allowed, elements(absolutes.regions[data.argument], data));
    kernels_.allow(allowed, elements(memory_.reference(*data.expected), data),
                   {.factor = 4 * unit * terms, .relative = of_rounding(problem_, data.type)});
  }
  // Rounding errors of sums of numbers around zero grow as their magnitude does, without √n.
  if (problem_.has_zero_mean()) {
    largest_mean_ = std::min(1.0, 2 / std::sqrt(static_cast<double>(problem_.accumulated())));
  }
}

bool Instance::take_stored_spreads() {
  const std::vector<NamedArray>* const stored = reference_->stored_spreads();
  if (stored == nullptr) return false;
  for (const CheckedData& data : memory_.plan().data) {
    if (!has_computed_bound(data)) continue;
    const auto spread = std::ranges::find(*stored, data.name, &NamedArray::name);
    if (spread == stored->end() || spread->bytes.size() != data.errors_bytes()) return false;
  }
  for (const CheckedData& data : memory_.plan().data) {
    if (!has_computed_bound(data)) continue;
    const auto spread = std::ranges::find(*stored, data.name, &NamedArray::name);
    backend_.write(memory_.reference(*data.allowed), spread->bytes);
  }
  return true;
}

void Instance::store_spreads() {
  std::vector<NamedArray> spreads;
  for (const CheckedData& data : memory_.plan().data) {
    if (!has_computed_bound(data)) continue;
    NamedArray spread{.name = data.name,
                      .type = safetensors_name(family::error_type(data.type)),
                      .count = data.count,
                      .bytes = std::vector<std::byte>(data.errors_bytes())};
    backend_.read(memory_.reference(*data.allowed), spread.bytes);
    spreads.push_back(std::move(spread));
  }
  reference_->store_spreads(std::move(spreads));
}

void Instance::measure_spreads() {
  // On changed inputs results of others are found, which are further away than errors.
  const bool is_coarse = problem_.recipe().changed;
  const std::uint64_t runs = is_coarse ? 2 : 8;
  for (const CheckedData& data : memory_.plan().data) {
    if (has_computed_bound(data))
      backend_.fill(memory_.reference(*data.allowed), 0, data.errors_bytes());
  }
  for (std::uint64_t run = 1; run <= runs; ++run) {
    const Outputs moved = run_reference({.kind = InputValues::perturbed, .seed = run}, kUnwritten);
    const std::vector<std::size_t> unlike = records_.sort_bounded(moved.regions);
    for (const CheckedData& data : memory_.plan().data) {
      if (!has_computed_bound(data) || std::ranges::count(unlike, data.argument) > 0) continue;
      kernels_.widen(memory_.reference(*data.allowed), moved.regions[data.argument],
                     elements(memory_.reference(*data.expected), data),
                     problem_.is_rounded(data.type) ? CheckKernels::Rounding::of_results
                                                    : CheckKernels::Rounding::of_operations);
    }
  }
  if (!is_coarse) add_own_errors();
}

void Instance::allow_spreads() {
  if (!take_stored_spreads()) {
    measure_spreads();
    store_spreads();
  }
  const double scale = problem_.recipe().changed ? 4 : 1;
  // By a law an input may be so large that errors of a right kernel exceed a result that the
  // reference computes without that input, such as where it multiplies it by 0.
  const double share = problem_.recipe().law ? std::numeric_limits<double>::infinity() : 0x1p-6;
  for (const CheckedData& data : memory_.plan().data) {
    if (!has_computed_bound(data)) continue;
    const double terms = problem_.error_growth(data.type);
    const backend::Region allowed = memory_.reference(*data.allowed);
    const double unit = problem_.computation_unit(data.type);
    kernels_.allow(allowed, elements(memory_.reference(*data.expected), data),
                   {.factor = 8 * scale * terms * problem_.perturbation_share(data.type),
                    .floor = kernels_.typical(errors(allowed, data)) / 4,
                    .share = share,
                    .relative = 16 * terms * unit + of_rounding(problem_, data.type)});
  }
  largest_mean_ = 0.5;
}

void Instance::add_own_errors() {
  // Beyond that it is not the same computation in double.
  constexpr double kMostError = 0x1p-10;
  ReferenceRunner in_double(backend_, kernels_, problem_, results_,
                            ReferenceRunner::Arithmetic::in_double);
  if (!in_double.can_run()) return;
  Outputs exact;
  try {
    exact = run_reference(in_double, {}, kUnwritten);
  } catch (const ResultsError&) {
    throw;
  } catch (const Error&) {
    if (results_ == nullptr) throw;
    return;  // the program computes in its own precision only
  }
  const std::vector<std::size_t> unlike = records_.sort_bounded(exact.regions);
  for (const CheckedData& data : memory_.plan().data) {
    if (!has_computed_bound(data) || std::ranges::count(unlike, data.argument) > 0) continue;
    const CheckKernels::Elements expected = elements(memory_.reference(*data.expected), data);
    const backend::Buffer magnitude(backend_, data.size_bytes()),
        own(backend_, data.errors_bytes());
    kernels_.absolute(magnitude.id(), expected);
    backend_.fill(own.id(), 0, data.errors_bytes());
    const backend::Region results = exact.regions[data.argument];
    kernels_.widen(own.id(), results, expected, CheckKernels::Rounding::of_operations);
    if (kernels_.typical(errors(own.id(), data)) >
        kMostError * kernels_.typical(elements(magnitude.id(), data))) {
      continue;
    }
    kernels_.widen(memory_.reference(*data.allowed), results, expected,
                   CheckKernels::Rounding::of_operations);
  }
}

void Instance::cover(ReferenceCoverage& coverage) {
  ReferenceRunner probed(backend_, kernels_, problem_, coverage);
  if (probed.can_run()) static_cast<void>(run_reference(probed, {}, kUnwritten));
}

void Instance::check_reference() {
  kernels_.prepare(memory_, shared_->poison);
  const Outputs again = run_reference({}, kOtherUnwritten);
  records_.sort(again.regions);
  for (const CheckedData& data : memory_.plan().data) {
    if (!data.expected) continue;
    require_bounds(data, again.regions[data.argument],
                   data.initial       ? std::optional<std::uint32_t>()
                   : data.starts_zero ? 0
                                      : kOtherUnwritten);
    const CheckKernels::Dependence found =
        kernels_.compare_runs(elements(memory_.reference(*data.expected), data),
                              again.regions[data.argument], kOtherUnwritten);
    if (found.dependent > 0) require_dependence_on_inputs(data, found);
    if (!data.initial && !data.starts_zero) require_results(data, found);
    require_numbers(data, found);
    if (caution_.empty() && problem_.is_timed() &&
        are_zero(backend_, memory_.reference(*data.expected), data)) {
      caution_ = fmt::format(
          "all results of the reference in {} are 0, as of a kernel that computes nothing: if they "
          "should not be, correct its launch or give the inputs another \"fill\"",
          data.name);
    }
  }
}

void Instance::require_bounds(const CheckedData& data, backend::Region region,
                              std::optional<std::uint32_t> filled) const {
  const auto outside = element_outside(backend_, region, data, filled);
  if (!outside) return;
  throw Error(ErrorCode::failure,
              fmt::format("the reference wrote {}[{}], outside of its {}: correct the "
                          "kernel or its launch ({})",
                          data.name, *outside,
                          quantity::count(static_cast<std::uint64_t>(data.used), "element"),
                          problem_.circumstances()));
}

void Instance::require_dependence_on_inputs(const CheckedData& data,
                                            const CheckKernels::Dependence& found) {
  const auto fail = [&](std::uint64_t results, std::string_view how) {
    throw Error(ErrorCode::usage,
                fmt::format("{} of {} results of the reference in {} {} ({})", results, data.used,
                            data.name, how, problem_.circumstances()));
  };
  const Outputs once = run_reference({}, kOtherUnwritten);
  records_.sort(once.regions);
  if (const auto by_chance = different_results(data, once.regions[data.argument], kOtherUnwritten);
      by_chance > 0) {
    // Sums in another order each time, of which those near 0 differ by much.
    const bool may_be_sums = family::is_floating(data.type) && (data.initial || data.starts_zero);
    if (may_be_sums || problem_.tolerance_of(data.argument) != nullptr) return;
    return fail(
        by_chance,
        "differ between two launches on the same inputs, so nothing can be verified: remove "
        "the race from the kernel, or give an output whose records may come in any order "
        "an \"order\"");
  }
  const backend::Region first = memory_.reference(*data.expected);
  if (const auto by_place = different_results(data, first, kUnwritten); by_place > 0) {
    return fail(by_place,
                "depend on what lies beside its buffers: it reads outside of them. Correct the "
                "kernel, the counts of its arguments, or the \"fill\" of inputs that are indices");
  }
  fail(found.dependent,
       "depend on what the buffer held before the launch: give the argument \"role\": \"inout\" if "
       "it is updated in place, or \"initial\": \"zero\"");
}

std::uint64_t Instance::different_results(const CheckedData& data, backend::Region first,
                                          std::uint32_t unwritten) {
  const Outputs run = run_reference({}, unwritten);
  records_.sort(run.regions);
  return kernels_.compare_runs(elements(first, data), run.regions[data.argument], unwritten)
      .dependent;
}

void Instance::require_results(const CheckedData& data, const CheckKernels::Dependence& found) {
  if (data.records) return;  // how many there are depends on the inputs
  if (found.unwritten == static_cast<std::uint64_t>(data.count)) {
    throw Error(
        ErrorCode::failure,
        fmt::format("the reference writes nothing to its output {} ({}): correct its launch "
                    "for this size, or leave the size out, by \"check\": \"sizes\" or a "
                    "constraint of the problem",
                    data.name, problem_.circumstances()));
  }
  // Beyond `used` lies what fills the last word.
  const auto unused = static_cast<std::uint64_t>(data.count - data.used);
  if (found.unwritten > unused && caution_.empty()) {
    caution_ = fmt::format(
        "the reference leaves {} of {} elements of {} unwritten, and so must every "
        "configuration; if it should write them, correct its launch",
        found.unwritten - unused, data.used, data.name);
  }
}

void Instance::require_numbers(const CheckedData& data, const CheckKernels::Dependence& found) {
  // Of fewer results chance may make all so.
  constexpr std::uint64_t kFewest = 16;
  const std::uint64_t written = static_cast<std::uint64_t>(data.count) - found.unwritten;
  if (found.nans == 0 || !problem_.is_timed()) return;
  if (found.nans == written && written >= kFewest) {
    throw Error(ErrorCode::usage,
                fmt::format("all results of the reference in {} are NaN, so nothing is "
                            "verified: give the inputs a \"fill\" for which they are numbers ({})",
                            data.name, problem_.circumstances()));
  }
  if (caution_.empty()) {
    caution_ = fmt::format(
        "{} of {} results of the reference in {} are NaN, where any kernel that stores one passes: "
        "give the inputs a \"fill\" for which they are numbers",
        found.nans, written, data.name);
  }
}

Instance::Outputs Instance::run_reference(ReferenceRunner& reference, const InputValues& values,
                                          std::uint32_t unwritten) {
  Outputs outputs;
  std::vector<backend::Region>& buffers = outputs.regions;
  buffers.resize(problem_.family().arguments.size());
  const auto room = [&](const CheckedData& data) {
    ZonedBuffer made(backend_, data);
    outputs.owned.push_back(std::move(made.buffer));
    return made.region;
  };
  // Inputs as the values say, in memory of their own.
  const auto valued = [&](backend::Region from, const CheckedData& data) {
    const backend::Region to = room(data);
    if (values.kind == InputValues::absolute) {
      kernels_.absolute(to, elements(from, data));
    } else if (values.kind == InputValues::perturbed && problem_.can_be_perturbed(data)) {
      kernels_.perturb(to, elements(from, data), values.seed * 1'000'003 + data.argument);
    } else {
      backend_.copy(to, from, data.size_bytes());
    }
    return to;
  };
  for (const CheckedData& data : memory_.plan().data) {
    if (data.role == family::BufferRole::input) {
      const bool as_it_is =
          values.kind == InputValues::as_they_are ||
          (values.kind == InputValues::perturbed && !problem_.can_be_perturbed(data));
      const backend::Region input = memory_.candidate(data.candidate);
      buffers[data.argument] = as_it_is ? input : valued(input, data);
    } else if (data.initial) {
      buffers[data.argument] = valued(memory_.reference(*data.initial), data);
    } else {
      buffers[data.argument] = room(data);
      backend_.fill(buffers[data.argument], data.starts_zero ? 0 : unwritten, data.size_bytes());
    }
  }
  reference.run(buffers, values);
  return outputs;
}

std::vector<Instance::Operand> Instance::operands() const {
  std::vector<Operand> operands;
  for (const CheckedData& data : memory_.plan().data) {
    operands.push_back({.name = data.name,
                        .region = memory_.candidate(data.candidate),
                        .size_bytes = data.size_bytes(),
                        .role = data.role});
  }
  return operands;
}

std::vector<backend::ReadOnlyData> Instance::inputs() const {
  std::vector<backend::ReadOnlyData> inputs;
  for (const CheckedData& data : memory_.plan().data) {
    if (data.role != family::BufferRole::input) continue;
    inputs.push_back({.name = data.name,
                      .region = memory_.candidate(data.candidate),
                      .size_bytes = data.size_bytes(),
                      .element_bytes = tuner::family::element_bytes(data.type)});
  }
  return inputs;
}

std::vector<backend::ReadOnlyData> Instance::guards() const {
  std::vector<backend::ReadOnlyData> guards;
  const MemoryPlan& plan = memory_.plan();
  for (std::size_t i = 0; i < plan.zones.size(); ++i) {
    guards.push_back(
        {.name = i > 0 ? "behind " + plan.data[i - 1].name : "before " + plan.data.front().name,
         .region = memory_.candidate(plan.zones[i].offset),
         .size_bytes = plan.zones[i].size_bytes});
  }
  return guards;
}

std::string Instance::result_hash() const {
  std::vector<std::string> results;
  for (const CheckedData& data : memory_.plan().data) {
    if (data.role != family::BufferRole::output) continue;
    std::string& result = results.emplace_back(data.size_bytes(), '\0');
    backend_.read(memory_.reference(*data.expected), std::as_writable_bytes(std::span(result)));
  }
  return content_hash(std::vector<std::string_view>(results.begin(), results.end()));
}

std::vector<backend::LaunchArgument> Instance::arguments() const {
  return problem_.arguments(memory_.candidates(problem_.family().arguments.size()), {});
}

backend::Launch Instance::preparation(PoisonKind kind) {
  prepare_inputs();
  shared_->poison = {.kind = kind, .seed = shared_->poison.seed + 1};
  return kernels_.preparation(memory_, shared_->poison);
}

void Instance::prepare_launch(PoisonKind kind) {
  prepare_inputs();
  shared_->poison = {.kind = kind, .seed = shared_->poison.seed + 1};
  kernels_.prepare(memory_, shared_->poison);
}

Expected<double, Failure> Instance::inspect() {
  return inspect(Scope::all);
}

Expected<double, Failure> Instance::inspect_copied(std::span<const backend::Region> outputs,
                                                   const Poison& poison) {
  auto from = outputs.begin();
  for (const CheckedData& data : memory_.plan().data) {
    if (data.role == family::BufferRole::input) continue;
    backend_.copy(memory_.candidate(data.candidate), *from++, data.size_bytes());
  }
  const Poison before = std::exchange(shared_->poison, poison);
  auto right = inspect(Scope::outputs);
  shared_->poison = before;
  return right;
}

Expected<double, Failure> Instance::inspect(Scope scope) {
  using enum CheckKernels::Repeats;
  const Poison poison = shared_->poison;
  std::vector<PartReport> reports =
      kernels_.inspect(memory_, poison, outputs_kept_ ? compared : ignored);
  if (records_.differ(reports)) {
    const std::vector<PartReport> sorted = records_.inspect_sorted(kernels_, poison);
    for (std::size_t i = 0; i < reports.size(); ++i) {
      if (memory_.plan().parts[i].kind == CheckPart::output) reports[i] = sorted[i];
    }
  }
  for (std::size_t i = 0; scope == Scope::outputs && i < reports.size(); ++i) {
    const int kind = memory_.plan().parts[i].kind;
    if (kind != CheckPart::output && kind != CheckPart::repeat) reports[i] = intact_[i];
  }
  const CheckReport report({.backend = backend_,
                            .kernels = kernels_,
                            .problem = problem_,
                            .memory = memory_,
                            .records = records_,
                            .intact = intact_,
                            .poison = poison,
                            .is_equality = is_equality_,
                            .largest_mean = largest_mean_},
                           std::move(reports));
  reference_changed_ = report.reference_changed();
  if (auto failure = report.failure()) return Unexpected(std::move(*failure));
  if (auto failure = nothing_computed()) return Unexpected(std::move(*failure));
  return report.worst_share();
}

bool Instance::writes_all() {
  if (!writes_all_) {
    writes_all_ = std::ranges::all_of(memory_.plan().data, [&](const CheckedData& data) {
      return !data.expected ||
             kernels_.are_written({memory_.reference(*data.expected), data.type, data.used});
    });
  }
  return *writes_all_;
}

bool Instance::updates_in_place() const {
  return std::ranges::any_of(memory_.plan().data, [](const CheckedData& data) {
    return data.initial.has_value() || data.starts_zero;
  });
}

void Instance::keep_outputs() {
  if (!problem_.family().check.deterministic) return;
  for (const CheckedData& data : memory_.plan().data) {
    if (!data.repeat) continue;
    backend_.copy(memory_.reference(*data.repeat), memory_.candidate(data.candidate),
                  data.size_bytes());
  }
  outputs_kept_ = true;
}

std::optional<backend::Work> Instance::library_work() const {
  return problem_.library_call(memory_.candidates(problem_.family().arguments.size()), {},
                               {.epilogue = problem_.epilogue()});
}

}  // namespace tuner::verify
