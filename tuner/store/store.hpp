// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/store/records.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::store {

/// Which rows a question is about; an absent field matches everything.
struct ResultFilter {
  std::optional<std::string> device = {};  ///< exact name
  std::optional<std::string> family = {};
  std::optional<std::string> kernel = {};
  std::optional<std::string> problem = {};
};

/// What became of bests of elsewhere.
struct ImportResult {
  std::size_t added = 0;
  std::size_t kept = 0;  ///< left out, because what is here for the same key is as good
};

/// Throws Error for a kernel that must not be taken over.
using KernelCheck = std::function<void(const KernelRecord&)>;

/// What became of another database.
struct MergeResult {
  std::size_t runs = 0;     ///< added, with all their rows
  std::size_t known = 0;    ///< left out: here already
  std::size_t running = 0;  ///< left out: not ended yet
  ImportResult bests;
};

/// The results database: one SQLite file (docs/reference/database.md), rollback journal, every
/// trial committed before the next begins. Methods throw Error(failure) with the file's path and
/// the reason (read-only, disk full, locked by another process for 10 s, damaged); what was
/// committed before stays.
class Store {
 public:
  enum class Mode { read_write, read_only };
  enum class Trust {
    own_files,  ///< of the user or of root, that no other user may write, on a local file system
    any_file,   ///< the user says that it is all right
  };

  /// Opens a database, creating it (and its directory, private to the user) in read_write mode, and
  /// brings an older schema up to date after a copy to PATH.schema-N.bak. Checks every page and
  /// every row. Throws Error(usage) when the file is no database of ours, comes from a newer
  /// version or is not to be trusted, Error(nothing_found) when in read_only mode there is none,
  /// and Error(failure) when it is damaged.
  Store(const std::filesystem::path& path, Mode mode, Trust trust = Trust::own_files);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  /// A database in memory, gone with the object.
  [[nodiscard]] static Store in_memory();

  [[nodiscard]] const std::filesystem::path& path() const;

  /// Begins a run and returns its id. `record.id`, `started_at`, `ended_at` and `state` are set
  /// here.
  [[nodiscard]] std::int64_t begin_run(const Subject& subject, const RunRecord& record);
  /// `record` gives the state, the seconds spent, `respawns` and `shared`; the rest is left as it
  /// began. What is still attempted was given up, not fatal: it leaves no trace.
  void end_run(std::int64_t run, const RunRecord& record);
  /// Commits one trial and closes the attempt at it. `next` is begun in the same transaction, as by
  /// begin_attempt. A configuration that is found wrong (wrong_result, out_of_bounds,
  /// nondeterministic) is no best of this subject and problem any more. Refused with
  /// Error(failure): a time without `ok` or `ok` without a time, a time that is not finite or not
  /// in order (0 < min <= q1 <= median <= q3 < 1e15 ns).
  void record_trial(std::int64_t run, const TrialRecord& trial, double elapsed_s,
                    const std::optional<AttemptRecord>& next = {});
  /// Commits a final: its contenders, at least one, and the best configuration, which replaces what
  /// was best for this device, kernel hash, environment and problem.
  void record_final(std::int64_t run, const BestRecord& best,
                    const std::vector<FinalistRecord>& finalists);

  /// Commits why the best configuration of a size is the fastest, beside the run that found it.
  void record_explanation(std::int64_t run, const ExplanationRecord& explanation);
  /// The latest of a run and problem; none where it was not explained.
  [[nodiscard]] std::optional<ExplanationRecord> explanation(std::int64_t run,
                                                             std::string_view problem) const;

  /// Commits a portfolio for a device model in the environment that it names. Its members were
  /// tried on it: throws Error(failure) where the kernel of one is not in the database.
  void record_portfolio(const space::DeviceInfo& device, const PortfolioRecord& portfolio);
  /// For a device model by its identity, the newest of each family and types.
  [[nodiscard]] std::vector<PortfolioRecord> portfolios(const space::DeviceInfo& device) const;

  /// Commits that from now on a size is tuned on this card.
  void record_card(std::int64_t run, const CardRecord& card);
  /// In the order recorded; none of a run that has only the card of its subject.
  [[nodiscard]] std::vector<CardRecord> cards(std::int64_t run) const;

  /// Commits that a candidate is about to run on the device. Nothing more when it is begun already.
  void begin_attempt(std::int64_t run, const AttemptRecord& attempt);
  /// Commits that a configuration crashed, timed out, or ended its process.
  void add_strike(std::int64_t run, std::string_view config_json, std::string_view reason);
  /// Removes the strikes of this run against these configurations: the device was at fault.
  void withdraw_strikes(std::int64_t run, std::span<const std::string> config_jsons);
  /// Ends, as `interrupted`, the running runs whose process is gone, and turns each of their
  /// open attempts into a strike. Runs of another host or another container's processes are
  /// left alone. Returns what was struck.
  std::vector<StrikeRecord> collect_dead_attempts();
  /// By canonical configuration, for this kernel hash and this architecture.
  [[nodiscard]] std::map<std::string, int> strikes(const Subject& subject) const;
  [[nodiscard]] std::vector<StrikeRecord> strikes() const;  ///< the latest first
  /// Forgets the strikes that match and returns how many configurations had some. Strikes are not
  /// kept by size: `filter.problem` is not looked at.
  std::size_t clear_strikes(const ResultFilter& filter);
  void record_drift(std::int64_t run, const DriftRecord& drift);
  [[nodiscard]] std::vector<DriftRecord> drift_records(std::int64_t run) const;  ///< in order

  /// Adds bests of elsewhere (parse_best_lines), all or none, as not verified and of `origin`. None
  /// replaces a verified one, or is added if an existing one is as fast.
  ImportResult import_bests(std::span<const StoredBest> bests, std::string_view origin);
  /// Adds the ended runs of another database that are not here, by uuid, with all their rows,
  /// and its bests as import_bests does; all or none. `check` sees each of its kernels before
  /// anything is changed, and throws where the code is not what the hash says.
  MergeResult merge(const Store& other, const KernelCheck& check);

  /// The trials of a kernel at a size on this very device model and environment, judged by this
  /// very check, that a run need not do again, by canonical configuration; of several the latest
  /// decides. One that ended `unstable` or `quarantined` is not known: the device may have settled,
  /// the strikes may be cleared. A `timeout` or `crashed` is known, whatever its strikes, so that
  /// it is not run again at the same size.
  [[nodiscard]] std::map<std::string, TrialRecord> known_trials(const Subject& subject,
                                                                std::string_view problem) const;

  /// Newest first. What earlier versions stored as best by screening times alone is not among them.
  [[nodiscard]] std::vector<StoredBest> bests(const ResultFilter& filter) const;
  /// The runs of this machine and merged ones, not `imported` runs; newest first.
  [[nodiscard]] std::vector<RunRecord> runs() const;
  /// A run by id or by the beginning of its uuid. Throws Error(usage) when several fit.
  [[nodiscard]] std::optional<RunRecord> run(std::string_view id_or_uuid) const;
  [[nodiscard]] std::vector<StoredTrial> trials(std::int64_t run) const;  ///< in order
  /// Visits the trials one by one, size by size: a run may have more than should be in memory.
  /// Only the first trial of a configuration has its text (`config_json`).
  void each_trial(std::int64_t run, const std::function<void(const StoredTrial&)>& visit) const;
  /// The latest trial of every configuration over all runs that match, in the order made.
  [[nodiscard]] std::vector<StoredTrial> trials(const ResultFilter& filter) const;
  /// The contenders of the latest final round of a run and problem, best first.
  [[nodiscard]] std::vector<FinalistRecord> finalists(std::int64_t run,
                                                      std::string_view problem) const;
  /// The device models, the one used last first, each with the uuid of the card used last.
  [[nodiscard]] std::vector<space::DeviceInfo> devices() const;
  /// The kernels of runs that match, each version of a source on its own, the one used last
  /// first.
  [[nodiscard]] std::vector<KernelRecord> kernels(const ResultFilter& filter) const;

  struct State;  // internal to store

 private:
  std::unique_ptr<State> state_;
};

/// Of the SQLite library that is loaded: "3.40.1".
[[nodiscard]] std::string_view sqlite_version();

}  // namespace tuner::store
