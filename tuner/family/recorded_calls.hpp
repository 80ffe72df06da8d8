// SPDX-License-Identifier: Apache-2.0
// The products that a program asked a BLAS library for, as `tune record` finds them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::family {

/// Equal calls, by rows: C = activation(alpha·op(A)·op(B) + beta·C + bias).
struct RecordedProduct {
  std::string function;  ///< "cublasSgemm_v2"
  std::string type;      ///< "f32"; "f16,f16,f32" of A, B and C where they differ
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  bool trans_a = false, trans_b = false;
  std::int64_t lda = 0, ldb = 0, ldc = 0;
  std::int64_t align = 4;       ///< of the least aligned matrix, in units of 4 bytes: 1, 2 or 4
  std::int64_t epilogue = 1;    ///< as cublasLtEpilogue_t
  std::int64_t bias = 0;        ///< the same as Bias of the family's kernels
  std::int64_t activation = 0;  ///< and as their Activation
  std::string objection;        ///< why a tuned kernel cannot stand for it; empty: it can
  std::uint64_t count = 0;
  std::uint64_t captured = 0;  ///< of them: into graphs, whose launches are not seen
  std::uint64_t timed = 0;     ///< calls whose time on the device was measured
  double timed_ns = 0;         ///< their sum

  /// The time of all calls on the device, by those that were measured; 0 where none was.
  [[nodiscard]] double estimated_ns() const {
    return timed == 0 ? 0 : timed_ns / static_cast<double>(timed) * static_cast<double>(count);
  }
};

struct RecordedCalls {
  std::string device;
  std::vector<RecordedProduct> products;
};

/// As text, format calls/1.
[[nodiscard]] std::string recorded_calls_json(const RecordedCalls& calls);

/// Reads such a text; `origin` begins messages. Throws Error(usage).
[[nodiscard]] RecordedCalls parse_recorded_calls(std::string_view text, std::string_view origin);

/// Adds the calls of another process: equal products become one.
void add_calls(RecordedCalls& calls, const RecordedCalls& others);

}  // namespace tuner::family
