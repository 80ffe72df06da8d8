// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/catalogue_json.hpp"

#include "tuned_database.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/json.hpp"
#include "tuner/select/rank.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace tuner::select {
namespace {

using testing::AllOf;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

class CatalogueJsonTest : public TunedDatabase {
 protected:
  void SetUp() override {
    put({.problem = "1024,1024", .value = 32, .median_ns = 1500, .driver = "12.8"});
    put({.problem = "2048,2048", .value = 64, .ratio_to_library = 1.1});
    put({.problem = "96,96", .value = 24});  // a value that the space does not have
    put({.kernel = "plain", .problem = "64,64", .value = 128});
  }
  [[nodiscard]] static std::vector<std::string> answers(const Catalogue& catalogue,
                                                        const std::string& size) {
    std::vector<std::string> result;
    for (const Selection& it : rank(catalogue, {.family = "tiles", .size = size}).answers) {
      result.push_back(fmt::format("{} {} {} {} {}", name(it.rung), it.kernel->kernel,
                                   it.config_json, it.expected_ns.value_or(0), it.distance));
    }
    return result;
  }
};

TEST_F(CatalogueJsonTest, RanksAfterARoundTripAsBefore) {
  const Catalogue before = catalogue(store, {});
  const std::string text = catalogue_json(before);
  const Catalogue after = parse_catalogue(text, "test");
  EXPECT_EQ(catalogue_json(after), text);
  for (const char* size : {"1024,1024", "2048,2048", "1000,1000", "48,48", "96,96", "7,7"}) {
    EXPECT_THAT(answers(after, size), ElementsAreArray(answers(before, size))) << size;
  }
}

TEST(InstalledTable, IsWrittenAsItWasRead) {
  const std::string text = read_file(
      std::filesystem::path(TUNER_SOURCE_DIR) / "db/seed/nvidia-h100-80gb-hbm3.json", 1 << 24);
  const std::size_t code = text.find("\n]" + std::string(kCodeBegin));
  ASSERT_NE(code, std::string::npos);
  const std::size_t begin = code + 2 + kCodeBegin.size();
  const std::string again =
      catalogue_json(parse_catalogue(text, "h100"), text.substr(begin, text.rfind("}\n") - begin));
  EXPECT_TRUE(again == text);
}

TEST_F(CatalogueJsonTest, SaysOfWhichFileAResultCameButNotWhereThatLies) {
  Catalogue known = catalogue(store, {});
  known.kernels.front().entries.front().best.origin = "/home/ada/h200.sqlite";
  EXPECT_THAT(catalogue_json(known),
              AllOf(HasSubstr(R"("origin":"h200.sqlite")"), Not(HasSubstr("ada"))));
}

TEST_F(CatalogueJsonTest, HasTheLibrarysFastestAlgorithm) {
  Catalogue known = catalogue(store, {});
  store::BestRecord& best = known.kernels.front().entries.front().best;
  best.library_algorithm = "host/1/loops";
  best.ratio_to_library_tuned = 0.875;
  const Catalogue read = parse_catalogue(catalogue_json(known), "test");
  EXPECT_EQ(read.kernels.front().entries.front().best.library_algorithm, "host/1/loops");
  EXPECT_EQ(read.kernels.front().entries.front().best.ratio_to_library_tuned, 0.875);
}

TEST_F(CatalogueJsonTest, HasTimesBackToBackWhereTheseAreKnown) {
  Catalogue known = catalogue(store, {});
  const auto back_to_back_ns = [&] {
    return parse_catalogue(catalogue_json(known), "test")
        .kernels.front()
        .entries.front()
        .best.sustained_ns;
  };
  EXPECT_EQ(back_to_back_ns(), std::nullopt);
  known.kernels.front().entries.front().best.sustained_ns = 8125.5;
  EXPECT_EQ(back_to_back_ns(), 8125.5);
}

TEST_F(CatalogueJsonTest, HasTheSpreadOfAResult) {
  Catalogue known = catalogue(store, {});
  store::BestRecord& best = known.kernels.front().entries.front().best;
  best.time = {.median_ns = 100, .q1_ns = 98.5, .q3_ns = 103, .min_ns = 98, .samples = 24};
  const Catalogue after = parse_catalogue(catalogue_json(known), "test");
  const store::BestRecord& read = after.kernels.front().entries.front().best;
  EXPECT_EQ(read.time.q1_ns, 98.5);
  EXPECT_EQ(read.time.q3_ns, 103);
  EXPECT_EQ(read.time.samples, 24);
  best.time.q3_ns = 99;
  EXPECT_THAT([&] { static_cast<void>(parse_catalogue(catalogue_json(known), "test")); },
              ThrowsMessage<Error>(HasSubstr("a number is out of range")));
}

TEST_F(CatalogueJsonTest, HasTheClocksOfAResult) {
  Catalogue known = catalogue(store, {});
  store::BestRecord& best = known.kernels.front().entries.front().best;
  const auto read = [&] {
    return parse_catalogue(catalogue_json(known), "test").kernels.front().entries.front().best;
  };
  EXPECT_FALSE(read().clock_mhz);
  EXPECT_EQ(read().clock_limit, ClockLimit{}) << "as of a table of before";
  best.clock_mhz = 1755.5;
  best.clock_limit = {.max_clock_mhz = 1980, .power_limit_w = 700};
  EXPECT_EQ(read().clock_mhz, 1755.5);
  EXPECT_EQ(read().clock_limit, best.clock_limit);
  best.clock_mhz = 2e6;
  EXPECT_THAT([&] { static_cast<void>(read()); },
              ThrowsMessage<Error>(HasSubstr("a number is out of range")));
}

TEST_F(CatalogueJsonTest, TheModelIsReadAndNotFittedAgain) {
  std::string space = kTilesSpace;
  space.insert(
      space.find(R"("parameters": { "TILE")"),
      R"("entry": "tiled<${TILE}>", "launch": {"grid": ["M//TILE", "N"], "block": [64]}, )");
  for (int i = 1; i <= 16; ++i) {
    put({.problem = fmt::format("{},64", 64 * i),
         .value = i % 2 == 0 ? 32 : 64,
         .median_ns = 1000.0 * i + i % 5,
         .space = space});
  }
  const auto model = [](const Catalogue& known) {
    return std::ranges::find_if(
               known.kernels,
               [](const CatalogueKernel& it) { return it.record->kernel == "tiled"; })
        ->model;
  };
  const Catalogue before = catalogue(store, {});
  ASSERT_NE(model(before), nullptr);
  std::string text = catalogue_json(before);
  const FittedCost& fitted = model(before)->fitted();
  const auto read = model(parse_catalogue(text, "test"));
  ASSERT_EQ(read->fitted().samples.size(), fitted.samples.size());
  EXPECT_EQ(read->fitted().samples.back().residual, fitted.samples.back().residual);
  EXPECT_EQ(read->fitted().samples.back().variant, fitted.samples.back().variant);
  const std::size_t at = text.find(R"("parameters":[)") + 14;
  text.replace(at, text.find(',', at) - at, "3");
  EXPECT_EQ(model(parse_catalogue(text, "test"))->parameters().fixed_ns, 3);
  const std::size_t times = text.find(R"("times":[[)");
  ASSERT_NE(times, std::string::npos);
  std::string of_before = text;
  of_before.replace(times, 8, R"("samples":)");
  EXPECT_EQ(model(parse_catalogue(of_before, "test"))->parameters().fixed_ns,
            fitted.parameters.fixed_ns)
      << "a model of another form is fitted anew";
  text.replace(times + 10, 1, "99");
  EXPECT_THROW(static_cast<void>(parse_catalogue(text, "test")), Error) << "no such configuration";
}

TEST_F(CatalogueJsonTest, WhatWasChangedSinceItWasWrittenIsReadWhole) {
  const std::string text = catalogue_json(catalogue(store, {}));
  const CatalogueOutline outline = outline_catalogue(text, "test");
  EXPECT_TRUE(outline.known.kernels.front().entries.empty());
  EXPECT_FALSE(outline.unread.front().empty());
  std::string edited = text;
  edited.replace(edited.find("2048,2048"), 9, "2048,2040");
  const CatalogueOutline whole = outline_catalogue(edited, "test");
  EXPECT_FALSE(whole.known.kernels.front().entries.empty());
  EXPECT_TRUE(whole.unread.front().empty());
  std::string broken = text;
  broken.replace(broken.find(R"("entries":[{)"), 12, R"("entries":[[)");
  EXPECT_THROW(static_cast<void>(outline_catalogue(broken, "test")), Error);
}

/// Compiled code as a table has it.
std::string some_code() {
  return code_text({.architecture = "sm_90", .recipe = "2", .compiler = "NVRTC 13.0"},
                   {{{.kernel_hash = "a", .job_key = "b"}, {.image = "code", .symbols = {"f"}}}});
}

TEST_F(CatalogueJsonTest, CompiledCodeIsLeftUnreadAndChangesNothingElse) {
  const Catalogue known = catalogue(store, {});
  const std::string text = catalogue_json(known, some_code());
  EXPECT_TRUE(is_as_written(text));
  EXPECT_EQ(catalogue_json(parse_catalogue(text, "test")), catalogue_json(known));
  const CatalogueOutline outline = outline_catalogue(text, "test");
  EXPECT_FALSE(outline.unread.front().empty());
  ASSERT_NE(outline.code, nullptr);
  EXPECT_EQ(outline.code->find({.kernel_hash = "a", .job_key = "b"})->value().image, "code");
  EXPECT_EQ(outline_catalogue(catalogue_json(known), "test").code, nullptr);
}

TEST_F(CatalogueJsonTest, ATableWithCodeIsOneDocument) {
  const Json document = parse_json(catalogue_json(catalogue(store, {}), some_code()), "test");
  EXPECT_EQ(document.at("code").at("format"), "code/1");
}

TEST_F(CatalogueJsonTest, CutOffInItsCodeItIsTheSameTable) {
  const Catalogue known = catalogue(store, {});
  const std::string text = catalogue_json(known, some_code());
  for (const std::size_t left : {text.find("code/1"), text.find("code/1") + 60, text.size() - 3}) {
    const std::string cut = text.substr(0, left);
    EXPECT_TRUE(is_as_written(cut));
    EXPECT_EQ(catalogue_json(parse_catalogue(cut, "test")), catalogue_json(known)) << left;
    EXPECT_NE(outline_catalogue(cut, "test").code->problem(), "") << left;
  }
}

/// What belongs to what cannot be told any more.
TEST_F(CatalogueJsonTest, WhatWasChangedSinceItWasWrittenHasNoCode) {
  std::string edited = catalogue_json(catalogue(store, {}), some_code());
  edited.replace(edited.find("2048,2048"), 9, "2048,2040");
  EXPECT_EQ(outline_catalogue(edited, "test").code, nullptr);
}

TEST_F(CatalogueJsonTest, IsStaleInAnotherEnvironment) {
  const Catalogue table = parse_catalogue(catalogue_json(catalogue(store, {})), "test");
  EXPECT_THAT(answers(table, "2048,2048").front(), HasSubstr("exact"));
  space::EnvironmentInfo newer = table.environment;
  newer.driver = "14.0";
  EXPECT_THAT(answers(in_environment(table, newer), "2048,2048").front(), HasSubstr("stale"));
}

TEST_F(CatalogueJsonTest, RefusesWhatIsNoTableAndSaysHowToMakeOne) {
  const std::string good = catalogue_json(catalogue(store, {}));
  const auto replaced = [&](const std::string& what, const std::string& by) {
    std::string text = good;
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return text.replace(at, what.size(), by);
  };
  for (const std::string& text :
       {std::string("{}"), std::string("[]"), replaced("dispatch/1", "dispatch/2"),
        replaced(R"("config":0)", R"("config":99)"), replaced(R"("config":0)", R"("config":6e60)"),
        replaced(R"("config":0)", R"("config":0.5)"),
        replaced(R"("memory_bytes":)", R"("memory_bytes":12345678901234567890123)"),
        replaced(R"("timings":[[0,)", R"("timings":[[99,)"),
        replaced(R"("median_ns":)", R"("median_ns":-)"),
        replaced(R"("sizes":[")", R"("sizes":["x)")}) {
    EXPECT_THAT([&] { static_cast<void>(parse_catalogue(text, "t.json")); },
                ThrowsMessage<Error>(AllOf(HasSubstr("t.json"), HasSubstr("tune export"))))
        << text.substr(0, 100);
  }
}

TEST(PublishedTable, AnswersForWhatWasTunedAndForWhatWasNot) {
  const std::filesystem::path file = TUNER_SOURCE_DIR "/db/seed/nvidia-h200.json";
  const Catalogue table = parse_catalogue(read_file(file, std::size_t{1} << 26), file.string());
  const auto best = [&](const std::string& size) {
    return rank(table, {.family = "gemm", .size = size}).answers.front();
  };
  EXPECT_EQ(best("4096,4096,4096").rung, Rung::exact);
  EXPECT_EQ(best("4096,4096,4096").kernel->kernel, "gemm_tma");
  EXPECT_EQ(best("1,4096,4096").rung, Rung::library) << "cuBLAS was faster";
  EXPECT_EQ(best("8,6000,6000").rung, Rung::nearest)
      << "kernels are twice as fast as cuBLAS near by";
  EXPECT_EQ(best("2001,1999,2003").rung, Rung::library) << "beside 1999x2003x2011";
}

TEST(PublishedTable, NeverAnswersWithWhatTheMatricesAreNotAlignedFor) {
  const std::filesystem::path file = TUNER_SOURCE_DIR "/db/seed/nvidia-h200.json";
  const Catalogue table = parse_catalogue(read_file(file, std::size_t{1} << 26), file.string());
  const Ranking ranking = rank(table, {.family = "gemm", .size = "63,63,63,BATCH=200"});
  EXPECT_TRUE(std::ranges::any_of(ranking.answers,
                                  [](const Selection& it) { return it.rung == Rung::nearest; }));
  for (const Selection& it : ranking.answers) {
    EXPECT_FALSE(it.kernel && it.kernel->kernel == "gemm_tma");
  }
}

}  // namespace
}  // namespace tuner::select
