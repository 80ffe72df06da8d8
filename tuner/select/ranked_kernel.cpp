// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/ranked_kernel.hpp"

#include "tuner/core/error.hpp"
#include "tuner/family/candidate.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tuner::select {
namespace {

/// The derived values that expressions need, in the order of the file, in which they can be
/// computed.
std::vector<std::size_t> derived_of(const std::vector<space::Expression>& expressions,
                                    const space::SpaceDefinition& definition) {
  std::vector<bool> needed(definition.scope.size());
  const auto need = [&](const space::Expression& expression) {
    for (const std::size_t slot : expression.slots()) needed[slot] = true;
  };
  for (const space::Expression& expression : expressions) need(expression);
  std::vector<std::size_t> result;
  for (std::size_t i = definition.derived.size(); i-- > 0;) {
    if (!needed[definition.derived[i].slot]) continue;
    need(definition.derived[i].expression);
    result.insert(result.begin(), i);
  }
  return result;
}

std::vector<std::size_t> slots_in_entry(const std::string& entry,
                                        const space::SpaceDefinition& definition) {
  std::vector<std::size_t> result;
  for (std::size_t at = entry.find("${"); at != std::string::npos; at = entry.find("${", at + 1)) {
    const std::string name = entry.substr(at + 2, entry.find('}', at) - at - 2);
    const space::Scope::Symbol* const symbol = definition.scope.find(name);
    const bool is_parameter =
        std::ranges::find(definition.parameters, name, &space::Parameter::name) !=
        definition.parameters.end();
    if (symbol != nullptr && !is_parameter) result.push_back(symbol->slot);
  }
  return result;
}

}  // namespace

bool has_space(const store::KernelRecord& kernel) {
  return !kernel.space_text.empty();
}

family::StoredFile stored_file(const store::KernelRecord& record) {
  return family::read_stored_file(
      record.space_text, fmt::format("the stored space file of {}", record.kernel), record.kernel);
}

RankedKernel::RankedKernel(const store::KernelRecord& record)
    : file_(std::make_shared<const family::StoredFile>(stored_file(record))) {
  for (const family::KernelStep& step : kernel().steps) {
    grid_derived_.push_back(derived_of(step.grid, definition()));
    const std::vector<std::size_t> slots = slots_in_entry(step.entry, definition());
    entry_slots_.insert(entry_slots_.end(), slots.begin(), slots.end());
  }
}

std::shared_ptr<const RankedKernel> ranked_kernel(const store::KernelRecord& record) {
  return has_space(record) ? std::make_shared<const RankedKernel>(record) : nullptr;
}

std::optional<std::string> why_invalid(const RankedKernel& kernel, const space::BoundDefinition& at,
                                       const space::Config& config) {
  if (auto violation = at.violation(config)) return std::move(violation->message);
  try {
    return family::why_no_launch(kernel.family().arguments, kernel.kernel(),
                                 at.expression_values(config));
  } catch (const Error& error) {  // a derived value has none
    return error.what();
  }
}

}  // namespace tuner::select
