// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/select.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace tuner::select {

namespace {

/// The family of the kernel that is asked for, where it is not named.
std::string family_of(const Catalogue& known, const Question& question) {
  const auto found = std::ranges::find_if(known.kernels, [&](const CatalogueKernel& it) {
    return question.kernel && it.record->kernel == *question.kernel;
  });
  if (found != known.kernels.end()) return found->record->family;
  return question.family.value_or(known.kernels.front().record->family);
}

}  // namespace

Catalogue asked_catalogue(const store::Store& store, const Question& question) {
  if (!question.kernel && !question.family) {
    throw Error(ErrorCode::usage,
                "a query needs a kernel or a family: name one with --kernel or --family");
  }
  return catalogue(store, {.device = question.device,
                           .family = question.family,
                           .kernel = question.kernel,
                           .environment = question.environment});
}

Selection select_configuration(const store::Store& store, const Question& question) {
  return select_configuration(asked_catalogue(store, question), question);
}

Selection select_configuration(const Catalogue& known, const Question& question) {
  const std::string family = family_of(known, question);
  Ranking ranking = rank(known, {.family = family,
                                 .kernel = question.kernel,
                                 .size = question.size,
                                 .policy = question.policy});
  const auto found = std::ranges::find_if(
      ranking.answers, [](const Selection& answer) { return answer.kernel != nullptr; });
  if (found == ranking.answers.end()) {
    const auto size = known_size(space::normalised_size(question.size), known.kernels.front());
    throw Error(
        ErrorCode::nothing_found,
        fmt::format(
            "there is no configuration for {} at {} on {}:\n  {}\ntune it, or use another policy",
            question.kernel.value_or(question.family.value_or("")),
            size ? size->text : space::normalised_size(question.size), known.device.name,
            fmt::join(ranking.explanation, "\n  ")));
  }
  Selection selection = std::move(*found);
  selection.library_is_first = found != ranking.answers.begin();
  selection.explanation = std::move(ranking.explanation);
  return selection;
}

}  // namespace tuner::select
