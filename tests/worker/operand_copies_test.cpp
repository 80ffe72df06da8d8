// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/operand_copies.hpp"

#include "tests/support/cached_cpu_backend.hpp"

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

namespace tuner::worker {
namespace {

using backend::Region;

/// Two operands in one buffer, the second one 16 bytes beside a multiple of 256, and a scratch
/// buffer.
class OperandCopiesTest : public testing::Test {
 protected:
  OperandCopiesTest() {
    for (std::size_t i = 0; i < kFloats; ++i) numbers_.push_back(static_cast<float>(i));
    backend_->write(x_, std::as_bytes(std::span(numbers_)));
    backend_->write(y_, std::as_bytes(std::span(numbers_).subspan(1)));
  }

  std::vector<verify::Instance::Operand> operands() const {
    return {{.name = "x", .region = x_, .size_bytes = kFloats * sizeof(float)},
            {.name = "y", .region = y_, .size_bytes = (kFloats - 1) * sizeof(float)}};
  }
  static std::vector<backend::Work> works(const OperandCopies& copies, const backend::Work& work) {
    std::vector<backend::Work> all;
    for (const OperandCopies::Run& run : copies.runs(work, OperandCopies::Outputs::own)) {
      all.push_back(run.work);
    }
    return all;
  }
  std::vector<Region> regions(const backend::Work& work) const {
    std::vector<Region> all;
    for (const auto& argument : std::get<backend::Launch>(work).steps.front().arguments) {
      if (const auto* region = std::get_if<Region>(&argument)) all.push_back(*region);
      if (const auto* tensor = std::get_if<backend::Tensor>(&argument))
        all.push_back(tensor->region);
    }
    return all;
  }
  float first(Region region) const {
    float value = 0;
    backend_->read(region, std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }

  static constexpr std::size_t kFloats = 1024;
  std::unique_ptr<backend::Backend> backend_ = testing_support::open_cached_cpu_backend();
  backend::Buffer memory_{*backend_, 16384}, scratch_{*backend_, 64};
  Region x_{memory_.id(), 0}, y_{memory_.id(), 8192 + 16};
  std::vector<float> numbers_;
  backend::Launch launch_{
      .kernel = backend::KernelId{1},
      .steps = {{.geometry = {},
                 .arguments = {x_, std::int32_t{3}, backend::Tensor{.region = y_, .layout = {}},
                               Region(scratch_.id(), 8)}}}};
};

TEST_F(OperandCopiesTest, HoldTheOperandsAndAreOfThreeTimesTheCacheWithThem) {
  const OperandCopies copies(*backend_, operands(), 10'000);
  const std::vector<backend::Work> works = OperandCopiesTest::works(copies, launch_);
  ASSERT_EQ(works.size(), 4U) << "of 8204 bytes";
  EXPECT_EQ(std::get<backend::Launch>(works[0]).steps, launch_.steps);
  for (std::size_t i = 1; i < works.size(); ++i) {
    const std::vector<Region> its = regions(works[i]);
    EXPECT_NE(its[0].buffer, x_.buffer);
    EXPECT_EQ(its[0].buffer, its[1].buffer);
    EXPECT_EQ(its[0].offset_bytes % 256, 0U);
    EXPECT_EQ(its[1].offset_bytes % 256, 16U) << "as the original lies";
    EXPECT_EQ(first(its[0]), 0.0F);
    EXPECT_EQ(first(its[1]), 1.0F);
    EXPECT_EQ(its[2], Region(scratch_.id(), 8)) << "scratch memory is the same for all";
    EXPECT_EQ(std::get<std::int32_t>(std::get<family::Scalar>(
                  std::get<backend::Launch>(works[i]).steps.front().arguments[1])),
              3);
  }
}

TEST_F(OperandCopiesTest, AreNoneWhereTheOperandsAreLargeEnough) {
  EXPECT_THAT(works(OperandCopies(*backend_, operands(), 2'000), launch_), testing::SizeIs(1));
  EXPECT_THAT(works(OperandCopies(*backend_, operands(), 0), launch_), testing::SizeIs(1));
}

TEST_F(OperandCopiesTest, AreAtMost256OfSmallOperands) {
  EXPECT_THAT(works(OperandCopies(*backend_, operands(), 1'000'000'000), launch_),
              testing::SizeIs(256));
}

TEST_F(OperandCopiesTest, OfACallOfTheLibraryHaveAllItsMatrices) {
  const backend::LibraryCall call{.operation = {}, .operands = {.places = {{x_, y_, y_, y_, x_}}}};
  const OperandCopies copies(*backend_, operands(), 10'000);
  const std::vector<backend::Work> works = OperandCopiesTest::works(copies, call);
  const auto& moved = std::get<backend::LibraryCall>(works.back());
  EXPECT_EQ(first(moved.operands[blas::kA]), 0.0F);
  EXPECT_NE(moved.operands[blas::kA], x_);
  EXPECT_EQ(moved.operands[blas::kResidual], moved.operands[blas::kA]);
  EXPECT_EQ(moved.operands[blas::kB], moved.operands[blas::kC]);
  EXPECT_EQ(moved.operands[blas::kBias], moved.operands[blas::kB]);
  EXPECT_EQ(first(moved.operands[blas::kB]), 1.0F);
}

}  // namespace
}  // namespace tuner::worker
