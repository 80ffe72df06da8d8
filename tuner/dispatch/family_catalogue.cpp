// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/family_catalogue.hpp"

#include "tuner/backend/binary_cache.hpp"
#include "tuner/core/quantity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace tuner::dispatch {

FamilyCatalogue::FamilyCatalogue(select::CatalogueOutline outline, StalePolicy policy)
    : device_(outline.known.device),
      policy_(policy),
      code_(outline.code),
      outline_(std::move(outline)) {}

std::vector<const select::CatalogueKernel*> FamilyCatalogue::with_sources() const {
  std::vector<const select::CatalogueKernel*> kernels;
  for (const select::CatalogueKernel& kernel : outline_.known.kernels) {
    if (has_sources(kernel)) kernels.push_back(&kernel);
  }
  return kernels;
}

const select::Catalogue& FamilyCatalogue::complete() const {
  std::call_once(once_, [this] { read(); });
  return outline_.known;
}

void FamilyCatalogue::read() const {
  select::Catalogue known = outline_.known;
  for (std::size_t i = 0; i < known.kernels.size(); ++i) {
    if (outline_.unread[i].empty()) continue;
    select::read_results(known.kernels[i], outline_.unread[i], known.device.attributes);
  }
  const space::EnvironmentInfo environment = known.environment;
  known = select::in_environment(std::move(known), environment);
  if (policy_ == StalePolicy::refuse) {
    for (select::CatalogueKernel& kernel : known.kernels) {
      std::erase_if(kernel.entries, [](const select::Entry& entry) { return entry.stale; });
    }
    std::erase_if(known.portfolios, [&](const store::PortfolioRecord& it) { return is_stale(it); });
  }
  outline_ = {.known = std::move(known)};
}

bool FamilyCatalogue::is_stale(const store::PortfolioRecord& portfolio) const {
  const space::EnvironmentInfo& then = portfolio.environment;
  const space::EnvironmentInfo& now = outline_.known.environment;
  if (then.driver != now.driver) return true;
  if (then.compiler == now.compiler) return false;
  const bool is_compiled =
      code_ != nullptr &&
      code_->objection(device_.architecture, backend::compile_recipe(device_.backend)).empty();
  return !is_compiled || code_->origin()->compiler != then.compiler;
}

bool has_sources(const select::CatalogueKernel& kernel) {
  return select::has_space(*kernel.record);
}

std::string without_sources(const select::CatalogueOutline& family) {
  std::vector<std::string> kernels;
  for (std::size_t i = 0; i < family.known.kernels.size(); ++i) {
    select::CatalogueKernel kernel = family.known.kernels[i];
    if (has_sources(kernel)) continue;
    if (!family.unread[i].empty()) {
      select::read_results(kernel, family.unread[i], family.known.device.attributes);
    }
    if (kernel.entries.empty()) continue;
    kernels.push_back(fmt::format("{} ({} on {}, from {})", kernel.record->kernel,
                                  quantity::count(kernel.entries.size(), "size"),
                                  family.known.device.name, kernel.entries.front().best.origin));
  }
  if (kernels.empty()) return "";
  return fmt::format(
      "{}: the results of {} were imported without their kernel's source and cannot run: merge the "
      "database they were tuned in (`tune merge THAT_DATABASE`), or open a table that `tune export "
      "--format json` wrote from it",
      family.known.kernels.front().record->family, fmt::join(kernels, ", "));
}

namespace {

std::vector<store::PortfolioRecord> portfolios_of(const select::Catalogue& known,
                                                  const std::string& family) {
  std::vector<store::PortfolioRecord> own = known.portfolios;
  std::erase_if(own, [&](const store::PortfolioRecord& it) { return it.family != family; });
  return own;
}

}  // namespace

std::map<std::string, select::CatalogueOutline> by_family(select::CatalogueOutline table) {
  std::map<std::string, select::CatalogueOutline> families;
  for (std::size_t i = 0; i < table.known.kernels.size(); ++i) {
    select::CatalogueKernel& kernel = table.known.kernels[i];
    const auto [family, added] = families.try_emplace(kernel.record->family);
    select::CatalogueOutline& outline = family->second;
    if (added) {
      outline.known = {.device = table.known.device,
                       .environment = table.known.environment,
                       .kernels = {},
                       .portfolios = portfolios_of(table.known, kernel.record->family),
                       .explanation = table.known.explanation};
    }
    outline.known.kernels.push_back(std::move(kernel));
    outline.unread.push_back(table.unread[i]);
    outline.text = table.text;
    outline.code = table.code;
  }
  return families;
}

}  // namespace tuner::dispatch
