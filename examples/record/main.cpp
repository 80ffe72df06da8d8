// SPDX-License-Identifier: Apache-2.0
// Normalizes activations of sizes that were not tuned. With TUNER_RECORD the dispatcher records
// them.

#include "device.hpp"

#include <array>
#include <iostream>
#include <tuner/dispatch/dispatcher.hpp>

int main(int argc, char** argv) {
  const std::int64_t tokens = argc > 1 ? std::stoll(argv[1]) : 2048;
  try {
    tuner::Dispatcher dispatcher(tuner::Table::database(), {.backend = example::backend});
    const tuner::FamilyId rms_norm = dispatcher.family("rms_norm");
    for (const std::int64_t width : {64, 96, 128}) {
      example::Floats x(static_cast<std::size_t>(tokens * width));
      example::Floats y(static_cast<std::size_t>(tokens * width));
      example::Floats w(static_cast<std::size_t>(width));
      const std::array size = {tokens, width};
      const std::array<tuner::DispatchArgument, 4> arguments = {1e-6F, x.data(), w.data(),
                                                                y.data()};
      dispatcher.launch(rms_norm, size, arguments);
      example::wait();
      std::cout << tokens << "x" << width << ": " << name(dispatcher.answer(rms_norm, size).rung)
                << "\n";
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "record: " << error.what() << "\n";
    return 1;
  }
}
