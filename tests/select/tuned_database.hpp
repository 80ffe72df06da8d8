// SPDX-License-Identifier: Apache-2.0
// A database with finals of the example kernels.
#pragma once

#include "example_kernels.hpp"
#include "tests/support/lone_final.hpp"
#include "tuner/store/store.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace tuner::select {

/// One final in the database, or one trial.
struct Put {
  std::string kernel = "tiled";
  std::string problem = {};
  int value = 16;  ///< of the kernel's parameter
  double median_ns = 1000;
  std::optional<double> ratio_to_library = {};
  std::string device = "h200";
  std::string driver = "13.0";
  std::string hash = "new";
  std::string space = kTilesSpace;
  std::optional<double> ratio_to_library_tuned = {};  ///< by the algorithm "fast"
  std::optional<double> back_to_back_ns = {};
  std::string library = "cuBLAS";
  std::optional<Outcome> outcome = {};  ///< of a trial, which there is then instead of the final
};

class TunedDatabase : public testing::Test {
 protected:
  void put(const Put& it) {
    store::Subject subject;
    subject.device = space::device_profile(it.device).value();
    subject.environment = {
        .driver = it.driver, .compiler = "NVRTC 13.0", .library = it.library, .tool = "0.1.0"};
    subject.kernel = example_kernel(it.kernel, it.hash);
    subject.kernel.space_text = it.space;
    store::RunRecord run;
    run.uuid = std::to_string(++puts_);
    run.problems = {it.problem};
    const std::int64_t id = store.begin_run(subject, run);
    store::BestRecord best;
    best.problem = it.problem;
    best.config_json =
        fmt::format("{{\"{}\":{}}}", it.kernel == "tiled" ? "TILE" : "BLOCK", it.value);
    const TimeSummary time{.median_ns = it.median_ns,
                           .q1_ns = it.median_ns,
                           .q3_ns = it.median_ns,
                           .min_ns = it.median_ns,
                           .samples = 30};
    if (it.outcome) {
      store::TrialRecord trial;
      trial.outcome = *it.outcome;
      if (*it.outcome == Outcome::ok) {
        trial.time = time;
        trial.series_ns = it.back_to_back_ns;
      }
      trial.problem = it.problem;
      trial.config_json = best.config_json;
      return store.record_trial(id, trial, 0);
    }
    best.time = time;
    best.ratio_to_library = it.ratio_to_library;
    best.ratio_to_library_tuned = it.ratio_to_library_tuned;
    best.sustained_ns = it.back_to_back_ns;
    if (it.ratio_to_library_tuned) best.library_algorithm = "fast";
    best.flops = 1e6;
    best.recorded_at = fmt::format("2026-01-01T00:00:{:02}Z", puts_);
    store::record_lone_final(store, id, best);
  }

  store::Store store = store::Store::in_memory();

 private:
  int puts_ = 0;
};

}  // namespace tuner::select
