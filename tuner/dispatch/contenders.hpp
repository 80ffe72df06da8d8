// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/dispatch/kept_measurement.hpp"
#include "tuner/dispatch/size_slots.hpp"
#include "tuner/select/rank.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tuner::dispatch {

/// What tells one configuration of one source, or one algorithm of the library, at one size from
/// all others.
[[nodiscard]] std::string identity_of(const select::Selection& selection, const SizeSlot& slot);
/// For people.
[[nodiscard]] std::string title(const select::Selection& selection);

/// What is timed to choose at a size, the most promising first: the library by its own choice, then
/// by turns kernels and the library by `algorithms`. Kernels are those that are expected to be
/// fastest: at most 16 members of a portfolio for such sizes, or without one at most eight.
[[nodiscard]] std::vector<select::Selection> contenders(const select::Ranking& ranking,
                                                        std::span<const std::string> algorithms);

/// The answers of a measurement in its order, which is that of preference; none where one of them
/// is no answer of the ranking and no algorithm.
[[nodiscard]] std::optional<std::vector<select::Selection>> measured_answers(
    std::span<const MeasuredCandidate> measured, const select::Ranking& ranking,
    const SizeSlot& slot);

}  // namespace tuner::dispatch
