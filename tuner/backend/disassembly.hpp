// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/counters/instruction_mix.hpp"

#include <optional>

namespace tuner::backend {

/// The instructions of a cubin, as the program `cuobjdump` of the CUDA Toolkit lists them, which is
/// looked for on PATH, then in $CUDA_HOME/bin and /usr/local/cuda/bin. None where it is not there,
/// or knows nothing of the binary.
[[nodiscard]] std::optional<counters::InstructionMix> instructions_of(const Binary& binary);

}  // namespace tuner::backend
