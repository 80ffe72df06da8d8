// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/counter_access.hpp"

#include <charconv>
#include <cstdint>

namespace tuner::backend {

bool counters_are_restricted(std::string_view driver_parameters, std::string_view process_status) {
  if (driver_parameters.find("RmProfilingAdminOnly: 1") == std::string_view::npos) return false;
  constexpr std::string_view kEffective = "CapEff:\t";
  constexpr std::uint64_t kSysAdmin = std::uint64_t{1} << 21, kPerfmon = std::uint64_t{1} << 38;
  const std::size_t line = process_status.find(kEffective);
  if (line == std::string_view::npos) return true;
  const char* const digits = process_status.data() + line + kEffective.size();
  std::uint64_t capabilities = 0;
  std::from_chars(digits, process_status.data() + process_status.size(), capabilities, 16);
  return (capabilities & (kSysAdmin | kPerfmon)) == 0;
}

}  // namespace tuner::backend
