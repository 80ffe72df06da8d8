// SPDX-License-Identifier: Apache-2.0
// What is behind dispatch.h: the engine of a tuner_dispatcher, and products on it. Each function
// throws where that of dispatch.h fails.
#pragma once

#include "tuner/dispatch/engine.hpp"
#include "tuner/dispatch/gemm.hpp"

#include <cstdint>
#include <optional>

struct tuner_dispatcher {
  tuner::dispatch::Engine engine;
};

namespace tuner::dispatch {

/// Throws DispatchError for NULL, and in a process that was forked since it was opened.
[[nodiscard]] Engine& engine_of(tuner_dispatcher* dispatcher);
/// As the other engine_of().
[[nodiscard]] const Engine& engine_of(const tuner_dispatcher* dispatcher);

void multiply(Engine& engine, StreamHandle stream, const tuner_gemm_problem& problem, double alpha,
              const void* a, const void* b, double beta, void* c);

/// As multiply() of floats, but a leading dimension of 0 is refused where a row has elements.
void multiply_floats(Engine& engine, StreamHandle stream, const tuner_gemm_problem& problem,
                     float alpha, const float* a, const float* b, float beta, float* c);

[[nodiscard]] std::optional<GemmEntry> find_product(const Engine& engine,
                                                    const tuner_gemm_problem& problem);

}  // namespace tuner::dispatch
