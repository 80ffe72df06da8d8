// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/stored_kernel.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/json.hpp"
#include "tuner/space/explain.hpp"

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

Expression expression(const Json& text, const Scope& scope) {
  if (text.is_number_integer()) return Expression::constant(text.get<std::int64_t>());
  auto compiled = Expression::compile(text.get<std::string>(), scope);
  if (!compiled) throw Error(ErrorCode::failure, compiled.error().message);
  return *std::move(compiled);
}

std::vector<Expression> expressions(const Json& list, const Scope& scope) {
  std::vector<Expression> result;
  for (const Json& text : list) result.push_back(expression(text, scope));
  return result;
}

/// What a family's results are compared with may be another of its kernels.
bool has_blas_reference(const Json& document) {
  const auto check = document.find("check");
  if (check == document.end()) return false;
  const auto reference = check->find("reference");
  return reference != check->end() && reference->contains("op");
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

StoredKernel stored_kernel(const KernelRecord& record) {
  return read_space_file(record, [&](const Json& document, const std::string& origin) {
    const Json& problem = document.at("problem");
    const Json& object = document.at("kernels").at(record.kernel);
    const Dimensions dims = dims_of(document, origin);
    const Scope family = family_scope(dims);
    StoredKernel kernel;
    kernel.definition =
        std::make_shared<const SpaceDefinition>(parse_space_definition(object, dims, origin));
    for (const auto& item : document.at("kernels").items()) {
      kernel.family_kernels.push_back(item.key());
    }
    kernel.has_library = has_blas_reference(document);
    kernel.flops = expression(problem.at("flops"), family);
    kernel.bytes = expression(problem.at("bytes"), family);
    const auto launch = object.find("launch");
    if (launch == object.end()) return kernel;
    const Scope& scope = kernel.definition->scope;
    kernel.grid = expressions(launch->at("grid"), scope);
    kernel.block = expressions(launch->at("block"), scope);
    if (const auto bytes = launch->find("dynamic_shared_bytes"); bytes != launch->end()) {
      kernel.dynamic_shared_bytes = expression(*bytes, scope);
    }
    return kernel;
  });
}

KernelAtSize::KernelAtSize(const StoredKernel& kernel, const DeviceAttributes& device,
                           const Size& size)
    : kernel_(kernel) {
  for (const AttributeField& field : attribute_fields()) base_.push_back(device.*field.member);
  base_.insert(base_.end(), size.begin(), size.end());
  base_.resize(kernel.definition->scope.size());
}

std::optional<std::string> KernelAtSize::why_invalid(const Config& config) const {
  const auto violation = find_violation(*kernel_.definition, base_, config);
  if (!violation) return std::nullopt;
  return violation->message;
}

Config KernelAtSize::default_config() const {
  Config config;
  for (const Parameter& parameter : kernel_.definition->parameters) {
    config.choice.push_back(static_cast<std::uint32_t>(parameter.default_index));
  }
  return config;
}

Slots KernelAtSize::slots(const Config& config) const {
  return evaluate_slots(*kernel_.definition, base_, config);
}

}  // namespace tuner
