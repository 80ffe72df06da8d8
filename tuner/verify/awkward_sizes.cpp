// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/awkward_sizes.hpp"

#include "tuner/family/candidate.hpp"

#include <algorithm>
#include <array>

namespace tuner {
namespace {

/// No multiple of any tile; as many as a family can have dimensions.
constexpr std::array<std::int64_t, 8> kPrimes = {17, 19, 23, 29, 31, 37, 41, 43};
constexpr std::array<std::int64_t, 8> kSmallPrimes = {5, 7, 11, 13, 3, 5, 7, 11};
constexpr std::int64_t kLargePrime = 131;

std::vector<Size> general_sizes(std::size_t dims) {
  const Size primes(kPrimes.begin(), kPrimes.begin() + static_cast<std::ptrdiff_t>(dims));
  const Size small(kSmallPrimes.begin(), kSmallPrimes.begin() + static_cast<std::ptrdiff_t>(dims));
  std::vector<Size> sizes = {Size(dims, 1), primes};
  for (std::size_t dim = 0; dim < dims; ++dim) {
    sizes.push_back(primes);
    sizes.back()[dim] = 1;
    sizes.push_back(small);
    sizes.back()[dim] = kLargePrime;
  }
  return sizes;
}

std::vector<Size> family_sizes(const Family& family) {
  const bool library = std::holds_alternative<GemmReference>(family.check.reference);
  if (!family.check.sizes.empty() || !library) return family.check.sizes;
  return general_sizes(family.problem.dims.size());
}

/// Whether the kernel claims to work at this size: a constraint that names the size may say no.
bool applicable(const Kernel& kernel, const Slots& slots) {
  return std::ranges::all_of(kernel.space->constraints, [&](const Constraint& constraint) {
    const auto holds = constraint.expression.evaluate(slots);
    return holds && *holds != 0;
  });
}

}  // namespace

std::vector<Size> awkward_sizes(const Family& family, const Kernel& kernel, const Space& space,
                                const Config& config) {
  std::vector<Size> sizes = family_sizes(family);
  const Slots slots = space.slots(config);
  for (const auto& expressions : kernel.check_sizes) {
    Size size;
    for (const Expression& expression : expressions) {
      const auto value = expression.evaluate(slots);
      if (value && *value >= 1) size.push_back(*value);
    }
    // A size that the configuration does not define (a fault, or below 1) is not one to try.
    if (size.size() == expressions.size()) sizes.push_back(std::move(size));
  }
  std::ranges::sort(sizes);
  const auto repeated = std::ranges::unique(sizes);
  sizes.erase(repeated.begin(), repeated.end());
  std::erase_if(sizes, [&](const Size& size) {
    return !applicable(kernel, slots_at_size(kernel, space, config, size));
  });
  return sizes;
}

}  // namespace tuner
