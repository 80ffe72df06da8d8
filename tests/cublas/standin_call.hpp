// SPDX-License-Identifier: Apache-2.0
// For the sources of the stand-in alone.
#pragma once

#include "tests/cublas/standin.hpp"

#include <cstring>

namespace standin {

template <class... Arguments>
void keep(const char* function, const Arguments&... arguments) {
  StandinCall& call = *standin_last_call();
  call.function = function;
  call.bits = {};
  call.arguments = 0;
  ++call.calls;
  const auto add = [&](const auto& argument) {
    std::memcpy(&call.bits.at(static_cast<std::size_t>(call.arguments++)), &argument,
                sizeof argument);
  };
  (add(arguments), ...);
}

/// A product of floats, column by column.
struct Product {
  bool trans_a, trans_b;
  std::int64_t m, n, k, batch;
  float alpha;
  const float* a;
  std::int64_t lda, stride_a;
  const float* b;
  std::int64_t ldb, stride_b;
  float beta;
  float* c;
  std::int64_t ldc, stride_c;
};

inline void multiply(const Product& p) {
  for (std::int64_t z = 0; z < p.batch; ++z) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      for (std::int64_t i = 0; i < p.m; ++i) {
        float sum = 0;
        for (std::int64_t l = 0; l < p.k; ++l) {
          const float a = p.a[z * p.stride_a + (p.trans_a ? l + i * p.lda : i + l * p.lda)];
          const float b = p.b[z * p.stride_b + (p.trans_b ? j + l * p.ldb : l + j * p.ldb)];
          sum += a * b;
        }
        float& c = p.c[z * p.stride_c + i + j * p.ldc];
        c = p.alpha * sum + (p.beta == 0 ? 0 : p.beta * c);
      }
    }
  }
}

}  // namespace standin
