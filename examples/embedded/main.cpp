// SPDX-License-Identifier: Apache-2.0
// Multiplies matrices with kernels and results that are compiled in, without database and `tune`.

#include "device.hpp"
#include "gemm_table.hpp"

#include <array>
#include <iostream>
#include <tuner/dispatch/gemm.hpp>

int main(int argc, char** argv) {
  const std::int64_t n = argc > 1 ? std::stoll(argv[1]) : 1024;
  try {
    tuner::Dispatcher dispatcher(tuner::Table::text(gemm_table()), {.backend = example::backend});
    const tuner::Answer answer = dispatcher.answer(dispatcher.family("gemm"), std::array{n, n, n});
    std::cout << "answer: " << name(answer.rung) << ", " << answer.kernel << " "
              << answer.configuration << "\n";

    const auto count = static_cast<std::size_t>(n * n);
    example::Floats a(count), b(count), c(count);
    tuner::sgemm(dispatcher, nullptr, tuner::Transpose::no, tuner::Transpose::no, n, n, n, 1.0F,
                 a.data(), n, b.data(), n, 0.0F, c.data(), n);
    example::wait();

    float expected = 0;
    for (std::int64_t k = 0; k < n; ++k) expected += a[k] * b[k * n];
    std::cout << "C[0][0] = " << c[0] << ", expected " << expected << "\n";
    return c[0] == expected ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "embedded: " << error.what() << "\n";
    return 1;
  }
}
