// SPDX-License-Identifier: Apache-2.0
// gemm_wgmma for groups of rows: row r of C is row r of A times the B of its group, as in layers of
// experts. Group g has the rows from offsets[g] to offsets[g + 1]; some may have none.
//
// Grid (clusters * blocks of a cluster): as many as run at once, since the number of tiles is known
// on the device only. A K-major, its rows and those of every B start on 16 bytes.

#include "gemm_wgmma.cu"

template <class T, class TC, bool TRANS_B, bool SWAP, int TILE_M, int TILE_N, int PANELS,
          int CONSUMERS, bool PING_PONG, int STAGES, int CLUSTER_M, int CLUSTER_N, int EVICT_FIRST,
          int VECTOR_C, int MIN_BLOCKS>
__global__ void CLUSTER_DIMENSIONS __launch_bounds__(WARPGROUP*(CONSUMERS + 1), MIN_BLOCKS)
    gemm_grouped(int M, int N, int K, int groups, const int* offsets, TC* C,
                 const __grid_constant__ TensorMap3 map_a,
                 const __grid_constant__ TensorMap3 map_b) {
  const RowGroups<SWAP, SWAP ? TILE_N * CLUSTER_N : TILE_M * CLUSTER_M> rows{offsets, groups};
  multiply_tiles<T, TC, false, TRANS_B, SWAP, TILE_M, TILE_N, PANELS, CONSUMERS, PING_PONG, STAGES,
                 CLUSTER_M, CLUSTER_N, 1, EVICT_FIRST, false, VECTOR_C, 0, MIN_BLOCKS, false, 0, 0,
                 false>(rows, M, N, K, 1, 0, C, N, 0, nullptr, nullptr, 1, 1, 0, 1, nullptr,
                        nullptr, map_a, map_b, map_a);
}
