// SPDX-License-Identifier: Apache-2.0
// The products of dispatch.h on an engine. Each throws where its function fails.
#pragma once

#include "tuner/dispatch/engine.hpp"
#include "tuner/dispatch/gemm.hpp"

#include <cstdint>
#include <optional>

namespace tuner::dispatch {

void multiply(Engine& engine, StreamHandle stream, const tuner_gemm_problem& problem, double alpha,
              const void* a, const void* b, double beta, void* c);

/// As multiply() of floats, but a leading dimension of 0 is refused where a row has elements.
void multiply_floats(Engine& engine, StreamHandle stream, const tuner_gemm_problem& problem,
                     float alpha, const float* a, const float* b, float beta, float* c);

[[nodiscard]] std::optional<GemmEntry> find_product(const Engine& engine,
                                                    const tuner_gemm_problem& problem);

}  // namespace tuner::dispatch
