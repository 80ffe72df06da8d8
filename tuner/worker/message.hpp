// SPDX-License-Identifier: Apache-2.0
// What crosses between `tune` and its workers, as JSON values. Reading throws Error(failure) when a
// message is not what it should be; a worker that sends such is treated as crashed.
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/json.hpp"
#include "tuner/worker/device_worker.hpp"

#include <string_view>

namespace tuner::worker {

[[nodiscard]] Json to_message(const family::CompileJob& job);
[[nodiscard]] Json to_message(const Expected<backend::Binary, Failure>& compiled);
[[nodiscard]] Json to_message(const backend::Binary& binary);
[[nodiscard]] Json to_message(const Failure& failure);
[[nodiscard]] Json to_message(const space::DeviceInfo& device);
[[nodiscard]] Json to_message(const space::EnvironmentInfo& environment);
[[nodiscard]] Json to_message(const TrialResult& evaluation);
[[nodiscard]] Json to_message(const backend::Sample& sample);
[[nodiscard]] Json to_message(const measure::TransferTimes& times);
[[nodiscard]] Json to_message(const StartUp& start_up);
[[nodiscard]] Json to_message(const Error& error);

[[nodiscard]] family::CompileJob compile_job_from(const Json& message);
[[nodiscard]] Expected<backend::Binary, Failure> compiled_from(const Json& message);
[[nodiscard]] backend::Binary binary_from(const Json& message);
[[nodiscard]] Failure failure_from(const Json& message);
[[nodiscard]] space::DeviceInfo device_from(const Json& message);
[[nodiscard]] space::EnvironmentInfo environment_from(const Json& message);
[[nodiscard]] TrialResult evaluation_from(const Json& message);
[[nodiscard]] backend::Sample sample_from(const Json& message);
[[nodiscard]] measure::TransferTimes trip_times_from(const Json& message);
[[nodiscard]] StartUp start_up_from(const Json& message);
[[nodiscard]] Error error_from(const Json& message);

/// A family as parse_family needs it: the space file and the sources of its kernels.
[[nodiscard]] Json to_message(const family::Family& family);
[[nodiscard]] family::Family family_from(const Json& message);

/// The member `key` of a message as a T; Error(failure) when it is missing or of another type.
template <class T>
[[nodiscard]] T field(const Json& message, std::string_view key);

}  // namespace tuner::worker
