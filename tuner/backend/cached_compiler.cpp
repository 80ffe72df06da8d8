// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cached_compiler.hpp"

#include "tuner/backend/cpu/host_compiler.hpp"
#include "tuner/core/hash.hpp"

#include <string_view>
#include <utility>

namespace tuner::backend {

std::string compiler_identity(const space::DeviceInfo& device,
                              const space::EnvironmentInfo& environment) {
  const bool on_cpu = device.backend == "cpu";
  // Changes with our options and headers, and with what is left out of a source.
  constexpr std::string_view kCudaRecipe = "toolkit headers 1";
  return content_hash({device.backend, device.architecture, on_cpu ? device.name : "",
                       environment.compiler, environment.tool,
                       on_cpu ? host_compiler_recipe() : std::string(kCudaRecipe)});
}

CachedCompiler::CachedCompiler(const Compiler& compiler, BinaryCache& cache, std::string identity)
    : compiler_(compiler), cache_(cache), identity_(std::move(identity)) {}

Expected<Binary, Failure> CachedCompiler::compile(const family::CompileJob& job) const {
  const std::string key = content_hash({identity_, job.key});
  if (auto known = cache_.find(key)) return *std::move(known);
  auto compiled = compiler_.compile(job);
  if (compiled) cache_.keep(key, *compiled);
  return compiled;
}

}  // namespace tuner::backend
