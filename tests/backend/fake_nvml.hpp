// SPDX-License-Identifier: Apache-2.0
// A libnvidia-ml.so.1 that says what it is told to.
#pragma once

#include <string>
#include <vector>

namespace tuner::backend {

struct FakeNvml {
  std::string uuid = "GPU-1";  ///< of the one device that it knows
  bool is_slice = false;       ///< of the GPU whose reasons are asked for, then
  bool tells_processes = true;
  std::vector<unsigned> processes;
  unsigned long long millijoules = 0;
  unsigned max_clock_mhz = 0, power_limit_mw = 0;  ///< of the whole GPU; 0: it does not tell
  unsigned long long reasons = 0;                  ///< of the whole GPU; a slice has none
};
[[gnu::visibility("default")]] extern FakeNvml fake_nvml;

}  // namespace tuner::backend
