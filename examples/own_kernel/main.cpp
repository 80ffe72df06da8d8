// SPDX-License-Identifier: Apache-2.0
// Normalizes rows by the application's own kernel with its tuned configuration.

#include "device.hpp"

#include <array>
#include <cmath>
#include <iostream>
#include <tuner/dispatch/dispatcher.hpp>

int main(int argc, char** argv) {
  const std::int64_t rows = argc > 2 ? std::stoll(argv[1]) : 4096;
  const std::int64_t columns = argc > 2 ? std::stoll(argv[2]) : 4096;
  try {
    tuner::Dispatcher dispatcher(tuner::Table::database(), {.backend = example::backend});
    const tuner::FamilyId rms_norm = dispatcher.family("rms_norm");
    const std::array size = {rows, columns};
    const tuner::Answer answer = dispatcher.answer(rms_norm, size);
    std::cout << "answer: " << name(answer.rung) << ", " << answer.kernel << " "
              << answer.configuration << "\n";

    example::Floats x(static_cast<std::size_t>(rows * columns));
    example::Floats y(static_cast<std::size_t>(rows * columns));
    example::Floats w(static_cast<std::size_t>(columns));
    // The arguments of rms_norm.json in their order, without those that the size decides.
    const float epsilon = 1e-6F;
    const std::array<tuner::DispatchArgument, 4> arguments = {epsilon, x.data(), w.data(),
                                                              y.data()};
    dispatcher.launch(rms_norm, size, arguments);
    example::wait();

    float squares = 0;
    for (std::int64_t i = 0; i < columns; ++i) squares += x[i] * x[i];
    const float expected = x[0] * w[0] / std::sqrt(squares / static_cast<float>(columns) + epsilon);
    std::cout << "y[0][0] = " << y[0] << ", expected " << expected << "\n";
    return std::abs(y[0] - expected) < 1e-5F * std::abs(expected) ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "own_kernel: " << error.what() << "\n";
    return 1;
  }
}
