// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/family_catalogue.hpp"

#include <algorithm>
#include <utility>

namespace tuner {

FamilyCatalogue::FamilyCatalogue(CatalogueOutline outline, StalePolicy policy)
    : device_(outline.known.device), policy_(policy), outline_(std::move(outline)) {}

std::vector<const CatalogueKernel*> FamilyCatalogue::with_sources() const {
  std::vector<const CatalogueKernel*> kernels;
  for (const CatalogueKernel& kernel : outline_.known.kernels) {
    if (kernel.stored) kernels.push_back(&kernel);
  }
  return kernels;
}

const Catalogue& FamilyCatalogue::complete() const {
  std::call_once(once_, [this] { read(); });
  return outline_.known;
}

void FamilyCatalogue::read() const {
  Catalogue known = outline_.known;
  for (std::size_t i = 0; i < known.kernels.size(); ++i) {
    if (outline_.unread[i].empty()) continue;
    read_results(known.kernels[i], outline_.unread[i], known.device.attributes);
  }
  const EnvironmentInfo environment = known.environment;
  known = in_environment(std::move(known), environment);
  if (policy_ == StalePolicy::refuse) {
    for (CatalogueKernel& kernel : known.kernels) {
      std::erase_if(kernel.entries, [](const Entry& entry) { return entry.stale; });
    }
  }
  outline_ = {.known = std::move(known)};
}

std::map<std::string, CatalogueOutline> by_family(CatalogueOutline table) {
  std::map<std::string, CatalogueOutline> families;
  for (std::size_t i = 0; i < table.known.kernels.size(); ++i) {
    CatalogueKernel& kernel = table.known.kernels[i];
    const auto [family, added] = families.try_emplace(kernel.record->family);
    CatalogueOutline& outline = family->second;
    if (added) {
      outline.known = {.device = table.known.device,
                       .environment = table.known.environment,
                       .kernels = {},
                       .explanation = table.known.explanation};
    }
    outline.known.kernels.push_back(std::move(kernel));
    outline.unread.push_back(std::move(table.unread[i]));
  }
  std::erase_if(families, [](const auto& family) {
    return std::ranges::none_of(family.second.known.kernels,
                                [](const CatalogueKernel& it) { return it.stored != nullptr; });
  });
  return families;
}

}  // namespace tuner
