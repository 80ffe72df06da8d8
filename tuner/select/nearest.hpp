// SPDX-License-Identifier: Apache-2.0
// What was tuned for other sizes than the one that was asked for.
#pragma once

#include "tuner/select/catalogue.hpp"
#include "tuner/select/nearness.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tuner {

/// A kernel that a question is about.
struct AskedKernel {
  const CatalogueKernel* kernel = nullptr;
  std::optional<KnownSize> size;  ///< the asked one; absent when it is none of this kernel's
};

/// An entry of another size whose configuration is valid at the asked one.
struct NearCandidate {
  const AskedKernel* asked = nullptr;
  const Entry* entry = nullptr;
  Nearness nearness;
};

struct Nearest {
  std::vector<NearCandidate> candidates;  ///< best first
  std::vector<std::string> explanation;
};

/// Points into `asked`.
[[nodiscard]] Nearest nearest_candidates(const std::vector<AskedKernel>& asked,
                                         const DeviceAttributes& device);

}  // namespace tuner
