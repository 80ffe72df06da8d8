// SPDX-License-Identifier: Apache-2.0
// How many configurations each kernel of a space file has on an H200 at a size of 1024.

#include "tuner/core/file.hpp"
#include "tuner/space/space.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>

int main(int, char** arguments) {
  const std::string path = arguments[1];
  const tuner::Json document = tuner::parse_json(tuner::read_file(path, 1 << 20), path);
  const tuner::space::Dimensions dims = tuner::space::parse_dimensions(document["problem"], path);
  std::vector<std::optional<std::int64_t>> numbers(dims.size());  // others have their default
  std::fill_n(numbers.begin(), dims.required(), 1024);
  const tuner::space::Size size = dims.complete(numbers).value();
  const auto h200 = tuner::space::device_profile("h200").value().attributes;
  for (const auto& [name, kernel] : document["kernels"].items()) {
    const auto definition = std::make_shared<const tuner::space::SpaceDefinition>(
        tuner::space::parse_space_definition(kernel, dims, name));
    std::cout << name << ": " << tuner::space::Space(definition, h200, size).size()
              << " configurations\n";
  }
}
