// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "benchmarks/gemm/contender.hpp"
#include "tuner/backend/cuda/runtime.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace tuner::gemm_benchmark {

/// What a contender enqueues on these sets, one after another, as a graph. Throws Error(failure)
/// when it cannot be captured.
[[nodiscard]] backend::Graph capture(const LaunchOn& launch, const std::vector<std::size_t>& sets,
                                     cudaStream_t stream);
/// Ready to be launched on the stream.
[[nodiscard]] backend::GraphExec instantiate(const backend::Graph& graph, cudaStream_t stream);

/// The kernels of a graph in their order, joined by " + "; what is not a kernel is left out. Empty
/// where the driver does not tell.
[[nodiscard]] std::string kernel_names(const backend::Graph& graph);

}  // namespace tuner::gemm_benchmark
