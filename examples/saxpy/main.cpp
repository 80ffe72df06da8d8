// SPDX-License-Identifier: Apache-2.0
// y = a*x + y with the configuration tuned for this device and size.

#include "device.hpp"

#include <array>
#include <iostream>
#include <tuner/dispatch/dispatcher.hpp>

int main(int argc, char** argv) {
  const std::int64_t n = argc > 1 ? std::stoll(argv[1]) : 16777216;
  try {
    example::Floats x(static_cast<std::size_t>(n));
    example::Floats y(static_cast<std::size_t>(n));
    const tuner::DispatchOptions options = {.backend = example::backend};

    tuner::Dispatcher dispatcher(tuner::Table::database(), options);
    const tuner::FamilyId saxpy = dispatcher.family("saxpy");
    const std::array size = {n};
    const std::array<tuner::DispatchArgument, 3> arguments = {2.0F, x.data(), y.data()};
    dispatcher.launch(saxpy, size, arguments);  // on a stream: a fourth argument

    example::wait();
    std::cout << "answer: " << name(dispatcher.answer(saxpy, size).rung) << "\n"
              << "y[0] = " << y[0] << "\n";
    return y[0] == 3 * x[0] ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "saxpy: " << error.what() << "\n";
    return 1;
  }
}
