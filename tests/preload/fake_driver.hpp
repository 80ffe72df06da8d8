// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <nvrtc.h>

#include <array>
#include <cstddef>

extern "C" {

/// The kernel "histogram" or "spmv".
CUfunction fake_kernel(const char* name);
/// Zeros in memory of the device.
void* fake_allocate(std::size_t bytes);
}
