// SPDX-License-Identifier: Apache-2.0
// The spaces of published kernels in tests/data/spaces, with the counts that were published or
// found by brute force.
#pragma once

#include <array>
#include <cstdint>

namespace tuner::space {

struct PublishedSpace {
  const char* name;
  std::uint64_t cartesian;
  std::uint64_t valid;
};

inline constexpr std::array kPublishedSpaces = {
    PublishedSpace{"atf_prl_16x16", 618475290624, 181440},
    PublishedSpace{"atf_prl_2x2", 36864, 1200},
    PublishedSpace{"atf_prl_4x4", 9437184, 10800},
    PublishedSpace{"atf_prl_8x8", 2415919104, 48720},
    PublishedSpace{"convolution_bat", 16896, 6768},
    PublishedSpace{"convolution_milo", 10240, 4362},
    PublishedSpace{"dedispersion", 22272, 11130},
    PublishedSpace{"dedispersion_bat", 123863040, 16851135},
    PublishedSpace{"expdist", 9732096, 294000},
    PublishedSpace{"gemm", 663552, 116928},
    PublishedSpace{"gemm_bat", 20736, 10312},
    PublishedSpace{"gemm_kt", 82944, 17956},
    PublishedSpace{"hotspot", 22200000, 349853},
    PublishedSpace{"hotspot_milo_t1", 4440000, 82984},
    PublishedSpace{"ktt_coulomb2d", 16128, 14784},
    PublishedSpace{"md5hash_bat", 165888, 165888},
    PublishedSpace{"microhh", 1166400, 138600},
    PublishedSpace{"nbody_bat", 3136, 1568},
    PublishedSpace{"pnpoly_bat", 4092, 4092},
    PublishedSpace{"triad_bat", 7680, 4320},
};

}  // namespace tuner::space
