// SPDX-License-Identifier: Apache-2.0
// Prints the windowed square of an image whose pixels are all equal.

#include "device.hpp"

#include <array>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <tuner/dispatch/dispatcher.hpp>

int main(int argc, char** argv) {
  constexpr std::int64_t kRows = 15, kColumns = 15;
  const std::int64_t window = argc > 1 ? std::stoll(argv[1]) : 5;
  const int pixel = argc > 2 ? std::stoi(argv[2]) : 1;
  try {
    tuner::Dispatcher dispatcher(tuner::Table::database(), {.backend = example::backend});
    const tuner::FamilyId family = dispatcher.family("window_square");
    const std::array size = {kRows, kColumns, window};

    constexpr std::size_t kBytes = kRows * kColumns * sizeof(std::uint16_t);
    auto* const in = static_cast<std::uint16_t*>(example::allocate(kBytes));
    auto* const out = static_cast<std::uint16_t*>(example::allocate(kBytes));
    for (std::int64_t i = 0; i < kRows * kColumns; ++i) in[i] = static_cast<std::uint16_t>(pixel);
    const std::array<tuner::DispatchArgument, 3> arguments = {65535U, in, out};
    dispatcher.launch(family, size, arguments);
    example::wait();

    for (std::int64_t y = 0; y < kRows; ++y) {
      for (std::int64_t x = 0; x < kColumns; ++x)
        std::cout << std::setw(6) << out[y * kColumns + x];
      std::cout << "\n";
    }
    example::release(in);
    example::release(out);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "window_square: " << error.what() << "\n";
    return 1;
  }
}
