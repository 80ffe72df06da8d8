// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/check_report.hpp"

#include "tuner/backend/owned.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/verify/memory_plan.hpp"
#include "tuner/verify/record_checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace tuner::verify {
namespace {

std::vector<std::uint32_t> read_words(const backend::Backend& backend, backend::Region region,
                                      std::size_t size_bytes) {
  std::vector<std::uint32_t> words(size_bytes / kWordBytes);
  backend.read(region, std::as_writable_bytes(std::span(words)));
  return words;
}

constexpr std::string_view kIfIntended =
    "If this is intended, declare it in the space file: \"check\": {\"deterministic\": false}";

/// The shortest text that is this number of the type.
std::string value_text(double value, family::ElementType type) {
  if (!family::is_floating(type)) return fmt::format("{:.0f}", value);
  return bits_text(type, family::bits_of(type, value));
}

}  // namespace

std::optional<Failure> CheckReport::failure() const {
  const std::vector<CheckPart>& parts = subject_.memory.plan().parts;
  const auto first = [&](CheckPart::Kind kind) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].kind == kind && changed(i)) return i;
    }
    return std::nullopt;
  };
  if (const auto part = first(CheckPart::guard)) return guard_failure(*part);
  if (const auto part = first(CheckPart::input)) return input_failure(*part);
  if (reference_changed()) {
    return failure_of(Outcome::out_of_bounds,
                      "wrote far out of bounds: memory that is passed to no kernel changed");
  }
  if (const auto part = first(CheckPart::output)) return result_failure(*part);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].kind == CheckPart::output && mean_share(i) > largest_mean(i)) {
      return mean_failure(i);
    }
  }
  if (const auto part = first(CheckPart::repeat)) return repeat_failure(*part);
  return std::nullopt;
}

bool CheckReport::changed(std::size_t part) const {
  const int kind = subject_.memory.plan().parts[part].kind;
  const std::uint64_t unchanged = kind == CheckPart::output || kind == CheckPart::repeat
                                      ? 0
                                      : subject_.intact[part].fingerprint;
  return reports_[part].wrong > 0 || reports_[part].fingerprint != unchanged;
}

bool CheckReport::reference_changed() const {
  const std::vector<CheckPart>& parts = subject_.memory.plan().parts;
  const auto reference =
      std::ranges::find(parts, int{CheckPart::reference}, &CheckPart::kind) - parts.begin();
  return changed(static_cast<std::size_t>(reference));
}

double CheckReport::worst_share() const {
  float worst = 0;
  for (const PartReport& report : reports_) {
    worst = std::max(worst, std::bit_cast<float>(static_cast<std::uint32_t>(report.worst)));
  }
  return static_cast<double>(worst);
}

Failure CheckReport::failure_of(Outcome outcome, std::string text,
                                std::optional<WrongElement> element) const {
  return {.outcome = outcome,
          .message = fmt::format("{} ({})", text, subject_.problem.circumstances()),
          .element = std::move(element)};
}

WrongElement CheckReport::wrong_element(const CheckedData& data, std::uint64_t index,
                                        const CheckKernels::Element& element) const {
  return {.buffer = data.name,
          .index = index,
          .value = element.result,
          .expected = element.reference,
          .is_untouched = element.untouched,
          .is_to_be_left = element.left_out,
          .allowed_error = subject_.is_equality ? 0 : element.allowed};
}

const CheckedData& CheckReport::data_at(const CheckPart& part) const {
  return *std::ranges::find(subject_.memory.plan().data, static_cast<std::size_t>(part.offset),
                            &CheckedData::candidate);
}

Failure CheckReport::guard_failure(std::size_t part) const {
  const MemoryPlan& plan = subject_.memory.plan();
  return failure_of(Outcome::out_of_bounds, overrun_text(plan, plan.parts[part], reports_[part]));
}

/// Only a fingerprint of an input is kept, so it is made again to see what of it changed.
Failure CheckReport::input_failure(std::size_t part) const {
  const CheckedData& data = data_at(subject_.memory.plan().parts[part]);
  const backend::Buffer original(subject_.backend, data.size_bytes());
  subject_.problem.fill(subject_.kernels, original.id(), data);
  const auto was = read_words(subject_.backend, original.id(), data.size_bytes());
  const auto is =
      read_words(subject_.backend, subject_.memory.candidate(data.candidate), data.size_bytes());
  std::uint64_t words = 0;
  std::uint64_t first = 0;
  for (std::size_t i = was.size(); i-- > 0;) {
    if (was[i] == is[i]) continue;
    ++words;
    first = i;
  }
  return failure_of(
      Outcome::out_of_bounds,
      fmt::format("wrote its input {}: {} changed, the first in {}; an argument to write has a "
                  "\"role\"",
                  data.name, quantity::count(words, "word"),
                  subject_.problem.element_name(
                      data.argument, family::elements_in(data.type, first * kWordBytes))));
}

std::optional<Failure> CheckReport::record_failure(std::size_t part) const {
  const CheckedData& data = data_at(subject_.memory.plan().parts[part]);
  if (!data.records) return std::nullopt;
  using enum RecordChecker::Margins;
  if (auto text = subject_.records.difference(data, subject_.is_equality ? none : allowed,
                                              subject_.kernels, subject_.poison)) {
    return failure_of(Outcome::wrong_result, *std::move(text));
  }
  const auto element = subject_.records.sorted_element(data, reports_[part].first);
  if (!element) return std::nullopt;
  return failure_of(
      Outcome::wrong_result,
      fmt::format("in sorted order {} is {}, should be {}{}; wrong elements: {} of {}",
                  subject_.problem.element_name(data.argument, reports_[part].first),
                  value_text(element->result, data.type), value_text(element->reference, data.type),
                  distance(*element, data.type), reports_[part].wrong, data.used),
      wrong_element(data, reports_[part].first, *element));
}

Failure CheckReport::result_failure(std::size_t part) const {
  if (auto failure = record_failure(part)) return *std::move(failure);
  const CheckedMemory& memory = subject_.memory;
  const CheckedData& data = data_at(memory.plan().parts[part]);
  const PartReport& report = reports_[part];
  if (static_cast<std::int64_t>(report.first) >= data.used) {  // up to the next whole word
    return failure_of(
        Outcome::out_of_bounds,
        fmt::format("wrote {}[{}], beyond the end of its {}", data.name, report.first,
                    quantity::count(static_cast<std::uint64_t>(data.used), "element")));
  }
  const CheckKernels::Element element = subject_.kernels.pick(
      memory, part, *data.expected, static_cast<std::int64_t>(report.first), subject_.poison);
  const bool poisoned = !data.initial && !data.starts_zero;
  const std::string_view untouched =
      element.untouched && poisoned
          ? ", as before the launch (not written, or computed from its old content, from beside a "
            "buffer or from unwritten shared memory)"
          : "";
  const std::string wanted =
      element.left_out ? "left unwritten" : value_text(element.reference, data.type);
  return failure_of(
      Outcome::wrong_result,
      fmt::format("{} is {}{}, should be {}{}; wrong elements: {} of {}{}{}",
                  subject_.problem.element_name(data.argument, report.first),
                  value_text(element.result, data.type), untouched, wanted,
                  element.left_out ? "" : distance(element, data.type), report.wrong, data.used,
                  is_rounded_apart(element, data.type) ? rounding_remedy(data.type) : "",
                  order_remedy(data.type)),
      wrong_element(data, report.first, element));
}

std::string CheckReport::distance(const CheckKernels::Element& element,
                                  family::ElementType type) const {
  const double error = std::abs(element.result - element.reference);
  if (subject_.is_equality || element.allowed == 0) {
    return subject_.problem.family().check.exact || !std::isfinite(element.reference) ||
                   !family::is_floating(type)
               ? " exactly"
               : " exactly, since all results of the reference are whole numbers here";
  }
  if (!std::isfinite(error)) return "";
  return fmt::format(", {:.3g} times the allowed error away", error / element.allowed);
}

double CheckReport::mean_share(std::size_t part) const {
  const auto count = static_cast<double>(subject_.memory.plan().parts[part].count);
  return std::sqrt(static_cast<double>(reports_[part].squares) * kSquareUnit / count);
}

double CheckReport::largest_mean(std::size_t part) const {
  const CheckPart& its = subject_.memory.plan().parts[part];
  const CheckedData& data = data_at(its);
  const family::Family& family = subject_.problem.family();
  const bool has_own = subject_.problem.tolerance_of(data.argument) != nullptr;
  if (has_own && !family.check.tolerance) return 1;
  // Errors of terms that a law makes alike are alike.
  if (subject_.problem.recipe().law) return 1;
  if (!subject_.problem.is_rounded(data.type)) return subject_.largest_mean;
  // Most results are rounded as the reference's. A neighbour of it is a share of them that grows
  // with the errors of the sums, and a few of a small output.
  constexpr double kLeast = 1.0 / 32, kFew = 4;
  const double sums = std::sqrt(static_cast<double>(subject_.problem.accumulated())) *
                      subject_.problem.computation_unit(data.type) /
                      family::unit_roundoff(data.type);
  return std::min(0.5, std::sqrt(kLeast + sums)) + std::sqrt(kFew / static_cast<double>(its.count));
}

Failure CheckReport::mean_failure(std::size_t part) const {
  const CheckedData& data = data_at(subject_.memory.plan().parts[part]);
  return failure_of(
      Outcome::wrong_result,
      fmt::format("no element of {} is outside of its bound, but the root mean "
                  "square of all errors is {:.3g} times that of rounding errors of "
                  "the type: a part of the computation has a lower precision, or a "
                  "small term is missing{}",
                  data.name, mean_share(part) / largest_mean(part), rounding_remedy(data.type)));
}

std::string CheckReport::rounding_remedy(family::ElementType type) const {
  if (!family::is_floating(type)) return {};
  const std::string_view name = row(type).short_name;
  const bool is_wider =
      family::unit_roundoff(subject_.problem.compute_type(type)) < family::unit_roundoff(type);
  if (is_wider) {
    return fmt::format(
        "; if the kernel is meant to round intermediate results to {}, add \"compute\": "
        "\"{}\" to \"check\"",
        name, name);
  }
  return "; if that is meant, state a \"tolerance\" in \"check\"";
}

bool CheckReport::is_rounded_apart(const CheckKernels::Element& element,
                                   family::ElementType type) const {
  constexpr double kFewUnits = 4;
  return !subject_.is_equality && !element.left_out && family::is_floating(type) &&
         std::abs(element.result - element.reference) <=
             kFewUnits * 2 * family::unit_roundoff(type) * std::abs(element.reference);
}

std::string CheckReport::order_remedy(family::ElementType type) const {
  const auto is_floating = [](const CheckedData& data) { return family::is_floating(data.type); };
  const Fill fill = subject_.problem.recipe().fill;
  const bool are_equal =
      fill == Fill::few ||
      (fill == Fill::whole && std::ranges::any_of(subject_.memory.plan().data, is_floating));
  if (!are_equal || family::is_floating(type)) return {};
  return "; inputs of this check hold many equal numbers: where the order of equal ones is free, "
         "as "
         "in an unstable sort, give these inputs \"fill\": \"permutation\"";
}

Failure CheckReport::repeat_failure(std::size_t part) const {
  const CheckedMemory& memory = subject_.memory;
  const std::vector<CheckPart>& parts = memory.plan().parts;
  const CheckedData& data = data_at(parts[part]);
  const PartReport& report = reports_[part];
  if (report.fingerprint != 0) {
    return failure_of(Outcome::nondeterministic,
                      fmt::format("on the same input {}. {}",
                                  subject_.records.repeat_difference(data).value(), kIfIntended));
  }
  const std::uint64_t index = family::elements_in(data.type, report.first * kWordBytes);
  const CheckKernels::Element element = subject_.kernels.pick(
      memory, part, *data.repeat, static_cast<std::int64_t>(index), subject_.poison);
  return failure_of(
      Outcome::nondeterministic,
      fmt::format("the same input gave {} = {} in one launch and {} in another; {} of {} words of "
                  "the result differ. {}",
                  subject_.problem.element_name(data.argument, index),
                  value_text(element.reference, data.type), value_text(element.result, data.type),
                  report.wrong, data.size_bytes() / kWordBytes, kIfIntended),
      wrong_element(data, index, element));
}

}  // namespace tuner::verify
