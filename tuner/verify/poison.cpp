// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/poison.hpp"

#include <limits>

namespace tuner::verify {
namespace {

/// The bits of an element as often as it fits.
std::uint64_t repeated(family::ElementType type, std::uint64_t bits) {
  const int width = family::bits(type);
  if (width < 64) bits &= (std::uint64_t{1} << width) - 1;
  std::uint64_t all = 0;
  for (int shift = 0; shift < 64; shift += width) all |= bits << shift;
  return all;
}

std::array<PoisonPattern, kPoisonKinds> of_floats(const family::ElementTypeRow& row) {
  const family::ElementType type = row.type;
  const auto fixed = [&](double value) {
    return PoisonPattern{repeated(type, family::bits_of(type, value)), 0};
  };
  const double largest = family::largest_number(type);
  const double highest =
      row.format.has_infinity ? std::numeric_limits<double>::infinity() : largest;
  PoisonPattern ordinary = fixed(1);
  const std::uint64_t fraction = (std::uint64_t{1} << row.format.fraction_bits) - 1;
  ordinary.free = repeated(type, fraction << row.format.unused_bits);
  return {PoisonPattern{},
          fixed(highest),
          fixed(-highest),
          fixed(largest),
          fixed(family::smallest_number(type)),
          ordinary};
}

std::array<PoisonPattern, kPoisonKinds> of_integers(family::ElementType type) {
  const bool is_signed = family::integer_range(type).least < 0;
  const int bits = family::bits(type);
  const std::uint64_t sign = is_signed ? std::uint64_t{1} << (bits - 1) : 0;
  const std::uint64_t ones = ~std::uint64_t{0} >> (64 - bits);
  constexpr std::uint64_t kSmall = 0x7F, kSmallInByte = 7;
  return {PoisonPattern{},
          PoisonPattern{repeated(type, ones & ~sign), 0},
          PoisonPattern{repeated(type, sign), 0},
          PoisonPattern{0, ~std::uint64_t{0}},
          PoisonPattern{},
          PoisonPattern{0, repeated(type, bits == 8 ? kSmallInByte : kSmall)}};
}

}  // namespace

std::array<PoisonPattern, kPoisonKinds> poison_patterns(family::ElementType type) {
  const family::ElementTypeRow& row = family::row(type);
  auto patterns = family::is_floating(type) ? of_floats(row) : of_integers(type);
  const auto twice = [](std::uint64_t word) { return word << 32 | word; };
  patterns[nan_poison] = {twice(row.nan.fixed), twice(row.nan.free)};
  return patterns;
}

}  // namespace tuner::verify
