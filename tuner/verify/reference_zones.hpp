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

/// The element closest to the data, from −1 down or from their count up, of which a zone of such
/// room does not hold what it was filled with; none when the zones are intact.
[[nodiscard]] std::optional<std::int64_t> element_outside(const backend::Backend& backend,
                                                          backend::Region region,
                                                          const CheckedData& data);

/// Whether all elements of the data are 0 or −0.
[[nodiscard]] bool are_zero(const backend::Backend& backend, backend::Region region,
                            const CheckedData& data);

}  // namespace tuner::verify
