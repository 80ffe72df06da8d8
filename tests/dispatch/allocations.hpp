// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tuner::dispatch {

/// How often the calling thread has called operator new; this program's counts.
[[nodiscard]] int allocations();
/// What all threads have allocated by it and not freed.
[[nodiscard]] std::int64_t live_bytes();

}  // namespace tuner::dispatch
