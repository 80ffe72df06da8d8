// SPDX-License-Identifier: Apache-2.0
// For a library in front of another one: only what a tuned kernel serves is done here.
#pragma once

#include "tuner/dispatch/gemm.hpp"

namespace tuner::dispatch {

/// What became of a product that only a tuned kernel may serve.
enum class KernelEnd {
  launched,    ///< a tuned kernel was enqueued; in all other cases nothing was
  library,     ///< the library is expected to be at least as fast
  untuned,     ///< no result answers: no family, or its default configuration would
  unprepared,  ///< the stream is being captured, and the size was not prepared
  unsuited,    ///< no size of the family, batches that are not contiguous, less alignment than any
               ///< result claims
  failed,      ///< the stream or the kernel cannot be used now
};

/// A kernel of several launches failed behind its first one: C may have changed, and nobody may
/// compute it again.
class HalfwayError : public DispatchError {
 public:
  using DispatchError::DispatchError;
};

/// How it ended.
struct KernelUse {
  KernelEnd end = KernelEnd::failed;
  /// What the library is expected to take longer, in ns; 0 where that is not known.
  double saved_ns = 0;
};

/// The product of gemm(), by the kernel that Dispatcher::launch would launch, if it would launch a
/// tuned kernel. A size that is new is compiled and loaded first, by the calling thread. Throws
/// DispatchError for sizes and pointers that are no product's, and where the device has failed;
/// HalfwayError.
/// @param dispatcher The device and what was tuned for it.
/// @param stream Where the work is enqueued.
/// @param problem As of gemm(), like the parameters that follow; all of m, n, k and batch at least
///        1.
/// @param alpha As of gemm().
/// @param a As of gemm().
/// @param b As of gemm().
/// @param beta As of gemm().
/// @param c As of gemm().
/// @return What was done.
[[nodiscard]] KernelUse gemm_by_kernel(Dispatcher& dispatcher, StreamHandle stream,
                                       const GemmProblem& problem, double alpha, const void* a,
                                       const void* b, double beta, void* c);

}  // namespace tuner::dispatch
