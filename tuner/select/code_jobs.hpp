// SPDX-License-Identifier: Apache-2.0
// What to compile so that a table holds the code of its configurations.
#pragma once

#include "tuner/family/candidate.hpp"
#include "tuner/select/catalogue.hpp"
#include "tuner/select/table_code.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace tuner::select {

/// Of which configurations a table holds code: the members of its portfolios, or also all that were
/// best at a size.
enum class CodeScope { members, bests };

struct CodeJob {
  CodeKey key;
  family::CompileJob job;
  std::string title;  ///< kernel and configuration, for messages
};

struct CodeJobs {
  std::vector<CodeJob> jobs;  ///< each once
  std::size_t configs = 0;    ///< that they are of
  /// Configurations that no size of the table can be launched with, and why.
  std::vector<std::string> problems;
};

/// A configuration is compiled as it is launched at the sizes of its portfolio and between them, or
/// at the size where it was best: where its code depends on the size, several times, a member's at
/// most 64 times beside those of the sizes themselves. Throws Error(usage) where
/// a kernel has no sources, or others than its results are of.
[[nodiscard]] CodeJobs code_jobs(const Catalogue& catalogue, CodeScope scope);

}  // namespace tuner::select
