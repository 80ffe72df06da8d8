// SPDX-License-Identifier: Apache-2.0
// The program tuner-compile, which the dispatcher starts. It is not for users.
#include "tuner/backend/helper_compiler.hpp"

int main(int argc, char** argv) {
  return tuner::backend::serve_as_helper({argv + 1, argv + argc});
}
