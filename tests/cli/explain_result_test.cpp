// SPDX-License-Identifier: Apache-2.0
#include "tests/session/toy.hpp"
#include "tuner/cli/explained_winner.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace tuner::cli {
namespace {

using session::ExplainedContender;
using testing::HasSubstr;
using testing::Not;

store::FinalistRecord timed(double time_ns, double ratio, double spread = 0.002) {
  store::FinalistRecord record;
  record.time.median_ns = time_ns;
  record.ratio_to_best = ratio;
  record.ratio_low = ratio - spread;
  record.ratio_high = ratio + spread;
  return record;
}

/// The toy family's toy<3,2> beside one neighbour for each parameter, the default and the library.
class ExplainResultTest : public testing::Test {
 protected:
  ExplainResultTest() {
    counters::Counters best;
    best.l1_percent = 91;
    best.fma_percent = 62;
    best.l1_wavefronts = best.shared_wavefronts = 150;
    best.shared_loads = 100;
    best.shared_stores = 50;
    add("best", "TILE=3,DEPTH=2", {}, timed(1000, 1, 0), best);
    counters::Counters conflicts = best;
    conflicts.bank_conflicts = 345;
    add("neighbour", "TILE=4,DEPTH=2", 0, timed(1210, 1.21), conflicts);
    add("neighbour", "TILE=3,DEPTH=1", 1, timed(1004, 1.004, 0.003), best);
    add("default", "TILE=2,DEPTH=1", {}, timed(2400, 2.4), best);
    counters::Counters library = best;
    library.fma_percent = 0;
    library.shared_loads = library.shared_stores = 0;
    library.tensor_percent = 88;
    result_.contenders.push_back(
        {.role = "library", .timed = timed(950, 0.95), .profile = {.counters = library}});
  }

  void add(std::string role, std::string_view config, std::optional<std::size_t> parameter,
           store::FinalistRecord time, const counters::Counters& counted) {
    result_.contenders.push_back(
        {.role = std::move(role),
         .config = session::toy::config(family_, config),
         .parameter = parameter,
         .timed = time,
         .profile = {.footprint = counters::Footprint{.threads = 256, .registers = 96},
                     .counters = counted}});
  }

  ExplainReport report() const {
    return {.family = family_,
            .kernel = family_.kernels.front(),
            .size = size_,
            .device = device_,
            .environment = environment_,
            .result = result_};
  }

  family::Family family_ = session::toy::family();
  space::Size size_ = {10};
  space::DeviceInfo device_ = {"cuda", "NVIDIA H200", "", "sm_90", {}};
  space::EnvironmentInfo environment_ = {"", "", "cuBLAS 13.1.0", ""};
  session::Explanation result_;
};

TEST_F(ExplainResultTest, SaysWhereItIsInTheRooflineModelAndOfWhatItsCodeConsists) {
  result_.roofline = {.flops = 2e7, .bytes = 4e4, .peak_flops_per_s = 50e12};
  result_.contenders.front().profile.instructions = counters::InstructionMix{.fma = 3, .other = 1};
  EXPECT_THAT(explain_text(report()),
              HasSubstr("\nroofline: 500 FLOP/byte, 20.0 TFLOP/s, 40 % of the "
                        "nominal 50.0 TFLOP/s\nresources: "));
  EXPECT_THAT(explain_text(report()),
              HasSubstr("\nmachine code: 4 instructions: FMA 75 %, others 25 %\n"));
  const Json document = explain_json(report());
  EXPECT_DOUBLE_EQ(document.at("roofline").at("share_of_roof").get<double>(), 0.4);
  EXPECT_TRUE(document.at("roofline").at("peak_bytes_per_s").is_null());
  EXPECT_EQ(document.at("contenders").at(0).at("instructions").at("fma"), 3);
  EXPECT_TRUE(document.at("contenders").at(1).at("instructions").is_null());
}

TEST_F(ExplainResultTest, SaysTheBoundFirstThenWhatEachNeighbourCosts) {
  EXPECT_EQ(
      explain_text(report()),
      "toy 10 on NVIDIA H200\n"
      "limiter: shared-memory bandwidth: 91 % of its peak; FMA pipe 62 %\n"
      "best: TILE=3 DEPTH=2, 1.00 µs\n"
      "one parameter changed:\n"
      "  TILE 3 → 4: 2.3 bank conflicts a request instead of 0.0, +21 % time\n"
      "  DEPTH 2 → 1: same time\n"
      "resources: 96 registers a thread, no spills, 0 B of shared memory a block\n"
      "default: TILE=2 DEPTH=1\n"
      "  ×2.40 the time; 96 registers a thread, no spills, 0 B of shared memory a block; "
      "shared-memory bandwidth: 91 % of its peak; FMA pipe 62 %\n"
      "library, cuBLAS 13.1.0: -5.0 % time; shared-memory bandwidth: 91 % of its peak; tensor "
      "cores 88 %; no requests to shared memory, tensor cores 88 % instead of 0 %\n");
}

TEST_F(ExplainResultTest, WithoutCountersSaysWhyAndShowsTheRest) {
  for (ExplainedContender& contender : result_.contenders) contender.profile.counters.reset();
  result_.counters_problem = "no CUPTI";
  result_.contenders[1].profile.footprint->registers = 128;
  const std::string text = explain_text(report());
  EXPECT_THAT(text, HasSubstr("limiter: unknown: no CUPTI\n"));
  EXPECT_THAT(text, HasSubstr("TILE 3 → 4: 128 registers a thread instead of 96, +21 % time\n"));
  EXPECT_THAT(text, HasSubstr("library, cuBLAS 13.1.0: -5.0 % time\n"));
  EXPECT_THAT(text, Not(HasSubstr("counters are missing")));
}

TEST_F(ExplainResultTest, WhatFailedHasItsOutcome) {
  ExplainedContender& failed = result_.contenders[1];
  failed.trial.outcome = Outcome::launch_error;
  failed.timed.reset();
  failed.profile = {};
  result_.counters_problem = "the device is lost";
  const std::string text = explain_text(report());
  EXPECT_THAT(text, HasSubstr("TILE 3 → 4: launch_error\n"));
  EXPECT_THAT(text, HasSubstr("counters are missing: the device is lost\n"));
}

TEST_F(ExplainResultTest, TheDocumentHasTheCounters) {
  const Json document = explain_json(report());
  EXPECT_EQ(document.at("schema"), "tune.explain/1");
  EXPECT_EQ(document.at("limiter"), "shared-memory bandwidth: 91 % of its peak; FMA pipe 62 %");
  const Json& neighbour = document.at("contenders").at(1);
  EXPECT_EQ(neighbour.at("parameter"), "TILE");
  EXPECT_EQ(neighbour.at("from"), "3");
  EXPECT_EQ(neighbour.at("to"), "4");
  EXPECT_EQ(neighbour.at("counters").at("bank_conflicts"), 345);
  EXPECT_DOUBLE_EQ(neighbour.at("counters").at("conflicts_per_request").get<double>(), 2.3);
  EXPECT_EQ(neighbour.at("resources").at("registers"), 96);
  EXPECT_EQ(neighbour.at("differences").size(), 1U);
  EXPECT_TRUE(document.at("contenders").at(4).at("resources").is_null());
}

}  // namespace
}  // namespace tuner::cli
