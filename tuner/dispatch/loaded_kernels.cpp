// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/loaded_kernels.hpp"

#include <chrono>
#include <exception>
#include <utility>

namespace tuner::dispatch {

LoadedKernels::LoadedKernels(backend::Executor& executor, const std::filesystem::path& cache)
    : executor_(executor),
      cache_(cache.empty() ? backend::default_binary_cache() : cache),
      compiler_(executor.compiler(), cache_,
                backend::compiler_identity(executor.device(), executor.environment())) {}

LoadedKernels::Loaded LoadedKernels::get(const family::CompileJob& job) {
  std::promise<Loaded> promise;
  std::shared_future<Loaded> result;
  bool is_ours = false;
  {
    const std::scoped_lock lock(mutex_);
    const auto [place, is_new] = kernels_.try_emplace(job.key);
    if (is_new) place->second = promise.get_future().share();
    result = place->second;
    is_ours = is_new;
  }
  if (!is_ours) return result.get();
  Loaded made = make(job);
  if (!made && made.error().is_transient) {
    const std::scoped_lock lock(mutex_);
    kernels_.erase(job.key);
  }
  promise.set_value(made);
  return made;
}

LoadedKernels::Loaded LoadedKernels::make(const family::CompileJob& job) noexcept {
  try {
    const auto binary = compiler_.compile(job);
    if (!binary) return Unexpected(binary.error());
    return executor_.load(*binary);
  } catch (const std::exception& exception) {
    return Unexpected(Failure{Outcome::compile_error, exception.what()});
  }
}

bool LoadedKernels::has(const std::string& key) const {
  const std::scoped_lock lock(mutex_);
  const auto found = kernels_.find(key);
  return found != kernels_.end() &&
         found->second.wait_for(std::chrono::seconds(0)) == std::future_status::ready &&
         found->second.get();
}

}  // namespace tuner::dispatch
