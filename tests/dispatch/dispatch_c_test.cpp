// SPDX-License-Identifier: Apache-2.0
// The C interface, with kernels that are compiled and run on the cpu backend.
#include "tests/cublas/gemm_family.hpp"
#include "tests/dispatch/weighted_family.hpp"
#include "tuner/backend/executor.hpp"
#include "tuner/dispatch/dispatch.h"
#include "tuner/family/family.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <thread>
#include <utility>
#include <variant>

namespace tuner::dispatch {
namespace {

using testing::HasSubstr;

/// Zeros but for its size.
template <class Struct>
Struct sized() {
  Struct result = {};
  result.struct_size = sizeof result;
  return result;
}

class DispatchCTest : public testing::Test {
 protected:
  DispatchCTest()
      : executor_(backend::open_executor("cpu", 0)),
        database(executor_->device(), executor_->environment()),
        database_path_(database.path()),
        cache_(folder_.path() / "binaries") {
    options.backend = "cpu";
    options.cache = cache_.c_str();
  }
  ~DispatchCTest() override { tuner_close(dispatcher); }

  [[nodiscard]] tuner_table table() const { return {TUNER_TABLE_DATABASE, database_path_.c_str()}; }
  [[nodiscard]] tuner_status open() { return tuner_open(table(), &options, &dispatcher); }

 private:
  std::unique_ptr<backend::Executor> executor_;

 protected:
  TunedDatabase database;
  tuner_options options = sized<tuner_options>();
  tuner_dispatcher* dispatcher = nullptr;

 private:
  std::string database_path_;
  TemporaryDirectory folder_;
  std::string cache_;
};

tuner_argument pointer(const float* to) {
  return {.type = TUNER_POINTER, .value = {.pointer = to}};
}
constexpr std::size_t kInfoSize = sizeof(tuner_argument_info);

tuner_argument number(float value) {
  return {.type = TUNER_FLOAT, .value = {.f32 = value}};
}

TEST_F(DispatchCTest, LaunchesATunedKernelAndSaysWhich) {
  database.add({.size = "2,2,2", .config = R"({"TILE":2})"});
  ASSERT_EQ(open(), TUNER_OK) << tuner_last_error();
  std::uint32_t family = 99;
  ASSERT_EQ(tuner_find_family(dispatcher, "product", &family), TUNER_OK) << tuner_last_error();
  const std::array<std::int64_t, 3> size = {2, 2, 2};
  const tuner_size wanted = {size.data(), size.size()};
  ASSERT_EQ(tuner_prepare(dispatcher, family, &wanted, 1, TUNER_CHOOSE_BY_EXPECTATION, nullptr),
            TUNER_OK)
      << tuner_last_error();

  tuner_answer_info answer = sized<tuner_answer_info>();
  ASSERT_EQ(tuner_answer(dispatcher, family, size.data(), 3, &answer), TUNER_OK);
  EXPECT_EQ(answer.rung, TUNER_RUNG_EXACT);
  EXPECT_STREQ(answer.kernel, "rows");
  EXPECT_STREQ(answer.configuration, R"({"TILE":2})");
  EXPECT_STRNE(answer.explanation, "");
  EXPECT_EQ(answer.expected_ns, 1000);
  EXPECT_EQ(answer.prepared, 1);

  const std::array<float, 4> a = {1, 2, 3, 4}, b = {5, 6, 7, 8};
  std::array<float, 4> c = {1, 1, 1, 1};
  const std::array arguments = {number(2), pointer(a.data()), pointer(b.data()), number(1),
                                pointer(c.data())};
  ASSERT_EQ(tuner_launch(dispatcher, family, size.data(), 3, arguments.data(), 5, nullptr),
            TUNER_OK)
      << tuner_last_error();
  EXPECT_THAT(c, testing::ElementsAre(39, 45, 87, 101));
}

TEST_F(DispatchCTest, LaunchesAKernelWithAnArrayByValue) {
  database.add(weighted("2,4"));
  ASSERT_EQ(open(), TUNER_OK) << tuner_last_error();
  std::uint32_t family = 99;
  ASSERT_EQ(tuner_find_family(dispatcher, "weighted", &family), TUNER_OK) << tuner_last_error();
  const std::array<std::int64_t, 2> size = {2, 4};
  alignas(16) const std::array<float, 5> x = {1, 10, 100, 1000, 0};
  const std::array<float, 4> w = {2, 3, 4, 5};
  alignas(16) std::array<float, 2> y = {};
  const auto launch = [&](const float* weights) {
    const std::array arguments = {
        pointer(x.data()), tuner_argument{.type = TUNER_ARRAY, .value = {.pointer = weights}},
        pointer(y.data())};
    return tuner_launch(dispatcher, family, size.data(), 2, arguments.data(), 3, nullptr);
  };
  ASSERT_EQ(launch(w.data()), TUNER_OK) << tuner_last_error();
  EXPECT_THAT(y, testing::ElementsAre(5432, 4320));
  EXPECT_EQ(launch(nullptr), TUNER_FAILED);
  EXPECT_THAT(tuner_last_error(), HasSubstr("null pointer"));
}

TEST_F(DispatchCTest, SaysWhatALaunchTakes) {
  database.add({.size = "2,2,2"});
  database.add(weighted("2,4"));
  ASSERT_EQ(open(), TUNER_OK) << tuner_last_error();
  const auto described = [&](const char* name, std::vector<std::int64_t> size) {
    std::uint32_t family = 99;
    EXPECT_EQ(tuner_find_family(dispatcher, name, &family), TUNER_OK) << tuner_last_error();
    const tuner_argument_info* arguments = nullptr;
    std::size_t count = 0;
    EXPECT_EQ(tuner_arguments(dispatcher, family, size.data(), size.size(), kInfoSize, &arguments,
                              &count),
              TUNER_OK)
        << tuner_last_error();
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      const tuner_argument_info& it = arguments[i];
      text += fmt::format("{} {} {} {} {}; ", it.name, static_cast<int>(it.type), it.element,
                          it.elements, it.is_written);
    }
    return text;
  };
  EXPECT_EQ(described("product", {3, 5, 7}),
            fmt::format("alpha {0}  0 0; A {1} float 21 0; B {1} float 35 0; beta {0}  0 0; "
                        "C {1} float 15 1; ",
                        static_cast<int>(TUNER_FLOAT), static_cast<int>(TUNER_POINTER)));
  EXPECT_THAT(described("weighted", {2, 4}),
              HasSubstr(fmt::format("w {} float 4 0; ", static_cast<int>(TUNER_ARRAY))));
  const std::int64_t size[] = {0, 1, 1};
  const tuner_argument_info* arguments = nullptr;
  std::size_t count = 0;
  EXPECT_EQ(tuner_arguments(dispatcher, 0, size, 3, kInfoSize, &arguments, &count), TUNER_FAILED);
  EXPECT_EQ(tuner_arguments(dispatcher, 0, size, 3, kInfoSize, nullptr, nullptr), TUNER_FAILED);
}

TEST_F(DispatchCTest, ReadsASizeFromItsText) {
  database.add({.size = "2,2,2"});
  ASSERT_EQ(open(), TUNER_OK) << tuner_last_error();
  const std::int64_t* size = nullptr;
  std::size_t dimensions = 0;
  ASSERT_EQ(tuner_parse_size(dispatcher, 0, "3,5,7", &size, &dimensions), TUNER_OK)
      << tuner_last_error();
  EXPECT_THAT(std::vector(size, size + dimensions), testing::ElementsAre(3, 5, 7, 4))
      << "with the alignment that it does not name";
  EXPECT_EQ(tuner_parse_size(dispatcher, 0, "3,5", &size, &dimensions), TUNER_FAILED);
  EXPECT_THAT(tuner_last_error(), HasSubstr("2 numbers where 3 are needed"));
  EXPECT_EQ(tuner_parse_size(dispatcher, 0, nullptr, &size, &dimensions), TUNER_FAILED);
  EXPECT_EQ(tuner_parse_size(dispatcher, 0, "3,5,7", nullptr, &dimensions), TUNER_FAILED);
}

TEST_F(DispatchCTest, MultipliesByTheLibraryWhereNothingWasTuned) {
  ASSERT_EQ(tuner_open({TUNER_TABLE_NONE, nullptr}, &options, &dispatcher), TUNER_OK)
      << tuner_last_error();
  const std::array<float, 4> a = {1, 2, 3, 4}, b = {5, 6, 7, 8};
  std::array<float, 4> c = {};
  ASSERT_EQ(tuner_sgemm(dispatcher, nullptr, TUNER_TRANSPOSE, TUNER_NO_TRANSPOSE, 2, 2, 2, 1,
                        a.data(), 2, b.data(), 2, 0, c.data(), 2),
            TUNER_OK)
      << tuner_last_error();
  EXPECT_THAT(c, testing::ElementsAre(26, 30, 38, 44));
  ASSERT_EQ(
      tuner_sgemm_strided_batched(dispatcher, nullptr, TUNER_NO_TRANSPOSE, TUNER_NO_TRANSPOSE, 1, 1,
                                  2, 1, a.data(), 2, 2, b.data(), 1, 2, 0, c.data(), 1, 1, 2),
      TUNER_OK)
      << tuner_last_error();
  EXPECT_EQ(c[0], 17);
  EXPECT_EQ(c[1], 53);
  const std::array<std::int8_t, 4> x = {1, 2, 3, 4}, y = {5, 6, 7, 8};
  std::array<std::int32_t, 4> z = {1, 1, 1, 1};
  tuner_gemm_problem problem = sized<tuner_gemm_problem>();
  problem.type = TUNER_GEMM_S8;
  problem.trans_a = TUNER_TRANSPOSE;
  problem.m = problem.n = problem.k = 2;
  problem.batch = 1;
  ASSERT_EQ(tuner_gemm(dispatcher, nullptr, &problem, 1, x.data(), y.data(), 2, z.data()), TUNER_OK)
      << tuner_last_error();
  EXPECT_THAT(z, testing::ElementsAre(28, 32, 40, 46));
  EXPECT_EQ(tuner_gemm(dispatcher, nullptr, nullptr, 1, x.data(), y.data(), 2, z.data()),
            TUNER_FAILED);
  EXPECT_THAT(tuner_last_error(), HasSubstr("problem"));
}

TEST_F(DispatchCTest, FindsTheFamilyAndTheSizeOfAProduct) {
  database.add_all(cublas::tuned_gemm({"2,2,2"}));
  ASSERT_EQ(open(), TUNER_OK) << tuner_last_error();
  std::uint32_t gemm = 0, gemm_tensor = 0, family = 0;
  ASSERT_EQ(tuner_find_family(dispatcher, "gemm", &gemm), TUNER_OK);
  tuner_gemm_problem problem = sized<tuner_gemm_problem>();
  problem.m = problem.n = problem.k = 2;
  problem.batch = 1;
  const std::int64_t* size = nullptr;
  std::size_t dimensions = 0;
  const auto find = [&] {
    return tuner_find_gemm(dispatcher, &problem, &family, &size, &dimensions);
  };
  const auto rung = [&] {
    tuner_answer_info info = sized<tuner_answer_info>();
    EXPECT_EQ(tuner_answer(dispatcher, family, size, dimensions, &info), TUNER_OK)
        << tuner_last_error();
    return info.rung;
  };
  ASSERT_EQ(find(), TUNER_OK) << tuner_last_error();
  EXPECT_EQ(family, gemm);
  EXPECT_EQ(rung(), TUNER_RUNG_EXACT);
  database.add_all(cublas::tuned_gemm({"2,2,2,TYPE=bf16"}, 2, "gemm_tensor"));
  ASSERT_EQ(tuner_reload(dispatcher, table()), TUNER_OK) << tuner_last_error();
  ASSERT_EQ(tuner_find_family(dispatcher, "gemm_tensor", &gemm_tensor), TUNER_OK);
  problem.type = TUNER_GEMM_BF16;
  problem.activation = TUNER_ACTIVATION_RELU;
  ASSERT_EQ(find(), TUNER_OK) << tuner_last_error();
  EXPECT_EQ(family, gemm_tensor);
  EXPECT_THAT(std::vector(size, size + dimensions),
              testing::ElementsAre(2, 2, 2, 1, 0, 0, 2, 2, 2, 0, 1, 0, 1));
  problem.activation = TUNER_ACTIVATION_NONE;
  ASSERT_EQ(find(), TUNER_OK) << tuner_last_error();
  EXPECT_EQ(rung(), TUNER_RUNG_EXACT);
  problem.batch = 2;  // with strides of 0: one A and one B for all
  problem.stride_c = 4;
  ASSERT_EQ(find(), TUNER_OK) << tuner_last_error();
  EXPECT_EQ(dimensions, 0U);
  problem.lda = 1;
  EXPECT_EQ(find(), TUNER_FAILED);
  EXPECT_THAT(tuner_last_error(), HasSubstr("lda is 1, but a stored row has 2 elements"));
}

TEST_F(DispatchCTest, ReloadTakesWhatWasTunedSince) {
  database.add({.size = "2,2,2", .config = R"({"TILE":1})"});
  ASSERT_EQ(open(), TUNER_OK);
  database.add({.size = "4,2,2", .config = R"({"TILE":4})"});
  ASSERT_EQ(tuner_reload(dispatcher, table()), TUNER_OK) << tuner_last_error();
  std::uint32_t family = 0;
  ASSERT_EQ(tuner_find_family(dispatcher, "product", &family), TUNER_OK);
  const std::array<std::int64_t, 3> size = {4, 2, 2};
  tuner_answer_info answer = sized<tuner_answer_info>();
  ASSERT_EQ(tuner_answer(dispatcher, family, size.data(), 3, &answer), TUNER_OK);
  EXPECT_EQ(answer.rung, TUNER_RUNG_EXACT);
}

TEST_F(DispatchCTest, CountsWhatServedAndTakesOnlyWhatWasTunedIfAskedTo) {
  database.add({.size = "2,2,2", .config = R"({"TILE":2})"});
  options.mode = TUNER_MODE_EXACT;
  ASSERT_EQ(open(), TUNER_OK) << tuner_last_error();
  std::uint32_t family = 99;
  ASSERT_EQ(tuner_find_family(dispatcher, "product", &family), TUNER_OK);
  const std::array<float, 8> a = {}, b = {};
  std::array<float, 8> c = {};
  const std::array<tuner_argument, 5> arguments = {number(1), pointer(a.data()), pointer(b.data()),
                                                   number(0), pointer(c.data())};
  for (const std::int64_t m : {2, 4, 4}) {
    const std::array<std::int64_t, 3> size = {m, 2, 2};
    ASSERT_EQ(tuner_launch(dispatcher, family, size.data(), 3, arguments.data(), 5, nullptr),
              TUNER_OK)
        << tuner_last_error();
  }
  const tuner_served_info* served = nullptr;
  std::size_t count = 0;
  ASSERT_EQ(tuner_served(dispatcher, sizeof(tuner_served_info), &served, &count), TUNER_OK);
  ASSERT_EQ(count, 2U);
  EXPECT_STREQ(served[0].family, "product");
  EXPECT_EQ(served[0].rung, TUNER_RUNG_EXACT);
  EXPECT_NE(served[0].is_tuned, 0);
  EXPECT_EQ(served[1].rung, TUNER_RUNG_LIBRARY);
  EXPECT_EQ(served[1].is_tuned, 0);
  EXPECT_EQ(served[1].launches, 2U);
  TemporaryDirectory folder;
  const std::string pins = folder.path() / "pins.json";
  ASSERT_EQ(tuner_pin(dispatcher, pins.c_str()), TUNER_OK) << tuner_last_error();
  tuner_close(std::exchange(dispatcher, nullptr));
  options.mode = TUNER_MODE_PINNED;
  EXPECT_EQ(open(), TUNER_FAILED) << "no file is named";
  options.pins = pins.c_str();
  EXPECT_EQ(open(), TUNER_OK) << tuner_last_error();
}

TEST_F(DispatchCTest, ACapturedLaunchIsASpaceFile) {
  database.add({.size = "2,2,2", .config = R"({"TILE":2})"});
  ASSERT_EQ(open(), TUNER_OK) << tuner_last_error();
  std::uint32_t family = 99;
  ASSERT_EQ(tuner_find_family(dispatcher, "product", &family), TUNER_OK);
  const std::array<float, 4> a = {1, 2, 3, 4}, b = {1, 0, 0, 1};
  std::array<float, 4> c = {};
  const std::array<tuner_argument, 5> arguments = {number(0.5F), pointer(a.data()),
                                                   pointer(b.data()), number(0), pointer(c.data())};
  const std::array<std::int64_t, 3> size = {2, 2, 2};
  const TemporaryDirectory folder;
  const std::string captured = folder.path() / "captured";
  const char* space_file = nullptr;
  const auto capture = [&](const char* to, std::uint64_t limit_bytes) {
    return tuner_capture_launch(dispatcher, family, size.data(), 3, arguments.data(), 5, nullptr,
                                to, limit_bytes, &space_file);
  };
  EXPECT_EQ(capture(captured.c_str(), 47), TUNER_FAILED) << "48 bytes";
  EXPECT_EQ(capture(nullptr, 48), TUNER_FAILED);
  ASSERT_EQ(capture(captured.c_str(), 48), TUNER_OK) << tuner_last_error();
  EXPECT_FLOAT_EQ(c[3], 2);
  EXPECT_EQ(space_file, captured + "/space.json");
  const family::Family space = family::load_family(space_file);
  EXPECT_TRUE(std::holds_alternative<family::NpyReference>(space.check.reference));
  const auto alpha = std::ranges::find(space.arguments, "alpha", &family::Argument::name);
  EXPECT_EQ(std::get<family::ScalarArgument>(alpha->what).real, 0.5);
}

TEST_F(DispatchCTest, AFailureIsAStatusWithItsReasonInThisThread) {
  database.add({.size = "2,2,2"});
  EXPECT_EQ(tuner_open({TUNER_TABLE_FILE, "/no such table"}, &options, &dispatcher), TUNER_FAILED);
  EXPECT_THAT(tuner_last_error(), HasSubstr("/no such table"));
  EXPECT_EQ(dispatcher, nullptr);
  std::jthread([] { EXPECT_STREQ(tuner_last_error(), ""); }).join();

  ASSERT_EQ(open(), TUNER_OK);
  std::uint32_t family = 0;
  EXPECT_EQ(tuner_find_family(dispatcher, "produkt", &family), TUNER_NO_FAMILY);
  EXPECT_THAT(tuner_last_error(), HasSubstr("product"));
  ASSERT_EQ(tuner_find_family(dispatcher, "product", &family), TUNER_OK);
  const std::int64_t good[] = {2, 2, 2}, bad[] = {0, 2, 2};
  const std::array<tuner_size, 2> sizes = {{{good, 3}, {bad, 3}}};
  const char* const* errors = nullptr;
  EXPECT_EQ(
      tuner_prepare(dispatcher, family, sizes.data(), 2, TUNER_CHOOSE_BY_MEASUREMENT, &errors),
      TUNER_FAILED);
  EXPECT_THAT(tuner_last_error(), HasSubstr("0,2,2 cannot be a size"));
  ASSERT_NE(errors, nullptr);
  EXPECT_STREQ(errors[0], "");
  EXPECT_STREQ(errors[1], tuner_last_error());
  EXPECT_EQ(tuner_prepare(dispatcher, 77, sizes.data(), 2, TUNER_CHOOSE_BY_EXPECTATION, &errors),
            TUNER_FAILED);
  EXPECT_EQ(errors, nullptr) << "no size was tried";
}

TEST_F(DispatchCTest, NullAndUnknownFamiliesAreRefused) {
  EXPECT_EQ(tuner_open({TUNER_TABLE_NONE, nullptr}, &options, nullptr), TUNER_FAILED);
  EXPECT_THAT(tuner_last_error(), HasSubstr("dispatcher is NULL"));
  EXPECT_EQ(tuner_open({TUNER_TABLE_TEXT, nullptr}, &options, &dispatcher), TUNER_FAILED);
  ASSERT_EQ(tuner_open({TUNER_TABLE_NONE, nullptr}, &options, &dispatcher), TUNER_OK);
  EXPECT_EQ(tuner_reload(nullptr, table()), TUNER_FAILED);
  EXPECT_EQ(tuner_find_family(dispatcher, nullptr, nullptr), TUNER_FAILED);
  EXPECT_EQ(tuner_answer(dispatcher, 0, nullptr, 3, nullptr), TUNER_FAILED);
  EXPECT_EQ(tuner_prepare(dispatcher, 0, nullptr, 1, TUNER_CHOOSE_BY_EXPECTATION, nullptr),
            TUNER_FAILED);
  const tuner_size without_numbers = {nullptr, 3};
  EXPECT_EQ(tuner_prepare(dispatcher, 0, &without_numbers, 1, TUNER_CHOOSE_BY_EXPECTATION, nullptr),
            TUNER_FAILED);
  EXPECT_EQ(tuner_launch(dispatcher, 0, nullptr, 3, nullptr, 1, nullptr), TUNER_FAILED);
  EXPECT_EQ(tuner_launch(dispatcher, 12345, nullptr, 0, nullptr, 0, nullptr), TUNER_FAILED);
}

/// A struct as the header of a later version has it.
template <class Struct>
struct Later {
  Struct known = {};
  std::uint64_t added = 0;
};

TEST_F(DispatchCTest, AProgramOfAnotherVersionOfTheHeaderIsServed) {
  database.add({.size = "2,2,2", .config = R"({"TILE":2})"});
  Later<tuner_options> later{.known = options, .added = 1};
  later.known.struct_size = sizeof later;
  EXPECT_EQ(tuner_open(table(), &later.known, &dispatcher), TUNER_FAILED);
  EXPECT_THAT(tuner_last_error(), HasSubstr("a member is set that the library does not have"));
  later.added = 0;
  ASSERT_EQ(tuner_open(table(), &later.known, &dispatcher), TUNER_OK) << tuner_last_error();
  tuner_close(std::exchange(dispatcher, nullptr));
  options.struct_size = offsetof(tuner_options, mode);  // as before there were modes
  options.mode = TUNER_MODE_PINNED;
  ASSERT_EQ(open(), TUNER_OK) << tuner_last_error();
  const std::array<std::int64_t, 3> size = {2, 2, 2};
  Later<tuner_answer_info> answer{.known = {}, .added = 7};
  answer.known.struct_size = sizeof answer;
  ASSERT_EQ(tuner_answer(dispatcher, 0, size.data(), 3, &answer.known), TUNER_OK);
  EXPECT_STREQ(answer.known.kernel, "rows");
  EXPECT_EQ(answer.known.struct_size, sizeof answer);
  EXPECT_EQ(answer.added, 0U);
  tuner_answer_info earlier = {};
  earlier.struct_size = offsetof(tuner_answer_info, expected_ns);
  earlier.expected_ns = 7;
  ASSERT_EQ(tuner_answer(dispatcher, 0, size.data(), 3, &earlier), TUNER_OK);
  EXPECT_STREQ(earlier.kernel, "rows");
  EXPECT_EQ(earlier.expected_ns, 7) << "behind the program's struct nothing is written";
  using LaterInfo = Later<tuner_argument_info>;
  const tuner_argument_info* infos = nullptr;
  std::size_t count = 0;
  ASSERT_EQ(tuner_arguments(dispatcher, 0, size.data(), 3, sizeof(LaterInfo), &infos, &count),
            TUNER_OK);
  ASSERT_EQ(count, 5U);
  const auto* const all = reinterpret_cast<const LaterInfo*>(infos);
  EXPECT_STREQ(all[4].known.name, "C");
  EXPECT_EQ(all[4].known.is_written, 1);
  EXPECT_EQ(all[4].added, 0U);
}

TEST_F(DispatchCTest, AStructWithoutItsSizeIsRefused) {
  database.add({.size = "2,2,2"});
  const auto says_how = HasSubstr("struct_size is 0: set it to the sizeof of the struct");
  options.struct_size = 0;
  EXPECT_EQ(open(), TUNER_FAILED);
  EXPECT_THAT(tuner_last_error(), says_how);
  options.struct_size = std::size_t{1} << 40;
  EXPECT_EQ(open(), TUNER_FAILED);
  options.struct_size = sizeof options;
  ASSERT_EQ(open(), TUNER_OK) << tuner_last_error();
  const std::array<std::int64_t, 3> size = {2, 2, 2};
  tuner_answer_info answer = {};
  EXPECT_EQ(tuner_answer(dispatcher, 0, size.data(), 3, &answer), TUNER_FAILED);
  tuner_gemm_problem problem = {};
  EXPECT_EQ(tuner_gemm(dispatcher, nullptr, &problem, 1, nullptr, nullptr, 0, nullptr),
            TUNER_FAILED);
  EXPECT_THAT(tuner_last_error(), says_how);
  const tuner_served_info* served = nullptr;
  std::size_t count = 0;
  EXPECT_EQ(tuner_served(dispatcher, 0, &served, &count), TUNER_FAILED);
  EXPECT_EQ(tuner_served(dispatcher, 9, &served, &count), TUNER_FAILED);
}

}  // namespace
}  // namespace tuner::dispatch
