// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "benchmarks/gemm/contender.hpp"
#include "tuner/dispatch/dispatcher.hpp"

namespace tuner::gemm_benchmark {

/// A plain product as an application has it from the dispatcher, by tuner::sgemm. Dispatcher and
/// operands must outlive it.
[[nodiscard]] Contender dispatched_contender(Role role, Dispatcher& dispatcher, const Shape& shape,
                                             const Operands& operands, StreamHandle stream);

}  // namespace tuner::gemm_benchmark
