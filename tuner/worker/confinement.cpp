// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/confinement.hpp"

#include "tuner/core/environment.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

namespace tuner::worker {
namespace {

namespace fs = std::filesystem;

/// The absolute ones of a list such as PATH.
std::vector<fs::path> folders_in(const std::string& list) {
  std::vector<fs::path> folders;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ':');) {
    if (word.starts_with('/')) folders.push_back(fs::path(word).lexically_normal());
  }
  return folders;
}

/// Where a program is that is started so.
std::vector<fs::path> places_of(const std::string& program) {
  if (program.find('/') != std::string::npos) return {fs::absolute(program)};
  std::vector<fs::path> places;
  for (const fs::path& folder : folders_in(environment_variable("PATH"))) {
    if (std::error_code ignored; fs::exists(folder / program, ignored)) {
      places.push_back(folder / program);
    }
  }
  return places;
}

fs::path real_path(const fs::path& path) {
  std::error_code ignored;
  const fs::path real = fs::canonical(path, ignored);
  return real.empty() ? path : real;
}

/// Whether the home directory is a folder or below it.
bool holds_home(const fs::path& folder) {
  const fs::path home = real_path(environment_variable("HOME"));
  const fs::path above = real_path(folder);
  return std::ranges::mismatch(above, home).in1 == above.end();
}

/// The folder of a program with its libraries: above bin. Never one that holds the home directory.
fs::path installation(const fs::path& program) {
  const fs::path folder = program.parent_path();
  if (folder.filename() == "bin" && !holds_home(folder.parent_path())) return folder.parent_path();
  return holds_home(folder) ? program : folder;
}

}  // namespace

WorkerSandbox worker_sandbox() {
  constexpr std::string_view kNothing = "compilers and kernels are not confined";
  const std::string asked = environment_variable("TUNER_SANDBOX");
  if (asked == "off") {
    return {.active = {}, .lack = fmt::format("TUNER_SANDBOX=off: {}", kNothing)};
  }
  if (!asked.empty()) {
    throw Error(ErrorCode::usage, fmt::format("TUNER_SANDBOX={}: must be unset, or 'off'", asked));
  }
  if (const std::string_view variable = injecting_variable(); !variable.empty()) {
    return {.active = {}, .lack = fmt::format("{} is set: {}", variable, kNothing)};
  }
  const SandboxSupport support = sandbox_support();
  return {.active = support, .lack = support.lack()};
}

std::vector<fs::path> files_needed_by(const std::string& program) {
  std::vector<fs::path> files = {
      "/usr",       "/lib",       "/lib32", "/lib64", "/libx32",         "/bin", "/sbin", "/opt",
      "/nix/store", "/gnu/store", "/proc",  "/sys",   "/etc/ld.so.cache"};
  for (const std::string& started : {program, environment_variable("TUNER_HOST_CXX")}) {
    if (started.empty()) continue;
    for (const fs::path& link : places_of(started)) {
      for (const fs::path& place : {link, real_path(link)}) files.push_back(installation(place));
    }
  }
  for (const char* const name :
       {"PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH",
        "COMPILER_PATH", "GCC_EXEC_PREFIX", "CUDA_HOME", "CUDA_PATH"}) {
    for (const fs::path& folder : folders_in(environment_variable(name))) {
      if (!holds_home(folder)) files.push_back(folder);
    }
  }
  return files;
}

void confine_worker(Confinement confinement) {
  if (!worker_sandbox().active) return;
  ::setenv("CCACHE_DISABLE", "1", 1);  // its folder is none of these
  confinement.writable.emplace_back(environment_variable("TMPDIR"));
  confine_process(confinement);
}

std::optional<std::uint64_t> kernel_memory_bytes() {
  std::ifstream information("/proc/meminfo");
  for (std::string word; information >> word;) {
    std::uint64_t kib = 0;
    if (word == "MemAvailable:" && information >> kib) return kib * 1024;
  }
  return std::nullopt;
}

void limit_kernels() {
  if (!worker_sandbox().active) return;
  refuse_processes();
  if (const auto free_bytes = kernel_memory_bytes()) limit_memory(*free_bytes);
}

}  // namespace tuner::worker
