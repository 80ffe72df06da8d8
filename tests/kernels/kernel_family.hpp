// SPDX-License-Identifier: Apache-2.0
// The kernels of a space file of this repository, checked on a backend.
#pragma once

#include "tests/support/part.hpp"
#include "tuner/backend/owned.hpp"
#include "tuner/family/awkward_sizes.hpp"
#include "tuner/verify/verifier.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace tuner {

/// A valid configuration for which `condition`, of the kernel's parameters and derived values,
/// holds: tests name what they are about, and spaces may change. Throws when there is none, which
/// fails the test.
inline space::Config configuration(const family::Kernel& kernel,
                                   const space::DeviceAttributes& device, const space::Size& size,
                                   std::string_view condition) {
  space::SpaceDefinition narrowed = *kernel.space;
  narrowed.constraints.push_back(
      {.expression = space::Expression::compile(condition, narrowed.scope).value(),
       .why = "the test"});
  const space::Space space(std::make_shared<const space::SpaceDefinition>(std::move(narrowed)),
                           device, size);
  if (space.size() == 0) {
    throw std::invalid_argument(
        fmt::format("{} has no valid configuration where {}", kernel.name, condition));
  }
  std::mt19937_64 random(1);
  return space.sample(random);
}

class KernelFamily {
 public:
  /// `name` as the file in spaces/ has it; with its first case once more, where alpha is another.
  KernelFamily(backend::Backend& backend, const std::string& name,
               std::optional<std::int64_t> alpha = {})
      : backend_(backend),
        family_(family::load_family(TUNER_SOURCE_DIR "/spaces/" + name + ".json")) {
    if (!alpha) return;
    family::CheckCase changed = family_.check.cases.front();
    changed.set.at("alpha").value = space::Expression::constant(*alpha);
    family_.check.cases.push_back(std::move(changed));
  }

  void expect_right(std::string_view name, std::string_view size_text, std::string condition) {
    SCOPED_TRACE(std::string(name) + " at " + std::string(size_text) + " where " + condition);
    const family::Kernel& kernel = family_.kernel(name);
    const space::Size size = space::parse_size(size_text, family_.problem.dims);
    const space::DeviceAttributes& device = backend_.device().attributes;
    const space::Space space(kernel.space, device, size);
    const space::Config config = configuration(kernel, device, size, condition);
    SCOPED_TRACE(space::display(*kernel.space, config));
    EXPECT_THAT(family::awkward_sizes(family_, kernel, space, config, size).sizes,
                testing::SizeIs(testing::Ge(2U)))
        << "sizes at which the same code is checked, too";

    const auto binary = backend_.compiler().compile(family::compile_job(kernel, space, config));
    ASSERT_TRUE(binary) << binary.error().message;
    const backend::LoadedKernel loaded(backend_, backend_.load(*binary).value());
    verify::LoadedCandidate candidate{
        .kernel = kernel, .space = space, .config = config, .loaded = loaded.id()};
    const auto verdict = verifier_.verify(candidate, size);
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_LE(verdict->worst_error, 1.0);
  }

  /// As expect_right, but only for the first call on an object and every third call after it; with
  /// TUNER_ALL_TESTS=1 for all calls.
  void expect_part_right(std::string_view name, std::string_view size_text, std::string condition) {
    if (testing_support::takes_all() || calls_++ % 3 == 0) {
      expect_right(name, size_text, std::move(condition));
    }
  }

 private:
  backend::Backend& backend_;
  family::Family family_;
  verify::Verifier verifier_{backend_, family_, 77};
  std::size_t calls_ = 0;  // of expect_part_right
};

}  // namespace tuner
