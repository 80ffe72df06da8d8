// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/awkward_sizes.hpp"

#include "tuner/core/error.hpp"
#include "tuner/family/candidate.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace tuner::family {
namespace {

/// No multiple of any tile; used again where a family has more dimensions.
constexpr std::array<std::int64_t, 8> kPrimes = {17, 19, 23, 29, 31, 37, 41, 43};
constexpr std::array<std::int64_t, 8> kSmallPrimes = {5, 7, 11, 13, 3, 5, 7, 11};
constexpr std::int64_t kLargePrime = 131;

/// One number for each of `count` dimensions.
space::Size repeated(std::span<const std::int64_t> numbers, std::size_t count) {
  space::Size size;
  for (std::size_t i = 0; i < count; ++i) size.push_back(numbers[i % numbers.size()]);
  return size;
}

std::vector<space::Size> general_extents(std::size_t dims) {
  const space::Size primes = repeated(kPrimes, dims);
  const space::Size small = repeated(kSmallPrimes, dims);
  std::vector<space::Size> extents = {space::Size(dims, 1), primes};
  for (std::size_t dim = 0; dim < dims; ++dim) {
    extents.push_back(primes);
    extents.back()[dim] = 1;
    extents.push_back(small);
    extents.back()[dim] = kLargePrime;
  }
  return extents;
}

/// Sizes of our own, of the tuned size's kind.
std::vector<CheckSize> general_sizes(const space::Dimensions& dims) {
  std::vector<CheckSize> sizes;
  for (const space::Size& extents : general_extents(dims.required())) {
    CheckSize size{.extents = std::vector<std::optional<space::Expression>>(dims.size())};
    for (std::size_t i = 0; i < dims.required(); ++i) {
      if (!dims[i].is_kind()) size.extents[i] = space::Expression::constant(extents[i]);
    }
    sizes.push_back(std::move(size));
  }
  return sizes;
}

std::vector<CheckSize> stated_sizes(const Family& family, const Kernel& kernel) {
  const bool library = library_arguments(family.check) != nullptr;
  std::vector<CheckSize> sizes = family.check.sizes.empty() && library
                                     ? general_sizes(family.problem.dims)
                                     : family.check.sizes;
  sizes.insert(sizes.end(), kernel.check_sizes.begin(), kernel.check_sizes.end());
  return sizes;
}

/// Whether the kernel claims to work at this size: a constraint that names the size may say no.
bool applicable(const Kernel& kernel, const space::ExpressionValues& values) {
  return std::ranges::all_of(kernel.space->constraints, [&](const space::Constraint& constraint) {
    const auto holds = constraint.expression.evaluate(values);
    return holds && *holds != 0;
  });
}

}  // namespace

AwkwardSizes awkward_sizes(const Family& family, const Kernel& kernel,
                           const space::BoundDefinition& space, const space::Config& config,
                           const space::Size& tuned) {
  const space::ExpressionValues values = values_at_size(kernel, space, config, tuned);
  AwkwardSizes result;
  std::vector<space::Size> candidates;
  for (const CheckSize& check : stated_sizes(family, kernel)) {
    auto size = size_at(check, family.problem.dims, tuned, values);
    if (size) {
      candidates.push_back(*std::move(size));
    } else {
      ++result.refused;
    }
  }
  std::ranges::sort(candidates);
  const auto twice = std::ranges::unique(candidates);
  candidates.erase(twice.begin(), twice.end());

  const std::string code = compile_job(kernel, values, config).key;
  for (space::Size& size : candidates) {
    const space::ExpressionValues there = values_at_size(kernel, space, config, size);
    if (!applicable(kernel, there)) {
      ++result.refused;
    } else if (compile_job(kernel, there, config).key != code) {
      ++result.of_other_code;
    } else {
      result.sizes.push_back(std::move(size));
    }
  }
  return result;
}

std::vector<space::Size> family_check_sizes(const Family& family, const space::Size& tuned) {
  std::vector<space::Size> sizes;
  for (const CheckSize& check : family.check.sizes) {
    auto size = size_at(check, family.problem.dims, tuned, family_values(tuned));
    if (size) sizes.push_back(*std::move(size));
  }
  std::ranges::sort(sizes);
  const auto twice = std::ranges::unique(sizes);
  sizes.erase(twice.begin(), twice.end());
  return sizes;
}

}  // namespace tuner::family
