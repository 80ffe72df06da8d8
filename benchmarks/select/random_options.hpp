// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/dispatch/dispatcher.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace tuner::gemm_benchmark {

/// The command line.
struct RandomOptions {
  std::size_t count = 200;
  std::uint64_t seed = 1;
  std::optional<std::filesystem::path> write_sizes;  ///< then nothing is measured
  std::optional<Table> table;                        ///< present where something is measured
  std::optional<std::filesystem::path> database;     ///< that the table is of, if it is one
  bool kernels_too = false;                          ///< also where the library is chosen
  ChooseBy choose_by = ChooseBy::expectation;
  std::optional<Table> tuned;  ///< in which the first sizes were tuned
  std::optional<std::filesystem::path> json;
  double time_per_size_s = 0.3;
  int device = 0;
};

/// None when it only asks for help, which is then printed. Throws Error(usage).
[[nodiscard]] std::optional<RandomOptions> parse_random_options(int count, char** arguments);

}  // namespace tuner::gemm_benchmark
