// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/dispatch/dispatcher.hpp"
#include "tuner/select/catalogue_json.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tuner::dispatch {

/// What a table knows of one family on a device. Its results are read when the first question is
/// asked: a program that uses one family of a large table does not wait for the others.
class FamilyCatalogue {
 public:
  /// `outline` in the environment in use. Without stale entries where these are refused.
  FamilyCatalogue(select::CatalogueOutline outline, StalePolicy policy);

  [[nodiscard]] const space::DeviceInfo& device() const { return device_; }
  /// The kernels that came with their sources. To be used before complete() is called.
  [[nodiscard]] std::vector<const select::CatalogueKernel*> with_sources() const;
  /// Compiled kernels of the table; null where it has none.
  [[nodiscard]] const select::TableCode* code() const { return code_.get(); }
  /// With all results. Throws Error(usage) when they cannot be read. Safe for many threads.
  [[nodiscard]] const select::Catalogue& complete() const;

 private:
  void read() const;
  /// Whether a portfolio was measured with another driver, or with another compiler than the one in
  /// use or the one that made the table's code.
  [[nodiscard]] bool is_stale(const store::PortfolioRecord& portfolio) const;

  space::DeviceInfo device_;
  StalePolicy policy_;
  std::shared_ptr<const select::TableCode> code_;
  mutable std::once_flag once_;  // of what follows
  mutable select::CatalogueOutline outline_;
};

/// Whether a kernel can be compiled: what came as lines of results cannot.
[[nodiscard]] bool has_sources(const select::CatalogueKernel& kernel);

/// Which kernels of a family have results here that cannot be used for want of their sources, and
/// how to fix it; empty when there are none. Throws Error(usage) when the results cannot be read.
[[nodiscard]] std::string without_sources(const select::CatalogueOutline& family);

/// One outline for each family of a table.
[[nodiscard]] std::map<std::string, select::CatalogueOutline> by_family(
    select::CatalogueOutline table);

}  // namespace tuner::dispatch
