// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/kept_measurement.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/hash.hpp"
#include "tuner/core/json.hpp"
#include "tuner/dispatch/device_key.hpp"

#include <nlohmann/json.hpp>

#include <cstring>
#include <string_view>

namespace tuner::dispatch {
namespace {

/// Stands where a compiled kernel has its name.
constexpr const char* kMeasurementSymbol = "measurement/2";

std::string measurement_key(const space::DeviceInfo& device,
                            const space::EnvironmentInfo& environment,
                            std::span<const std::string> candidates) {
  const std::string where = device_key(device, environment);
  std::vector<std::string_view> parts = {"measurement of a size", kMeasurementSymbol, where};
  parts.insert(parts.end(), candidates.begin(), candidates.end());
  return content_hash(parts);
}

}  // namespace

KeptMeasurement::KeptMeasurement(backend::BinaryCache& cache, const space::DeviceInfo& device,
                                 const space::EnvironmentInfo& environment,
                                 std::span<const std::string> candidates)
    : cache_(cache), key_(measurement_key(device, environment, candidates)) {}

std::optional<std::vector<MeasuredCandidate>> KeptMeasurement::find() const {
  const auto kept = cache_.find(key_);
  if (!kept || kept->symbols != std::vector<std::string>{kMeasurementSymbol}) return std::nullopt;
  const std::string_view text(reinterpret_cast<const char*>(kept->image.data()),
                              kept->image.size());
  try {
    std::vector<MeasuredCandidate> candidates;
    for (const Json& it : parse_json(text, "the cached measurement")) {
      candidates.push_back({.identity = it.at(0).get<std::string>(),
                            .title = it.at(1).get<std::string>(),
                            .library_algorithm = it.at(2).get<std::string>(),
                            .time_ns = it.at(3).get<double>()});
    }
    return candidates;
  } catch (const std::exception&) {  // of another version: it is measured again
    return std::nullopt;
  }
}

void KeptMeasurement::keep(std::span<const MeasuredCandidate> candidates) const {
  Json document = Json::array();
  for (const MeasuredCandidate& it : candidates) {
    document.push_back({it.identity, it.title, it.library_algorithm, it.time_ns});
  }
  const std::string text = document.dump();
  backend::Binary kept{.image = std::vector<std::byte>(text.size()),
                       .symbols = {kMeasurementSymbol}};
  std::memcpy(kept.image.data(), text.data(), text.size());
  cache_.keep(key_, kept);
}

}  // namespace tuner::dispatch
