// SPDX-License-Identifier: Apache-2.0
// The kernels of a space file of this repository, checked on a backend.
#pragma once

#include "tuner/backend/owned.hpp"
#include "tuner/family/awkward_sizes.hpp"
#include "tuner/verify/verifier.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <random>
#include <string>
#include <string_view>

namespace tuner {

/// A valid configuration for which `condition`, of the kernel's parameters and derived values,
/// holds: tests name what they are about, and spaces may change.
inline Config configuration(const Kernel& kernel, const DeviceAttributes& device, const Size& size,
                            std::string_view condition) {
  SpaceDefinition narrowed = *kernel.space;
  narrowed.constraints.push_back(
      {.expression = Expression::compile(condition, narrowed.scope).value(), .why = "the test"});
  const Space space(std::make_shared<const SpaceDefinition>(std::move(narrowed)), device, size);
  std::mt19937_64 random(1);
  return space.sample(random);
}

class KernelFamily {
 public:
  /// `name` as the file in spaces/ has it.
  KernelFamily(Backend& backend, const std::string& name)
      : backend_(backend), family_(load_family(TUNER_SOURCE_DIR "/spaces/" + name + ".json")) {}

  void expect_right(std::string_view name, std::string_view size_text, std::string condition) {
    SCOPED_TRACE(std::string(name) + " at " + std::string(size_text) + " where " + condition);
    const Kernel& kernel = family_.kernel(name);
    const Size size = parse_size(size_text, family_.problem.dims);
    const DeviceAttributes& device = backend_.device().attributes;
    const Space space(kernel.space, device, size);
    const Config config = configuration(kernel, device, size, condition);
    SCOPED_TRACE(display(*kernel.space, config));
    EXPECT_THAT(awkward_sizes(family_, kernel, space, config, size).sizes,
                testing::SizeIs(testing::Ge(2U)))
        << "sizes at which the same code is checked, too";

    const auto binary = backend_.compiler().compile(compile_job(kernel, space, config));
    ASSERT_TRUE(binary) << binary.error().message;
    const LoadedKernel loaded(backend_, backend_.load(*binary).value());
    LoadedCandidate candidate{
        .kernel = kernel, .space = space, .config = config, .loaded = loaded.id()};
    const auto verdict = verifier_.verify(candidate, size);
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_LE(verdict->worst_error, 1.0);
  }

 private:
  Backend& backend_;
  Family family_;
  Verifier verifier_{backend_, family_, 77};
};

}  // namespace tuner
