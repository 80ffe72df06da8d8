// SPDX-License-Identifier: Apache-2.0
// The C library has this function from 2.36 on. The random_device of a libstdc++ that is linked in
// names it, whether used or not, so that nothing would start on a system with glibc 2.35.
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <sys/random.h>

extern "C" std::uint32_t
arc4random() noexcept {  // NOLINT(readability-identifier-naming): its name there
  std::uint32_t number = 0;
  while (::getrandom(&number, sizeof number, 0) != sizeof number) {
    if (errno != EINTR) std::abort();
  }
  return number;
}
