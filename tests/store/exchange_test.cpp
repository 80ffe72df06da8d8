// SPDX-License-Identifier: Apache-2.0
// Carrying results from one database to another: exported lines, imports, merges.
#include "example_records.hpp"
#include "example_store.hpp"
#include "tests/support/lone_final.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/store/best_line.hpp"
#include "tuner/store/store.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <string>

namespace tuner::store {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;

StoredBest example(double median_ns = 1520.25,
                   const std::string& recorded_at = "2026-01-02T03:04:05Z",
                   const Subject& subject = example_subject()) {
  StoredBest stored{.subject = std::make_shared<const Subject>(subject),
                    .best = example_best("{\"TILE_M\":64}", median_ns)};
  stored.best.run_uuid = "0f5b9c1e-0000";
  stored.best.recorded_at = recorded_at;
  return stored;
}

StoredBest of_another_source() {
  Subject subject = example_subject();
  subject.kernel.hash = "ffff";
  return example(1520.25, "2026-01-02T03:04:05Z", subject);
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

/// A line of format 1, which has no checksum that would refuse it first.
/// Published before lines had a checksum.
std::string lines_of_format_1() {
  return read_file(fs::path(TUNER_SOURCE_DIR) / "tests/data/store/best-1.jsonl", 1 << 20);
}

std::string line_1() {
  const std::string lines = lines_of_format_1();
  return lines.substr(0, lines.find('\n'));
}

TEST(BestLine, ReadsBackAsItWasButNotVerified) {
  const std::string line = best_line(example());
  const std::vector<StoredBest> read = parse_best_lines(line + "\n", "best.jsonl");
  ASSERT_THAT(read, SizeIs(1));
  EXPECT_FALSE(read[0].best.verified);
  StoredBest again = read[0];
  EXPECT_EQ(again.subject->device.attributes, example().subject->device.attributes);
  EXPECT_EQ(best_line(again), line);
}

TEST(BestLine, HasTheTimeBackToBackWhereThereIsOne) {
  StoredBest timed = example();
  timed.best.sustained_ns = 905.5;
  const std::string line = best_line(timed);
  const StoredBest read = parse_best_lines(line, "best.jsonl").front();
  EXPECT_EQ(read.best.sustained_ns, 905.5);
  EXPECT_EQ(best_line(read), line);
  EXPECT_EQ(best_line(example()).find("back_to_back_ns"), std::string::npos);
  Store store = Store::in_memory();
  store.import_bests(std::vector{read}, "h200.jsonl");
  EXPECT_EQ(store.bests({})[0].best.sustained_ns, 905.5);
}

TEST(BestLine, SaysOfWhichFileItCameButNotWhereThatLies) {
  StoredBest imported = example();
  imported.best.origin = "/home/ada/h200.sqlite";
  EXPECT_EQ(parse_best_lines(best_line(imported) + "\n", "")[0].best.origin, "h200.sqlite");
}

TEST(BestLine, ReadsThePublishedLinesOfFormat1) {
  const std::vector<StoredBest> read = parse_best_lines(lines_of_format_1(), "best-1.jsonl");
  ASSERT_THAT(read, SizeIs(8));
  EXPECT_EQ(read[0].subject->kernel.kernel, "gemm_naive");
  EXPECT_EQ(read[0].best.recorded_at, "2026-11-21T10:04:55Z");
  EXPECT_EQ(read[0].best.run_uuid, parse_best_lines(line_1(), "x")[0].best.run_uuid);
}

TEST(BestLine, WritesPublishedLinesAsTheyWereRead) {
  const std::string text =
      read_file(fs::path(TUNER_SOURCE_DIR) / "db/seed/nvidia-h100-80gb-hbm3.jsonl", 1 << 24);
  std::string again;
  for (const StoredBest& best : parse_best_lines(text, "h100")) again += best_line(best) + "\n";
  EXPECT_GT(text.size(), 100'000U);
  EXPECT_TRUE(again == text);
}

TEST(BestLine, RefusesALineThatWasChanged) {
  const std::string line = best_line(example());
  const auto refused = [&](const std::string& changed) {
    EXPECT_THAT([&] { static_cast<void>(parse_best_lines(line + "\n" + changed, "best.jsonl")); },
                ThrowsMessage<Error>(AllOf(HasSubstr("best.jsonl, line 2: "),
                                           HasSubstr("checksum does not match"))));
  };
  refused(replaced(line, "\"ties\":2", "\"ties\":3"));
  refused(replaced(line, "NVIDIA H200", "NVIDIA H100"));
  refused(replaced(line, "\"ties\":2", "\"extra\":1,\"ties\":2"));
}

TEST(BestLine, SaysWhichValueIsWrong) {
  const auto refused = [](const std::string& what, const std::string& with,
                          const std::string& says) {
    EXPECT_THAT([&] { static_cast<void>(parse_best_lines(replaced(line_1(), what, with), "f")); },
                ThrowsMessage<Error>(AllOf(HasSubstr("f, line 1"), HasSubstr(says))))
        << what << " → " << with;
  };
  refused("tune.best/1", "tune.best/9", "'format' must be tune.best/2 or tune.best/1");
  refused("\"ties\":4", "\"ties\":-4", "'ties' must be a whole number from 0");
  refused("\"ties\":4", "\"ties\":4.5", "'ties' must be a whole number");
  refused("\"ties\":4", "\"ties\":1e999", "not valid JSON");
  refused("\"ties\":4", "\"ties\":4,\"ties\":4", "twice");
  refused("\"ties\":4", "\"ties\":4,\"tie\":4", "'tie' is not known");
  refused("\"ties\":4,", "", "'ties' is missing");
  refused("\"samples\":30", "\"samples\":0", "'time_ns.samples'");
  refused("\"samples\":30", "\"samples\":\"30\"", "'time_ns.samples'");
  refused("\"min\":", "\"min\":9", "not in order");
  refused("\"median\":326623", "\"median\":-326623", "'time_ns.median' must be above 0");
  refused("\"name\":\"NVIDIA H200\"", "\"name\":\"\"", "'device.name'");
  refused("\"warp_size\":32", "\"warp_size\":null", "'device.attributes.warp_size'");
  refused("\"BLOCK_X\":32", "\"BLOCK_X\":[32]", "'config.BLOCK_X' is not a plain value");
  refused("1024,1024,1024", "1024x1024", "'problem' must be a size");
  refused("2026-11-21T10:04:55Z", "yesterday", "'recorded_at' must be a date");
  refused("gemm_naive", "gemm\\u001b[2J", "'kernel' must be a text without control characters");
  refused("gemm_naive", "gemm\\u0000", "'kernel' must be a text without control characters");
  refused("NVIDIA H200", "H200\\u009b2J", "'device.name' must be a text without control");
  refused("NVIDIA H200", "H200\\n", "'device.name' must be a text without control");
  refused("\"BLOCK_X\":32", "\"BLOCK_X\":\"\\u202e\"",
          "'config.BLOCK_X' holds a control character");
  refused("\"BLOCK_X\":32", "\"B\\u001b\":32", "holds a control character");
}

TEST(BestLine, RefusesWhatNoDeviceCanHaveMeasured) {
  const auto refused = [](auto change, const std::string& says) {
    StoredBest stored = example();
    change(stored.best);
    EXPECT_THAT([&] { static_cast<void>(parse_best_lines(best_line(stored), "f")); },
                ThrowsMessage<Error>(AllOf(HasSubstr("f, line 1"), HasSubstr(says))))
        << says;
  };
  refused([](BestRecord& best) { best.time.min_ns = 1e-300; }, "1e-300 ns is impossible");
  refused([](BestRecord& best) { best.sustained_ns = 0.5; }, "a time of 0.5 ns is impossible");
  refused([](BestRecord& best) { best.flops = 1e29; }, "1e+29 operations or bytes in");
  refused([](BestRecord& best) { best.bytes = 1e29; }, "are impossible: at most 1e+09 a ns");
  refused([](BestRecord& best) { best.ratio_to_library = 999999999; },
          "'library.ratio' is 1e+09: from 1e-06 to 1e+06 are possible");
  refused([](BestRecord& best) { best.ratio_to_default = 1e-9; }, "'default.ratio' is 1e-09");
  refused(
      [](BestRecord& best) {
        best.ratio_to_library = 1.5;
        best.ratio_to_library_low = 2;
        best.ratio_to_library_high = 1;
      },
      "outside of its interval: 1.5, 2 to 1");
  refused(
      [](BestRecord& best) {
        best.ratio_to_library = 3;
        best.ratio_to_library_low = 1;
        best.ratio_to_library_high = 2;
      },
      "outside of its interval");
  refused([](BestRecord& best) { best.recorded_at = "9999-01-02T03:04:05Z"; },
          "a date from 2007 to 2099");
  refused([](BestRecord& best) { best.recorded_at = "2026-02-30T03:04:05Z"; }, "'recorded_at' is");
  refused([](BestRecord& best) { best.recorded_at = "2026-02-03T24:04:05Z"; }, "'recorded_at' is");
  refused([](BestRecord& best) { best.library_name = std::string(200'000, 'a'); },
          "'library.name' has 200000 bytes: at most 1024");
}

TEST(BestLine, RefusesADeviceWithAnEndlessName) {
  Subject subject = example_subject();
  subject.device.name = std::string(200'000, 'H');
  const StoredBest stored = example(1520.25, "2026-01-02T03:04:05Z", subject);
  EXPECT_THAT([&] { static_cast<void>(parse_best_lines(best_line(stored), "f")); },
              ThrowsMessage<Error>(HasSubstr("'device.name' has 200000 bytes")));
}

TEST(BestLine, RefusesWhatIsNoLine) {
  for (const std::string text : {"", "\n", "[]", "1", "null", "x", "{}", "{\"format\":1}"}) {
    EXPECT_THROW(static_cast<void>(parse_best_lines(text, "f")), Error) << text;
  }
}

TEST(Import, AddsWhatIsNotHereAsNotVerified) {
  Store store = Store::in_memory();
  const ImportResult result = store.import_bests(std::vector{example()}, "h200.jsonl");
  EXPECT_EQ(result.added, 1U);
  const std::vector<StoredBest> bests = store.bests({});
  ASSERT_THAT(bests, SizeIs(1));
  EXPECT_FALSE(bests[0].best.verified);
  EXPECT_EQ(bests[0].best.origin, "h200.jsonl");
  EXPECT_EQ(bests[0].best.run_uuid, "0f5b9c1e-0000");
  EXPECT_EQ(store.run("0f5b9c1e-0000")->state, RunState::imported);
  EXPECT_THAT(store.runs(), IsEmpty());  // it did not run here
  EXPECT_EQ(store.import_bests(std::vector{example()}, "again").kept, 1U);
  EXPECT_EQ(store.bests({})[0].best.origin, "h200.jsonl");
}

TEST(Import, NeverTakesThePlaceOfAVerifiedBest) {
  Store store = Store::in_memory();
  const std::int64_t run = store.begin_run(example_subject(), example_run("mine"));
  record_lone_final(store, run, example_best("{\"TILE_M\":32}", 1000));
  EXPECT_EQ(store.import_bests(std::vector{example(1000)}, "as fast").kept, 1U);
  EXPECT_EQ(store.import_bests(std::vector{example(900)}, "faster").added, 1U);
  EXPECT_THAT(store.bests({}), SizeIs(2));
  StoredBest back_to_back = example(1100);
  back_to_back.best.sustained_ns = 800;
  store::BestRecord mine = example_best("{\"TILE_M\":32}", 1000);
  mine.sustained_ns = 700;
  record_lone_final(store, run, mine);
  EXPECT_EQ(store.import_bests(std::vector{back_to_back}, "slower").kept, 1U);
  back_to_back.best.time = example_time(900);
  EXPECT_EQ(store.import_bests(std::vector{back_to_back}, "faster only alone").kept, 1U);
  record_lone_final(store, run, example_best("{\"TILE_M\":32}", 950));  // measured since
  ASSERT_THAT(store.bests({}), SizeIs(1));
  EXPECT_TRUE(store.bests({})[0].best.verified);
}

TEST(Import, PrefersTheNewerOfTwoThatAreNotVerified) {
  Store store = Store::in_memory();
  store.import_bests(std::vector{example(1000, "2026-02-01T00:00:00Z")}, "first");
  EXPECT_EQ(store.import_bests(std::vector{example(900, "2026-01-01T00:00:00Z")}, "older").kept,
            1U);
  EXPECT_EQ(store.import_bests(std::vector{example(1100, "2026-03-01T00:00:00Z")}, "new").added,
            1U);
  ASSERT_THAT(store.bests({}), SizeIs(1));
  EXPECT_EQ(store.bests({})[0].best.time.median_ns, 1100);
}

TEST(Import, IsAllOrNothing) {
  Store store = Store::in_memory();
  StoredBest impossible = of_another_source();
  impossible.best.time.min_ns = 1e9;  // above the median
  EXPECT_THROW(store.import_bests(std::vector{example(), impossible}, "f"), Error);
  EXPECT_THAT(store.bests({}), IsEmpty());
}

TEST(Import, LeavesWhatWasUsedLastHereInFront) {
  Store store = Store::in_memory();
  Subject mine = example_subject();
  mine.device = space::device_profile("a100").value();
  static_cast<void>(store.begin_run(mine, example_run("mine")));
  const StoredBest theirs = of_another_source();
  store.import_bests(std::vector{theirs}, "f");
  EXPECT_EQ(store.devices().front().name, mine.device.name);
  EXPECT_EQ(store.kernels({}).front().hash, mine.kernel.hash);
}

/// These records have no code.
const KernelCheck any = [](const KernelRecord&) {};

class MergeTest : public testing::Test {
 protected:
  TemporaryDirectory directory;
  Store theirs{directory.path() / "theirs.sqlite", Store::Mode::read_write};
  Store mine = Store::in_memory();
};

TEST_F(MergeTest, AddsEndedRunsWithAllTheirRowsOnce) {
  fill_every_table(mine);  // so that no id is free
  Subject subject = example_subject();
  subject.kernel.hash = "ffff";
  const std::int64_t run = theirs.begin_run(subject, example_run("cccc-0003"));
  theirs.record_trial(run, example_trial("{\"A\":1}"), 1);
  theirs.add_strike(run, "{\"A\":2}", "hung");
  theirs.record_drift(run,
                      {.elapsed_s = 1, .problem = "512,512,512", .median_ns = 5, .clock_mhz = {}});
  const FinalistRecord library{
      .role = "library", .config_json = "", .time = example_time(), .samples_ns = {1}};
  theirs.record_final(run, example_best("{\"A\":1}"), {library});
  theirs.end_run(run, ended_as(RunState::complete));
  const std::size_t bests = mine.bests({}).size();

  const MergeResult result = mine.merge(theirs, any);
  EXPECT_EQ(result.runs, 1U);
  EXPECT_EQ(result.bests.added, 1U);
  const auto merged = mine.run("cccc-0003");
  ASSERT_TRUE(merged);
  EXPECT_THAT(merged->problems, ElementsAre("4096,4096,4096", "512,512,512"));
  EXPECT_EQ(merged->kernel_hash, "ffff");
  ASSERT_THAT(mine.trials(merged->id), SizeIs(1));
  EXPECT_EQ(mine.trials(merged->id)[0].trial.config_json, "{\"A\":1}");
  EXPECT_THAT(mine.finalists(merged->id, "4096,4096,4096"), SizeIs(1));
  EXPECT_THAT(mine.drift_records(merged->id), SizeIs(1));
  EXPECT_EQ(mine.strikes(subject).at("{\"A\":2}"), 1);
  ASSERT_THAT(mine.bests({}), SizeIs(bests + 1));
  for (const StoredBest& best : mine.bests({})) {
    EXPECT_EQ(best.best.origin.empty(), best.subject->kernel.hash != "ffff");
  }
  EXPECT_EQ(mine.merge(theirs, any).known, 1U);
  EXPECT_THAT(mine.trials(merged->id), SizeIs(1));
}

TEST_F(MergeTest, AddsPortfoliosOnceAndTheNewestOfThemCounts) {
  const Subject subject = example_subject();
  PortfolioRecord old = example_portfolio(subject);
  old.recorded_at = "2026-01-01T00:00:00Z";
  PortfolioRecord other = old;
  other.types = "TYPE=f16";
  for (Store* const store : {&mine, &theirs}) {
    store->end_run(store->begin_run(subject, example_run(store == &mine ? "m" : "t")),
                   ended_as(RunState::complete));
  }
  mine.record_portfolio(subject.device, old);
  mine.record_portfolio(subject.device, other);
  theirs.record_portfolio(subject.device, example_portfolio(subject));
  mine.merge(theirs, any);
  mine.merge(theirs, any);
  const auto portfolios = mine.portfolios(subject.device);
  ASSERT_THAT(portfolios, SizeIs(2));
  EXPECT_EQ(portfolios[0].recorded_at, "2026-11-28T12:00:00Z");
  EXPECT_EQ(portfolios[0].members, example_portfolio(subject).members);
  EXPECT_EQ(portfolios[0].sizes, example_portfolio(subject).sizes);
  EXPECT_EQ(portfolios[1].types, "TYPE=f16");
}

TEST_F(MergeTest, APortfolioOfAKernelThatIsNotThereIsRefused) {
  EXPECT_THAT(
      [&] {
        mine.record_portfolio(example_subject().device, example_portfolio(example_subject()));
      },
      ThrowsMessage<Error>(HasSubstr("was never tried")));
}

TEST_F(MergeTest, AddsARunOfWhichTheBestConfigurationWasImported) {
  Subject subject = example_subject();
  subject.kernel.hash = "ffff";
  const std::int64_t run = theirs.begin_run(subject, example_run("cccc-0003"));
  theirs.record_trial(run, example_trial("{\"A\":1}"), 1);
  record_lone_final(theirs, run, example_best("{\"A\":1}"));
  theirs.end_run(run, ended_as(RunState::complete));
  const auto of_theirs = [](const Store& store) {
    std::vector<StoredBest> bests = store.bests({});
    std::erase_if(bests, [](const StoredBest& it) { return it.subject->kernel.hash != "ffff"; });
    return bests;
  };
  ASSERT_EQ(mine.import_bests(of_theirs(theirs), "a file").added, 1U);

  const MergeResult result = mine.merge(theirs, any);
  EXPECT_EQ(result.runs, 1U);
  EXPECT_EQ(result.known, 0U);
  const auto merged = mine.run("cccc-0003");
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->state, RunState::complete);
  EXPECT_THAT(mine.trials(merged->id), SizeIs(1));
  ASSERT_THAT(of_theirs(mine), SizeIs(1));
  EXPECT_EQ(of_theirs(mine)[0].best.run_uuid, "cccc-0003");
  EXPECT_EQ(mine.merge(theirs, any).known, 1U);
}

TEST_F(MergeTest, LeavesOutARunThatIsNotOver) {
  static_cast<void>(theirs.begin_run(example_subject(), example_run("cccc")));
  EXPECT_EQ(mine.merge(theirs, any).running, 1U);
  EXPECT_FALSE(mine.run("cccc"));
}

}  // namespace
}  // namespace tuner::store
