// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"

#include <cstddef>

namespace tuner::backend {

/// Where the operands of a call lie. `address(region, size_bytes)` returns where a region of a
/// buffer lies, or throws when the buffer is too small. Throws as blas::operands_of.
template <class Address>
blas::Addresses call_addresses(const LibraryCall& call, const Address& address) {
  const auto operands = blas::operands_of(call.operation);
  blas::Addresses addresses{.alpha = call.operands.alpha, .beta = call.operands.beta};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i]) addresses[i] = address(call.operands[i], operands[i]->size_bytes());
  }
  return addresses;
}

}  // namespace tuner::backend
