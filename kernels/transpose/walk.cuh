// SPDX-License-Identifier: Apache-2.0
// In which order blocks take the tiles of the matrix that is read.
#pragma once

/// Which tile a block takes: along NX, and along NY.
struct Tile {
  int x, y;
};

__device__ constexpr int ceil_div(int a, int b) {
  return (a - 1) / b + 1;
}

/// Neighbouring blocks take neighbouring tiles, in bands that are BAND tiles high and are walked
/// column by column; 0: one band. DIAGONAL: each row of tiles begins one tile further right, so
/// that blocks that run at the same time do not all read or write at the same column of a matrix
/// whose rows are a power of two apart, and thus in the same part of memory.
template <int BAND, bool DIAGONAL>
__device__ __forceinline__ Tile tile_of(int index, int tiles_x, int tiles_y) {
  Tile tile;
  if constexpr (BAND == 0) {
    tile = {index / tiles_y, index % tiles_y};
  } else if constexpr (BAND == 1) {
    tile = {index % tiles_x, index / tiles_x};
  } else {
    const int band = index / BAND / tiles_x;
    const int in_band = index - band * tiles_x * BAND;
    const int left = tiles_y - band * BAND;
    const int height = left < BAND ? left : BAND;
    tile = {in_band / height, band * BAND + in_band % height};
  }
  if constexpr (DIAGONAL) tile.x = (tile.x + tile.y) % tiles_x;
  return tile;
}
