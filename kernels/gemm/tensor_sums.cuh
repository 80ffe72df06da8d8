// SPDX-License-Identifier: Apache-2.0
// The sums of a tile over its k-tiles, which arrive in a ring of stages: the main loop of a
// consumer warpgroup.
#pragma once

#include "common/wgmma.cuh"

/// Sums of PARTS times 64 rows are operands of products that run.
template <int COLUMNS, class S, int PARTS>
__device__ __forceinline__ void pin_all(Accumulators<COLUMNS, S> (&sums)[PARTS]) {
#pragma unroll
  for (int part = 0; part < PARTS; ++part) pin(sums[part]);
}

/// `sum` of `k_tiles` k-tiles, at least one. begin(sums, is_first) waits for the next k-tile,
/// begins its products, which are added to `sums` or are the first, and returns the stage where it
/// is; release(stage): it has been read; last_has_begun(): called when no more products will begin.
template <class Sums, class Begin, class Release, class LastHasBegun>
__device__ __forceinline__ void sum_k_tiles(Sums& sum, int k_tiles, WarpgroupProducts& products,
                                            const Begin& begin, const Release& release,
                                            const LastHasBegun& last_has_begun) {
  // The products of one k-tile are begun before those of the last one are complete.
  pin_all(sum);
  int reading = begin(sum, true);
  for (int left = k_tiles - 1; left > 0; --left) {
    const int next = begin(sum, false);
    products.await<1>();
    release(reading);
    reading = next;
  }
  last_has_begun();
  products.await<0>();
  pin_all(sum);
  release(reading);
}

template <int COLUMNS, class S, int PARTS>
__device__ __forceinline__ void add_sums(Accumulators<COLUMNS, S> (&to)[PARTS],
                                         const Accumulators<COLUMNS, S> (&sums)[PARTS]) {
#pragma unroll
  for (int part = 0; part < PARTS; ++part) {
#pragma unroll
    for (int i = 0; i < Accumulators<COLUMNS, S>::COUNT; ++i) to[part].at[i] += sums[part].at[i];
  }
}

/// Sums as sum_k_tiles, but each k-tile's sums are added to `sum` by instructions of single
/// precision. OVERLAPS: while the products of the next are computed, which takes registers for
/// three times the sums.
template <bool OVERLAPS, class Sums, class Begin, class Release, class LastHasBegun>
__device__ __forceinline__ void promote_k_tiles(Sums& sum, int k_tiles, WarpgroupProducts& products,
                                                const Begin& begin, const Release& release,
                                                const LastHasBegun& last_has_begun) {
#pragma unroll
  for (auto& part : sum) part = {};
  int reading;
  const auto start = [&](Sums& sums) {
    pin_all(sums);
    return begin(sums, true);
  };
  const auto promote = [&](Sums& sums) {
    pin_all(sums);
    release(reading);
    add_sums(sum, sums);
  };
  if constexpr (OVERLAPS) {
    Sums even, odd;
    const auto replace = [&](Sums& last, Sums& next) {
      const int stage = start(next);
      products.await<1>();
      promote(last);
      reading = stage;
    };
    const auto end = [&](Sums& last) {
      last_has_begun();
      products.await<0>();
      promote(last);
    };
    reading = start(even);
    int left = k_tiles - 1;
    for (; left > 1; left -= 2) {
      replace(even, odd);
      replace(odd, even);
    }
    if (left > 0) {
      replace(even, odd);
      end(odd);
    } else {
      end(even);
    }
  } else {
    Sums of_k_tile;
    for (int left = k_tiles; left > 0; --left) {
      reading = start(of_k_tile);
      if (left == 1) last_has_begun();
      products.await<0>();
      promote(of_k_tile);
    }
  }
}
