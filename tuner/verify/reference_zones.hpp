// SPDX-License-Identifier: Apache-2.0
// Memory of a reference's outputs between zones of known content, and what it left in them.
#pragma once

#include "tuner/backend/owned.hpp"
#include "tuner/verify/check_kernels.hpp"

#include <cstdint>
#include <optional>

namespace tuner::verify {

/// Allocates room for the data with a zone before and behind, both filled. `region` is that of the
/// data.
struct ZonedBuffer {
  ZonedBuffer(backend::Backend& backend, const CheckedData& data);

  backend::Buffer buffer;
  backend::Region region;
};

/// The element closest to the data, from −1 down or from the used ones up, that does not hold what
/// it was filled with: of the rest of their last word, which the data were `filled` with before,
/// and of the zones of such room. None when all do. `filled`: absent where the data are others.
[[nodiscard]] std::optional<std::int64_t> element_outside(const backend::Backend& backend,
                                                          backend::Region region,
                                                          const CheckedData& data,
                                                          std::optional<std::uint32_t> filled);

/// Whether all elements of the data are 0 or −0.
[[nodiscard]] bool are_zero(const backend::Backend& backend, backend::Region region,
                            const CheckedData& data);

}  // namespace tuner::verify
