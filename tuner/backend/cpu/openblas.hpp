// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cblas.h>

#include <string>

namespace tuner::backend {

/// What the cpu backend uses of OpenBLAS.
struct OpenBlas {
  std::string version;  ///< "OpenBLAS 0.3.21"
  decltype(cblas_sgemm)* sgemm;
  decltype(cblas_dgemm)* dgemm;
};

/// The library, opened when it is first needed: linked, it would start a thread for each core in
/// every process of the program, which on a machine of 64 cores takes more address space than a
/// child that compiles may have. Throws Error(no_device) with a remedy when it is not installed.
[[nodiscard]] const OpenBlas& openblas();

}  // namespace tuner::backend
