// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/findings.hpp"

#include "tuner/backend/owned.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/verify/overrun.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace tuner {
namespace {

constexpr std::size_t kWord = 4;

std::vector<std::uint32_t> read_words(const Backend& backend, Region region,
                                      std::size_t size_bytes) {
  std::vector<std::uint32_t> words(size_bytes / kWord);
  backend.read(region, std::as_writable_bytes(std::span(words)));
  return words;
}

/// A value as people name it: a NaN has no sign worth showing.
std::string value_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "infinity" : "-infinity";
  return fmt::format("{:.9g}", value);
}

/// ", 812 times the allowed error away"; nothing where no bound is or no number came out.
std::string distance(const CheckKernels::Element& element, const CheckedData& data) {
  const double error = std::abs(element.result - element.reference);
  if (data.factor == 0 || !std::isfinite(error)) return "";
  return fmt::format(", {:.3g} times the allowed error away",
                     error / (data.factor * element.magnitude + 1e-37));
}

}  // namespace

std::optional<Failure> Findings::failure() const {
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
                      "wrote far out of bounds: memory that no kernel is given changed");
  }
  if (const auto part = first(CheckPart::output)) return result_failure(*part);
  if (const auto part = first(CheckPart::repeat)) return repeat_failure(*part);
  return std::nullopt;
}

bool Findings::changed(std::size_t part) const {
  return reports_[part].wrong > 0 ||
         reports_[part].fingerprint != subject_.intact[part].fingerprint;
}

bool Findings::reference_changed() const {
  const std::vector<CheckPart>& parts = subject_.memory.plan().parts;
  const auto reference =
      std::ranges::find(parts, int{CheckPart::reference}, &CheckPart::kind) - parts.begin();
  return changed(static_cast<std::size_t>(reference));
}

double Findings::worst_share() const {
  float worst = 0;
  for (const CheckReport& report : reports_) {
    worst = std::max(worst, std::bit_cast<float>(static_cast<std::uint32_t>(report.worst)));
  }
  return static_cast<double>(worst);
}

Failure Findings::failure_of(Outcome outcome, std::string text) const {
  return {outcome, fmt::format("{} ({})", text, subject_.problem.circumstances())};
}

const CheckedData& Findings::data_at(const CheckPart& part) const {
  return *std::ranges::find(subject_.memory.plan().data, static_cast<std::size_t>(part.offset),
                            &CheckedData::candidate);
}

Failure Findings::guard_failure(std::size_t part) const {
  const MemoryPlan& plan = subject_.memory.plan();
  return failure_of(Outcome::out_of_bounds, overrun_text(plan, plan.parts[part], reports_[part]));
}

/// Only a fingerprint of an input is kept, so it is made again to see what of it changed.
Failure Findings::input_failure(std::size_t part) const {
  const CheckedData& data = data_at(subject_.memory.plan().parts[part]);
  const Buffer original(subject_.backend, data.size_bytes());
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
  return failure_of(Outcome::out_of_bounds,
                    fmt::format("wrote its input {}: {} changed, the first in {}", data.name,
                                quantity::count(words, "word"),
                                subject_.problem.element_name(
                                    data.argument, first * kWord / size_bytes(data.type))));
}

Failure Findings::result_failure(std::size_t part) const {
  const CheckedMemory& memory = subject_.memory;
  const CheckedData& data = data_at(memory.plan().parts[part]);
  const CheckReport& report = reports_[part];
  const auto magnitude =
      data.magnitude ? std::optional(memory.reference(*data.magnitude)) : std::nullopt;
  const CheckKernels::Element element = subject_.kernels.pick(
      memory.candidate(data.candidate), memory.reference(*data.expected), magnitude, data.type,
      static_cast<std::int64_t>(report.first), subject_.poison);
  const std::string_view untouched =
      element.untouched && !data.initial
          ? ", as before the launch (not written, or computed from what it held)"
          : "";
  return failure_of(Outcome::wrong_result,
                    fmt::format("{} is {}{}, should be {}{}; {} of {} elements are wrong",
                                subject_.problem.element_name(data.argument, report.first),
                                value_text(element.result), untouched,
                                element.left_out ? "left as it is" : value_text(element.reference),
                                distance(element, data), report.wrong, data.count));
}

Failure Findings::repeat_failure(std::size_t part) const {
  const CheckedMemory& memory = subject_.memory;
  const CheckedData& data = data_at(memory.plan().parts[part]);
  const CheckReport& report = reports_[part];
  const std::uint64_t index = report.first * kWord / size_bytes(data.type);
  const CheckKernels::Element element = subject_.kernels.pick(
      memory.candidate(data.candidate), memory.reference(*data.repeat), std::nullopt, data.type,
      static_cast<std::int64_t>(index), subject_.poison);
  return failure_of(
      Outcome::nondeterministic,
      fmt::format("the same input gave {} = {:.17g} in one launch and {:.17g} in another; {} of {} "
                  "words of the result differ",
                  subject_.problem.element_name(data.argument, index), element.reference,
                  element.result, report.wrong, data.size_bytes() / kWord));
}

}  // namespace tuner
