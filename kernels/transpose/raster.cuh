// SPDX-License-Identifier: Apache-2.0
// Raster order: the order in which blocks process the tiles of in.
#pragma once

/// The indices of a tile along NX and NY.
struct Tile {
  int x, y;
};

__device__ constexpr int ceil_div(int a, int b) {
  return (a - 1) / b + 1;
}

/// Consecutive blocks traverse bands of BAND rows of tiles, column by column; 0: one band.
/// DIAGONAL: each row of tiles is rotated right by one more tile, so that concurrent blocks do not
/// all access the same column of a matrix, which is one memory partition where row lengths are
/// powers of two.
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
