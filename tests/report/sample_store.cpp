// SPDX-License-Identifier: Apache-2.0
#include "sample_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

namespace tuner::report {
namespace {

struct Candidate {
  int block_x, block_y, pad, tile_k, tile_m, tile_n, unroll;
};

std::string config_json(const Candidate& c) {
  return fmt::format(
      R"({{"BLOCK_X":{},"BLOCK_Y":{},"PAD":{},"TILE_K":{},"TILE_M":{},"TILE_N":{},"UNROLL":{}}})",
      c.block_x, c.block_y, c.pad, c.tile_k, c.tile_m, c.tile_n, c.unroll);
}

constexpr Candidate kDefault{16, 16, 0, 16, 32, 32, 1};

/// Every combination whose threads divide their tile, in an order without a trend.
std::vector<Candidate> candidates() {
  std::vector<Candidate> all;
  for (const int block_x : {8, 16, 32})
    for (const int block_y : {8, 16})
      for (const int pad : {0, 1})
        for (const int tile_k : {8, 16, 32})
          for (const int tile_m : {32, 64, 128})
            for (const int tile_n : {32, 64, 128})
              for (const int unroll : {1, 4})
                if ((tile_m * tile_n) / (block_x * block_y) >= 4)
                  all.push_back({block_x, block_y, pad, tile_k, tile_m, tile_n, unroll});
  std::vector<Candidate> shuffled;
  for (std::size_t i = 0; i < all.size(); ++i) shuffled.push_back(all[i * 271 % all.size()]);
  shuffled.resize(378);
  return shuffled;
}

/// A smooth cost with a best in the middle and a little noise that depends on the candidate only.
double time_ns(const Candidate& c, double n) {
  const double work_per_thread = c.tile_m * c.tile_n / double(c.block_x * c.block_y);
  double slowdown = 1.9 + 0.45 * std::abs(std::log2(work_per_thread / 32));
  slowdown += 0.25 * std::abs(std::log2(c.tile_k / 16.0));
  slowdown += c.pad == 0 ? 0.3 : 0.0;
  slowdown += c.unroll == 1 ? 0.2 : 0.0;
  slowdown += c.block_x == 8 ? 0.8 : 0.0;
  slowdown += 3.0 * c.tile_m * c.tile_n / (n * n);  // too few blocks for the device
  const int code = c.block_x * 7 + c.block_y * 13 + c.tile_k * 5 + c.tile_m * 3 + c.tile_n + c.pad;
  return slowdown * (1 + 0.002 * (code % 17)) * (2 * n * n * n / 50e3) + 2500;
}

Outcome outcome_of(const Candidate& c) {
  const int shared_bytes = 4 * (c.tile_m * (c.tile_k + c.pad) + c.tile_k * (c.tile_n + c.pad));
  if (shared_bytes > 32000) return Outcome::compile_error;
  if (c.tile_m * c.tile_n / (c.block_x * c.block_y) > 128) return Outcome::launch_error;
  if (c.unroll == 4 && c.tile_k == 8 && c.block_x == 32 && c.tile_m == 32)
    return Outcome::wrong_result;
  if (c.tile_m == 128 && c.tile_n == 128 && c.block_x == 8 && c.tile_k == 8)
    return Outcome::timeout;
  return Outcome::ok;
}

std::string message_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return "";
    case Outcome::compile_error:
      return "/tmp/tuner-4711/gemm_shared.cu(57): error: uses too much shared data (0x10200 bytes, "
             "0xc000 max)";
    case Outcome::launch_error:
      return "too many resources requested for launch";
    case Outcome::wrong_result:
      return "C[17,4] is 3.25, expected -0.125 (21.4 times its bound), seed 7";
    case Outcome::timeout:
      return "no end after 10 s";
    case Outcome::crashed:
      return "an illegal memory access was encountered";
    default:
      return std::string(name(outcome));
  }
}

TimeSummary spread(double median_ns, int samples) {
  return {median_ns, 0.997 * median_ns, 1.004 * median_ns, 0.992 * median_ns, samples};
}

std::string problem_of(double n) {
  return fmt::format("{0:.0f},{0:.0f},{0:.0f}", n);
}

std::vector<Candidate> fastest(double n, std::size_t count) {
  std::vector<Candidate> working = candidates();
  std::erase_if(working, [](const Candidate& c) { return outcome_of(c) != Outcome::ok; });
  std::sort(working.begin(), working.end(),
            [n](const Candidate& a, const Candidate& b) { return time_ns(a, n) < time_ns(b, n); });
  working.resize(count);
  return working;
}

/// The more of them there are, the less power they take.
EnergySummary energy_of(double ns, std::size_t nth) {
  const double watts = 650 - 15.0 * static_cast<double>(nth), joules = watts * ns * 1e-9;
  return {.joules = joules,
          .min_joules = 0.995 * joules,
          .max_joules = 1.004 * joules,
          .windows = 3,
          .watts = watts,
          .idle_watts = 75};
}

/// Of the fastest, one with other padding, and the library.
store::ExplanationRecord explanation_of(const std::vector<Candidate>& front, double n) {
  store::ExplanationRecord explanation{.problem = problem_of(n),
                                       .recorded_at = "2025-11-21T09:30:00Z",
                                       .peak_flops_per_s = 66.9e12,
                                       .peak_bytes_per_s = 4.8e12,
                                       .contenders = {}};
  Candidate unpadded = front[0];
  unpadded.pad = 0;
  counters::Profile profile;
  profile.footprint = {.threads = 256, .registers = 96, .shared_bytes = 16896, .local_bytes = 0};
  profile.counters = counters::Counters{.fma_percent = 62, .issue_percent = 71, .l1_percent = 91};
  profile.counters->shared_loads = profile.counters->shared_stores = 1e6;
  profile.counters->l1_wavefronts = profile.counters->shared_wavefronts = 2e6;
  profile.instructions = counters::InstructionMix{.fma = 1024, .shared_memory = 192, .other = 264};
  counters::Profile conflicts = profile;
  conflicts.counters->bank_conflicts = 4.6e6;
  conflicts.counters->fma_percent = 51;
  const double ns = time_ns(front[0], n);
  explanation.contenders = {
      {.role = "best",
       .config_json = config_json(front[0]),
       .timed = store::ComparedTime{.median_ns = ns},
       .profile = profile},
      {.role = "neighbour",
       .config_json = config_json(unpadded),
       .parameter = "PAD",
       .timed =
           store::ComparedTime{
               .median_ns = 1.21 * ns, .ratio_to_best = 1.21, .ratio_low = 1.2, .ratio_high = 1.22},
       .profile = conflicts},
      {.role = "library",
       .config_json = "",
       .timed =
           store::ComparedTime{
               .median_ns = 0.9 * ns, .ratio_to_best = 0.9, .ratio_low = 0.89, .ratio_high = 0.91},
       .profile = {.counters = counters::Counters{.fma_percent = 93}}}};
  return explanation;
}

void record_final_at(store::Store& store, std::int64_t run, double n) {
  const std::vector<Candidate> front = fastest(n, 6);
  const double best_ns = time_ns(front[0], n), default_ns = time_ns(kDefault, n);
  const double library_ns = best_ns * (0.42 + 0.02 * std::log2(n));
  std::vector<store::FinalistRecord> finalists;
  const auto add = [&](const std::string& role, const std::string& config, double ns) {
    const double ratio = ns / best_ns;
    finalists.push_back({role, config, spread(ns, 30), ratio, 0.996 * ratio, 1.004 * ratio, {}});
    finalists.back().energy = energy_of(ns, finalists.size());
    if (role == "library") return;  // what is not known of it
    finalists.back().hot_ns = 0.9 * ns;
    finalists.back().clock_mhz = 1755;
  };
  add("library", "", library_ns);
  for (const Candidate& c : front) add("candidate", config_json(c), time_ns(c, n));
  add("default", config_json(kDefault), default_ns);
  const auto is_tie = [&](const Candidate& c) { return time_ns(c, n) <= 1.01 * best_ns; };

  store::BestRecord best;
  best.problem = problem_of(n);
  best.config_json = config_json(front[0]);
  best.time = spread(best_ns, 30);
  best.library_ns = library_ns;
  best.default_ns = default_ns;
  best.ratio_to_library = library_ns / best_ns;
  best.ratio_to_library_low = 0.995 * library_ns / best_ns;
  best.ratio_to_library_high = 1.005 * library_ns / best_ns;
  best.ratio_to_default = default_ns / best_ns;
  best.library_name = "cuBLAS 13.0.2";
  best.ties = static_cast<int>(std::count_if(front.begin() + 1, front.end(), is_tie));
  best.flops = 2 * n * n * n;
  best.bytes = 12 * n * n;
  best.run_uuid = store.run(std::to_string(run))->uuid;
  best.recorded_at = "2025-11-21T09:00:00Z";
  store.record_final(run, best, finalists);
  if (n == 4096) store.record_explanation(run, explanation_of(front, n));
}

void tune_gemm_shared(store::Store& store) {
  constexpr std::array kSizes = {512.0, 1024.0, 2048.0, 4096.0};
  store::RunRecord record;
  record.uuid = "5e551011-0000-4000-8000-000000000001";
  record.device = "NVIDIA H200";
  record.backend = "cuda";
  record.family = "gemm";
  record.kernel = "gemm_shared";
  record.kernel_hash = sample_subject("gemm_shared").kernel.hash;
  for (const double n : kSizes) record.problems.push_back(problem_of(n));
  record.strategy = "random";
  record.seed = 1;
  record.command =
      "tune --kernel gemm_shared --space spaces/gemm.json --size 512,512,512 --size "
      "1024,1024,1024 --size 2048,2048,2048 --size 4096,4096,4096 --seed 1";
  record.valid = 17956;
  record.cartesian = 82944;
  const std::int64_t run = store.begin_run(sample_subject("gemm_shared"), record);

  double elapsed_s = 3;
  for (const double n : kSizes) {
    for (const Candidate& c : candidates()) {
      store::TrialRecord trial;
      trial.problem = problem_of(n);
      trial.config_json = config_json(c);
      trial.outcome = outcome_of(c);
      trial.message = message_of(trial.outcome);
      if (trial.outcome == Outcome::ok) trial.time = spread(time_ns(c, n), 20);
      trial.compile_ms = n == kSizes[0] ? 310 : 0;
      trial.verify_ms = 25;
      trial.measure_ms = trial.time ? 30 : 0;
      trial.registers = 96;
      trial.shared_bytes = 16896;
      elapsed_s += 0.08;
      store.record_trial(run, trial, elapsed_s);
    }
    record_final_at(store, run, n);
  }
  record.state = store::RunState::complete;
  record.wall_s = 131;
  record.compile_s = 117;
  record.verify_s = 38;
  record.measure_s = 44;
  store.end_run(run, record);
}

/// Of every four candidates on, the fastest before all others: a search that knows something.
std::vector<Candidate> with_fast_ones_first(const std::vector<Candidate>& order, double n) {
  std::vector<Candidate> fast, others;
  for (std::size_t i = 0; i + 4 <= order.size(); i += 4) {
    const auto fastest =
        std::min_element(order.begin() + static_cast<std::ptrdiff_t>(i),
                         order.begin() + static_cast<std::ptrdiff_t>(i) + 4,
                         [n](const Candidate& a, const Candidate& b) {
                           return outcome_of(b) != Outcome::ok ||
                                  (outcome_of(a) == Outcome::ok && time_ns(a, n) < time_ns(b, n));
                         });
    for (std::size_t j = i; j < i + 4; ++j) {
      (&order[j] == &*fastest ? fast : others).push_back(order[j]);
    }
  }
  fast.insert(fast.end(), others.begin(), others.end());
  return fast;
}

/// A search of the largest size alone, in a database of its own that was merged.
void search_anew(store::Store& store, const std::string& strategy, std::uint64_t seed) {
  constexpr double kN = 4096;
  std::vector<Candidate> order = candidates();
  std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(97 * seed), order.end());
  if (strategy == "auto") order = with_fast_ones_first(order, kN);
  store::RunRecord record;
  record.uuid = fmt::format("5e551011-{}-{}", strategy, seed);
  record.problems = {problem_of(kN)};
  record.strategy = strategy;
  record.seed = seed;
  record.command = fmt::format(
      "tune --kernel gemm_shared --space spaces/gemm.json --size 4096,4096,4096 --strategy {} "
      "--seed {} --max-evals 120",
      strategy, seed);
  record.valid = 17956;
  const std::int64_t run = store.begin_run(sample_subject("gemm_shared"), record);
  double elapsed_s = 3;
  for (std::size_t i = 0; i < 120; ++i) {
    store::TrialRecord trial;
    trial.problem = problem_of(kN);
    trial.config_json = config_json(order[i]);
    trial.outcome = outcome_of(order[i]);
    trial.message = message_of(trial.outcome);
    if (trial.outcome == Outcome::ok) trial.time = spread(time_ns(order[i], kN), 20);
    store.record_trial(run, trial, elapsed_s += strategy == "auto" ? 0.55 : 0.5);
  }
  record.state = store::RunState::budget_spent;
  record.wall_s = elapsed_s + 2;
  store.end_run(run, record);
}

/// One size, not finished; all that a careless page would run as script.
void tune_hostile(store::Store& store) {
  store::RunRecord record;
  record.uuid = "5e551011-0000-4000-8000-000000000002";
  record.device = "NVIDIA H200";
  record.backend = "cuda";
  record.family = kHostileName;
  record.kernel = kHostileName;
  record.kernel_hash = sample_subject(kHostileName).kernel.hash;
  record.problems = {"64,64"};
  record.strategy = "exhaustive";
  record.command = std::string("tune --kernel '") + kHostileName + "'";
  const std::int64_t run = store.begin_run(sample_subject(kHostileName), record);
  for (int i = 1; i <= 6; ++i) {
    store::TrialRecord trial;
    trial.problem = "64,64";
    trial.config_json =
        fmt::format(R"({{"<img src=x onerror=window.hit=2>":"<b>{}</b>","B":{}}})", i % 2, i);
    trial.outcome = i < 6 ? Outcome::ok : Outcome::crashed;
    trial.message = i < 6 ? "" : kHostileName;
    if (i < 6) trial.time = spread(1e5 / i, 5);
    store.record_trial(run, trial, 0.1 * i);
  }
  record.state = store::RunState::interrupted;
  store.end_run(run, record);
}

/// A kernel of three element types, each at two sizes: ahead of the library with f32, behind with
/// bf16, and without one with f64.
void tune_typed(store::Store& store) {
  store::RunRecord record;
  record.uuid = "5e551011-0000-4000-8000-000000000003";
  record.device = "NVIDIA H200";
  record.backend = "cuda";
  record.family = kTypedName;
  record.kernel = kTypedName;
  record.kernel_hash = sample_subject(kTypedName).kernel.hash;
  record.strategy = "auto";
  record.command = "tune --kernel rows --space spaces/rows.json";
  const std::int64_t run = store.begin_run(sample_subject(kTypedName), record);
  const std::map<std::string, std::pair<double, double>> types = {
      {"", {1.25, 1}}, {",TYPE=bf16", {0.8, 6}}, {",TYPE=f64", {0, 0.5}}};
  for (const auto& [type, figures] : types) {
    const auto [ratio, speed] = figures;
    for (const double n : {1024.0, 4096.0}) {
      store::BestRecord best;
      best.problem = problem_of(n) + type;
      best.config_json = R"({"BLOCK":256})";
      best.time = spread(n * n * n / 2e4 / speed, 30);
      best.flops = 2 * n * n * n;
      best.bytes = 12 * n * n / speed;
      if (ratio > 0) {
        best.library_name = "cuBLAS 13.0.2";
        best.library_ns = ratio * best.time.median_ns;
        best.ratio_to_library = ratio;
        best.ratio_to_library_low = 0.99 * ratio;
        best.ratio_to_library_high = 1.01 * ratio;
      }
      best.run_uuid = record.uuid;
      best.recorded_at = "2025-11-21T09:00:00Z";
      const store::FinalistRecord winner{.role = "candidate",
                                         .config_json = best.config_json,
                                         .time = best.time,
                                         .samples_ns = {},
                                         .clock_mhz = 1980};
      store.record_final(run, best, {winner});
    }
  }
  record.state = store::RunState::complete;
  store.end_run(run, record);
}

/// A configuration of 19 parameters, of which the first seven are those of a candidate.
std::string wide_config_json(const Candidate& c, std::size_t n) {
  std::string text = config_json(c);
  text.pop_back();
  for (std::size_t i = 0; i < 12; ++i) text += fmt::format(R"(,"EXTRA_{}":{})", i, n >> i & 3U);
  return text + "}";
}

/// A cube; every other one of another layout, so that labels are long.
std::string problem_of_many(double n) {
  return problem_of(n) + (std::fmod(n, 128) == 0 ? ",TRANS_B=1" : "");
}

/// One kernel of many, which is `slowness` times as slow as the best could be, at one size.
void tune_one_of_many(store::Store& store, std::int64_t run, double n, double slowness) {
  const std::vector<Candidate> order = candidates();
  store::TrialRecord fastest;
  for (std::size_t i = 0; i < 116; ++i) {
    store::TrialRecord trial;
    trial.problem = problem_of_many(n);
    trial.config_json = wide_config_json(order[i], i * 7);
    trial.outcome = outcome_of(order[i]);
    trial.message = message_of(trial.outcome);
    if (trial.outcome == Outcome::ok) {
      trial.time = spread(slowness * time_ns(order[i], n), 20);
      if (!fastest.time || trial.time->median_ns < fastest.time->median_ns) fastest = trial;
    }
    store.record_trial(run, trial, 0.5 * static_cast<double>(i));
  }
  store::BestRecord best;
  best.problem = problem_of_many(n);
  best.config_json = fastest.config_json;
  best.time = *fastest.time;
  best.ratio_to_library = 1.2 / slowness;
  best.ratio_to_library_low = 1.19 / slowness;
  best.ratio_to_library_high = 1.21 / slowness;
  best.library_name = "cuBLAS 13.0.2";
  best.library_ns = best.time.median_ns * *best.ratio_to_library;
  best.flops = 2 * n * n * n;
  best.bytes = 12 * n * n;
  best.run_uuid = store.run(std::to_string(run))->uuid;
  best.recorded_at = "2025-11-21T09:00:00Z";
  std::vector<store::FinalistRecord> finalists;
  for (int i = 0; i < 10; ++i) {
    finalists.push_back({"candidate",
                         wide_config_json(order[static_cast<std::size_t>(i)], 0),
                         best.time,
                         1.01 + 0.01 * i,
                         1.005 + 0.01 * i,
                         1.015 + 0.01 * i,
                         {}});
  }
  finalists.push_back({"candidate", best.config_json, best.time, 1, 1, 1, {}});
  store.record_final(run, best, finalists);
}

}  // namespace

void add_kernels(store::Store& store, int first, int last, int sizes) {
  constexpr std::array<std::string_view, 10> kNames = {
      "tiled",  "tma",        "skinny", "naive_row",       "naive_col",
      "shared", "skinny_mma", "wgmma",  "wgmma_realigned", "unrolled_row"};
  for (int k = first; k < last; ++k) {
    store::Subject subject = sample_subject("gemm_shared");
    subject.kernel.kernel = fmt::format("gemm_{}", kNames.at(static_cast<std::size_t>(k)));
    store::RunRecord record;
    record.uuid = fmt::format("1a29e000-{}", k);
    record.device = "NVIDIA H200";
    record.backend = "cuda";
    record.family = "gemm";
    record.kernel = subject.kernel.kernel;
    record.kernel_hash = subject.kernel.hash;
    record.strategy = "auto";
    record.command = fmt::format("tune --kernel {} --space spaces/gemm.json", record.kernel);
    const std::int64_t run = store.begin_run(subject, record);
    for (int s = 1; s <= sizes; ++s) {
      tune_one_of_many(store, run, 64.0 * s, 1 + 0.05 * ((k + s) % last));
    }
    record.state = store::RunState::complete;
    store.end_run(run, record);
  }
}

store::Store large_store(int kernels, int sizes) {
  store::Store store = store::Store::in_memory();
  add_kernels(store, 0, kernels, sizes);
  return store;
}

std::string sample_space(const std::string& kernel, bool is_typed) {
  std::string parameters;
  for (const char* const name :
       {"TILE_M", "TILE_N", "TILE_K", "BLOCK_X", "BLOCK_Y", "UNROLL", "PAD"}) {
    if (is_typed) break;
    if (!parameters.empty()) parameters += ", ";
    parameters += fmt::format(R"("{}": {{"values": [1], "default": 1}})", name);
  }
  return fmt::format(
      R"({{"format": "space/1", "family": "sample",
          "problem": {{"dims": ["M", "N", "K"{}], "flops": "2*M*N*K", "bytes": 0}},
          "kernels": {{"{}": {{"parameters": {{{}}}}}}}}})",
      is_typed ? R"(, {"name": "TYPE", "default": "f32", "types": {
                   "f32": {"C": "f32"}, "bf16": {"C": "bf16"}, "f64": {"C": "f64"}}})"
               : "",
      kernel, parameters);
}

store::Subject sample_subject(const std::string& kernel) {
  store::Subject subject;
  subject.device.backend = "cuda";
  subject.device.name = "NVIDIA H200";
  subject.device.uuid = "GPU-0";
  subject.device.architecture = "sm_90";
  subject.device.attributes.compute_capability = 90;
  subject.device.attributes.sm_count = 132;
  subject.device.attributes.l2_bytes = 60LL << 20;
  subject.device.attributes.memory_bytes = 140LL << 30;
  subject.environment = {"13.0", "NVRTC 13.0", "cuBLAS 13.0.2", "0.1.0"};
  subject.kernel.family = kernel == "gemm_shared" ? "gemm" : kernel;
  subject.kernel.kernel = kernel;
  subject.kernel.hash = kernel == "gemm_shared" ? "a1b2c3d4e5f60718293a4b5c6d7e8f90" : "ff00";
  subject.kernel.space_text = sample_space(kernel, kernel == kTypedName);
  subject.kernel.source_name = "gemm_shared.cu";
  subject.kernel.headers_json = "[]";
  return subject;
}

store::Store sample_store() {
  store::Store store = store::Store::in_memory();
  tune_gemm_shared(store);
  for (const std::uint64_t seed : {1U, 2U, 3U}) search_anew(store, "auto", seed);
  for (const std::uint64_t seed : {2U, 3U}) search_anew(store, "random", seed);
  for (const std::uint64_t seed : {1U, 2U}) search_anew(store, "bayesian", seed);
  tune_hostile(store);
  tune_typed(store);
  return store;
}

}  // namespace tuner::report
