// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/binary_cache.hpp"
#include "tuner/backend/cached_compiler.hpp"
#include "tuner/backend/executor.hpp"

#include <filesystem>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace tuner::dispatch {

/// Kernels compiled (or read from the disk cache) and loaded, each once for its compile key,
/// whichever table asks and however many threads at once. What fails is not tried again, unless the
/// failure is transient.
class LoadedKernels {
 public:
  /// The function of each of the job's entries.
  using Loaded = Expected<std::vector<backend::FunctionId>, Failure>;

  /// The executor must outlive this.
  LoadedKernels(backend::Executor& executor, const std::filesystem::path& cache);

  /// Waits while another thread is at work on the same kernel.
  [[nodiscard]] Loaded get(const family::CompileJob& job);
  /// Whether it is loaded by now; nothing is compiled or waited for.
  [[nodiscard]] bool has(const std::string& key) const;

  /// Why compiled kernels are not kept on disk; empty when they are.
  [[nodiscard]] const std::string& cache_problem() const { return cache_.problem(); }

 private:
  [[nodiscard]] Loaded make(const family::CompileJob& job) noexcept;

  backend::Executor& executor_;
  backend::BinaryCache cache_;
  backend::CachedCompiler compiler_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_future<Loaded>> kernels_;  // by compile key
};

}  // namespace tuner::dispatch
