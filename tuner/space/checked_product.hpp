// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/error.hpp"

#include <cstdint>

namespace tuner::space {

/// The product of two numbers of configurations. Throws Error(usage) when it leaves 64 bits.
inline std::uint64_t checked_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) {
    throw Error(ErrorCode::usage,
                "the space has more than 2^64 configurations; give its parameters fewer values");
  }
  return result;
}

}  // namespace tuner::space
