// SPDX-License-Identifier: Apache-2.0
#include "tests/search/example_space.hpp"

#include <nlohmann/json.hpp>

#include <memory>

namespace tuner {
namespace {

Space space_of(const Json& kernel) {
  return {std::make_shared<SpaceDefinition>(parse_space_definition(kernel, {}, "example")),
          device_profile("h200")->attributes,
          {}};
}

}  // namespace

Space example_space() {
  return space_of(parse_json(R"({
    "parameters": {
      "A": {"values": [1, 2, 3, 4, 5, 6], "default": 1},
      "B": {"values": [1, 2, 3, 4, 5, 6], "default": 1}
    },
    "constraints": [{"expr": "A * B % 2 == 1 or A > B", "why": "an example"}]
  })",
                             "example"));
}

Space free_space(std::size_t parameters, std::size_t values) {
  Json kernel{{"parameters", Json::object()}, {"constraints", Json::array()}};
  for (std::size_t i = 0; i < parameters; ++i) {
    kernel["parameters"]["P" + std::to_string(i)] = {{"range", {1, values, 1}}, {"default", 1}};
  }
  return space_of(kernel);
}

}  // namespace tuner
