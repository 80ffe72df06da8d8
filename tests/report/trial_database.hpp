// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sample_store.hpp"
#include "tuner/report/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::report {

inline constexpr const char* kProblem = "512,512,512";

/// A database of one kernel, filled trial by trial.
class Database {
 public:
  void begin_run(
      const std::string& uuid,
      const std::string& command = "tune --kernel gemm_shared --space spaces/gemm.json") {
    store::RunRecord record;
    record.uuid = uuid;
    record.device = subject_.device.name;
    record.backend = "cuda";
    record.family = "gemm";
    record.kernel = subject_.kernel.kernel;
    record.kernel_hash = subject_.kernel.hash;
    record.strategy = "auto";
    record.command = command;
    run_ = store_.begin_run(subject_, record);
    uuid_ = uuid;
    elapsed_s_ = 0;
    record.state = store::RunState::budget_spent;
    record.wall_s = 100;
    store_.end_run(run_, record);
  }
  void add_trial(int a, int b, std::optional<double> ns, Outcome outcome = Outcome::ok,
                 int registers = 64, const std::string& problem = kProblem,
                 std::optional<double> series_ns = {}) {
    store::TrialRecord trial;
    trial.problem = problem;
    trial.config_json = config(a, b);
    trial.outcome = outcome;
    trial.registers = registers;
    if (ns) trial.time = TimeSummary{*ns, *ns, *ns, *ns, 5};
    trial.series_ns = series_ns;
    store_.record_trial(run_, trial, elapsed_s_ += 1);
  }
  static std::string config(int a, int b) { return fmt::format(R"({{"A":{},"B":{}}})", a, b); }
  static store::FinalistRecord finalist(const std::string& role, int a, double ns, double ratio,
                                        double low, double high) {
    const bool library = role == "library";
    return {.role = role,
            .config_json = library ? "" : config(a, 0),
            .time = {ns, ns, ns, ns, 30},
            .ratio_to_best = ratio,
            .ratio_low = low,
            .ratio_high = high,
            .samples_ns = {},
            .clock_mhz = 1980};
  }
  /// The finalist whose ratio is 1 is what the final round chose.
  void add_final(const std::vector<store::FinalistRecord>& finalists, int ties,
                 std::optional<double> library_ratio = {}, const std::string& problem = kProblem) {
    store::BestRecord best;
    best.problem = problem;
    for (const store::FinalistRecord& one : finalists) {
      if (one.role == "default") {
        best.default_ns = one.time.median_ns;
        best.ratio_to_default = one.ratio_to_best;
      }
      if (one.role == "library" || one.ratio_low != 1 || one.ratio_high != 1) continue;
      best.config_json = one.config_json;
      best.time = one.time;
      best.sustained_ns = one.sustained_ns;
    }
    best.ties = ties;
    best.flops = 2e9;
    best.bytes = 3e6;
    best.library_name = "cuBLAS 13.0.2";
    if (library_ratio) {
      best.library_ns = *library_ratio * best.time.median_ns;
      best.ratio_to_library = *library_ratio;
      best.ratio_to_library_low = 0.99 * *library_ratio;
      best.ratio_to_library_high = 1.01 * *library_ratio;
    }
    best.run_uuid = uuid_;
    best.recorded_at = "2025-11-21T09:00:00Z";
    store_.record_final(run_, best, finalists);
  }
  void add_explanation(const store::ExplanationRecord& explanation) {
    store_.record_explanation(run_, explanation);
  }
  /// The size is tuned on this card from now on.
  void add_card(const std::string& problem, const std::string& uuid) {
    store_.record_card(run_, {.problem = problem, .uuid = uuid});
  }
  void use_kernel(const std::string& name) {
    subject_.kernel.kernel = name;
    if (is_typed_) use_types();
  }
  /// Sizes may end in ",TYPE=bf16"; without it they are of f32.
  void use_types() {
    is_typed_ = true;
    subject_.kernel.space_text = sample_space(subject_.kernel.kernel, true);
  }
  /// Of runs that begin from now on.
  void mark_unproven(const std::string& why) {
    const std::string_view before = R"({"parameters")";
    std::string& text = subject_.kernel.space_text;
    text.insert(text.find(before) + 1, fmt::format(R"("unproven": "{}", )", why));
    subject_.kernel.hash = "unproven";
  }
  [[nodiscard]] Json document() const { return report_document(store_, subject_.device.name); }
  [[nodiscard]] Json section(const std::string& kind) const {
    const Json whole = document();
    for (const Json& one : whole.at("kernels").at(0).at("sizes").at(0).at("sections")) {
      if (one.at("kind") == kind) return one;
    }
    return {};
  }

 private:
  store::Subject subject_ = sample_subject("gemm_shared");
  store::Store store_ = store::Store::in_memory();
  std::int64_t run_ = 0;
  std::string uuid_;
  double elapsed_s_ = 0;
  bool is_typed_ = false;
};

}  // namespace tuner::report
