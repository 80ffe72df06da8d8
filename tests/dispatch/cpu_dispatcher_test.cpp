// SPDX-License-Identifier: Apache-2.0
// Through the public door, with kernels that are compiled and run.
#include "tests/dispatch/cpu_fixture.hpp"
#include "tests/dispatch/squares_family.hpp"
#include "tests/dispatch/weighted_family.hpp"
#include "tuner/dispatch/dispatcher.hpp"
#include "tuner/dispatch/gemm.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tuner::dispatch {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class CpuDispatcherTest : public CpuFixture {
 protected:
  /// C = 2·A·B + C of whole numbers, with C = 1 before: right or not.
  [[nodiscard]] static bool multiplies(Dispatcher& dispatcher, std::int64_t m, std::int64_t n,
                                       std::int64_t k) {
    const auto count = [](std::int64_t rows, std::int64_t columns) {
      return static_cast<std::size_t>(rows * columns);
    };
    std::vector<float> a(count(m, k)), b(count(k, n)), c(count(m, n), 1), right(count(m, n), 1);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 5) - 2;
    for (std::size_t i = 0; i < right.size(); ++i) {
      const std::size_t row = i / static_cast<std::size_t>(n),
                        column = i % static_cast<std::size_t>(n);
      for (std::size_t j = 0; j < static_cast<std::size_t>(k); ++j) {
        right[i] += 2 * a[row * static_cast<std::size_t>(k) + j] *
                    b[j * static_cast<std::size_t>(n) + column];
      }
    }
    const std::vector<DispatchArgument> arguments = {2.0F, a.data(), b.data(), 1.0F, c.data()};
    dispatcher.launch(dispatcher.family("product"), Size{m, n, k}, arguments);
    return c == right;
  }
  [[nodiscard]] std::vector<std::filesystem::path> cached() const {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(options.cache)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    return files;
  }
};

TEST_F(CpuDispatcherTest, EveryRungMultipliesRight) {
  database.add({.size = "8,6,5", .config = R"({"TILE":2})"});
  database.add({.size = "40,6,5", .kernel = "split", .config = R"({"PARTS":4})"});
  Dispatcher dispatcher(Table::database(database.path()), options);
  const FamilyId family = dispatcher.family("product");
  EXPECT_TRUE(multiplies(dispatcher, 8, 6, 5));
  EXPECT_EQ(dispatcher.answer(family, Size{8, 6, 5}).rung, Rung::exact);
  EXPECT_TRUE(multiplies(dispatcher, 40, 6, 5));
  EXPECT_EQ(dispatcher.answer(family, Size{40, 6, 5}).kernel, "split");
  EXPECT_TRUE(multiplies(dispatcher, 12, 6, 5));
  EXPECT_EQ(dispatcher.answer(family, Size{12, 6, 5}).rung, Rung::nearest);
  database.add({.size = "9,6,5", .config = R"({"TILE":1})", .ratio_to_library = 0.5});
  dispatcher.reload(Table::database(database.path()));
  EXPECT_TRUE(multiplies(dispatcher, 9, 6, 5));
  EXPECT_EQ(dispatcher.answer(family, Size{9, 6, 5}).rung, Rung::library);
}

TEST_F(CpuDispatcherTest, WhatMeasurementChoseMultipliesRight) {
  database.add({.size = "8,6,5", .config = R"({"TILE":2})"});
  database.add({.size = "40,6,5", .kernel = "split", .config = R"({"PARTS":4})"});
  Dispatcher dispatcher(Table::database(database.path()), options);
  const auto done =
      dispatcher.prepare(dispatcher.family("product"), {{{12, 6, 5}}}, ChooseBy::measurement);
  ASSERT_TRUE(done.front().answer) << done.front().error;
  EXPECT_GT(done.front().answer->expected_ns.value(), 0);
  EXPECT_EQ(std::ranges::count_if(done.front().answer->explanation,
                                  [](const std::string& it) { return it.starts_with("measured"); }),
            5)
      << "two kernels, a default, the library and its algorithm";
  EXPECT_TRUE(multiplies(dispatcher, 12, 6, 5));
}

TEST_F(CpuDispatcherTest, EveryStepOfAKernelIsLaunched) {
  database.add(squares("16"));
  Dispatcher dispatcher(Table::database(database.path()), options);
  const FamilyId family = dispatcher.family("squares");
  for (const std::int64_t n : {16, 24}) {
    std::vector<float> x(static_cast<std::size_t>(n), 2), y(1, -1);
    dispatcher.launch(family, Size{n}, std::vector<DispatchArgument>{0.5F, x.data(), y.data()});
    EXPECT_EQ(y.front(), 2 * static_cast<float>(n));
  }
}

TEST_F(CpuDispatcherTest, TheLibraryTransposesWhereItIsFaster) {
  const std::string space = R"json({
    "format": "space/1", "family": "turned",
    "problem": {"dims": ["M", "N"], "flops": 0, "bytes": "8*M*N"},
    "arguments": [ {"name": "A", "type": "float*", "count": "M*N"},
                   {"name": "C", "type": "float*", "count": "M*N", "role": "output"} ],
    "check": {"reference": {"op": "geam", "m": "M", "n": "N", "a": "A", "c": "C", "trans_a": 1}},
    "kernels": {"rows": {"source": "product.cu", "entry": "rows",
                         "launch": {"grid": [1], "block": [1]}}} })json";
  database.add(
      {.size = "2,3", .config = "{}", .ratio_to_library = 0.5, .family = "turned", .space = space});
  Dispatcher dispatcher(Table::database(database.path()), options);
  std::vector<float> a = {1, 2, 3, 4, 5, 6}, c(6);
  const FamilyId family = dispatcher.family("turned");
  dispatcher.launch(family, Size{2, 3}, std::vector<DispatchArgument>{a.data(), c.data()});
  EXPECT_EQ(c, (std::vector<float>{1, 3, 5, 2, 4, 6})) << "A is stored 3 by 2";
  EXPECT_EQ(dispatcher.answer(family, Size{2, 3}).rung, Rung::library);
}

TEST_F(CpuDispatcherTest, AnArrayIsReadAtTheCallWhereverItLies) {
  database.add(weighted("3,64"));
  Dispatcher dispatcher(Table::database(database.path()), options);
  const FamilyId family = dispatcher.family("weighted");
  std::vector<float> x(66), y(3);
  x[0] = 1;
  x[2] = 100;
  alignas(16) std::array<float, 65> memory = {0, 1, 2, 3};  // the kernel's struct is aligned more
  dispatcher.launch(
      family, Size{3, 64},
      std::vector<DispatchArgument>{x.data(), DispatchArgument::array(&memory[1]), y.data()});
  memory.fill(0);
  EXPECT_EQ(y, (std::vector<float>{301, 200, 100})) << "by 1, 2 and 3";
}

TEST_F(CpuDispatcherTest, AKernelWithParametersOfItsOwnGetsThemInItsOrder) {
  const std::string space = R"json({
    "format": "space/1", "family": "affine",
    "problem": {"dims": ["N"], "flops": "N", "bytes": "8*N"},
    "arguments": [ {"name": "N", "type": "int", "value": "N"},
                   {"name": "factor", "type": "float", "value": 2},
                   {"name": "x", "type": "float*", "count": "N"},
                   {"name": "y", "type": "float*", "count": "N", "role": "output"} ],
    "check": {"reference": {"kernel": "affine"}},
    "kernels": {"affine": {"source": "product.cu", "entry": "affine",
      "parameters": {"BLOCK": {"values": [2, 4], "default": 2, "kind": "launch"}},
      "defines": {"LAST": "N - 1"},
      "scratch": [{"name": "tmp", "type": "float*", "count": "N"}],
      "arguments": ["y", {"name": "block", "type": "long long", "value": "BLOCK"}, "tmp", "x",
                    {"name": "half", "type": "double", "value": 0.5}, "factor"],
      "launch": {"grid": ["ceil_div(N, BLOCK)"], "block": ["BLOCK"]}}} })json";
  const std::string source = R"cuda(
__global__ void affine(float* y, long long block, float* tmp, const float* x, double half, float factor) {
  const int i = blockIdx.x * block + threadIdx.x;
  if (i > LAST) return;
  tmp[i] = factor * x[i];
  y[i] = tmp[i] + half;
})cuda";
  database.add({.size = "5",
                .kernel = "affine",
                .config = R"({"BLOCK":4})",
                .family = "affine",
                .space = space,
                .source = source});
  Dispatcher dispatcher(Table::database(database.path()), options);
  std::vector<float> x = {1, 2, 3, 4, 5}, y(5);
  dispatcher.launch(dispatcher.family("affine"), Size{5},
                    std::vector<DispatchArgument>{3.0F, x.data(), y.data()});
  EXPECT_EQ(y, (std::vector<float>{3.5, 6.5, 9.5, 12.5, 15.5}));
}

TEST_F(CpuDispatcherTest, KernelsThatTakeArraysAreMeasured) {
  database.add(weighted("3,4"));
  Dispatcher dispatcher(Table::database(database.path()), options);
  const auto done =
      dispatcher.prepare(dispatcher.family("weighted"), {{{5, 4}}}, ChooseBy::measurement);
  ASSERT_TRUE(done.front().answer) << done.front().error;
  EXPECT_THAT(done.front().answer->explanation, testing::Contains(HasSubstr("measured: weigh")));
}

TEST_F(CpuDispatcherTest, KernelsThatExtendListsAreNotLaunchedRepeatedly) {
  database.add({.size = "7",
                .kernel = "append",
                .config = R"({"BLOCK":4})",
                .family = "lists",
                .space = R"json({
    "format": "space/1", "family": "lists",
    "problem": {"dims": ["N"], "flops": "N", "bytes": "8*N"},
    "arguments": [ {"name": "N", "type": "int", "value": "N"},
                   {"name": "list", "type": "int*", "count": "N", "role": "output", "order": "any"},
                   {"name": "length", "type": "int*", "count": 1, "role": "output", "initial": "zero"} ],
    "check": {"reference": {"kernel": "append"}},
    "kernels": {"append": {"source": "product.cu", "entry": "append",
      "parameters": {"BLOCK": {"values": [2, 4], "default": 2, "kind": "launch"}},
      "launch": {"grid": ["ceil_div(N, BLOCK)"], "block": ["BLOCK"]}}} })json",
                .source = R"cuda(
__global__ void append(int N, int* list, int* length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) list[atomicAdd(length, 1)] = i;
})cuda"});
  Dispatcher dispatcher(Table::database(database.path()), options);
  const auto done = dispatcher.prepare(dispatcher.family("lists"), {{{5}}}, ChooseBy::measurement);
  ASSERT_TRUE(done.front().answer) << done.front().error;
  EXPECT_THAT(done.front().answer->explanation,
              testing::Contains(HasSubstr("not measured: launched repeatedly, the kernels would")));
}

TEST_F(CpuDispatcherTest, SaysWhatIsWrongWithAnArray) {
  database.add(weighted("3,4"));
  Dispatcher dispatcher(Table::database(database.path()), options);
  const FamilyId family = dispatcher.family("weighted");
  std::vector<float> data(2000);
  const auto message = [&](const auto& of, std::int64_t k) -> std::string {
    try {
      const std::vector<DispatchArgument> arguments = {data.data(), of(), data.data()};
      dispatcher.launch(family, Size{3, k}, arguments);
      return "no error";
    } catch (const DispatchError& error) {
      return error.what();
    }
  };
  const auto array = [&] { return DispatchArgument::array(data.data()); };
  EXPECT_EQ(message(array, 4), "no error");
  EXPECT_THAT(message([&]() -> DispatchArgument { return data.data(); }, 4),
              HasSubstr("takes the arguments (pointer x, array w, pointer y) and is given "
                        "(pointer, pointer, pointer)"));
  EXPECT_THAT(message([] { return DispatchArgument::array(nullptr); }, 4),
              HasSubstr("null pointer"));
  EXPECT_THAT(message(array, 1025),
              HasSubstr("argument 'w': its count \"K\" is 1025, which are 4100 bytes of float"));
}

TEST_F(CpuDispatcherTest, CompiledKernelsComeFromTheDiskCacheUnlessTheyAreDamaged) {
  database.add({.size = "8,6,5"});
  const auto run = [&] {
    Dispatcher dispatcher(Table::database(database.path()), options);
    return multiplies(dispatcher, 8, 6, 5) &&
           dispatcher.answer(dispatcher.family("product"), Size{8, 6, 5}).rung == Rung::exact;
  };
  EXPECT_TRUE(run());
  ASSERT_EQ(cached().size(), 1U);
  ASSERT_EQ(::chmod(options.cache.c_str(), 0500), 0);
  EXPECT_TRUE(run()) << "a cache that cannot be written is read";
  ASSERT_EQ(::chmod(options.cache.c_str(), 0700), 0);
  std::filesystem::resize_file(cached().front(), 100);
  EXPECT_TRUE(run()) << "a cut entry is compiled again";
  EXPECT_GT(std::filesystem::file_size(cached().front()), 100U);
}

TEST_F(CpuDispatcherTest, ProcessesThatStartTogetherShareACache) {
  database.add({.size = "8,6,5"});
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      Dispatcher dispatcher(Table::database(database.path()), options);
      ::_exit(multiplies(dispatcher, 8, 6, 5) ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(cached().size(), 1U);
}

TEST_F(CpuDispatcherTest, TheTypedDoorMultipliesWithoutAnyTable) {
  Dispatcher dispatcher(Table::none(), options);
  const std::vector<float> a = {1, 2, 3, 4, 5, 6};  // 2×3
  const std::vector<float> b = {1, 0, 0, 1, 1, 1};  // 3×2
  std::vector<float> c = {1, 1, 1, 1};
  sgemm(dispatcher, nullptr, Transpose::no, Transpose::no, 2, 2, 3, 1, a.data(), 3, b.data(), 2, 1,
        c.data(), 2);
  EXPECT_EQ(c, (std::vector<float>{5, 6, 11, 12}));
  sgemm_strided_batched(dispatcher, nullptr, Transpose::yes, Transpose::no, 2, 2, 1, 1, a.data(), 2,
                        2, b.data(), 2, 2, 0, c.data(), 2, 0, 1);
  EXPECT_EQ(c, (std::vector<float>{1, 0, 2, 0}));
  try {
    sgemm(dispatcher, nullptr, Transpose::no, Transpose::no, 2, 2, 3, 1, a.data(), 2, b.data(), 2,
          1, c.data(), 2);
    FAIL();
  } catch (const DispatchError& error) {
    EXPECT_THAT(error.what(), HasSubstr("lda is 2, but a stored row has 3 elements"));
  }
}

/// A family called gemm with every dimension and argument of the typed call, of other elements.
constexpr const char* kBrainSpace = R"json({
  "format": "space/1", "family": "gemm",
  "problem": {
    "dims": ["M", "N", "K", {"name": "BATCH", "default": 1},
             {"name": "TRANS_A", "values": [0, 1], "default": 0},
             {"name": "TRANS_B", "values": [0, 1], "default": 0},
             {"name": "LDA", "default": "TRANS_A ? M : K"},
             {"name": "LDB", "default": "TRANS_B ? K : N"}, {"name": "LDC", "default": "N"}],
    "flops": "2*M*N*K", "bytes": "2*(M*K + K*N + M*N)" },
  "arguments": [ {"name": "alpha", "type": "float", "value": 1},
                 {"name": "A", "type": "ELEMENT*", "count": "M*K"},
                 {"name": "B", "type": "ELEMENT*", "count": "K*N"},
                 {"name": "beta", "type": "float", "value": 0},
                 {"name": "C", "type": "ELEMENT*", "count": "M*N", "role": "output"} ],
  "check": {"reference": {"kernel": "brain"}},
  "kernels": {"brain": {"source": "product.cu", "entry": "brain",
                        "launch": {"grid": [1], "block": [1]}}}})json";
constexpr const char* kBrainSource = R"cuda(
__global__ void brain(float, const void*, const void*, float, unsigned* c) { c[0] = 0x40404040u; }
)cuda";

TEST_F(CpuDispatcherTest, TheTypedDoorGivesFloatsToNoFamilyOfOtherElements) {
  const std::vector<float> a = {1, 2, 3, 4, 5, 6}, b = {1, 0, 0, 1, 1, 1};
  for (const std::string element : {"bf16", "float"}) {
    std::string space = kBrainSpace;
    for (std::size_t at; (at = space.find("ELEMENT")) != std::string::npos;) {
      space.replace(at, 7, element);
    }
    database.add({.size = "2,2,3",
                  .kernel = "brain",
                  .config = "{}",
                  .family = "gemm",
                  .space = space,
                  .source = kBrainSource});
    Dispatcher dispatcher(Table::database(database.path()), options);
    std::vector<float> c = {1, 1, 1, 1};
    sgemm(dispatcher, nullptr, Transpose::no, Transpose::no, 2, 2, 3, 1, a.data(), 3, b.data(), 2,
          1, c.data(), 2);
    const bool by_library = c == std::vector<float>{5, 6, 11, 12};
    EXPECT_EQ(by_library, element == "bf16") << "else the family is served";
  }
}

/// Its kernel adds 1 to every result, so that it shows who multiplied.
constexpr const char* kTypedSpace = R"json({
  "format": "space/1", "family": "gemm",
  "problem": {"dims": ["M", "N", "K", {"name": "BATCH", "default": 1},
                       {"name": "TRANS_A", "values": [0, 1], "default": 0},
                       {"name": "TRANS_B", "values": [0, 1], "default": 0},
                       {"name": "LDA", "default": "TRANS_A ? M : K"},
                       {"name": "LDB", "default": "TRANS_B ? K : N"},
                       {"name": "LDC", "default": "N"},
                       {"name": "ALIGN", "values": [1, 2, 4], "default": 4},
                       {"name": "TYPE", "default": "f32", "types": {
                         "f32": {"A": "f32", "C": "f32", "compute": "f32"},
                         "bf16": {"A": "bf16", "C": "bf16", "compute": "f32"},
                         "s8": {"A": "s8", "C": "s32", "compute": "s32"}}}],
              "flops": "2*M*N*K", "bytes": "bytes(A)*(M*K + K*N) + bytes(C)*M*N"},
  "arguments": [ {"name": "N", "type": "int", "value": "N"},
                 {"name": "K", "type": "int", "value": "K"},
                 {"name": "alpha", "type": "${compute}", "value": 1},
                 {"name": "A", "type": "${A}*", "count": "M*K", "offset": "4*(ALIGN % 4)//bytes(A)"},
                 {"name": "B", "type": "${A}*", "count": "K*N", "offset": "4*(ALIGN % 4)//bytes(A)"},
                 {"name": "beta", "type": "${compute}", "value": 0},
                 {"name": "C", "type": "${C}*", "count": "M*N", "offset": "4*(ALIGN % 4)//bytes(C)",
                  "role": "output"} ],
  "check": {"reference": {"op": "gemm", "m": "M", "n": "N", "k": "K", "a": "A", "b": "B", "c": "C",
                          "alpha": "alpha", "beta": "beta"}},
  "kernels": {"marked": {"source": "product.cu", "entry": "marked<${A},${C},${compute}>",
                         "launch": {"grid": ["M"], "block": [1]}}}})json";
constexpr const char* kTypedSource = R"cuda(
template <class T, class Result, class Sum>
__global__ void marked(int N, int K, Sum alpha, const T* A, const T* B, Sum beta, Result* C) {
  for (int n = 0; n < N; ++n) {
    Sum sum = 0;
    for (int k = 0; k < K; ++k) sum += Sum(A[blockIdx.x * K + k]) * Sum(B[k * N + n]);
    Result& c = C[blockIdx.x * N + n];
    c = Result(alpha * sum + beta * Sum(c) + Sum(1));
  }
}
)cuda";

class TypedGemmTest : public CpuDispatcherTest {
 protected:
  void add(const std::string& size) {
    database.add({.size = size,
                  .kernel = "marked",
                  .config = "{}",
                  .family = "gemm",
                  .space = kTypedSpace,
                  .source = kTypedSource});
  }
  /// The product of 2x3 and 3x2 numbers of a type, plus once the old results, which are 1.
  template <class Element, class Result>
  static std::vector<Result> multiplied(Dispatcher& dispatcher, GemmType type,
                                        const std::vector<Element>& a,
                                        const std::vector<Element>& b, Result one) {
    std::vector<Result> c(4, one);
    gemm(dispatcher, nullptr, {.type = type, .m = 2, .n = 2, .k = 3}, 1, a.data(), b.data(), 1,
         c.data());
    return c;
  }
};

TEST_F(TypedGemmTest, EveryTypeIsServedByAKernelOfItsOwnElseByTheLibrary) {
  add("2,2,3");
  add("2,2,3,TYPE=s8");
  Dispatcher dispatcher(Table::database(database.path()), options);
  const auto served = [&](GemmType type) {
    if (type == GemmType::s8) {
      return multiplied<std::int8_t, std::int32_t>(dispatcher, type, {1, 2, 3, 4, 5, 6},
                                                   {1, 0, 0, 1, 1, 1},
                                                   1) == std::vector<std::int32_t>{6, 7, 12, 13};
    }
    return multiplied<float, float>(dispatcher, type, {1, 2, 3, 4, 5, 6}, {1, 0, 0, 1, 1, 1}, 1) ==
           std::vector<float>{6, 7, 12, 13};
  };
  EXPECT_TRUE(served(GemmType::f32));
  EXPECT_TRUE(served(GemmType::s8));
  EXPECT_EQ((multiplied<double, double>(dispatcher, GemmType::f64, {1, 2, 3, 4, 5, 6},
                                        {1, 0, 0, 1, 1, 1}, 1)),
            (std::vector<double>{5, 6, 11, 12}))
      << "the family has no such type";
  // 1, 2, … 6 in bf16 and in f16.
  const std::vector<std::uint16_t> brain = {0x3F80, 0x4000, 0x4040, 0x4080, 0x40A0, 0x40C0};
  const std::vector<std::uint16_t> half = {0x3C00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600};
  EXPECT_EQ(multiplied(dispatcher, GemmType::bf16, brain, {0x3F80, 0, 0, 0x3F80, 0x3F80, 0x3F80},
                       std::uint16_t{0x3F80}),
            (std::vector<std::uint16_t>{0x40A0, 0x40C0, 0x4130, 0x4140}))
      << "nothing was tuned in this type";
  EXPECT_EQ((multiplied<std::uint16_t, float>(dispatcher, GemmType::bf16_f32, brain,
                                              {0x3F80, 0, 0, 0x3F80, 0x3F80, 0x3F80}, 1)),
            (std::vector<float>{5, 6, 11, 12}));
  EXPECT_EQ(multiplied(dispatcher, GemmType::f16, half, {0x3C00, 0, 0, 0x3C00, 0x3C00, 0x3C00},
                       std::uint16_t{0x3C00}),
            (std::vector<std::uint16_t>{0x4500, 0x4600, 0x4980, 0x4A00}));
  EXPECT_EQ((multiplied<std::uint16_t, float>(dispatcher, GemmType::f16_f32, half,
                                              {0x3C00, 0, 0, 0x3C00, 0x3C00, 0x3C00}, 1)),
            (std::vector<float>{5, 6, 11, 12}));
  EXPECT_EQ((multiplied<float, float>(dispatcher, GemmType::tf32, {1, 2, 3, 4, 5, 6},
                                      {1, 0, 0, 1, 1, 1}, 1)),
            (std::vector<float>{5, 6, 11, 12}))
      << "never by the kernel of float";
  EXPECT_EQ((multiplied<std::uint8_t, std::uint16_t>(dispatcher, GemmType::e4m3,
                                                     {0x38, 0x40, 0x44, 0x48, 0x4A, 0x4C},
                                                     {0x38, 0, 0, 0x38, 0x38, 0x38}, 0x3F80)),
            (std::vector<std::uint16_t>{0x40A0, 0x40C0, 0x4130, 0x4140}));
}

TEST_F(TypedGemmTest, WhatIsNoSizeOfTheFamilyIsServedByTheLibrary) {
  std::string space = kTypedSpace;
  const std::string_view flops = R"("flops": "2*M*N*K",)";
  space.replace(space.find(flops), flops.size(),
                R"("flops": "2*M*N*K", "constraints": [{"expr": "BATCH <= 2", "why": "few"}],)");
  database.add({.size = "1,1,1",
                .kernel = "marked",
                .config = "{}",
                .family = "gemm",
                .space = space,
                .source = kTypedSource});
  Dispatcher dispatcher(Table::database(database.path()), options);
  const std::vector<float> a = {1, 2, 3}, b = {4, 5, 6};
  std::vector<float> c = {0, 0, 0};
  sgemm_strided_batched(dispatcher, nullptr, Transpose::no, Transpose::no, 1, 1, 1, 1, a.data(), 1,
                        1, b.data(), 1, 1, 0, c.data(), 1, 1, 3);
  EXPECT_EQ(c, (std::vector<float>{4, 10, 18}));
}

TEST_F(TypedGemmTest, ASizeIsReadFromItsTextWithTheNameOfItsType) {
  add("2,2,3");
  Dispatcher dispatcher(Table::database(database.path()), options);
  const FamilyId family = dispatcher.family("gemm");
  const Size plain = dispatcher.parse_size(family, "2,2,3"),
             typed = dispatcher.parse_size(family, "2,2,3,TYPE=s8");
  EXPECT_EQ(dispatcher.arguments(family, plain).at(1).element, "float");
  EXPECT_EQ(dispatcher.arguments(family, typed).at(1).element, "signed char");
  try {
    static_cast<void>(dispatcher.parse_size(family, "2,2,3,TYPE=s9"));
    ADD_FAILURE() << "accepted";
  } catch (const DispatchError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 's8'?"));
  }
}

TEST_F(TypedGemmTest, LessAlignedMatricesAreNotTakenForThoseOfAnotherType) {
  add("2,2,3,ALIGN=1");
  Dispatcher dispatcher(Table::database(database.path()), options);
  const std::vector<float> a = {0, 1, 2, 3, 4, 5, 6}, b = {0, 1, 0, 0, 1, 1, 1};
  std::vector<float> c(5, 1);
  sgemm(dispatcher, nullptr, Transpose::no, Transpose::no, 2, 2, 3, 1, a.data() + 1, 3,
        b.data() + 1, 2, 1, c.data() + 1, 2);
  EXPECT_EQ(c, (std::vector<float>{1, 6, 7, 12, 13}));
}

/// As kTypedSpace, with what follows the product.
std::string space_with_epilogues() {
  std::string text = kTypedSpace;
  const auto replace = [&](std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  };
  replace(R"("family": "gemm")", R"("family": "gemm_tensor")");
  replace(R"("default": 4},)", R"("default": 4},
          {"name": "BIAS", "values": [0, 1, 2], "default": 0},
          {"name": "ACTIVATION", "values": [0, 1, 2], "default": 0},
          {"name": "RESIDUAL", "values": [0, 1], "default": 0},)");
  replace(R"("role": "output"})", R"("role": "output"},
          {"name": "bias", "type": "${C}*", "count": "BIAS == 1 ? N : BIAS == 2 ? M : 1"},
          {"name": "residual", "type": "${C}*", "count": "RESIDUAL ? M*N : 1"})");
  replace(R"("beta": "beta"})", R"("beta": "beta",
          "epilogue": {"bias": "bias", "bias_kind": "BIAS", "activation": "ACTIVATION",
                       "residual": "residual", "has_residual": "RESIDUAL"}})");
  replace("${compute}>", "${compute},${BIAS},${ACTIVATION},${RESIDUAL}>");
  return text;
}
constexpr const char* kSourceWithEpilogues = R"cuda(
template <class T, class Result, class Sum, int BIAS, int ACTIVATION, int RESIDUAL>
__global__ void marked(int N, int K, Sum alpha, const T* A, const T* B, Sum beta, Result* C,
                       const Result* bias, const Result* residual) {
  const int m = blockIdx.x;
  for (int n = 0; n < N; ++n) {
    Sum sum = 0;
    for (int k = 0; k < K; ++k) sum += Sum(A[m * K + k]) * Sum(B[k * N + n]);
    Sum c = alpha * sum + beta * Sum(C[m * N + n]);
    if (BIAS) c += Sum(bias[BIAS == 1 ? n : m]);
    if (RESIDUAL) c += Sum(residual[m * N + n]);
    C[m * N + n] = Result(ACTIVATION == 1 && c < 0 ? Sum(0) : c);
  }
}
)cuda";

TEST_F(TypedGemmTest, EpiloguesAreServedByTheFamilyThatHasThem) {
  database.add({.size = "2,2,3,BIAS=2,ACTIVATION=1,RESIDUAL=1",
                .kernel = "marked",
                .config = "{}",
                .family = "gemm_tensor",
                .space = space_with_epilogues(),
                .source = kSourceWithEpilogues});
  const std::vector<float> a = {1, 2, 3, 4, 5, 6}, b = {1, 0, 0, 1, 1, 1}, bias = {-10, 1},
                           residual = {0, 7, 0, 0};
  GemmProblem problem = {.m = 2, .n = 2, .k = 3};
  problem.epilogue = {.bias = Bias::per_row, .activation = Activation::relu, .residual = true};
  problem.bias = bias.data();
  problem.residual = residual.data();
  std::vector<float> c = {1, 1, 1, 1};
  Dispatcher dispatcher(Table::database(database.path()), options);
  gemm(dispatcher, nullptr, problem, 1, a.data(), b.data(), 1, c.data());
  EXPECT_EQ(c, (std::vector<float>{0, 3, 12, 13}));
  c = {1, 1, 1, 1};
  gemm(dispatcher, nullptr, {.m = 2, .n = 2, .k = 3}, 1, a.data(), b.data(), 1, c.data());
  EXPECT_EQ(c, (std::vector<float>{5, 6, 11, 12})) << "an epilogue is none's unless it asks for it";
  problem.bias = nullptr;
  EXPECT_THROW(gemm(dispatcher, nullptr, problem, 1, a.data(), b.data(), 1, c.data()),
               DispatchError);
  Dispatcher without(Table::none(), options);
  problem.bias = bias.data();
  EXPECT_THAT(
      [&] { gemm(without, nullptr, problem, 1, a.data(), b.data(), 1, c.data()); },
      testing::ThrowsMessage<DispatchError>(HasSubstr("tune a kernel of the family gemm_tensor")));
}

TEST_F(TypedGemmTest, SaysWhatCannotBeMultiplied) {
  Dispatcher dispatcher(Table::none(), options);
  const std::vector<std::int8_t> a(6, 1), b(6, 1);
  std::vector<std::int32_t> c(4);
  const auto message = [&](const GemmProblem& problem, double alpha) -> std::string {
    try {
      gemm(dispatcher, nullptr, problem, alpha, a.data(), b.data(), 0, c.data());
      return "done";
    } catch (const DispatchError& error) {
      return error.what();
    }
  };
  const GemmProblem problem = {.type = GemmType::s8, .m = 2, .n = 2, .k = 3};
  EXPECT_EQ(message(problem, 2), "done");
  EXPECT_EQ(c, std::vector<std::int32_t>(4, 6));
  EXPECT_EQ(message(problem, 0.5), "gemm of s8: alpha is 0.5, not a whole number of 32 bits");
  GemmProblem wrong = problem;
  wrong.lda = 2;
  EXPECT_EQ(message(wrong, 1), "gemm of s8 2x2x3: lda is 2, but a stored row has 3 elements");
  wrong.lda = std::int64_t{1} << 62;
  EXPECT_EQ(message(wrong, 1),
            "gemm of s8 2x2x3: lda is 4611686018427387904: 2 rows are more than 2^56 elements");
  wrong = problem;
  wrong.type = static_cast<GemmType>(9);
  EXPECT_EQ(message(wrong, 1), "gemm: the type 9 is none of GemmType");
}

TEST_F(CpuDispatcherTest, TheTypedDoorRecordsItsSizesWithoutAnyTable) {
  const std::filesystem::path file = folder.path() / "sizes.json";
  ::setenv("TUNER_RECORD", file.c_str(), 1);
  Dispatcher dispatcher(Table::none(), options);
  ::unsetenv("TUNER_RECORD");
  const std::vector<float> a(6, 1), b(6, 1);
  std::vector<float> c(4);
  sgemm(dispatcher, nullptr, Transpose::no, Transpose::no, 2, 2, 3, 1, a.data(), 3, b.data(), 2, 0,
        c.data(), 2);
  sgemm(dispatcher, nullptr, Transpose::yes, Transpose::no, 2, 2, 1, 1, a.data(), 2, b.data(), 2, 0,
        c.data(), 2);
  for (const GemmType type : {GemmType::bf16, GemmType::bf16_f32}) {
    gemm(dispatcher, nullptr, {.type = type, .m = 2, .n = 2, .k = 2}, 1, a.data(), b.data(), 0,
         c.data());
  }
  const std::string recorded = read_file(file, 10000);
  EXPECT_THAT(recorded, AllOf(HasSubstr(R"("family": "gemm")"), HasSubstr("[2,2,3]"),
                              HasSubstr(R"({"M":2,"N":2,"K":1,"TRANS_A":1})"),
                              HasSubstr(R"({"M":2,"N":2,"K":2,"TYPE":"bf16"})")));
  EXPECT_THAT(recorded, Not(HasSubstr("bf16_f32"))) << "which spaces/gemm.json does not have";
}

TEST_F(CpuDispatcherTest, SaysWhatCannotBeOpened) {
  const auto message = [&](const Table& table) -> std::string {
    try {
      Dispatcher dispatcher(table, options);
      return "no error";
    } catch (const DispatchError& error) {
      return error.what();
    }
  };
  EXPECT_THAT(message(Table::database(folder.path() / "none.db")), HasSubstr("none.db"));
  options.backend = "cudda";
  EXPECT_THAT(message(Table::none()), HasSubstr("did you mean 'cuda'?"));
}

}  // namespace
}  // namespace tuner::dispatch
