// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/loaded_kernels.hpp"

#include "tuner/core/hash.hpp"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <span>
#include <utility>

namespace tuner::dispatch {
namespace {

constexpr int kMostLate = 2;

}  // namespace

ApplicationCompiler::ApplicationCompiler(const backend::Compiler& own,
                                         const DispatchOptions& options)
    : own_(own), has_foreign_sources_(options.compile_in == CompileIn::helper) {
  std::vector<std::string> arguments = own.helper_arguments();
  if (options.compile_in == CompileIn::process || arguments.empty()) return;
  const auto program = backend::compile_helper();
  lacks_helper_ = !program;
  if (program) {
    helper_.emplace(*program, std::move(arguments),
                    backend::HelperLimits{.deadline = options.compile_deadline,
                                          .memory_bytes = options.compile_memory_bytes});
  } else if (options.compile_in == CompileIn::helper) {
    throw DispatchError(
        "kernels are to be compiled in a helper process, but PREFIX/libexec/tuner/tuner-compile is "
        "not installed beside this library, other users may write to it, or this program is "
        "set-uid: install it, or choose another DispatchOptions::compile_in");
  }
}

Expected<backend::Binary, Failure> ApplicationCompiler::compile(
    const family::CompileJob& job) const {
  return helper_ && has_foreign_sources_ ? helper_->compile(job) : own_.compile(job);
}

LoadedKernels::LoadedKernels(backend::Executor& executor, const DispatchOptions& options,
                             const DispatchSettings& settings)
    : executor_(executor),
      settings_(settings),
      cache_(options.cache.empty() ? backend::default_binary_cache() : options.cache),
      compiler_(executor.compiler(), options),
      cached_(compiler_, cache_,
              backend::compiler_identity(executor.device(), executor.environment())) {}

LoadedKernels::Loaded LoadedKernels::get(const family::CompileJob& job, const CodePlace& code) {
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
  Loaded made = make(job, code);
  if (!made && made.error().is_transient) {
    const std::scoped_lock lock(mutex_);
    kernels_.erase(job.key);
  }
  promise.set_value(made);
  return made;
}

std::optional<LoadedKernels::Loaded> LoadedKernels::load(const family::CompileJob& job,
                                                         const CodePlace& code) {
  if (code.table == nullptr) return std::nullopt;
  const select::TableCode& table = *code.table;
  const space::DeviceInfo& device = executor_.device();
  const std::string objection =
      table.objection(device.architecture, backend::compile_recipe(device.backend));
  if (!objection.empty()) {
    const LogLevel level = table.origin() ? LogLevel::info : LogLevel::warn;
    log_once(level, fmt::format("kernels are compiled from source: {}", objection));
    return std::nullopt;
  }
  const auto not_taken = [&](LogLevel level, std::string_view why) {
    log_once(level, fmt::format("{} is compiled from source: {}", job.entries.front(), why));
  };
  auto compiled = table.find({code.kernel_hash, job.key});
  if (!compiled) {
    not_taken(LogLevel::warn, compiled.error());
    return std::nullopt;
  }
  if (!*compiled || (*compiled)->symbols.size() != job.entries.size()) {
    if (!table.problem().empty()) log_once(LogLevel::warn, table.problem());
    return std::nullopt;
  }
  const auto bytes = std::as_bytes(std::span((*compiled)->image));
  Loaded loaded = executor_.load(
      {.image = {bytes.begin(), bytes.end()}, .symbols = std::move((*compiled)->symbols)});
  if (loaded || loaded.error().is_transient) return loaded;
  not_taken(LogLevel::info, fmt::format("the device does not take the table's compiled code: {}",
                                        loaded.error().message));
  return std::nullopt;
}

void LoadedKernels::log_once(LogLevel level, const std::string& line) {
  {
    const std::scoped_lock lock(mutex_);
    if (!told_.insert(line).second) return;
  }
  log(settings_, level, line);
}

LoadedKernels::Loaded LoadedKernels::make(const family::CompileJob& job,
                                          const CodePlace& code) noexcept {
  try {
    if (auto loaded = load(job, code)) return *std::move(loaded);
    if (late(job.source, 0) >= kMostLate) {
      return Unexpected(Failure{Outcome::compile_timeout,
                                "its source is not compiled any more: other configurations of it "
                                "took longer than their deadline"});
    }
    const auto binary = cached_.compile(job);
    if (binary) return executor_.load(*binary);
    if (!has_compiler()) {
      log_once(LogLevel::warn, fmt::format("kernels that the table does not hold compiled are left "
                                           "out: {}",
                                           binary.error().message));
    }
    if (binary.error().outcome == Outcome::compile_timeout) static_cast<void>(late(job.source, 1));
    return Unexpected(binary.error());
  } catch (const std::exception& exception) {
    return Unexpected(Failure{Outcome::compile_error, exception.what()});
  }
}

int LoadedKernels::late(const source::KernelSource& source, int more) {
  const std::scoped_lock lock(mutex_);
  return late_[content_hash({source.name, source.text})] += more;
}

bool LoadedKernels::has(const std::string& key) const {
  const std::scoped_lock lock(mutex_);
  const auto found = kernels_.find(key);
  return found != kernels_.end() &&
         found->second.wait_for(std::chrono::seconds(0)) == std::future_status::ready &&
         found->second.get();
}

}  // namespace tuner::dispatch
