// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/arguments.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
  try {
    return tuner::cli::run(argc, argv);
  } catch (const tuner::Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {} (this is a defect of tune; please report it with the command)\n",
               error.what());
    return static_cast<int>(tuner::ErrorCode::failure);
  }
}
