// SPDX-License-Identifier: Apache-2.0
// What the tests of this module share.
#pragma once

#include "tuner/core/error.hpp"
#include "tuner/space/space.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <vector>

namespace tuner::space {

inline DeviceAttributes h200() {
  return device_profile("h200")->attributes;
}

inline std::shared_ptr<SpaceDefinition> parse(const std::string& kernel,
                                              const Dimensions& dims = {}) {
  return std::make_shared<SpaceDefinition>(
      parse_space_definition(parse_json(kernel, "test"), dims, "test"));
}

inline Space make_space(const std::string& kernel) {
  return Space(parse(kernel), h200(), {});
}

/// The message of the Error(usage) that `action` throws.
template <class Action>
std::string error(Action action) {
  try {
    action();
  } catch (const Error& caught) {
    EXPECT_EQ(caught.code(), ErrorCode::usage);
    return caught.what();
  }
  return "accepted";
}

/// Every configuration, valid or not, in the order of the file.
inline std::vector<Config> all_configs(const SpaceDefinition& definition) {
  std::vector<Config> result = {{}};
  for (const Parameter& parameter : definition.parameters) {
    std::vector<Config> longer;
    for (const Config& config : result) {
      for (std::uint32_t choice = 0; choice < parameter.values.size(); ++choice) {
        longer.push_back(config);
        longer.back().choice.push_back(choice);
      }
    }
    result = std::move(longer);
  }
  return result;
}

/// Tiles of a matrix product: 7600 valid of 28800.
inline constexpr const char* kTiles = R"json({
  "parameters": {
    "BM": {"pow2": [32, 256], "default": 128}, "BN": {"pow2": [32, 256], "default": 128},
    "BK": {"pow2": [8, 64], "default": 16}, "TM": {"pow2": [1, 16], "default": 8},
    "TN": {"pow2": [1, 16], "default": 8}, "VEC": {"values": [1, 2, 4], "default": 4},
    "PAD": {"values": [0, 1, 4], "default": 4},
    "SWIZZLE": {"values": ["none", "xor"], "default": "none", "kind": "define", "when": "PAD == 0"}},
  "derived": {"THREADS": "(BM / TM) * (BN / TN)", "SMEM": "4 * BK * (BM + PAD + BN + PAD)"},
  "constraints": [
    {"expr": "THREADS >= 64 && THREADS <= dev.max_threads_per_block && THREADS % dev.warp_size == 0",
     "why": "legal block of whole warps"},
    {"expr": "BM % TM == 0 && BN % TN == 0", "why": "thread tile divides block tile"},
    {"expr": "BK % VEC == 0 && BN % VEC == 0", "why": "vector loads stay inside a row"},
    {"expr": "(BM * BK) % (THREADS * VEC) == 0 && (BK * BN) % (THREADS * VEC) == 0",
     "why": "each thread loads the same number of vectors"},
    {"expr": "VEC == 1 || PAD % VEC == 0", "why": "padding keeps vector alignment"},
    {"expr": "SMEM <= dev.max_smem_per_block_optin", "why": "fits in shared memory"},
    {"expr": "TM * TN + TM + TN <= 200", "why": "accumulators stay in registers"}]})json";

}  // namespace tuner::space
