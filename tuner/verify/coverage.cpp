// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tuner::verify {
namespace {

struct UnseenName {
  Unseen unseen;
  std::string_view name, words;
};

constexpr std::array kUnseenNames = {
    UnseenName{Unseen::true_value, "never_true", "was never true in any check"},
    UnseenName{Unseen::false_value, "never_false", "was never false in any check"},
    UnseenName{Unseen::body, "never_entered", "never ran its body in any check"},
    UnseenName{Unseen::end, "never_ended", "never ended by its condition in any check"},
    UnseenName{Unseen::label, "never_reached", "was never reached in any check"}};

const UnseenName& row(Unseen unseen) {
  return *std::ranges::find(kUnseenNames, unseen, &UnseenName::unseen);
}

}  // namespace

std::string sentence(const CoverageGap& gap) {
  const std::string within = gap.within.empty() ? "" : fmt::format(" in `{}`", gap.within);
  return fmt::format("{}:{}: `{}`{} {}: {}", gap.file, gap.line, gap.text, within,
                     row(gap.unseen).words, gap.advice);
}

std::string_view name(Unseen unseen) {
  return row(unseen).name;
}

std::optional<Unseen> unseen_from_name(std::string_view name) {
  const auto found = std::ranges::find(kUnseenNames, name, &UnseenName::name);
  return found == kUnseenNames.end() ? std::nullopt : std::optional(found->unseen);
}

}  // namespace tuner::verify
