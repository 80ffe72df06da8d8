// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/rows.hpp"

#include "example_records.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace tuner {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Samples, ReadBackAsTheVerySameNumbers) {
  const std::vector<double> samples = {1520.5, 1.0 / 3, 1e14, 5e-324};
  EXPECT_EQ(samples_from_json(samples_to_json(samples)), samples);
  EXPECT_EQ(samples_to_json({1520.5, 1498}), "[1520.5,1498]");
  EXPECT_THAT(samples_from_json("[]"), IsEmpty());
}

TEST(TrialChecksum, ChangesWithEveryField) {
  const TrialRecord trial = example_trial();
  const auto changed = [&](auto change) {
    TrialRecord other = trial;
    change(other);
    return checksum(other) != checksum(trial);
  };
  EXPECT_EQ(checksum(trial), checksum(example_trial()));
  EXPECT_TRUE(changed([](TrialRecord& it) { it.problem = "4096,4096,4097"; }));
  EXPECT_TRUE(changed([](TrialRecord& it) { it.config_json = R"({"TILE_M":65})"; }));
  EXPECT_TRUE(changed([](TrialRecord& it) { it.outcome = Outcome::timeout; }));
  EXPECT_TRUE(changed([](TrialRecord& it) { it.message = "x"; }));
  EXPECT_TRUE(changed([](TrialRecord& it) { it.time->median_ns += 1e-12 * it.time->median_ns; }));
  EXPECT_TRUE(changed([](TrialRecord& it) { it.time->q1_ns += 1; }));
  EXPECT_TRUE(changed([](TrialRecord& it) { it.time->q3_ns += 1; }));
  EXPECT_TRUE(changed([](TrialRecord& it) { it.time->min_ns += 1; }));
  EXPECT_TRUE(changed([](TrialRecord& it) { it.time->samples += 1; }));
  EXPECT_TRUE(changed([](TrialRecord& it) { it.time.reset(); }));
  EXPECT_TRUE(changed([](TrialRecord& it) { it.worst_error.reset(); }));
  EXPECT_TRUE(changed([](TrialRecord& it) { it.check_seed ^= 1; }));
  EXPECT_TRUE(changed([](TrialRecord& it) { it.registers += 1; }));
  EXPECT_TRUE(changed([](TrialRecord& it) { it.shared_bytes += 1; }));
  EXPECT_TRUE(changed([](TrialRecord& it) { it.local_bytes += 1; }));
  EXPECT_TRUE(changed([](TrialRecord& it) { it.compile_ms += 1; }));
  EXPECT_TRUE(changed([](TrialRecord& it) { it.verify_ms += 1; }));
  EXPECT_TRUE(changed([](TrialRecord& it) { it.measure_ms += 1; }));
}

TEST(BestChecksum, CoversWhatTheConfigurationIsFor) {
  const StoredBest stored{.subject = example_subject(), .best = example_best()};
  const auto changed = [&](auto change) {
    StoredBest other = stored;
    change(other);
    return checksum(other) != checksum(stored);
  };
  EXPECT_TRUE(changed([](StoredBest& it) { it.subject.device.name = "NVIDIA H100"; }));
  EXPECT_TRUE(changed([](StoredBest& it) { it.subject.environment.driver = "12.8"; }));
  EXPECT_TRUE(changed([](StoredBest& it) { it.subject.kernel.hash = "f"; }));
  EXPECT_TRUE(changed([](StoredBest& it) { it.best.problem = "1,1,1"; }));
  EXPECT_TRUE(changed([](StoredBest& it) { it.best.config_json = "{}"; }));
  EXPECT_TRUE(changed([](StoredBest& it) { it.best.ratio_to_library.reset(); }));
}

}  // namespace
}  // namespace tuner
