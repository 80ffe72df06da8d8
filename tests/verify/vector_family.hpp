// SPDX-License-Identifier: Apache-2.0
// Families of one dimension, whose reference is a kernel: what a stranger brings.
#pragma once

#include "tests/support/cached_cpu_backend.hpp"
#include "tests/support/part.hpp"
#include "tests/verify/verify_configuration.hpp"
#include "tuner/verify/verifier.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::verify::vectors {

/// What a family says beside its kernels' sources, which define `reference` and `candidate`, both
/// launched with one thread for each of N elements, 64 in a block.
struct Document {
  std::string_view arguments;   ///< after N, an int
  std::string_view check = "";  ///< after the reference and the sizes: ", \"exact\": true"
  std::string_view sizes = "[1], [5], [67]";
};

inline family::Family family(const Document& document, const std::string& reference,
                             const std::string& candidate) {
  constexpr std::string_view kText = R"json({{
    "format": "space/1", "family": "vectors",
    "problem": {{"dims": ["N"], "flops": "N", "bytes": "8*N"}},
    "arguments": [{{"name": "n", "type": "int", "value": "N"}}, {}],
    "check": {{"reference": {{"kernel": "reference"}}, "sizes": [{}]{}}},
    "kernels": {{
      "reference": {{"source": "reference.cu", "entry": "reference",
                     "launch": {{"grid": ["ceil_div(N, 64)"], "block": [64]}}}},
      "candidate": {{"source": "candidate.cu", "entry": "candidate",
                     "launch": {{"grid": ["ceil_div(N, 64)"], "block": [64]}}}}
    }}
  }})json";
  const auto source = [](const char* name, const std::string& text) {
    return source::KernelSource{.name = name, .text = text, .headers = {}};
  };
  return family::parse_family(
      fmt::format(kText, document.arguments, document.sizes, document.check), "vectors.json",
      {{"reference", source("reference.cu", reference)},
       {"candidate", source("candidate.cu", candidate)}});
}

/// A kernel of n and further parameters that runs `body` for each index i below n.
inline std::string kernel(std::string_view name, std::string_view parameters,
                          std::string_view body) {
  return fmt::format(
      "__global__ void {}(int n, {}) {{ const int i = blockIdx.x * 64 + threadIdx.x; if (i < n) {{ "
      "{} }} }}",
      name, parameters, body);
}

/// Seeds of inputs on which nothing that is right may be refused.
inline std::vector<std::uint64_t> seeds() {
  return testing_support::part<std::uint64_t>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

/// Judges candidates on the cpu backend.
class VectorsTest : public testing::Test {
 protected:
  /// The verdict at 200 elements.
  Expected<Verdict, Failure> judge(const Document& document, std::string_view parameters,
                                   std::string_view reference, std::string_view candidate,
                                   std::uint64_t seed = 7) {
    const family::Family judged = family(document, kernel("reference", parameters, reference),
                                         kernel("candidate", parameters, candidate));
    Verifier verifier(*backend_, judged, seed);
    return verify_configuration(*backend_, verifier, judged.kernel("candidate"), {200});
  }
  /// The message of the failure, after its outcome; "ok" when there is none.
  std::string message(const Document& document, std::string_view parameters,
                      std::string_view reference, std::string_view candidate) {
    const auto verdict = judge(document, parameters, reference, candidate);
    if (verdict) return "ok";
    return fmt::format("{}: {}", name(verdict.error().outcome), verdict.error().message);
  }

  std::unique_ptr<backend::Backend> backend_ = testing_support::open_cached_cpu_backend();
};

}  // namespace tuner::verify::vectors
