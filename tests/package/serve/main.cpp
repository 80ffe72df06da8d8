// SPDX-License-Identifier: Apache-2.0
// A product of two matrices on the CPU, of which nothing was tuned.

#include "tuner/dispatch/gemm.hpp"

#include <algorithm>
#include <iostream>

int main() {
  try {
    tuner::Dispatcher dispatcher(tuner::Table::none(), {.backend = "cpu"});
    const float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
    float c[4] = {};
    tuner::sgemm(dispatcher, nullptr, tuner::Transpose::no, tuner::Transpose::no, 2, 2, 2, 1, a, 2,
                 b, 2, 0, c, 2);
    double wide[4] = {}, x[] = {1, 2, 3, 4}, y[] = {5, 6, 7, 8};
    tuner::gemm(dispatcher, nullptr, {.type = tuner::GemmType::f64, .m = 2, .n = 2, .k = 2}, 1, x,
                y, 0, wide);
    if (!std::equal(c, c + 4, wide)) return 1;
    std::cout << "product: " << c[0] << " " << c[1] << " " << c[2] << " " << c[3] << "\n";
    tuner::Dispatcher wrong(tuner::Table::file("no such table"), {.backend = "cpu"});
  } catch (const tuner::DispatchError& error) {  // thrown by the header, of what the library says
    std::cout << error.what() << "\n";
  }
}
