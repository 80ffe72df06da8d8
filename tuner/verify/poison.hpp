// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/element_type.hpp"
#include "tuner/verify/check_parts.hpp"

#include <array>
#include <cstdint>

namespace tuner::verify {

/// 64 bits, of elements as many as fit: some fixed, the others at random.
struct PoisonPattern {
  std::uint64_t fixed = 0, free = 0;
};

/// What each kind of poison is in memory that holds elements of a type, by PoisonKind.
[[nodiscard]] std::array<PoisonPattern, kPoisonKinds> poison_patterns(family::ElementType type);

}  // namespace tuner::verify
