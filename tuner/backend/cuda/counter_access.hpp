// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace tuner::backend {

/// Why a process without privileges reads no counters, with the remedy.
inline constexpr std::string_view kCountersRestricted =
    "the driver lets only administrators read hardware counters (ERR_NVGPUCTRPERM). "
    "Either put `options nvidia NVreg_RestrictProfilingToAdminUsers=0` into a file of "
    "/etc/modprobe.d and restart, or give this process CAP_SYS_ADMIN (drivers from 580 "
    "on: CAP_PERFMON), in a container with --cap-add";

/// Whether the driver's parameters (/proc/driver/nvidia/params) let only administrators read
/// counters and a process of this status (/proc/self/status) is none.
[[nodiscard]] bool counters_are_restricted(std::string_view driver_parameters,
                                           std::string_view process_status);

}  // namespace tuner::backend
