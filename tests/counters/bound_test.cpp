// SPDX-License-Identifier: Apache-2.0
#include "tuner/counters/bound.hpp"

#include <gmock/gmock.h>

#include <set>

namespace tuner::counters {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CounterFields, NameEachCounterOnce) {
  std::set<std::string_view> names, metrics;
  Counters counters;
  for (const CounterField& field : counter_fields()) {
    names.insert(field.name);
    metrics.insert(field.metric);
    counters.*field.member += 1;
  }
  EXPECT_EQ(names.size(), counter_fields().size());
  EXPECT_EQ(metrics.size(), counter_fields().size());
  EXPECT_EQ(counter_fields().size() * sizeof(double), sizeof(Counters)) << "a counter has no field";
  for (const CounterField& field : counter_fields()) EXPECT_EQ(counters.*field.member, 1);
}

TEST(WithoutIdleTime, PercentagesAreOfTheRunAlone) {
  const Counters run = without_idle_time({.fma_percent = 30,
                                          .dram_percent = 45,
                                          .warps_percent = 90,
                                          .bank_conflicts = 7,
                                          .waiting_for_memory = 3,
                                          .elapsed_ns = 60'000,
                                          .busy_percent = 75});
  EXPECT_DOUBLE_EQ(run.fma_percent, 40);
  EXPECT_DOUBLE_EQ(run.dram_percent, 60);
  EXPECT_DOUBLE_EQ(run.elapsed_ns, 45'000);
  EXPECT_EQ(run.warps_percent, 90) << "of the time in which a multiprocessor is in use";
  EXPECT_EQ(run.bank_conflicts, 7);
  EXPECT_EQ(run.waiting_for_memory, 3);
  EXPECT_EQ(without_idle_time({.fma_percent = 30}).fma_percent, 30) << "not known";
}

TEST(BoundSentence, NamesTheBusiestUnitAndTheOthersThatAreBusy) {
  Counters counters{.fma_percent = 62.4, .issue_percent = 55, .l1_percent = 91.2};
  counters.l1_wavefronts = 100;
  counters.shared_wavefronts = 80;
  EXPECT_EQ(bound_sentence(counters), "shared-memory bandwidth: 91 % of its peak; FMA pipe 62 %");
  counters.shared_wavefronts = 20;
  EXPECT_EQ(bound_sentence(counters), "L1 bandwidth: 91 % of its peak; FMA pipe 62 %");
  EXPECT_EQ(bound_sentence({.dram_percent = 60}), "memory bandwidth: 60 % of its peak");
}

TEST(BoundSentence, IsLatencyWhereNoUnitIsBusy) {
  const Counters counters{.fma_percent = 41,
                          .dram_percent = 59.9,
                          .waiting_for_memory = 3,
                          .waiting_for_barrier = 6.25};
  EXPECT_EQ(bound_sentence(counters),
            "latency: most warps wait for a barrier (6.2 of a scheduler's); the busiest unit is "
            "memory bandwidth, 60 % of its peak");
}

TEST(ConflictsPerRequest, CountLoadsAndStores) {
  EXPECT_DOUBLE_EQ(
      conflicts_per_request({.bank_conflicts = 69, .shared_loads = 20, .shared_stores = 10}), 2.3);
  EXPECT_EQ(conflicts_per_request({}), 0);
}

TEST(Differences, SayWhatMayExplainTheTime) {
  const Profile best{.footprint = Footprint{.threads = 256, .registers = 96},
                     .occupancy = Occupancy{.blocks = 2, .warps_percent = 25, .limit = "registers"},
                     .counters = Counters{.shared_loads = 100, .shared_stores = 50}};
  EXPECT_THAT(differences(best, best), IsEmpty());
  Profile run = best;
  run.counters->bank_conflicts = 345;
  EXPECT_THAT(differences(run, best), ElementsAre("2.3 bank conflicts a request instead of 0.0"));
  run.footprint->local_bytes = 64;
  run.occupancy->warps_percent = 50;
  run.footprint->registers = 48;
  EXPECT_THAT(differences(run, best), ElementsAre("64 B of local memory a thread instead of 0",
                                                  "2.3 bank conflicts a request instead of 0.0",
                                                  "occupancy 50 % instead of 25 %"));
}

TEST(Differences, WithoutCountersAreThoseOfResources) {
  const Profile best{.footprint = Footprint{.threads = 256, .registers = 96}};
  const Profile run{.footprint = Footprint{.threads = 256, .registers = 128}};
  EXPECT_THAT(differences(run, best), ElementsAre("128 registers a thread instead of 96"));
}

TEST(Differences, FromALibraryAreThoseOfCounters) {
  const Profile best{
      .footprint = Footprint{.threads = 256, .registers = 96},
      .counters = Counters{
          .fma_percent = 80, .warps_percent = 24, .shared_loads = 100, .waiting_for_shared = 1}};
  Profile library{.counters = best.counters};
  library.counters->shared_loads = 50;
  library.counters->warps_percent = 12;
  EXPECT_THAT(differences(library, best), ElementsAre("0.50 times the requests to shared memory",
                                                      "occupancy 12 % instead of 24 %"));
  library.counters->shared_loads = 0;
  library.counters->waiting_for_shared = 0.2;
  library.counters->fma_percent = 0;
  EXPECT_THAT(differences(library, best),
              ElementsAre("no requests to shared memory", "occupancy 12 % instead of 24 %",
                          "0.2 warps waiting for data from shared memory instead of 1.0"));
  library.counters->waiting_for_shared = 1;
  EXPECT_EQ(differences(library, best).back(), "FMA pipe 0 % instead of 80 %");
}

TEST(ResourcesSentence, LeavesOutWhatIsNotKnown) {
  const Footprint footprint{.threads = 256, .registers = 96, .shared_bytes = 33'792};
  EXPECT_EQ(resources_sentence(footprint,
                               Occupancy{.blocks = 2, .warps_percent = 25, .limit = "registers"}),
            "96 registers a thread, no spills, 33792 B of shared memory a block; 2 blocks of 256 "
            "threads on a multiprocessor, limited by registers: occupancy 25 %");
  EXPECT_EQ(resources_sentence({.threads = 256, .shared_bytes = 512}, std::nullopt),
            "512 B of shared memory a block");
  EXPECT_EQ(resources_sentence({.threads = 1, .registers = 8, .local_bytes = 40}, std::nullopt),
            "8 registers a thread, 40 B of local memory a thread (spills or arrays), 0 B of shared "
            "memory a block");
}

}  // namespace
}  // namespace tuner::counters
