// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tuner {

/// Whether a product takes a matrix as it is stored or its transpose.
enum class Transpose { no, yes };

}  // namespace tuner
