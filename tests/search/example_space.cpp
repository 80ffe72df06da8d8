// SPDX-License-Identifier: Apache-2.0
#include "tests/search/example_space.hpp"

#include "tests/search/grid.hpp"

#include <nlohmann/json.hpp>

#include <memory>

namespace tuner::search {
space::Space example_space() {
  const Json kernel = parse_json(R"({
    "parameters": {
      "A": {"values": [1, 2, 3, 4, 5, 6], "default": 1},
      "B": {"values": [1, 2, 3, 4, 5, 6], "default": 1}
    },
    "constraints": [{"expr": "A * B % 2 == 1 or A > B", "why": "an example"}]
  })",
                                 "example");
  return {std::make_shared<space::SpaceDefinition>(
              space::parse_space_definition(kernel, {}, "example")),
          space::device_profile("h200")->attributes,
          {}};
}

space::Space free_space(int parameters, int values) {
  return {grid(parameters, values), space::device_profile("h200")->attributes, {}};
}

}  // namespace tuner::search
