// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/kernel_record.hpp"

#include "tuner/core/file.hpp"
#include "tuner/core/json.hpp"
#include "tuner/source/source.hpp"

#include <nlohmann/json.hpp>

namespace tuner::session {

store::KernelRecord kernel_record(const family::Family& family, const family::Kernel& kernel) {
  Json headers = Json::array();
  for (const source::Header& header : kernel.source.headers) {
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
  return random_word() + random_word();
}

}  // namespace tuner::session
