// SPDX-License-Identifier: Apache-2.0
// Multiplies matrices with the best kernels of the database.

#include "device.hpp"

#include <iostream>
#include <tuner/dispatch/gemm.hpp>

int main(int argc, char** argv) {
  const std::int64_t n = argc > 1 ? std::stoll(argv[1]) : 1024;
  try {
    tuner::Dispatcher dispatcher(tuner::Table::database(), {.backend = example::backend});
    const tuner::FamilyId gemm = dispatcher.family("gemm");

    // Compiles the kernel now instead of at the first product.
    for (const tuner::Preparation& done : dispatcher.prepare(gemm, {{{n, n, n}}})) {
      if (!done.answer) throw tuner::DispatchError(done.error);
      std::cout << "answer: " << name(done.answer->rung) << ", " << done.answer->kernel << " "
                << done.answer->configuration << "\n";
    }

    const auto count = static_cast<std::size_t>(n * n);
    example::Floats a(count), b(count), c(count);
    tuner::sgemm(dispatcher, nullptr, tuner::Transpose::no, tuner::Transpose::no, n, n, n, 1.0F,
                 a.data(), n, b.data(), n, 0.0F, c.data(), n);
    example::wait();

    float expected = 0;
    for (std::int64_t k = 0; k < n; ++k) expected += a[k] * b[k * n];
    std::cout << "C[0][0] = " << c[0] << ", expected " << expected << "\n";
    return c[0] == expected ? 0 : 1;  // sums of small integers are exact
  } catch (const std::exception& error) {
    std::cerr << "gemm: " << error.what() << "\n";
    return 1;
  }
}
