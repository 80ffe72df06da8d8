// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/disassembly.hpp"

#include "tuner/core/environment.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/process.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::backend {
namespace {

/// Programs to try, in this order. A privileged program runs none that its user has put on PATH.
std::vector<std::string> disassemblers() {
  std::vector<std::string> programs;
  if (!is_privileged()) programs.emplace_back("cuobjdump");
  if (const std::string home = environment_variable("CUDA_HOME"); !home.empty()) {
    programs.push_back(home + "/bin/cuobjdump");
  }
  programs.emplace_back("/usr/local/cuda/bin/cuobjdump");
  return programs;
}

}  // namespace

std::optional<counters::InstructionMix> instructions_of(const Binary& binary) {
  constexpr std::chrono::seconds kDeadline{20};
  constexpr std::size_t kMostBytes = std::size_t{64} * 1024 * 1024;
  const TemporaryDirectory directory;
  const std::string file = directory.path() / "kernel.cubin";
  write_file(file, std::string_view(reinterpret_cast<const char*>(binary.image.data()),
                                    binary.image.size()));
  for (const std::string& program : disassemblers()) {
    try {
      const ProcessResult listed =
          run_process({program, "-sass", file}, kDeadline, {},
                      {.most_output_bytes = kMostBytes, .keeps_errors = false});
      if (listed.exit_code == 0 && !listed.timed_out) {
        return counters::instruction_mix(listed.output);
      }
    } catch (const Error&) {
      // Not there: the next one.
    }
  }
  return std::nullopt;
}

}  // namespace tuner::backend
