// SPDX-License-Identifier: Apache-2.0
// Internal to store: the rows that others refer to. Each function returns the id of the row with
// these values, which it adds when there is none.
#pragma once

#include "tuner/store/connection.hpp"
#include "tuner/store/records.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace tuner::store {

/// ISO 8601, to the second.
[[nodiscard]] std::string utc_now();

/// A device model; what is known of it is brought up to date.
std::int64_t store_device(const Database& database, const space::DeviceInfo& device);
std::int64_t store_environment(const Database& database, const space::EnvironmentInfo& it);
/// A kernel by its hash. The hash leaves the space out, so the file is brought up to date.
std::int64_t store_kernel(const Database& database, const KernelRecord& kernel);
std::int64_t store_problem(const Database& database, std::string_view family,
                           std::string_view size);
std::int64_t store_config(const Database& database, std::int64_t kernel, std::string_view json);

/// What a run's rows refer to.
struct RunKey {
  std::int64_t id = 0, device = 0, environment = 0, kernel = 0;
  std::string family;
};

/// Throws Error(failure) when there is no such run.
[[nodiscard]] RunKey find_run(const Database& database, std::int64_t run);

}  // namespace tuner::store
