// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/select/dispatched_contender.hpp"

#include "tuner/dispatch/gemm.hpp"

namespace tuner::gemm_benchmark {
namespace {

float* floats(std::byte* memory) {
  return reinterpret_cast<float*>(memory);
}

}  // namespace

Contender dispatched_contender(Role role, Dispatcher& dispatcher, const Shape& shape,
                               const Operands& operands, StreamHandle stream) {
  const auto launch = [=, &dispatcher, &operands](std::size_t index) -> Expected<void, Failure> {
    const OperandSet set = operands.set(index);
    try {
      sgemm(dispatcher, stream, Transpose::no, Transpose::no, shape.m, shape.n, shape.k, 1.0F,
            floats(set.a), shape.lda, floats(set.b), shape.ldb, 0.0F, floats(set.c), shape.ldc);
    } catch (const DispatchError& error) {
      return Unexpected(Failure{.outcome = Outcome::launch_error, .message = error.what()});
    }
    return {};
  };
  // A kernel with scratch memory takes a set of it into each graph.
  const auto before_capture = [=, &dispatcher] {
    static_cast<void>(
        dispatcher.prepare(dispatcher.family("gemm"), {{{shape.m, shape.n, shape.k}}}));
  };
  return {.role = role, .kernel = {}, .launch = launch, .before_capture = before_capture};
}

}  // namespace tuner::gemm_benchmark
