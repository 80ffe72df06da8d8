// SPDX-License-Identifier: Apache-2.0
// For a library in front of another one: only what a tuned kernel serves is done here.
#pragma once

#include "tuner/dispatch/dispatcher.hpp"
#include "tuner/family/transpose.hpp"

#include <cstdint>

namespace tuner::dispatch {

/// What became of a product that only a tuned kernel may serve.
enum class KernelEnd {
  launched,    ///< a tuned kernel was enqueued; in all other cases nothing was
  library,     ///< the library is expected to be at least as fast
  untuned,     ///< no result answers: no family, or its default configuration would
  unprepared,  ///< the stream is being captured, and the size was not prepared
  unsuited,    ///< batches that are not contiguous, less alignment than any result claims
  failed,      ///< the stream or the kernel cannot be used now
};

/// How it ended.
struct KernelUse {
  KernelEnd end = KernelEnd::failed;
  /// What the library took longer in the final round of the very size, in ns; 0 where not known.
  double saved_ns = 0;
};

/// The product of sgemm_strided_batched(), by the kernel that Dispatcher::launch would launch, if
/// it would launch a tuned kernel. A size that is new is compiled and loaded first, by the calling
/// thread. Throws DispatchError for sizes and pointers that are no product's, and where the device
/// has failed.
/// @param dispatcher The device and what was tuned for it.
/// @param stream Where the work is enqueued.
/// @param trans_a As of sgemm(), like the parameters that follow; all of m, n, k and batch at
///        least 1.
/// @param trans_b As of sgemm().
/// @param m As of sgemm().
/// @param n As of sgemm().
/// @param k As of sgemm().
/// @param alpha As of sgemm().
/// @param a As of sgemm().
/// @param lda As of sgemm().
/// @param stride_a As of sgemm_strided_batched().
/// @param b As of sgemm().
/// @param ldb As of sgemm().
/// @param stride_b As of sgemm_strided_batched().
/// @param beta As of sgemm().
/// @param c As of sgemm().
/// @param ldc As of sgemm().
/// @param stride_c As of sgemm_strided_batched().
/// @param batch As of sgemm_strided_batched().
/// @return What was done.
[[nodiscard]] KernelUse sgemm_by_kernel(Dispatcher& dispatcher, StreamHandle stream,
                                        Transpose trans_a, Transpose trans_b, std::int64_t m,
                                        std::int64_t n, std::int64_t k, float alpha, const float* a,
                                        std::int64_t lda, std::int64_t stride_a, const float* b,
                                        std::int64_t ldb, std::int64_t stride_b, float beta,
                                        float* c, std::int64_t ldc, std::int64_t stride_c,
                                        std::int64_t batch);

}  // namespace tuner::dispatch
