// SPDX-License-Identifier: Apache-2.0
// Records with every field set, for the tests of the database.
#pragma once

#include "tuner/store/records.hpp"
#include "tuner/store/store.hpp"

#include <limits>
#include <string>

namespace tuner::store {

inline constexpr auto kReadWrite = Store::Mode::read_write;
inline constexpr auto kReadOnly = Store::Mode::read_only;

inline Subject example_subject() {
  Subject subject;
  subject.device = space::device_profile("h200").value();
  subject.device.uuid = "GPU-5a1c";
  subject.environment = {
      .driver = "13.0", .compiler = "NVRTC 13.0", .library = "cuBLAS 13.0.2", .tool = "0.1.0"};
  subject.kernel = {.family = "gemm",
                    .kernel = "gemm_shared",
                    .hash = "0123456789abcdef",
                    .space_text = "{\"format\": \"space/1\"}",
                    .source_name = "gemm_shared.cu",
                    .source_text = "__global__ void gemm_shared() {}\n",
                    .headers_json = R"([{"name":"tile.cuh","text":"#pragma once\n"}])"};
  subject.check_hash = "fedcba9876543210";
  return subject;
}

inline RunRecord example_run(const std::string& uuid = "0f5b9c1e-0000") {
  RunRecord run;
  run.uuid = uuid;
  run.problems = {"4096,4096,4096", "512,512,512"};
  run.strategy = "random";
  run.seed = std::numeric_limits<std::uint64_t>::max();
  run.command = "tune --kernel gemm_shared --space 'spaces/gemm.json'";
  run.valid = 7600;
  run.cartesian = 28800;
  run.clock_limit = {.max_clock_mhz = 1980, .power_limit_w = 700.5};
  return run;
}

inline RunRecord ended_as(RunState state) {
  RunRecord run;
  run.state = state;
  run.wall_s = 60.5;
  run.compile_s = 20.25;
  run.verify_s = 10;
  run.measure_s = 1.0 / 3;
  return run;
}

inline TimeSummary example_time(double median_ns = 1520.25) {
  return {.median_ns = median_ns,
          .q1_ns = median_ns - 1,
          .q3_ns = median_ns + 1.0 / 3,
          .min_ns = median_ns - 2,
          .samples = 20};
}

inline TrialRecord example_trial(const std::string& config = R"({"TILE_M":64})",
                                 double median_ns = 1520.25) {
  TrialRecord trial;
  trial.problem = "4096,4096,4096";
  trial.config_json = config;
  trial.time = example_time(median_ns);
  trial.worst_error = 0.1;
  trial.check_seed = 0xfedcba9876543210;
  trial.registers = 128;
  trial.shared_bytes = 49152;
  trial.local_bytes = 16;
  trial.compile_ms = 331.5;
  trial.verify_ms = 12.25;
  trial.measure_ms = 7.75;
  return trial;
}

inline TrialRecord failed_trial(Outcome outcome, const std::string& config) {
  TrialRecord trial;
  trial.problem = "4096,4096,4096";
  trial.config_json = config;
  trial.outcome = outcome;
  trial.message = "ptxas: too much shared data (0x12000 bytes, 0xc000 max)\nsecond line \"quoted\"";
  return trial;
}

inline BestRecord example_best(const std::string& config = R"({"TILE_M":64})",
                               double median_ns = 1520.25) {
  BestRecord best;
  best.problem = "4096,4096,4096";
  best.config_json = config;
  best.time = example_time(median_ns);
  best.library_ns = 1400.5;
  best.default_ns = 3000.125;
  best.ratio_to_library = 0.92;
  best.ratio_to_default = 1.97;
  best.ratio_to_library_low = 0.91;
  best.ratio_to_library_high = 0.93;
  best.library_name = "cuBLAS 13.0.2";
  best.ties = 2;
  best.flops = 2.0 * 4096 * 4096 * 4096;
  best.bytes = 3.0 * 4 * 4096 * 4096;
  best.recorded_at = "2026-01-02T03:04:05Z";
  return best;
}

/// Of a best, a neighbour and the library.
inline ExplanationRecord example_explanation(const std::string& best = R"({"TILE_M":64})",
                                             const std::string& neighbour = R"({"TILE_M":128})") {
  ExplanationRecord explanation{.problem = "4096,4096,4096",
                                .recorded_at = "2026-01-02T03:04:06Z",
                                .counters_problem = "the library was not counted",
                                .peak_flops_per_s = 66.9e12,
                                .peak_bytes_per_s = 4.8e12,
                                .contenders = {}};
  counters::Profile profile;
  profile.footprint = {.threads = 256, .registers = 128, .shared_bytes = 49152, .local_bytes = 16};
  double value = 0.1;
  profile.counters.emplace();
  for (const counters::CounterField& field : counters::counter_fields()) {
    (*profile.counters).*field.member = value += 1.0 / 3;
  }
  std::int64_t count = 0;
  profile.instructions.emplace();
  for (const counters::InstructionField& field : counters::instruction_fields()) {
    (*profile.instructions).*field.member = count += 7;
  }
  const ComparedTime slower{
      .median_ns = 1210.5, .ratio_to_best = 1.2, .ratio_low = 1.1875, .ratio_high = 1.21};
  explanation.contenders = {
      {.role = "best",
       .config_json = best,
       .timed = ComparedTime{.median_ns = 1010.25},
       .profile = profile},
      {.role = "neighbour",
       .config_json = neighbour,
       .parameter = "TILE_M",
       .timed = slower,
       .profile = profile},
      {.role = "library", .config_json = "", .timed = std::nullopt, .profile = {}}};
  return explanation;
}

inline PortfolioRecord example_portfolio(const Subject& subject) {
  const KernelRecord& kernel = subject.kernel;
  return {.family = kernel.family,
          .types = "TYPE=bf16",
          .distribution = "drawn",
          .recorded_at = "2026-11-28T12:00:00Z",
          .loss = 1.0 + 1.0 / 3,
          .left_out_loss = 1.5,
          .members = {{kernel.kernel, kernel.hash, R"({"TILE_M":16})"},
                      {kernel.kernel, kernel.hash, R"({"TILE_M":8})"}},
          .sizes = {{.problem = "4096,4096,4096",
                     .weight = 2,
                     .member_cold_ns = 1010.5,
                     .member_ns = 905.25},
                    {.problem = "512,512,512",
                     .weight = 0.5,
                     .library_cold_ns = 100.25,
                     .library_ns = 90.5}},
          .environment = subject.environment};
}

}  // namespace tuner::store
