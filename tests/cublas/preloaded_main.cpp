// SPDX-License-Identifier: Apache-2.0
// Starts the tests once more, with libtuner_cublas.so preloaded.
#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

int main(int argc, char** argv) {
  if (std::getenv("LD_PRELOAD") == nullptr) {
    ::setenv("LD_PRELOAD", TUNER_CUBLAS_LIBRARY, 1);
    ::execv("/proc/self/exe", argv);
    std::perror("execv");
    return 1;
  }
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
