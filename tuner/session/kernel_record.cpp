// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/kernel_record.hpp"

#include "tuner/core/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <random>

namespace tuner::session {

store::KernelRecord kernel_record(const family::Family& family, const family::Kernel& kernel) {
  Json headers = Json::array();
  for (const family::Header& header : kernel.source.headers) {
    headers.push_back({{"name", header.name}, {"text", header.text}});
  }
  return {.family = family.name,
          .kernel = kernel.name,
          .hash = kernel.hash,
          .space_text = family.text,
          .source_name = kernel.source.name,
          .source_text = kernel.source.text,
          .headers_json = headers.dump()};
}

std::string new_uuid() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

}  // namespace tuner::session
