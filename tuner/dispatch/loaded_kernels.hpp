// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/binary_cache.hpp"
#include "tuner/backend/executor.hpp"
#include "tuner/backend/helper_compiler.hpp"
#include "tuner/dispatch/dispatcher.hpp"
#include "tuner/dispatch/settings.hpp"
#include "tuner/select/table_code.hpp"
#include "tuner/source/source.hpp"

#include <atomic>
#include <filesystem>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tuner::dispatch {

/// Compiles in the application or in a helper process (DispatchOptions::compile_in).
class ApplicationCompiler : public backend::Compiler {
 public:
  /// `own` must outlive it. Throws DispatchError where a helper is asked for and there is none.
  ApplicationCompiler(const backend::Compiler& own, const DispatchOptions& options);

  /// From now on sources may be of a table that was not compiled into the application.
  void expect_foreign_sources() { has_foreign_sources_ = true; }
  /// Whether they are compiled in this process for want of a helper.
  [[nodiscard]] bool lacks_helper() const { return lacks_helper_; }

  [[nodiscard]] Expected<backend::Binary, Failure> compile(
      const family::CompileJob& job) const override;

 private:
  const backend::Compiler& own_;
  std::optional<backend::HelperCompiler> helper_;
  std::atomic<bool> has_foreign_sources_ = false;  // true for good: the table of before still runs
  bool lacks_helper_ = false;
};

/// Where the compiled code of a kernel may be.
struct CodePlace {
  const select::TableCode* table = nullptr;  ///< null: nowhere
  std::string kernel_hash = {};              ///< of its code, as its record has it
};

/// Kernels taken compiled from a table, from the disk cache or from the compiler, in this order,
/// and loaded, each once for its compile key, whichever table asks and however many threads at
/// once. What fails is not tried again, unless the failure is transient. A source of which two
/// compilations missed their deadline is not compiled again: each would hold up a launch.
class LoadedKernels {
 public:
  /// The function of each of the job's entries.
  using Loaded = Expected<std::vector<backend::FunctionId>, Failure>;

  /// The executor and the settings must outlive this. Throws DispatchError when there is no helper
  /// and options ask for one.
  LoadedKernels(backend::Executor& executor, const DispatchOptions& options,
                const DispatchSettings& settings);

  /// From now on kernels may be of a table that was not compiled into the application.
  void expect_foreign_sources() { compiler_.expect_foreign_sources(); }

  /// Waits while another thread is at work on the same kernel.
  [[nodiscard]] Loaded get(const family::CompileJob& job, const CodePlace& code = {});
  /// Whether it is loaded by now; nothing is compiled or waited for.
  [[nodiscard]] bool has(const std::string& key) const;

  /// Whether there is a compiler here. Else only what tables hold compiled can run.
  [[nodiscard]] bool has_compiler() const { return !executor_.environment().compiler.empty(); }
  /// Why compiled kernels are not kept on disk; empty when they are.
  [[nodiscard]] const std::string& cache_problem() const { return cache_.problem(); }
  /// Whether such sources are compiled in this process, without a limit.
  [[nodiscard]] bool lacks_helper() const { return compiler_.lacks_helper(); }

 private:
  [[nodiscard]] Loaded make(const family::CompileJob& job, const CodePlace& code) noexcept;
  /// By the code of a table; none where that has none which the device takes.
  [[nodiscard]] std::optional<Loaded> load(const family::CompileJob& job, const CodePlace& code);

  void log_once(LogLevel level, const std::string& line);

  /// Counts a compilation that missed its deadline; how many there were of a source.
  [[nodiscard]] int late(const source::KernelSource& source, int more);

  backend::Executor& executor_;
  const DispatchSettings& settings_;
  backend::BinaryCache cache_;
  ApplicationCompiler compiler_;
  backend::CachedCompiler cached_;
  mutable std::mutex mutex_;                                   // of what follows
  std::set<std::string> told_;                                 // lines about compiled code
  std::map<std::string, int> late_;                            // by the hash of a source
  std::map<std::string, std::shared_future<Loaded>> kernels_;  // by compile key
};

}  // namespace tuner::dispatch
