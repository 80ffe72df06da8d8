// SPDX-License-Identifier: Apache-2.0
// The rows of the database as values. Times are nanoseconds; a time that does not exist is absent,
// never a sentinel.
#pragma once

#include "tuner/core/clock_limit.hpp"
#include "tuner/core/energy_summary.hpp"
#include "tuner/core/record.hpp"
#include "tuner/core/trial_result.hpp"
#include "tuner/counters/bound.hpp"
#include "tuner/space/device.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::store {

/// A kernel as it was when tuned: enough to launch it again without the space file.
struct KernelRecord {
  std::string family;
  std::string kernel;
  std::string hash;        ///< Kernel::hash
  std::string space_text;  ///< the space file
  std::string source_name;
  std::string source_text;
  std::string headers_json;  ///< [{"name":…,"text":…}]

  static constexpr auto fields() {
    return std::tuple(
        Field("family", &KernelRecord::family), Field("name", &KernelRecord::kernel, "kernel"),
        Field("hash", &KernelRecord::hash), Field("space_text", &KernelRecord::space_text, "space"),
        Field("source_name", &KernelRecord::source_name),
        Field("source_text", &KernelRecord::source_text, "source"),
        Field("headers_json", &KernelRecord::headers_json, "headers"));
  }
};

/// What a result was measured on and for.
struct Subject {
  space::DeviceInfo device;
  space::EnvironmentInfo environment;
  KernelRecord kernel;
  /// check_hash of its family: what decided whether it is right. Empty: not known, as of what was
  /// recorded before schema 3; such a result is as good as any to answer from, but a run judges it
  /// anew.
  std::string check_hash = {};
};

/// The result of one candidate at one size.
struct TrialRecord : TrialResult {
  std::string problem;      ///< canonical size, "4096,4096,4096"
  std::string config_json;  ///< canonical_json
  std::uint64_t check_seed = 0;
  int registers = 0;
  std::uint64_t shared_bytes = 0;
  std::uint64_t local_bytes = 0;
  double compile_ms = 0;  ///< 0 when another candidate had compiled the same binary

  static constexpr auto fields() {
    return std::tuple_cat(TrialResult::fields(),
                          std::tuple(Field("check_seed", &TrialRecord::check_seed),
                                     Field("registers", &TrialRecord::registers),
                                     Field("shared_bytes", &TrialRecord::shared_bytes),
                                     Field("local_bytes", &TrialRecord::local_bytes),
                                     Field("compile_ms", &TrialRecord::compile_ms)));
  }
};

/// A stored trial with its place in the database.
struct StoredTrial {
  std::int64_t id = 0;
  std::int64_t run = 0;
  std::int64_t sequence = 0;  ///< 1 for the run's first trial of this problem
  double elapsed_s = 0;       ///< since the run began
  std::int64_t config = 0;    ///< the id of its configuration, one for all runs of the kernel
  TrialRecord trial;
};

/// Whether a candidate that ended so is run again by a run that reuses results: the device may
/// have settled, the strikes may be cleared.
[[nodiscard]] bool is_worth_another_try(Outcome outcome);

/// The trials that stand: a run may run a configuration again, when the device has drifted or
/// the configuration falls out of a final, and then the later trial counts. In the order given.
[[nodiscard]] std::vector<StoredTrial> standing_trials(std::vector<StoredTrial> trials);

/// One contender of a final: re-timed in rounds beside the others.
struct FinalistRecord {
  /// "candidate", "default", "incumbent", "library", "library_tuned": by the fastest of its
  /// algorithms.
  std::string role;
  std::string config_json;  ///< empty for the library
  TimeSummary time;
  /// Median over rounds of its time / the winner's in the same round: back to back where both were
  /// timed so, else cold.
  double ratio_to_best = 1;
  double ratio_low = 1, ratio_high = 1;  ///< 95 % interval of that median; below 6 rounds the range
  std::vector<double> samples_ns;
  std::optional<double> hot_ns = {};     ///< a run with its data in the cache
  std::optional<double> clock_mhz = {};  ///< median clock of the samples, where the device tells
  /// A run back to back after a pause, and one of many without any: they differ where power limits
  /// the clock.
  std::optional<double> rested_ns = {}, sustained_ns = {};
  std::optional<EnergySummary> energy = {};  ///< of a run, where it was measured
  std::int64_t config = 0;                   ///< when read: as of StoredTrial; 0 for the library

  /// Of its row: the configuration and the energy are in tables of their own.
  static constexpr auto fields() {
    return std::tuple(Field("role", &FinalistRecord::role), Field("time", &FinalistRecord::time),
                      Field("ratio_to_best", &FinalistRecord::ratio_to_best),
                      Field("ratio_low", &FinalistRecord::ratio_low),
                      Field("ratio_high", &FinalistRecord::ratio_high),
                      Field("samples_ns", &FinalistRecord::samples_ns),
                      Field("hot_ns", &FinalistRecord::hot_ns),
                      Field("clock_mhz", &FinalistRecord::clock_mhz),
                      Field("rested_ns", &FinalistRecord::rested_ns),
                      Field("sustained_ns", &FinalistRecord::sustained_ns));
  }
};

/// Whether times rested and sustained are known and differ by more than 1 %.
[[nodiscard]] bool regimes_differ(const std::optional<double>& rested_ns,
                                  const std::optional<double>& sustained_ns);

struct BestRecord;
/// Whether its ratios compare launches back to back with cold operands, and its search ranked by
/// them: where they were timed. Else single launches from a cold cache (`time`) are what counts.
[[nodiscard]] bool is_back_to_back(const BestRecord& best);
/// The time that a best is ranked by, in nanoseconds: back to back or from a cold cache, as
/// is_back_to_back says.
[[nodiscard]] double ranking_ns(const BestRecord& best);
/// How many times as long single launches of the default take, the one measure that every final
/// round has of it. None where it was not timed so.
[[nodiscard]] std::optional<double> cold_gain(const BestRecord& best);
/// The library's single launches over the best's. None where it was not timed.
[[nodiscard]] std::optional<double> cold_ratio_to_library(const BestRecord& best);

/// What the times of a final round's contenders are, as it is stored: of single launches from a
/// cold cache, interleaved.
inline constexpr std::string_view kTimeMetric = "cold";

/// Where a field of a best is written beside its row and `--json`.
struct BestUse {
  /// In a line of `tune export`, behind the object that has it: "library.ratio". Empty: nowhere.
  std::string_view line = {};
  std::string_view table = {};  ///< in a dispatch table; empty: nowhere
  double below = 1e15;          ///< what a number read from either must be less than, as the schema
  bool is_omitted = false;      ///< where it has no value: not written at all, else as null
};

struct BestRecord;
template <class Member>
struct BestField : Field<BestRecord, Member> {
  constexpr BestField(std::string_view its_name, Member BestRecord::*its_member, BestUse its_use)
      : BestField(its_name, its_member, its_name, its_use) {}
  constexpr BestField(std::string_view its_name, Member BestRecord::*its_member,
                      std::string_view its_key, BestUse its_use)
      : Field<BestRecord, Member>(its_name, its_member, its_key), use(its_use) {}
  BestUse use;
};

/// What other rows than its own say of a best: those of its run, and of its contender in the run's
/// final round. Read with a best; a write goes by its run and its finalists.
struct BestContext {
  std::optional<double> joules = {};     ///< of a run, where its final round measured it
  std::optional<double> clock_mhz = {};  ///< as of FinalistRecord
  ClockLimit clock_limit = {};           ///< as of RunRecord
  bool shared = false;                   ///< other processes were on the device in its run

  /// By its column, a name that no other of the joined tables has.
  static constexpr auto fields() {
    return std::tuple(
        Field("joules", &BestContext::joules), Field("clock_mhz", &BestContext::clock_mhz),
        Field("clock_limit", &BestContext::clock_limit), Field("shared", &BestContext::shared));
  }
};

/// The best known configuration of a kernel for a size on a device.
struct BestRecord : BestContext {
  std::string problem;
  std::string config_json;
  TimeSummary time;
  std::optional<double> library_ns;  ///< median of the library in the same final
  std::optional<double> default_ns;  ///< median of the default configuration, likewise
  std::optional<double>
      ratio_to_library;  ///< library time / ours as FinalistRecord::ratio_to_best: above 1, ours is
                         ///< faster
  std::optional<double> ratio_to_default;
  std::optional<double> ratio_to_library_low, ratio_to_library_high;  ///< as FinalistRecord's
  std::string library_name;                                           ///< "cuBLAS 13.0.2"
  int ties = 0;                 ///< other finalists within 1 %
  double flops = 0, bytes = 0;  ///< of the problem
  std::string run_uuid;         ///< when read; a write goes by its run
  std::string recorded_at;      ///< UTC, ISO 8601; empty in a write: now
  bool verified = true;         ///< proved right on this machine; an imported one is not yet
  std::string origin = {};      ///< where an imported one comes from; empty for one of our own
  /// The library's fastest algorithm (LibraryCall::algorithm), where it is faster than what the
  /// library chooses itself, and its time / ours; else empty.
  std::string library_algorithm = {};
  std::optional<double> ratio_to_library_tuned = {};
  std::optional<double> rested_ns = {}, sustained_ns = {};  ///< as of FinalistRecord

  /// Of its row, in the order that dispatch tables have.
  static constexpr auto fields() {
    constexpr double kMostRatio = 1e9, kMostWork = 1e30;
    return std::tuple(
        BestField("time", &BestRecord::time, {.line = "time_ns"}),
        BestField("rested_ns", &BestRecord::rested_ns, {}),
        BestField("sustained_ns", &BestRecord::sustained_ns,
                  {.line = "back_to_back_ns", .table = "back_to_back_ns", .is_omitted = true}),
        BestField("library_ns", &BestRecord::library_ns, {.line = "library.median_ns"}),
        BestField("default_ns", &BestRecord::default_ns, {.line = "default.median_ns"}),
        BestField("flops", &BestRecord::flops,
                  {.line = "flops", .table = "flops", .below = kMostWork}),
        BestField("bytes", &BestRecord::bytes, {.line = "bytes", .below = kMostWork}),
        BestField("ratio_to_library", &BestRecord::ratio_to_library,
                  {.line = "library.ratio", .table = "ratio_to_library", .below = kMostRatio}),
        BestField("ratio_to_library_low", &BestRecord::ratio_to_library_low,
                  {.line = "library.ratio_low", .below = kMostRatio}),
        BestField("ratio_to_library_high", &BestRecord::ratio_to_library_high,
                  {.line = "library.ratio_high", .below = kMostRatio}),
        BestField("ratio_to_default", &BestRecord::ratio_to_default,
                  {.line = "default.ratio", .below = kMostRatio}),
        BestField("library_name", &BestRecord::library_name, "library",
                  {.line = "library.name", .table = "library"}),
        BestField("library_algorithm", &BestRecord::library_algorithm,
                  {.table = "library_algorithm", .is_omitted = true}),
        BestField("ratio_to_library_tuned", &BestRecord::ratio_to_library_tuned,
                  {.table = "ratio_to_library_tuned", .below = kMostRatio, .is_omitted = true}),
        BestField("ties", &BestRecord::ties, {.line = "ties"}),
        BestField("recorded_at", &BestRecord::recorded_at, {.table = "recorded_at"}),
        BestField("verified", &BestRecord::verified, {.table = "verified"}),
        BestField("origin", &BestRecord::origin, {}));
  }
};

/// What several results are compared by, bests or contenders of a final round: launches back to
/// back where all were timed so, else single ones from a cold cache.
class CommonMeasure {
 public:
  explicit CommonMeasure(const auto& pointers_to_results)
      : is_back_to_back_(std::ranges::all_of(pointers_to_results, [](const auto* result) {
          return result->sustained_ns.has_value();
        })) {}

  [[nodiscard]] bool is_back_to_back() const { return is_back_to_back_; }
  /// Of one of those results, in nanoseconds.
  [[nodiscard]] double ns(const auto& result) const {
    return is_back_to_back_ ? *result.sustained_ns : result.time.median_ns;
  }

 private:
  bool is_back_to_back_;
};

/// What a time counts in a ranking. Another card of the same model took an imported one, which is
/// not verified here: it counts as 10 % longer.
[[nodiscard]] double ranked_ns(double ns, bool verified);

/// The places of bests at one size, the fastest first: by their common measure, each by its
/// ranked_ns.
[[nodiscard]] std::vector<std::size_t> fastest_first(std::span<const BestRecord* const> bests);

/// A stored best with what it was measured on.
struct StoredBest {
  std::shared_ptr<const Subject> subject;  ///< bests of the same subject share it; never null
  BestRecord best;
};

enum class RunState {
  running,
  complete,
  budget_spent,
  interrupted,
  imported,  ///< it ran elsewhere and only its bests are here
};
[[nodiscard]] std::string_view name(RunState state);

/// One `tune` run on one kernel.
struct RunRecord {
  std::int64_t id = 0;
  std::string uuid;
  std::string device, backend, family, kernel, kernel_hash;
  std::vector<std::string> problems;
  std::string strategy;
  std::uint64_t seed = 0;
  std::string command;               ///< as typed
  std::string started_at, ended_at;  ///< UTC, ISO 8601; ended_at empty while running
  RunState state = RunState::running;
  std::uint64_t valid = 0, cartesian = 0;  ///< configurations
  double wall_s = 0, compile_s = 0, verify_s = 0, measure_s = 0;
  int respawns = 0;     ///< how often the process that drives the device was replaced
  bool shared = false;  ///< other processes were on the device
  bool merged = false;  ///< of another database (when read)
  space::EnvironmentInfo environment = {};  ///< when read; a write goes by its subject
  ClockLimit clock_limit = {};              ///< of its first card, in a write

  /// What its row says of the run, without how it stands. The clock limit is in a table of its own,
  /// which has a row only where a card tells it.
  static constexpr auto fields() {
    return std::tuple(
        Field("strategy", &RunRecord::strategy), Field("seed", &RunRecord::seed),
        Field("command", &RunRecord::command), Field("valid", &RunRecord::valid),
        Field("cartesian", &RunRecord::cartesian), Field("wall_s", &RunRecord::wall_s),
        Field("compile_s", &RunRecord::compile_s), Field("verify_s", &RunRecord::verify_s),
        Field("measure_s", &RunRecord::measure_s), Field("respawns", &RunRecord::respawns),
        Field("shared", &RunRecord::shared));
  }
};

/// "complete", "complete, merged".
[[nodiscard]] std::string state_text(const RunRecord& run);

/// A candidate that is about to run on the device: committed before it does, so that what kills the
/// whole program is known afterwards.
struct AttemptRecord {
  std::string problem;
  std::string config_json;
};

/// That a run tunes a size on a card.
struct CardRecord {
  std::string problem;
  std::string uuid;
  std::string host = {};  ///< empty in a write: this one
  std::string job = {};   ///< of the batch system, SLURM_JOB_ID; empty in a write: this process's
  std::int64_t first_sequence = 0;  ///< when read: from this trial of the size on
};

/// The card that each size of a run ended on, by size: that of its final round. Of what
/// Store::cards returns.
[[nodiscard]] std::map<std::string, CardRecord> last_cards(const std::vector<CardRecord>& cards);

/// A configuration that crashed, hung or died with its run; `kStrikesToQuarantine` of them and
/// it is not run again on this architecture while the kernel's hash stays.
struct StrikeRecord {
  std::string family, kernel, kernel_hash, architecture;
  std::string config_json;
  int strikes = 0;
  std::string reason;   ///< of the latest
  std::string last_at;  ///< UTC, ISO 8601
};
inline constexpr int kStrikesToQuarantine = 2;

/// One check for drift: the time of the same work, repeated at intervals during a run.
struct DriftRecord {
  double elapsed_s = 0;
  std::string problem;
  double median_ns = 0;
  std::optional<double> clock_mhz;
};

/// A time beside that of the best configuration, in the same rounds.
struct ComparedTime {
  bool operator==(const ComparedTime&) const = default;

  double median_ns = 0;
  double ratio_to_best = 1;
  double ratio_low = 1, ratio_high = 1;  ///< 95 % interval

  static constexpr auto fields() {
    return std::tuple(Field("median_ns", &ComparedTime::median_ns),
                      Field("ratio_to_best", &ComparedTime::ratio_to_best),
                      Field("ratio_low", &ComparedTime::ratio_low),
                      Field("ratio_high", &ComparedTime::ratio_high));
  }
};

/// A contender of an explanation.
struct ExplainedRecord {
  std::string role;                        ///< "best", "neighbour", "default", "library"
  std::string config_json;                 ///< empty: the library
  std::string parameter = {};              ///< of a neighbour: the one that differs
  std::optional<ComparedTime> timed = {};  ///< absent: it could not be timed
  counters::Profile profile = {};          ///< when read: without the occupancy

  /// Of its row: the configuration is in a table of its own.
  static constexpr auto fields() {
    return std::tuple(
        Field("role", &ExplainedRecord::role), Field("parameter", &ExplainedRecord::parameter),
        Field("timed", &ExplainedRecord::timed), Field("profile", &ExplainedRecord::profile));
  }
};

/// Why the best configuration of a size is the fastest: what `tune explain` found.
struct ExplanationRecord {
  std::string problem;                ///< canonical size
  std::string recorded_at = {};       ///< UTC, ISO 8601; empty in a write: now
  std::string counters_problem = {};  ///< why there are no counters, or not those of all
  std::optional<double> peak_flops_per_s = {}, peak_bytes_per_s = {};  ///< of the device then
  std::vector<ExplainedRecord> contenders;                             ///< the best one first

  /// Of its row.
  static constexpr auto fields() {
    return std::tuple(Field("recorded_at", &ExplanationRecord::recorded_at),
                      Field("counters_problem", &ExplanationRecord::counters_problem),
                      Field("peak_flops_per_s", &ExplanationRecord::peak_flops_per_s),
                      Field("peak_bytes_per_s", &ExplanationRecord::peak_bytes_per_s));
  }
};

/// A configuration that a portfolio has.
struct PortfolioMember {
  bool operator==(const PortfolioMember&) const = default;

  std::string kernel;
  std::string kernel_hash;
  std::string config_json;  ///< canonical
};

/// A size at which members of a portfolio were timed.
struct PortfolioSize {
  bool operator==(const PortfolioSize&) const = default;

  std::string problem;  ///< canonical size
  double weight = 1;
  /// Of the fastest member and of the library, by single launches from a cold cache: in portfolios
  /// of before schema 10.
  std::optional<double> member_cold_ns = {}, library_cold_ns = {};
  /// Back to back. Absent: no member ran; the family has no library, or it failed.
  std::optional<double> member_ns = {}, library_ns = {};

  /// Of its row: sizes are in a table of their own.
  static constexpr auto fields() {
    return std::tuple(Field("weight", &PortfolioSize::weight),
                      Field("member_cold_ns", &PortfolioSize::member_cold_ns),
                      Field("library_cold_ns", &PortfolioSize::library_cold_ns),
                      Field("member_ns", &PortfolioSize::member_ns),
                      Field("library_ns", &PortfolioSize::library_ns));
  }
};

/// Few configurations, over all kernels of a family, that serve the sizes of a distribution.
struct PortfolioRecord {
  std::string family;
  std::string types = {};         ///< of its sizes: "TYPE=bf16"; empty where sizes name no types
  std::string distribution = {};  ///< where the sizes are from
  std::string recorded_at = {};   ///< UTC, ISO 8601; empty in a write: now
  double loss = 1;  ///< time of what serves / the shortest known, geometric mean over the sizes
  std::optional<double> left_out_loss = {};  ///< the same at sizes that did not take part
  std::vector<PortfolioMember> members;      ///< in the order chosen
  std::vector<PortfolioSize> sizes;
  space::EnvironmentInfo environment = {};

  /// Of its row.
  static constexpr auto fields() {
    return std::tuple(
        Field("family", &PortfolioRecord::family), Field("types", &PortfolioRecord::types),
        Field("distribution", &PortfolioRecord::distribution),
        Field("recorded_at", &PortfolioRecord::recorded_at), Field("loss", &PortfolioRecord::loss),
        Field("left_out_loss", &PortfolioRecord::left_out_loss));
  }
};

}  // namespace tuner::store
