// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/contenders.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tuner::dispatch {
namespace {

/// The number of kernels without a portfolio: the fastest is almost always among those with the
/// best expected times (docs/reference/selection.md).
constexpr std::size_t kMostKernels = 8;
/// The largest number of members of a portfolio: each further contender takes rounds from the
/// others.
constexpr std::size_t kMostMembers = 16;

const select::Selection* library_of(const select::Ranking& ranking) {
  const auto its = std::ranges::find(ranking.answers, Rung::library, &select::Selection::rung);
  return its == ranking.answers.end() ? nullptr : &*its;
}

select::Selection by_algorithm(const select::Selection& library, const std::string& algorithm) {
  select::Selection selection = library;
  selection.rung = Rung::library_tuned;
  selection.library_algorithm = algorithm;
  return selection;
}

}  // namespace

std::string identity_of(const select::Selection& selection, const SizeSlot& slot) {
  if (selection.kernel == nullptr) {
    return fmt::format("{}: library {} @ {}", selection.family, selection.library_algorithm,
                       slot.text);
  }
  return fmt::format("{}/{}/{}: {} @ {}", selection.family, selection.kernel->kernel,
                     selection.kernel->hash, selection.config_json, slot.text);
}

std::string title(const select::Selection& selection) {
  if (selection.rung == Rung::library_tuned) return "the library, tuned";
  return selection.kernel == nullptr
             ? "the library"
             : fmt::format("{} {}", selection.kernel->kernel, selection.config_json);
}

std::vector<select::Selection> contenders(const select::Ranking& ranking,
                                          std::span<const std::string> algorithms) {
  std::vector<select::Selection> all;
  const select::Selection* const library = library_of(ranking);
  if (library != nullptr) all.push_back(*library);
  const std::size_t most = std::max(kMostKernels, std::min(kMostMembers, ranking.members));
  std::size_t kernels = 0, others = 0;
  const auto add_algorithm = [&] {
    if (library == nullptr || others == algorithms.size()) return;
    all.push_back(by_algorithm(*library, algorithms[others++]));
  };
  for (const select::Selection& answer : ranking.answers) {
    if (answer.kernel == nullptr || kernels == most) continue;
    ++kernels;
    all.push_back(answer);
    add_algorithm();
  }
  while (library != nullptr && others < algorithms.size()) add_algorithm();
  return all;
}

std::optional<std::vector<select::Selection>> measured_answers(
    std::span<const MeasuredCandidate> measured, const select::Ranking& ranking,
    const SizeSlot& slot) {
  const select::Selection* const library = library_of(ranking);
  std::vector<select::Selection> answers;
  for (const MeasuredCandidate& it : measured) {
    const auto known = std::ranges::find(
        ranking.answers, it.identity,
        [&](const select::Selection& answer) { return identity_of(answer, slot); });
    if (known != ranking.answers.end()) {
      answers.push_back(*known);
    } else if (library != nullptr && !it.library_algorithm.empty()) {
      answers.push_back(by_algorithm(*library, it.library_algorithm));
    } else {
      return std::nullopt;
    }
    answers.back().expected_ns = it.time_ns;
  }
  return answers;
}

}  // namespace tuner::dispatch
