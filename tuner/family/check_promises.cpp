// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/check_promises.hpp"

#include "tuner/family/candidate.hpp"
#include "tuner/family/check_entries.hpp"
#include "tuner/family/constant_memory.hpp"
#include "tuner/family/law.hpp"
#include "tuner/family/parse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

namespace tuner::family {
namespace {

std::string tolerance_text(const Tolerance& tolerance) {
  std::vector<std::string> parts;
  if (tolerance.relative > 0) parts.push_back(fmt::format("{} of the result", tolerance.relative));
  if (tolerance.absolute > 0) parts.push_back(fmt::format("{}", tolerance.absolute));
  if (tolerance.ulp > 0) {
    parts.push_back(fmt::format("{} units in the last place", tolerance.ulp));
  }
  return fmt::format("{}", fmt::join(parts, " or "));
}

std::string margin_text(const Check& check, bool is_kernel, bool has_floats) {
  if (check.exact) return "every result must equal the reference's";
  if (check.tolerance) {
    return fmt::format("a result may differ by {}", tolerance_text(*check.tolerance));
  }
  if (is_kernel && !has_floats) return "every result must equal the reference's";
  const std::string& terms = check.accumulates.text();
  if (is_kernel) {
    return fmt::format(
        "results {}may differ by 8·√n times the effect of rounding errors of the inputs on the "
        "reference, n = {}",
        check.continuous
            ? ""
            : "equal the reference's where all of them are whole numbers; otherwise they ",
        terms);
  }
  return fmt::format(
      "results equal the reference's for whole numbers; else they may differ by 4·u·√n times the "
      "reference of absolute inputs, n = {}",
      terms);
}

std::string repetition_text(const Check& check) {
  return check.deterministic ? "two launches on the same inputs must give the same bits"
                             : "two launches on the same inputs may differ in bits";
}

/// What is compared otherwise than in place.
std::vector<std::string> order_texts(const Family& family) {
  std::vector<std::string> any, some;
  for (const auto& [name, what] : family.arguments) {
    const auto* const buffer = std::get_if<BufferArgument>(&what);
    if (buffer == nullptr) continue;
    if (buffer->order) any.push_back(name);
    if (buffer->valid) some.push_back(name);
  }
  std::vector<std::string> texts;
  if (!any.empty()) {
    texts.push_back(fmt::format("elements of {} may be in any order", fmt::join(any, ", ")));
  }
  for (const auto& [name, what] : family.arguments) {
    const auto* const buffer = std::get_if<BufferArgument>(&what);
    if (buffer == nullptr || !buffer->tolerance) continue;
    texts.push_back(
        fmt::format("results in {} may differ by {}", name, tolerance_text(*buffer->tolerance)));
  }
  if (!some.empty()) {
    texts.push_back(
        fmt::format("elements that do not count are not compared in {}", fmt::join(some, ", ")));
  }
  return texts;
}

std::vector<std::string> promises_of_files(const Family& family, const NpyReference& reference) {
  std::vector<std::string> files;
  for (const auto& [output, file] : reference.files) files.push_back(file);
  const std::string size = space::display(reference.size, family.problem.dims);
  const Check& check = family.check;
  return {
      fmt::format("results are checked against {}: {}", fmt::join(files, ", "),
                  check.tolerance ? margin_text(check, false, true)
                                  : "every result must equal the reference's"),
      fmt::format("they are for one size, {}, and fixed inputs: no others can be tuned or checked",
                  size),
      repetition_text(check)};
}

std::string reference_text(const Check& check) {
  if (const auto* const kernel = std::get_if<KernelReference>(&check.reference)) {
    return fmt::format("kernel {}", kernel->kernel);
  }
  if (const auto* const results = std::get_if<ResultsReference>(&check.reference)) {
    return fmt::format("the results in {}", results->folder);
  }
  const bool is_gemm = std::holds_alternative<GemmReference>(check.reference);
  return fmt::format("the {} of the platform's BLAS", is_gemm ? "product" : "sum");
}

std::vector<std::string> promises_of_values(const Family& family) {
  const Check& check = family.check;
  if (const auto* const files = std::get_if<NpyReference>(&check.reference)) {
    return promises_of_files(family, *files);
  }
  return {fmt::format("results are checked against {}: {}", reference_text(check),
                      margin_text(check, has_measured_bound(check),
                                  has_floating_results(family.arguments))),
          repetition_text(check)};
}

/// The inputs of a family, with what their elements are.
struct Input {
  const std::string& name;
  const InputFill& fill;
  ElementType type;
};
std::vector<Input> inputs_of(const Family& family) {
  std::vector<Input> inputs;
  for (const auto& [name, what] : family.arguments) {
    if (const auto* const array = std::get_if<ArrayArgument>(&what)) {
      inputs.push_back({.name = name, .fill = array->fill, .type = array->type.all().front()});
    }
    const auto* const buffer = std::get_if<BufferArgument>(&what);
    if (buffer == nullptr) continue;
    if (!buffer->is_written() || buffer->initial == InitialContent::input) {
      inputs.push_back({.name = name, .fill = buffer->fill, .type = buffer->type.all().front()});
    }
  }
  return inputs;
}

/// By which laws inputs are drawn, those of equal laws together, and which the file excludes.
std::vector<std::string> law_texts(const Family& family) {
  std::vector<std::pair<std::vector<Law>, std::vector<std::string>>> groups;
  std::vector<std::string> excluded;
  const auto names = [](const std::vector<Law>& laws) {
    std::vector<std::string_view> texts;
    for (const Law law : laws) texts.push_back(name(law));
    return fmt::format("{}", fmt::join(texts, ", "));
  };
  for (const auto& [name, fill, type] : inputs_of(family)) {
    const std::vector<Law> laws = laws_of(fill, type, family.check.continuous);
    if (!fill.excluded_laws.empty()) {
      excluded.push_back(fmt::format("{} is not drawn by {}: {}", name, names(fill.excluded_laws),
                                     fill.exclusion_reason));
    }
    if (laws.empty()) continue;
    auto group = std::ranges::find(groups, laws, [](const auto& each) { return each.first; });
    if (group == groups.end()) group = groups.insert(group, {laws, {}});
    group->second.push_back(name);
  }
  std::vector<std::string> texts;
  for (const auto& [laws, members] : groups) {
    texts.push_back(
        fmt::format("some checks draw {} by the laws {}", fmt::join(members, ", "), names(laws)));
  }
  std::ranges::move(excluded, std::back_inserter(texts));
  if (!texts.empty()) {
    texts.back() +=
        R"(; to exclude a law, give the argument "laws": {"exclude": ["LAW"], "reason": "…"})";
  }
  return texts;
}

/// The greatest error allowed, as a share of a result of typical size; none where there is no
/// bound.
std::optional<double> allowed_share(const Family& family, const space::Size& size) {
  const Check& check = family.check;
  if (check.exact) return std::nullopt;
  if (check.tolerance) return check.tolerance->relative;
  const space::ExpressionValues values = family_values(size);
  const auto terms = check.accumulates.evaluate(values);
  if (!terms || *terms < 1) return std::nullopt;
  double unit = 0, rounding = 0;
  for (const Argument& argument : family.arguments) {
    const auto* const buffer = std::get_if<BufferArgument>(&argument.what);
    if (buffer == nullptr || !buffer->is_written()) continue;
    const ElementType type = buffer->type.at(values);
    unit = std::max(unit, computation_unit(check, type, values));
    if (is_rounded(check, type, values)) rounding = std::max(rounding, 2 * unit_roundoff(type));
  }
  const auto n = static_cast<double>(*terms);
  // A sum of n products of normal numbers is about √n, that of their magnitudes 0.64·n.
  if (library_arguments(check) != nullptr) return 4 * unit * 0.64 * n + rounding;
  return 16 * unit * std::sqrt(n) + rounding;
}

/// Whether the reference is the only kernel, or the only one with parameters.
bool judges_itself(const Family& family, const KernelReference& reference) {
  const bool has_parameters = !family.kernel(reference.kernel).space->parameters.empty();
  return std::ranges::all_of(family.kernels, [&](const Kernel& kernel) {
    return kernel.name == reference.kernel || (has_parameters && kernel.space->parameters.empty());
  });
}

/// The floating-point scalars that are the same in every check.
std::vector<std::string> unvaried_scalars(const Family& family) {
  std::vector<std::string> names;
  for (const auto& [name, what] : family.arguments) {
    const auto* const scalar = std::get_if<ScalarArgument>(&what);
    if (scalar == nullptr || !scalar->value.slots().empty() ||
        !std::ranges::all_of(scalar->type.all(), is_floating)) {
      continue;
    }
    const auto sets_it = [&](const CheckCase& it) { return it.set.contains(name); };
    if (std::ranges::none_of(family.check.cases, sets_it)) names.push_back(name);
  }
  return names;
}

}  // namespace

bool has_floating_results(std::span<const Argument> arguments) {
  return std::ranges::any_of(arguments, [](const Argument& argument) {
    const auto* const buffer = std::get_if<BufferArgument>(&argument.what);
    return buffer != nullptr && buffer->is_written() &&
           std::ranges::any_of(buffer->type.all(), is_floating);
  });
}

bool has_floating_results(std::span<const Argument> arguments,
                          const space::ExpressionValues& values) {
  return std::ranges::any_of(arguments, [&](const Argument& argument) {
    const auto* const buffer = std::get_if<BufferArgument>(&argument.what);
    return buffer != nullptr && buffer->is_written() && is_floating(buffer->type.at(values));
  });
}

std::vector<std::string> check_promises(const Family& family) {
  std::vector<std::string> promises = promises_of_values(family);
  const std::vector<std::string> orders = order_texts(family);
  promises.insert(promises.end(), orders.begin(), orders.end());
  if (!std::holds_alternative<NpyReference>(family.check.reference)) {
    std::ranges::move(law_texts(family), std::back_inserter(promises));
  }
  return promises;
}

std::vector<std::string> check_cautions(const Family& family, const space::Size& size) {
  constexpr double kLargestShare = 0.1;
  std::vector<std::string> cautions = entry_cautions(family);
  std::ranges::move(constant_memory_cautions(family), std::back_inserter(cautions));
  const auto* const reference = std::get_if<KernelReference>(&family.check.reference);
  if (reference != nullptr && judges_itself(family, *reference)) {
    cautions.push_back(
        fmt::format("kernel {} is its own reference: results are only compared with those of its "
                    "default configuration; name a simple kernel instead",
                    reference->kernel));
  }
  const auto has_no_sizes = [](const Kernel& kernel) { return kernel.check_sizes.empty(); };
  if (has_measured_bound(family.check) && family.check.sizes.empty() &&
      std::ranges::all_of(family.kernels, has_no_sizes)) {
    cautions.emplace_back(
        "results are verified at the tuned size only: list others in \"check\": {\"sizes\": …}, "
        "such as 1 and primes, which show index errors");
  }
  if (const std::vector<std::string> names = unvaried_scalars(family);
      has_measured_bound(family.check) && !names.empty()) {
    cautions.push_back(
        fmt::format("every check has the same {}: a kernel with fixed numbers instead passes; add "
                    "other values to \"check\", such as \"cases\": [{{\"set\": {{\"{}\": 3}}}}]",
                    fmt::join(names, ", "), names.front()));
  }
  if (const auto share = allowed_share(family, size); share && *share >= kLargestShare) {
    cautions.push_back(fmt::format(
        "errors up to {:.0f} % of a result are allowed at the size {}: state a \"tolerance\", or "
        "for kernels that add in a tree its height in \"accumulates\"",
        100 * *share, space::display(size, family.problem.dims)));
  }
  for (const Argument& argument : family.arguments) {
    const auto* const buffer = std::get_if<BufferArgument>(&argument.what);
    const auto* const array = std::get_if<ArrayArgument>(&argument.what);
    if ((buffer == nullptr && array == nullptr) || (buffer != nullptr && buffer->is_written())) {
      continue;
    }
    // A structure of integers is seldom a term of a sum.
    const TypeOf& type = buffer != nullptr ? buffer->type : array->type;
    const FillKind fill = buffer != nullptr ? buffer->fill.kind : array->fill.kind;
    if (fill != FillKind::normal || std::ranges::any_of(type.all(), is_floating) ||
        (buffer != nullptr && !has_floating_results(family.arguments))) {
      continue;
    }
    cautions.push_back(fmt::format(
        "{} contains random integers; if they are indices, offsets or counts, give it a "
        "\"fill\": {{\"integers\": [LEAST, GREATEST]}}, {{\"csr_offsets\": ENTRIES}} or "
        "{{\"values\": [NUMBER, …]}}",
        argument.name));
  }
  for (const CheckCase& check_case : family.check.cases) {
    for (const auto& [name, value] : check_case.set) {
      const auto argument = std::ranges::find(family.arguments, name, &Argument::name);
      if (std::get<ScalarArgument>(argument->what).value.slots().empty()) continue;
      cautions.push_back(fmt::format(
          "a case sets {}, which follows from the size: kernels are then launched for another size "
          "than their buffers have; list it in \"sizes\"",
          name));
    }
  }
  return cautions;
}

}  // namespace tuner::family
