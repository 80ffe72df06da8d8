// SPDX-License-Identifier: Apache-2.0
// The parts of the page about a kernel as a whole. Each holds the table that its chart draws and
// that its sentence is made of.
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/report/metric.hpp"
#include "tuner/report/snippet.hpp"

namespace tuner::report {

/// The configuration of a size as `--config` takes it, the command that prints how to launch it,
/// the dispatcher's calls, that launch code, what the numbers of the size are, and where the source
/// is: each of these null without `stored`, code also for a kernel that runs on no GPU. Null
/// without a result.
[[nodiscard]] Json how_to_use(const KernelHistory& kernel, const SizeHistory& size,
                              const space::DeviceInfo& device, const SnippetKernel* stored);
/// The configuration that is the default of a size, as canonical JSON; empty where it is not known.
[[nodiscard]] std::string default_config(const SizeHistory& size, const space::DeviceInfo& device,
                                         const SnippetKernel* stored);
/// What names a kernel to the commands of the program, quoted for a shell: "--kernel gemm_tiled
/// --space spaces/gemm.json"; with "FILE" where the space file is not known.
[[nodiscard]] std::string program_options(const KernelHistory& kernel, const std::string& backend);
/// The best known configuration of a size with a result.
[[nodiscard]] ConfigValues best_values(const KernelHistory& kernel, const SizeHistory& size);
/// Where is it close to the library, and where not? Rates of best, default and library over sizes.
[[nodiscard]] Json performance_section(const KernelHistory& kernel, const Metric& metric);
/// Why were candidates lost? Counts by size and cause with a message of each.
[[nodiscard]] Json failures_section(const KernelHistory& kernel);
/// Where did the time go? Seconds by run.
[[nodiscard]] Json budget_section(const KernelHistory& kernel);
/// What does speed cost? Time and energy of the contenders whose energy was measured, each beside
/// the least of its size, and which of them are Pareto-optimal; null where none was.
[[nodiscard]] Json energy_section(const KernelHistory& kernel);

/// A message without the directories of the machine it came from: "/tmp/x/k.cu(3): no" → "k.cu(3):
/// no"; at most 600 bytes.
[[nodiscard]] std::string shareable(std::string_view message);

}  // namespace tuner::report
