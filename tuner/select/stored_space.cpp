// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/stored_space.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace tuner {
namespace {

/// Runs `read(document, origin)` on the stored space file.
template <class Read>
auto read_space_file(const KernelRecord& kernel, Read read) {
  const std::string origin = fmt::format("the stored space file of {}", kernel.kernel);
  try {
    return read(parse_json(kernel.space_text, origin), origin);
  } catch (const Json::exception& exception) {
    throw Error(ErrorCode::failure, fmt::format("{}: is no space file: {}: tune the kernel again",
                                                origin, exception.what()));
  } catch (const Error& error) {
    throw Error(ErrorCode::failure, fmt::format("{}: tune the kernel again", error.what()));
  }
}

Dimensions dims_of(const Json& document, const std::string& origin) {
  return parse_dimensions(document.at("problem"), origin + ": problem");
}

}  // namespace

bool has_space(const KernelRecord& kernel) {
  return !kernel.space_text.empty();
}

Dimensions stored_dims(const KernelRecord& kernel) {
  return read_space_file(kernel, [](const Json& document, const std::string& origin) {
    return dims_of(document, origin);
  });
}

std::vector<std::string> stored_kernel_names(const KernelRecord& kernel) {
  return read_space_file(kernel, [](const Json& document, const std::string&) {
    std::vector<std::string> names;
    for (const auto& item : document.at("kernels").items()) names.push_back(item.key());
    return names;
  });
}

Space stored_space(const KernelRecord& kernel, const DeviceAttributes& device,
                   std::span<const std::int64_t> size) {
  return read_space_file(kernel, [&](const Json& document, const std::string& origin) {
    auto definition = std::make_shared<SpaceDefinition>(parse_space_definition(
        document.at("kernels").at(kernel.kernel), dims_of(document, origin), origin));
    return Space(std::move(definition), device, size);
  });
}

}  // namespace tuner
