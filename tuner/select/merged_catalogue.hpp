// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/select/catalogue.hpp"

#include <string>
#include <vector>

namespace tuner::select {

struct MergedCatalogue {
  Catalogue catalogue;
  std::vector<std::string> replaced;  ///< what was left out, a sentence on each kernel
};

/// All that two catalogues of one device model know, in the environment of the first. Of two
/// entries of a kernel at the same size the faster one is kept, an imported one counted as 10 %
/// slower; of two portfolios for the same family and types the newer one. A kernel whose source is
/// another one in `added` is replaced, with its entries. Cost models are fitted anew where both
/// have times. Throws Error(usage) where the devices differ.
[[nodiscard]] MergedCatalogue merged_catalogue(Catalogue base, const Catalogue& added);

}  // namespace tuner::select
