// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/device_server.hpp"

#include <fmt/format.h>

namespace tuner::worker {

backend::Binary DeviceServer::sent_binary(const CandidateMessage& message, const family::Kernel&,
                                          const space::BoundDefinition&, const space::Config&) {
  return message.binary;
}

DeviceServer::DeviceServer(DeviceWorker& device, const family::Family& family, BinaryOf binary_of)
    : device_(device), family_(family), binary_of_(std::move(binary_of)) {
  on(kEvaluate, [this](const EvaluateArguments& given) {
    return device_.evaluate(candidate(given.candidate, given.size), given.size, given.best_ns);
  });
  on(kBeginSideBySide, [this](const space::Size& size) {
    contenders_size_ = size;
    device_.begin_side_by_side(size);
    return Nothing{};
  });
  on(kAddContender, [this](const CandidateMessage& given) -> Expected<Nothing, Failure> {
    const auto added = device_.add_contender(candidate(given, contenders_size_));
    if (!added) return Unexpected(added.error());
    return Nothing{};
  });
  on(kFastestLibraryAlgorithm,
     [this](const space::Size& size) { return device_.fastest_library_algorithm(size); });
  on(kAddLibrary, [this](const std::string& algorithm) { return device_.add_library(algorithm); });
  on(kTimeContender, [this](std::uint64_t contender) { return device_.time_contender(contender); });
  on(kTimeContenderHot,
     [this](std::uint64_t contender) { return device_.time_contender_hot(contender); });
  on(kTimeContenderSeries, [this](const SeriesArguments& given) {
    return device_.time_contender_series(
        given.contender, given.is_loaded ? backend::Lead::load : backend::Lead::none);
  });
  on(kTimeContenderRegimes,
     [this](std::uint64_t contender) { return device_.time_contender_regimes(contender); });
  on(kMeasureContenderEnergy, [this](const EnergyArguments& given) {
    return device_.measure_contender_energy(given.contender, given.window_s);
  });
  on(kIdleWatts, [this](Nothing) { return device_.idle_watts(); });
  on(kCountContender,
     [this](std::uint64_t contender) { return device_.count_contender(contender); });
  on(kTimeTransfers, [this](const TransferArguments& given) {
    return device_.time_transfers(given.contender, given.places);
  });
  on(kReferenceCoverage,
     [this](const space::Size& size) { return device_.reference_coverage(size); });
  on(kLaunchOnce, [this](const EvaluateArguments& given) {
    return device_.launch_once(candidate(given.candidate, given.size), given.size);
  });
  on(kReadOutput, [this](const OutputPart& part) { return device_.read_output(part); });
  on(kExactResult, [this](const space::Size& size) { return device_.exact_result(size); });
  on(kConditions, [this](Nothing) { return device_.conditions(); });
  on(kReplaceProcess, [this](Nothing) {
    device_.replace_process();
    return Nothing{};
  });
}

Json DeviceServer::serve(const Json& request) const {
  const auto name = from_message<std::string>(member(request, "call"), "call");
  const auto served = calls_.find(name);
  if (served == calls_.end()) {
    throw Error(ErrorCode::failure, fmt::format("a worker has no call '{}'", name));
  }
  return served->second(member(request, "arguments"));
}

const space::BoundDefinition& DeviceServer::space(const family::Kernel& kernel,
                                                  const space::Size& size) {
  const std::pair key(kernel.name, size);
  const auto known = spaces_.find(key);
  if (known != spaces_.end()) return known->second;
  return spaces_
      .emplace(key, space::BoundDefinition(kernel.space, device_.device().attributes, size))
      .first->second;
}

Candidate DeviceServer::candidate(const CandidateMessage& given, const space::Size& size) {
  const family::Kernel& kernel = family_.kernel(given.kernel);
  const space::BoundDefinition& valid = space(kernel, size);
  const space::Config config = space::config_from_json(*kernel.space, given.config);
  return {.kernel = kernel,
          .space = valid,
          .config = config,
          .binary = binary_of_(given, kernel, valid, config)};
}

}  // namespace tuner::worker
