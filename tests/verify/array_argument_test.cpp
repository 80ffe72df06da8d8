// SPDX-License-Identifier: Apache-2.0
// Arrays that a kernel gets by value: it must use what they hold, whatever their type.
#include "tests/support/cached_cpu_backend.hpp"
#include "tests/support/part.hpp"
#include "tests/verify/verify_configuration.hpp"
#include "tuner/core/error.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::verify {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

constexpr std::string_view kSource = R"(
template <int K>
struct Weights {
  TYPE at[K];
};
template <int K>
__global__ void weigh(int n, int, const TYPE* x, const __grid_constant__ Weights<K> w, TYPE* y) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= n) return;
  SUM sum = 0;
  for (int k = 0; k < K; ++k) sum += static_cast<SUM>(w.at[k]) * static_cast<SUM>(x[i + k]);
  y[i] = static_cast<TYPE>(sum);
}
)";

constexpr std::string_view kDocument = R"json({
  "format": "space/1",
  "family": "weighted",
  "problem": {"dims": ["N", "K"], "flops": "2*N*K", "bytes": "8*N"},
  "arguments": [
    {"name": "N", "type": "int", "value": "N"},
    {"name": "K", "type": "int", "value": "K"},
    {"name": "x", "type": "TYPE*", "count": "N + K - 1"},
    {"name": "w", "type": "TYPE[]", "count": "K"},
    {"name": "y", "type": "TYPE*", "count": "N", "role": "output"}
  ],
  "check": {"reference": {"kernel": "weigh"}, "accumulates": "K", "sizes": [[1, "K"], [65, "K"]]},
  "kernels": {
    "weigh": {"source": "weigh.cu", "entry": "weigh<${K}>",
              "launch": {"grid": ["ceil_div(N, 64)"], "block": [64]}}
  }
})json";

constexpr std::size_t kArray = 3;  // place of the argument

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result(text);
  for (std::size_t at = 0; (at = result.find(from, at)) != std::string::npos; at += to.size()) {
    result.replace(at, from.size(), to);
  }
  return result;
}

family::Family family_of(family::ElementType type, std::string_view sum) {
  const family::ElementTypeRow& row = family::row(type);
  const std::string header =
      row.header.empty() ? "" : "#include <" + std::string(row.header) + ">\n";
  const std::string source = header + replaced(replaced(kSource, "TYPE", row.cpp_name), "SUM", sum);
  return family::parse_family(replaced(kDocument, "TYPE", row.name), "weighted.json",
                              {{"weigh", {.name = "weigh.cu", .text = source, .headers = {}}}});
}

class ArrayArgumentTest : public testing::Test {
 protected:
  /// Judges the kernel with a part of its source replaced.
  static Expected<Verdict, Failure> verify(backend::Backend& backend, const family::Family& family,
                                           const space::Size& size, std::string_view from,
                                           std::string_view to) {
    Verifier verifier(backend, family, 77);
    family::Kernel kernel = family.kernels.front();
    kernel.source.text = replaced(kernel.source.text, from, to);
    kernel.hash = to;
    return verify_configuration(backend, verifier, kernel, size);
  }
  Expected<Verdict, Failure> verify(std::string_view from, std::string_view to) {
    return verify(*backend_, family_, {100, 33}, from, to);
  }
  void expect_failure(std::string_view from, std::string_view to, Outcome outcome,
                      const std::string& message) {
    const auto verdict = verify(from, to);
    ASSERT_FALSE(verdict) << to;
    EXPECT_EQ(verdict.error().outcome, outcome) << verdict.error().message;
    EXPECT_THAT(verdict.error().message, HasSubstr(message));
  }

  std::unique_ptr<backend::Backend> backend_ = testing_support::open_cached_cpu_backend();
  family::Family family_ = family_of(family::ElementType::f32, "double");
};

TEST_F(ArrayArgumentTest, OfEveryTypeReachesTheKernelAndTheReference) {
  const std::vector<family::ElementType> types(family::kElementTypes.begin(),
                                               family::kElementTypes.end());
  for (const family::ElementType type : testing_support::part(types)) {
    const std::string_view sum = family::unit_roundoff(type) > 0 ? "double" : "long long";
    const auto verdict = verify(*backend_, family_of(type, sum), {100, 5}, "weigh", "weigh");
    EXPECT_TRUE(verdict) << family::name(type) << ": " << verdict.error().message;
  }
}

TEST_F(ArrayArgumentTest, AKernelThatDoesNotUseItIsFoundOut) {
  expect_failure("static_cast<double>(w.at[k]) *", "", Outcome::wrong_result, "y[0] is ");
  expect_failure("w.at[k]", "w.at[0]", Outcome::wrong_result, "y[0] is ");
  expect_failure("w.at[k]", "(k == 32 ? 0 : w.at[k])", Outcome::wrong_result, "y[");
}

TEST_F(ArrayArgumentTest, TheErrorBoundIsOfItsAbsoluteValues) {
  const auto verdict = verify("double", "float");
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_GT(verdict->worst_error, 0.0) << "sums are rounded";
  EXPECT_LT(verdict->worst_error, 0.5);
}

TEST_F(ArrayArgumentTest, AStructOfAnotherSizeIsNoParameterForIt) {
  expect_failure("at[K]", "at[K + 1]", Outcome::launch_error,
                 "argument 4: the kernel takes 136 bytes, the launch gives 132");
}

TEST_F(ArrayArgumentTest, HoldsTheNumbersThatABufferWould) {
  const auto values = [&](Fill fill) {
    CheckKernels kernels(*backend_);
    const Instance instance(*backend_, kernels, family_, {.size = {100, 1024}, .fill = fill});
    const auto array = std::get<backend::ArrayValue>(instance.arguments().at(kArray));
    std::vector<float> numbers(array.bytes.size() / sizeof(float));
    std::memcpy(numbers.data(), array.bytes.data(), array.bytes.size());
    return numbers;
  };
  const std::vector<float> whole = values(Fill::whole), normal = values(Fill::normal);
  EXPECT_THAT(whole, AllOf(testing::SizeIs(1024), Each(AllOf(Ge(-3), Le(3))), Contains(-3)));
  EXPECT_THAT(normal, AllOf(testing::SizeIs(1024), Contains(Ge(2)), Contains(Le(-2))));
}

TEST_F(ArrayArgumentTest, EachElementMayBeGivenByItself) {
  const auto bytes_of = [&](family::ElementType type, const std::string& values) {
    const std::string w = R"("count": "K")";
    const std::string text = replaced(kDocument, w, w + R"(, "fill": {"values": )" + values + "}");
    const family::Family family = family::parse_family(
        replaced(text, "TYPE", family::row(type).name), "weighted.json",
        {{"weigh", {.name = "weigh.cu", .text = std::string(kSource), .headers = {}}}});
    CheckKernels kernels(*backend_);
    ProblemData data(*backend_, family, {.size = {100, 3}});
    data.make_arrays(kernels);
    const std::vector<backend::Region> none(family.arguments.size());
    return std::get<backend::ArrayValue>(data.arguments(none, {}).at(kArray)).bytes;
  };
  const auto floats = bytes_of(family::ElementType::f32, R"(["N", 0.5, "-K"])");
  std::array<float, 3> numbers{};
  ASSERT_EQ(floats.size(), sizeof numbers);
  std::memcpy(numbers.data(), floats.data(), sizeof numbers);
  EXPECT_THAT(numbers, testing::ElementsAre(100, 0.5F, -3));
  EXPECT_THAT(bytes_of(family::ElementType::u8, R"([1, "2*N", 255])"),
              testing::ElementsAre(std::byte{1}, std::byte{200}, std::byte{255}));
  for (const auto& [values, why] :
       {std::pair("[1, 2]", "its fill has 2 values, its count is 3 at the size 100x3"),
        std::pair(R"([1, 2, "3*N"])",
                  "its fill asks for 300 at the size 100x3; elements of type "
                  "'unsigned char' are from 0 to 255")}) {
    try {
      static_cast<void>(bytes_of(family::ElementType::u8, values));
      ADD_FAILURE() << values;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(why));
    }
  }
}

TEST_F(ArrayArgumentTest, HasAtMost4096Bytes) {
  const space::DeviceAttributes& device = backend_->device().attributes;
  EXPECT_NO_THROW(check_size(family_, device, {100, 1024}));
  Verifier verifier(*backend_, family_, 77);
  const std::vector<std::function<void(const space::Size&)>> refusals = {
      [&](const space::Size& size) { check_size(family_, device, size); },
      [&](const space::Size& size) { static_cast<void>(verifier.timing_instance(size)); }};
  for (const auto& refuse : refusals) {
    try {
      refuse({100, 1025});
      FAIL() << "4100 bytes";
    } catch (const Error& error) {
      EXPECT_STREQ(
          error.what(),
          "argument 'w': its count \"K\" is 1025, which are 4100 bytes of float; an array "
          "by value has at most 4096, the size of kernel parameters that every GPU supports: make "
          "the argument a buffer, \"float*\", or take a smaller size");
    }
  }
}

}  // namespace
}  // namespace tuner::verify
