// SPDX-License-Identifier: Apache-2.0
// A small space file for the tests of this folder, and ways to alter it.
#pragma once

#include "tuner/core/error.hpp"
#include "tuner/family/family.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

namespace tuner::family::sample {

inline constexpr std::string_view kDocument = R"json({
  "format": "space/1",
  "family": "axpy",
  "doc": "y = 2x + y",
  "problem": {"dims": ["N"], "flops": "2*N", "bytes": "8*N", "sizes": {"small": [[1000], [1]]}},
  "arguments": [
    {"name": "N", "type": "int", "value": "N"},
    {"name": "alpha", "type": "float", "value": 2},
    {"name": "x", "type": "float*", "count": "N"},
    {"name": "y", "type": "float*", "count": "N", "role": "output"}
  ],
  "check": {
    "reference": {"kernel": "plain"},
    "sizes": [[1], [31]],
    "cases": [{"set": {"alpha": 3}, "reads": ["y"], "why": "alpha is used"}]
  },
  "kernels": {
    "plain": {
      "doc": "a grid-stride loop",
      "source": "plain.cu",
      "entry": "plain<${BLOCK},${SPAN}>",
      "options": ["-DCHECKED", "-std=c++17"],
      "backends": ["cuda"],
      "parameters": {
        "BLOCK": {"values": [32, 64, 128], "default": 64},
        "UNROLL": {"values": [1, 2], "default": 2, "kind": "define"},
        "WAVES": {"values": [1, 2, 4], "default": 1, "kind": "launch"}
      },
      "derived": {"SPAN": "BLOCK*UNROLL", "SPARE": "BLOCK + 1"},
      "constraints": [{"expr": "SPAN <= 128", "why": "a short span"}],
      "launch": {
        "grid": ["ceil_div(N, SPAN*WAVES)"],
        "block": ["BLOCK"],
        "dynamic_shared_bytes": "4*SPAN"
}
, "check_sizes" : [["SPAN + 1"]]
}
}
})json";

/// `text` with `from`, which must occur in it, replaced once by `to`.
[[nodiscard]] inline std::string altered(std::string_view text, std::string_view from,
                                         std::string_view to) {
  std::string result(text);
  const std::size_t at = result.find(from);
  if (at == std::string::npos) {
    ADD_FAILURE() << "the sample has no " << from;
    return result;
  }
  return result.replace(at, from.size(), to);
}

[[nodiscard]] inline std::map<std::string, source::KernelSource> sources() {
  return {{"plain", {.name = "plain.cu", .text = "// a kernel", .headers = {}}}};
}

[[nodiscard]] inline Family parse(std::string_view document) {
  return parse_family(document, "axpy.json", sources());
}

/// The message of the Error(usage) that `action` throws.
template <class Action>
[[nodiscard]] std::string usage_error(Action action) {
  try {
    static_cast<void>(action());
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace tuner::family::sample
