// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/reference_coverage.hpp"

#include "tuner/core/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

namespace tuner::verify {

using source::Probe;
using source::ProbeNotes;

ReferenceCoverage::ReferenceCoverage(const family::Family& family)
    : family_(family),
      closed_(!std::holds_alternative<family::KernelReference>(family.check.reference)) {}

bool ReferenceCoverage::is_open() const {
  if (closed_) return false;
  if (!has_notes_) return true;
  // What is behind a condition of which both outcomes were seen has been reached.
  for (std::size_t i = 0; i < probes_.size(); ++i) {
    if (!unseen(i).empty()) return true;
  }
  return false;
}

family::CompileJob ReferenceCoverage::probed(const family::CompileJob& job) {
  source::ProbedSource made = source::with_probes(job.source, job.options, extent_);
  family::CompileJob result = job;
  probes_ = std::move(made.probes);
  notes_.resize(ProbeNotes::kBytes * probes_.size());
  if (probes_.empty()) {
    closed_ = true;
    return result;
  }
  result.source = std::move(made.source);
  result.entries.emplace_back(source::ProbedSource::kReadNotes);
  result.key = content_hash({"probed", result.source.text, job.key});
  return result;
}

bool ReferenceCoverage::retry_with_fewer() {
  if (extent_ == source::ProbeExtent::statements) return false;
  extent_ = source::ProbeExtent::statements;
  notes_.clear();
  has_notes_ = false;
  return true;
}

backend::StepLaunch ReferenceCoverage::reading(backend::Region notes) {
  constexpr std::uint32_t kThreads = 64;
  return {.geometry = {.grid = {1, 1, 1}, .block = {kThreads, 1, 1}}, .arguments = {notes}};
}

void ReferenceCoverage::add(std::span<const std::byte> notes) {
  has_notes_ = true;
  for (std::size_t i = 0; i < notes_.size(); ++i) notes_[i] |= notes[i];
}

void ReferenceCoverage::fail(const Failure& failure) {
  closed_ = true;
  problem_ = fmt::format("a copy of the reference that notes what it reaches cannot run: {}: {}",
                         name(failure.outcome), failure.message);
}

bool ReferenceCoverage::was(std::size_t probe, ProbeNotes::Outcome outcome) const {
  return notes_[ProbeNotes::kBytes * probe + outcome] != std::byte{0};
}

bool ReferenceCoverage::is_seen(std::size_t probe) const {
  using enum ProbeNotes::Outcome;
  return probes_[probe].kind != Probe::Kind::choice &&
         (was(probe, was_true) || was(probe, was_false));
}

bool ReferenceCoverage::lacks(std::size_t probe, bool value) const {
  using enum ProbeNotes::Outcome;
  return value ? was(probe, was_false) && !was(probe, was_true) && !was(probe, always_true)
               : was(probe, was_true) && !was(probe, was_false) && !was(probe, always_false);
}

bool ReferenceCoverage::operand_lacks(std::size_t probe, bool value) const {
  // They follow it, each with its own.
  for (std::size_t i = probe + 1; i < probes_.size() && probes_[i].whole >= probe; ++i) {
    if (probes_[i].whole == probe && (lacks(i, value) || operand_lacks(i, value))) return true;
  }
  return false;
}

/// One of an operand says more than the same of its condition.
std::vector<Unseen> ReferenceCoverage::unseen(std::size_t probe) const {
  const Probe& its = probes_[probe];
  if (its.kind == Probe::Kind::choice) return {};
  if (its.kind == Probe::Kind::label) {
    const bool is_gap = !was(probe, ProbeNotes::was_true) && was(*its.whole, ProbeNotes::was_true);
    return is_gap ? std::vector{Unseen::label} : std::vector<Unseen>();
  }
  const bool is_loop = its.kind == Probe::Kind::loop;
  std::vector<Unseen> found;
  if (lacks(probe, true) && !operand_lacks(probe, true)) {
    found.push_back(is_loop ? Unseen::body : Unseen::true_value);
  }
  if (lacks(probe, false) && !operand_lacks(probe, false)) {
    found.push_back(is_loop ? Unseen::end : Unseen::false_value);
  }
  return found;
}

std::string ReferenceCoverage::advice(const Probe& probe, Unseen unseen) const {
  const bool has_scalar = std::ranges::any_of(family_.arguments, [&](const auto& argument) {
    return !std::holds_alternative<family::BufferArgument>(argument.what) &&
           std::ranges::count(probe.words, argument.name) > 0;
  });
  const std::string_view what = probe.kind == Probe::Kind::loop ? "does" : "is";
  if (!has_scalar) {
    return fmt::format("add a \"fill\", a case or a check size for which it {}", what);
  }
  const bool is_bound = unseen == Unseen::false_value && probe.text.find('<') != std::string::npos;
  return fmt::format("add a check size{} or a case for which it {}",
                     is_bound ? ", such as no multiple of the block," : "", what);
}

Coverage ReferenceCoverage::coverage() const {
  Coverage result{.conditions = 0, .gaps = {}, .problem = problem_};
  if (!problem_.empty()) return result;
  for (std::size_t i = 0; i < probes_.size(); ++i) {
    const Probe& probe = probes_[i];
    if (is_seen(i)) ++result.conditions;
    for (const Unseen each : unseen(i)) {
      const bool is_operand = probe.whole && probe.kind != Probe::Kind::label;
      result.gaps.push_back({.file = probe.file,
                             .line = probe.line,
                             .text = probe.text,
                             .within = is_operand ? probes_[*probe.whole].text : "",
                             .unseen = each,
                             .advice = advice(probe, each)});
    }
  }
  std::ranges::stable_sort(result.gaps, [](const CoverageGap& a, const CoverageGap& b) {
    return std::tie(a.file, a.line) < std::tie(b.file, b.line);
  });
  return result;
}

}  // namespace tuner::verify
