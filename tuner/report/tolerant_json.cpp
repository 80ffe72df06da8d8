// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/tolerant_json.hpp"

#include "tuner/core/error.hpp"

#include <nlohmann/json.hpp>

namespace tuner::report {

Json tolerant_object(std::string_view text) {
  try {
    const Json parsed = parse_json(text, "a stored text");
    return parsed.is_object() ? parsed : Json::object();
  } catch (const Error&) {
    return Json::object();
  }
}

const Json* member(const Json& object, const std::string& key) {
  const auto found = object.find(key);  // the end when it is no object
  return found == object.end() ? nullptr : &*found;
}

}  // namespace tuner::report
