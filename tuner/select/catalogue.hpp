// SPDX-License-Identifier: Apache-2.0
// Module select: the answer for a size: the best configuration, at untuned sizes by the cost model,
// of the database, a portfolio or an installed table. It runs nothing.
//
// What is known that may answer questions: one device, the current version of each kernel, and
// their entries on that device. It needs no database any more.
#pragma once

#include "tuner/select/cost_model.hpp"
#include "tuner/select/known.hpp"
#include "tuner/select/ranked_kernel.hpp"
#include "tuner/space/size.hpp"
#include "tuner/store/store.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::select {

/// Which part of a database to take; what is absent matches everything.
struct CatalogueQuery {
  std::optional<std::string> device = {};  ///< exact name; absent: the device used last
  std::optional<std::string> family = {};
  std::optional<std::string> kernel = {};
  /// What the kernels would run with; absent: what the device was last tuned with.
  std::optional<space::EnvironmentInfo> environment = {};
};

/// What was best at one size.
struct Entry {
  store::BestRecord best;
  space::EnvironmentInfo environment;
  KnownSize size;
  std::size_t config = 0;  ///< among the kernel's configurations
  bool stale = false;      ///< measured with another driver or compiler than the one in use
};

/// A kernel in the version used last, and its entries: at most one for a size, measured in the
/// environment in use if there is such a one; of those one that is verified, and of these the
/// newest.
struct CatalogueKernel {
  std::shared_ptr<const store::KernelRecord> record;
  std::shared_ptr<const RankedKernel> stored;  ///< null where it came without its space file
  std::vector<KnownSize> sizes;                ///< at which something was timed
  std::vector<KnownConfig> configs;            ///< each once
  std::vector<Entry> entries;
  std::shared_ptr<const CostModel> model;  ///< null where too little was timed for one
};

/// In the explanation of a kernel that has entries of other versions than the newest.
inline constexpr std::string_view kChangedSince = "has changed since";

struct Catalogue {
  space::DeviceInfo device;
  space::EnvironmentInfo environment;    ///< in use; unset when nothing says so
  std::vector<CatalogueKernel> kernels;  ///< the one used last first; never empty
  /// At most one for a family and types; with members of these kernels, at least one.
  std::vector<store::PortfolioRecord> portfolios = {};
  std::vector<std::string> explanation;  ///< how the device and the kernels were found
};

/// Throws Error(nothing_found), with a suggestion, when the database has no such device, family or
/// kernel, and Error(usage) when only a kernel is named and several families have one of the name.
[[nodiscard]] Catalogue catalogue(const store::Store& store, const CatalogueQuery& query);

/// Whether a configuration (canonical) of a kernel is a member of a portfolio; of any.
[[nodiscard]] bool is_member(const store::PortfolioRecord& portfolio,
                             const store::KernelRecord& kernel, std::string_view config_json);
[[nodiscard]] bool is_member(const std::vector<store::PortfolioRecord>& portfolios,
                             const store::KernelRecord& kernel, std::string_view config_json);

/// Fits the cost model of a kernel to its times.
void fit_model(CatalogueKernel& kernel, const space::DeviceAttributes& device);

/// A size as a user or the database writes it in a kernel's dimensions; as it is where they are not
/// known; none when it is no size of the kernel.
[[nodiscard]] std::optional<KnownSize> known_size(const std::string& text,
                                                  const CatalogueKernel& kernel);

/// A configuration as the database writes it, in a kernel's space.
[[nodiscard]] KnownConfig known_config(const std::string& json, const CatalogueKernel& kernel);

/// A catalogue as seen from another environment: what was measured with another driver or compiler
/// is stale.
[[nodiscard]] Catalogue in_environment(Catalogue catalogue,
                                       const space::EnvironmentInfo& environment);

/// "driver 13.0, NVRTC 13.0".
[[nodiscard]] std::string versions(const space::EnvironmentInfo& environment);

}  // namespace tuner::select
