// SPDX-License-Identifier: Apache-2.0
// In place of counters.cpp where the toolkit of the build has no range profiler.
#include "tuner/backend/cuda/counters.hpp"
#include "tuner/backend/cuda/versions.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>

namespace tuner::backend {

std::string why_built_without_counters() {
  return fmt::format(
      "this build is of CUDA {}, whose CUPTI cannot count ranges of work: build it "
      "with CUDA 12.6 Update 2 or newer",
      version_text(CUDART_VERSION));
}

std::shared_ptr<const CuptiApi> open_cupti() {
  throw Error(ErrorCode::no_device, why_built_without_counters());
}

std::string cupti_version(const CuptiApi&) {
  return {};
}

Expected<counters::CounterReading, Failure> CounterReader::count(const Enqueue&, const Enqueue&) {
  return counters::CounterReading{.counters = std::nullopt,
                                  .problem = why_built_without_counters()};
}

}  // namespace tuner::backend
