// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/effort.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tuner::cli {
namespace {

struct Effort {
  const char* word;
  std::optional<std::uint64_t> max_evaluations;
  std::optional<std::uint64_t> patience;
  std::size_t most_finalists;
  session::EnergyChoice energy;
};

/// Rows of the table in docs/reference/command-line.md.
constexpr std::array<Effort, 3> kEfforts = {
    {{"quick", 100, 30, 4, session::EnergyChoice::never},
     {"normal", {}, 150, session::kMostFinalists, session::EnergyChoice::when_short},
     {"full", {}, {}, session::kMostFinalists, session::EnergyChoice::when_short}}};

const Effort& effort_of(const std::string& word) {
  const auto found = std::ranges::find(kEfforts, word, &Effort::word);
  if (found != kEfforts.end()) return *found;
  std::vector<std::string> words;
  for (const Effort& effort : kEfforts) words.emplace_back(effort.word);
  throw Error(ErrorCode::usage,
              fmt::format("--effort: there is no '{}'{}", word, did_you_mean(word, words)));
}

}  // namespace

void set_effort(session::RunPlan& plan, const TuneOptions& options) {
  const Effort& effort = effort_of(options.effort);
  // What is bounded by the user is searched up to that bound.
  const bool bounded = options.max_evaluations.has_value() || options.strategy == "exhaustive";
  plan.max_evaluations = bounded ? options.max_evaluations : effort.max_evaluations;
  plan.patience = bounded || options.patience ? options.patience : effort.patience;
  plan.most_finalists = effort.most_finalists;
  using enum session::EnergyChoice;
  plan.energy = !options.energy ? effort.energy : *options.energy ? always : never;
}

}  // namespace tuner::cli
