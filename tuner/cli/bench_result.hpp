// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/terminal.hpp"
#include "tuner/core/json.hpp"
#include "tuner/family/family.hpp"
#include "tuner/session/bench.hpp"

#include <cstdint>
#include <string>

namespace tuner::cli {

/// A bench with what it was run on.
struct BenchReport {
  const family::Family& family;
  const family::Kernel& kernel;
  const space::Size& size;
  std::uint64_t seed;
  const space::DeviceInfo& device;
  const space::EnvironmentInfo& environment;
  const session::BenchResult& result;
};

/// For people: a line for each contender, then why each that failed did.
[[nodiscard]] std::string bench_text(const BenchReport& report, const Terminal& terminal);
/// The document "tune.bench/1".
[[nodiscard]] Json bench_json(const BenchReport& report);

}  // namespace tuner::cli
