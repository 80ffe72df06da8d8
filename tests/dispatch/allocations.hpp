// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tuner {

/// How often the calling thread has called operator new; this program's counts.
[[nodiscard]] int allocations();

}  // namespace tuner
