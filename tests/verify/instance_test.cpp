// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/instance.hpp"

#include "tests/support/cached_cpu_backend.hpp"
#include "tests/verify/gemm_family.hpp"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tuner::verify {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsNan;

constexpr std::size_t kArgumentA = 4, kArgumentB = 5, kArgumentC = 7;  // places of the arguments
constexpr std::int64_t kM = 6, kN = 7, kK = 5;

/// Plays the candidate on the host: reads what an instance offers, writes what it likes.
class InstanceTest : public testing::Test {
 protected:
  Instance instance(const Instance::Recipe& recipe) {
    return Instance(*backend_, kernels_, family_, recipe);
  }

  std::vector<float> read(const Instance& instance, std::size_t argument,
                          std::int64_t count) const {
    std::vector<float> values(static_cast<std::size_t>(count));
    backend_->read(std::get<backend::Region>(instance.arguments().at(argument)),
                   std::as_writable_bytes(std::span(values)));
    return values;
  }
  void write(const Instance& instance, std::size_t argument, const std::vector<float>& values) {
    backend_->write(std::get<backend::Region>(instance.arguments().at(argument)),
                    std::as_bytes(std::span(values)));
  }

  /// alpha·A·B + beta·C by three loops, rounded once.
  std::vector<float> product(const Instance& instance, double alpha, double beta) const {
    const std::vector<float> a = read(instance, kArgumentA, kM * kK),
                             b = read(instance, kArgumentB, kK * kN);
    std::vector<float> c = read(instance, kArgumentC, kM * kN);
    for (std::size_t row = 0; row < kM; ++row) {
      for (std::size_t col = 0; col < kN; ++col) {
        double sum = 0;
        for (std::size_t k = 0; k < kK; ++k) {
          sum += static_cast<double>(a[row * kK + k]) * static_cast<double>(b[k * kN + col]);
        }
        float& element = c[row * kN + col];
        element = static_cast<float>(alpha * sum +
                                     (beta == 0 ? 0.0 : beta * static_cast<double>(element)));
      }
    }
    return c;
  }

  std::unique_ptr<backend::Backend> backend_ = testing_support::open_cached_cpu_backend();
  CheckKernels kernels_{*backend_};
  family::Family family_ = gemm::family();
};

TEST_F(InstanceTest, ExpectsTheProductExactlyOfWholeNumbers) {
  Instance whole = instance({.size = {kM, kN, kK}, .fill = Fill::whole, .seed = 9});
  std::vector<float> c = product(whole, 1, 0);
  write(whole, kArgumentC, c);
  EXPECT_TRUE(whole.inspect());

  c[13] += 1;
  c[20] += 1;
  write(whole, kArgumentC, c);
  const auto compared = whole.inspect();
  ASSERT_FALSE(compared);
  EXPECT_EQ(compared.error().outcome, Outcome::wrong_result);
  EXPECT_THAT(
      compared.error().message,
      AllOf(HasSubstr("C[13] (row 1, column 6) is"), HasSubstr("wrong elements: 2 of 42"),
            HasSubstr("size 6x7x5"), HasSubstr("whole-number inputs"), HasSubstr("seed 9")));
}

TEST_F(InstanceTest, PoisonsOutputsThatNoCaseReads) {
  Instance whole = instance({.size = {kM, kN, kK}, .fill = Fill::whole});
  write(whole, kArgumentC, product(whole, 1, 0));
  whole.prepare_launch();
  EXPECT_THAT(read(whole, kArgumentC, kM * kN), Each(IsNan()));
}

TEST_F(InstanceTest, ACaseSetsTheFactorsAndGivesTheOutputItReads) {
  Instance blended = instance({.size = {kM, kN, kK}, .fill = Fill::whole, .check_case = 1});
  EXPECT_EQ(std::get<float>(std::get<family::Scalar>(blended.arguments()[3])), 3.0f);
  EXPECT_EQ(std::get<float>(std::get<family::Scalar>(blended.arguments()[6])), -2.0f);
  for (int launch = 0; launch < 2; ++launch) {
    blended.prepare_launch();
    write(blended, kArgumentC, product(blended, 3, -2));
    EXPECT_TRUE(blended.inspect()) << "every launch starts from the same content";
  }
  write(blended, kArgumentC, product(blended, 3, -2));
  EXPECT_THAT(blended.inspect().error().message, HasSubstr("alpha=3, beta=-2"));
}

TEST_F(InstanceTest, AllowsNormalNumbersTheErrorOfTheirSummation) {
  Instance normal = instance({.size = {kM, kN, kK}, .fill = Fill::normal, .seed = 1});
  std::vector<float> c = product(normal, 1, 0);
  write(normal, kArgumentC, c);
  const auto share = normal.inspect();
  ASSERT_TRUE(share) << share.error().message;
  EXPECT_LT(*share, 1.0);

  // The bound of an element: 4·2^-24·√5 times the row of |A| by the column of |B|.
  const std::vector<float> a = read(normal, kArgumentA, kM * kK),
                           b = read(normal, kArgumentB, kK * kN);
  double magnitude = 0;
  for (std::size_t k = 0; k < kK; ++k) {
    magnitude += std::abs(static_cast<double>(a[2 * kK + k]) * static_cast<double>(b[k * kN + 3]));
  }
  const double bound = 4 * std::ldexp(1.0, -24) * std::sqrt(5.0) * magnitude;
  float& element = c[2 * kN + 3];
  const double right = static_cast<double>(element);
  element = static_cast<float>(right + 0.5 * bound);
  write(normal, kArgumentC, c);
  EXPECT_TRUE(normal.inspect());
  element = static_cast<float>(right + 1.5 * bound);
  write(normal, kArgumentC, c);
  const auto compared = normal.inspect();
  ASSERT_FALSE(compared);
  EXPECT_THAT(compared.error().message,
              AllOf(HasSubstr("C[17] (row 2, column 3) is"), HasSubstr("normal inputs")));
}

TEST_F(InstanceTest, EqualRecipesHoldEqualNumbersAndOtherSeedsOthers) {
  const Instance::Recipe recipe{.size = {kM, kN, kK}, .fill = Fill::whole, .seed = 1};
  Instance::Recipe other = recipe;
  other.seed = 2;
  const auto a = read(instance(recipe), kArgumentA, kM * kK);
  EXPECT_EQ(read(instance(recipe), kArgumentA, kM * kK), a);
  EXPECT_NE(read(instance(other), kArgumentA, kM * kK), a);
}

TEST_F(InstanceTest, CandidatesAreTimedOnBuffersThatBeginAsAllocationsDo) {
  const Instance timed = instance({.size = {kM, kN, kK}, .fill = Fill::normal});
  for (const std::size_t argument : {kArgumentA, kArgumentB, kArgumentC}) {
    EXPECT_EQ(std::get<backend::Region>(timed.arguments().at(argument)).offset_bytes % 256, 0U);
  }
}

TEST_F(InstanceTest, OffersTheLibraryTheSameWork) {
  Instance whole = instance({.size = {kM, kN, kK}, .fill = Fill::whole});
  whole.prepare_launch();
  ASSERT_TRUE(whole.library_work());
  ASSERT_TRUE(backend_->run(*whole.library_work()));
  EXPECT_EQ(read(whole, kArgumentC, kM * kN), product(whole, 1, 0));
}

/// Instances whose memory a candidate misuses; C is 6×7, and its 42 elements end off any alignment.
class InstanceGuards : public InstanceTest {
 protected:
  /// A place some elements from the start of an argument's buffer.
  backend::Region at(std::size_t argument, std::int64_t index) const {
    backend::Region region = std::get<backend::Region>(instance_.arguments().at(argument));
    region.offset_bytes += static_cast<std::size_t>(index * 4);
    return region;
  }
  float element(std::size_t argument, std::int64_t index) const {
    float value = 0;
    backend_->read(at(argument, index), std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  /// One launch that computes the right result, and besides writes an element.
  Expected<double, Failure> write_besides(const backend::Region& region, float value = 1.0f) {
    instance_.prepare_launch();
    write(instance_, kArgumentC, product(instance_, 1, 0));
    backend_->write(region, std::as_bytes(std::span(&value, 1)));
    return instance_.inspect();
  }

  Instance instance_ = instance({.size = {kM, kN, kK}, .fill = Fill::whole, .seed = 9});
};

TEST_F(InstanceGuards, WhatIsReadBesideABufferIsNaN) {
  for (const auto& [argument, count] :
       {std::pair(kArgumentA, 30), std::pair(kArgumentB, 35), std::pair(kArgumentC, 42)}) {
    EXPECT_THAT(element(argument, -1), IsNan()) << argument;
    EXPECT_THAT(element(argument, count), IsNan()) << argument;
    EXPECT_THAT(element(argument, count + 1), IsNan()) << argument;
    EXPECT_EQ(at(argument, 0).offset_bytes % 256, 4U) << "aligned as the family claims, no better";
  }
}

TEST_F(InstanceGuards, WhatIsWrittenBesideABufferIsOutOfBoundsWhateverTheValue) {
  const auto message = [&](std::size_t argument, std::int64_t index, float value) {
    const float intact = element(argument, index);
    const auto right = write_besides(at(argument, index), value);
    backend_->write(at(argument, index), std::as_bytes(std::span(&intact, 1)));
    if (right) return std::string("accepted");
    EXPECT_EQ(right.error().outcome, Outcome::out_of_bounds);
    return right.error().message;
  };
  EXPECT_EQ(message(kArgumentC, 42, 1.0f),
            "wrote C[42], beyond the end of its 42 elements; 1 word of the guard zone changed "
            "(size 6x7x5, whole-number inputs, seed 9)");
  EXPECT_THAT(message(kArgumentC, -1, 1.0f), HasSubstr("wrote C[-1], before its start"));
  EXPECT_THAT(message(kArgumentA, 30, 1.0f),
              HasSubstr("wrote A[30], beyond the end of its 30 elements"));
  EXPECT_THAT(message(kArgumentB, -3, 1.0f), HasSubstr("wrote B[-3], before its start"));
  EXPECT_THAT(message(kArgumentC, 1000, 1.0f), HasSubstr("wrote C[1000]"));
  EXPECT_THAT(message(kArgumentC, 42, element(kArgumentA, 30)), HasSubstr("wrote C[42]"))
      << "the NaN read beside A, copied";
}

TEST_F(InstanceGuards, AChangedInputIsOutOfBounds) {
  const auto right = write_besides(at(kArgumentB, 17), 99.0f);
  ASSERT_FALSE(right);
  EXPECT_EQ(right.error().outcome, Outcome::out_of_bounds);
  EXPECT_THAT(right.error().message,
              HasSubstr("wrote its input B: 1 word changed, the first in B[17] (row 2, column 3)"));
}

TEST_F(InstanceGuards, AChangedReferenceIsOutOfBoundsAndDoubtful) {
  EXPECT_TRUE(write_besides(at(kArgumentC, 3), product(instance_, 1, 0)[3]));
  EXPECT_FALSE(instance_.reference_changed());
  // What no candidate is given is allocated right behind what it is given.
  const backend::BufferId given = at(kArgumentC, 0).buffer;
  const auto right = write_besides(backend::BufferId{static_cast<std::uint64_t>(given) + 1}, 99.0f);
  ASSERT_FALSE(right);
  EXPECT_EQ(right.error().outcome, Outcome::out_of_bounds);
  EXPECT_THAT(right.error().message, HasSubstr("memory that is passed to no kernel changed"));
  EXPECT_TRUE(instance_.reference_changed());
}

TEST_F(InstanceGuards, EveryLaunchFindsAnotherPoison) {
  instance_.prepare_launch();
  const float before = element(kArgumentC, 5);
  instance_.prepare_launch();
  const float after = element(kArgumentC, 5);
  EXPECT_THAT(after, IsNan());
  EXPECT_NE(std::bit_cast<std::uint32_t>(before), std::bit_cast<std::uint32_t>(after));
  EXPECT_NE(std::bit_cast<std::uint32_t>(after),
            std::bit_cast<std::uint32_t>(element(kArgumentC, 6)));
  EXPECT_THAT(instance_.inspect().error().message,
              HasSubstr("C[0] (row 0, column 0) is NaN, as before the launch (not written"));
}

TEST_F(InstanceGuards, ALaunchFindsThePoisonAskedForBesideEveryBuffer) {
  for (const auto& [kind, value] :
       {std::pair(highest_poison, HUGE_VALF), {lowest_poison, -HUGE_VALF}}) {
    instance_.prepare_launch(kind);
    EXPECT_EQ(element(kArgumentC, 5), value);
    for (const auto& [argument, count] :
         {std::pair(kArgumentA, 30), std::pair(kArgumentB, 35), std::pair(kArgumentC, 42)}) {
      EXPECT_EQ(element(argument, -1), value);
      EXPECT_EQ(element(argument, count), value);
    }
    write(instance_, kArgumentC, product(instance_, 1, 0));
    EXPECT_TRUE(instance_.inspect()) << "the zones are intact";
  }
}

TEST_F(InstanceTest, KeptOutputsMustComeAgainBitForBit) {
  Instance normal = instance({.size = {kM, kN, kK}, .fill = Fill::normal, .seed = 1});
  std::vector<float> c = product(normal, 1, 0);
  write(normal, kArgumentC, c);
  normal.keep_outputs();
  EXPECT_TRUE(normal.inspect());
  c[11] = std::nextafter(c[11], 1000.0f);
  write(normal, kArgumentC, c);
  const auto other = normal.inspect();
  ASSERT_FALSE(other) << "though within the bound";
  EXPECT_EQ(other.error().outcome, Outcome::nondeterministic);
  EXPECT_THAT(other.error().message,
              AllOf(HasSubstr("C[11] (row 1, column 4) = "), HasSubstr("1 of 42 words")));
  normal.forget_outputs();
  EXPECT_TRUE(normal.inspect());
}

constexpr std::string_view kScaleDocument = R"json({
  "format": "space/1",
  "family": "scale",
  "problem": {"dims": ["N"], "flops": "N", "bytes": "8*N"},
  "arguments": [
    {"name": "N", "type": "int", "value": "N"},
    {"name": "x", "type": "int*", "count": "N"},
    {"name": "y", "type": "int*", "count": "N", "role": "output"}
  ],
  "check": {"reference": {"kernel": "plain"}, "sizes": [[1]]},
  "kernels": {
    "plain": {
      "source": "plain.cu",
      "entry": "plain<${BLOCK}>",
      "parameters": {"BLOCK": {"values": [32, 64], "default": 64}},
      "launch": {"grid": ["ceil_div(N, BLOCK)"], "block": ["BLOCK"]}
    }
  }
})json";

TEST_F(InstanceTest, AKernelOfTheFamilyCanBeTheReference) {
  family_ = family::parse_family(
      kScaleDocument, "scale.json",
      {{"plain",
        {.name = "plain.cu",
         .text = "template <int BLOCK> __global__ void plain(int n, const int* x, "
                 "int* y) { int i = blockIdx.x * BLOCK + threadIdx.x;\n"
                 "if (i < n) y[i] = 5 * x[i]; }",
         .headers = {}}}});
  Instance scale = instance({.size = {100}, .fill = Fill::whole});
  std::vector<std::int32_t> numbers(100);
  backend_->read(std::get<backend::Region>(scale.arguments()[1]),
                 std::as_writable_bytes(std::span(numbers)));
  const backend::Region y = std::get<backend::Region>(scale.arguments()[2]);
  for (std::int32_t& number : numbers) number *= 5;
  backend_->write(y, std::as_bytes(std::span(numbers)));
  EXPECT_TRUE(scale.inspect());
  numbers[99] += 1;
  backend_->write(y, std::as_bytes(std::span(numbers)));
  EXPECT_THAT(scale.inspect().error().message, HasSubstr("y[99] is"));
  EXPECT_EQ(scale.library_work(), std::nullopt) << "there is no library to compare with";
}

}  // namespace
}  // namespace tuner::verify
