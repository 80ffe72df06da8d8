// SPDX-License-Identifier: Apache-2.0
// What a configuration is expected to take at a size, from other sizes: which are worth a trial.
#pragma once

#include "tuner/space/size.hpp"

#include <span>
#include <vector>

namespace tuner::session {

/// How much longer a configuration took at a size than the fastest one.
struct KnownLoss {
  space::Size size;
  double ln_loss = 0;  ///< ln(time / shortest time), at least 0
};

/// Of ln(time / shortest time), with one standard deviation.
struct ExpectedLoss {
  double ln_loss = 0;
  double error = 0;

  /// What it may well be.
  [[nodiscard]] double least() const { return ln_loss - error; }
};

/// The mean of the known losses, by how near their sizes are, and of a usual loss, which counts
/// where none is near. All sizes have the same dimensions.
[[nodiscard]] ExpectedLoss expected_loss(std::span<const KnownLoss> known,
                                         const space::Size& asked);

/// The sizes in an order in which each is far from those before it: the first is the one in the
/// middle.
[[nodiscard]] std::vector<space::Size> far_apart(std::vector<space::Size> sizes);

}  // namespace tuner::session
