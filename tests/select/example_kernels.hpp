// SPDX-License-Identifier: Apache-2.0
// A family of two kernels with one parameter each, for the tests of selection.
#pragma once

#include "tuner/store/records.hpp"

#include <string>

namespace tuner::select {

inline constexpr const char* kTilesSpace = R"({
  "format": "space/1", "family": "tiles",
  "problem": { "dims": ["M", "N"], "flops": "M*N", "bytes": "4*M*N" },
  "kernels": {
    "plain": { "parameters": { "BLOCK": {"values": [32, 64, 128], "default": 64} } },
    "tiled": {
      "parameters": { "TILE": {"values": [8, 16, 32, 64], "default": 16} },
      "constraints": [ {"expr": "M % TILE == 0", "why": "only whole tiles"},
                       {"expr": "TILE * 16 <= dev.max_threads_per_block", "why": "legal block"} ] }
  } })";

/// kTilesSpace of a product that a library computes too.
inline std::string tiles_with_library() {
  const std::string text = kTilesSpace;
  return text.substr(0, text.rfind('}')) + R"(,
    "arguments": [ {"name": "A", "type": "float*", "count": "M*N"},
                   {"name": "B", "type": "float*", "count": "N*N"},
                   {"name": "C", "type": "float*", "count": "M*N", "role": "output"} ],
    "check": {"reference": {"op": "gemm", "m": "M", "n": "N", "k": "N", "a": "A", "b": "B",
                            "c": "C"}} })";
}

inline store::KernelRecord example_kernel(const std::string& name,
                                          const std::string& hash = "new") {
  return {.family = "tiles",
          .kernel = name,
          .hash = hash,
          .space_text = kTilesSpace,
          .source_name = "tiles.cu",
          .source_text = "",
          .headers_json = "[]"};
}

}  // namespace tuner::select
