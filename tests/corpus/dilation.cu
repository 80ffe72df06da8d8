// SPDX-License-Identifier: Apache-2.0
// The largest number within 2 rows and 2 columns of each element of an H x W image.
#include "variant.cuh"

__global__ void dilation_plain(int H, int W, const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= H * W) return;
  const int y = i / W, x = i % W;
  float top = in[i];
  for (int v = max(y - 2, 0); v <= min(y + 2, H - 1); ++v) {
    for (int u = max(x - 2, 0); u <= min(x + 2, W - 1); ++u) top = fmaxf(top, in[v * W + u]);
  }
  out[i] = top;
}

__device__ inline float larger(float a, float b) {
  return IS(by_comparison) ? (a > b ? a : b) : fmaxf(a, b);
}

/// One block per 16 x 4 elements.
__global__ void dilation(int H, int W, const float* in, float* out) {
  extern __shared__ float dynamic_tile[];  // 8 rows of 20
  __shared__ float static_tile[160];
  float* const tile = IS(tiled_statically) || IS(unwritten_static_halo) ? static_tile : dynamic_tile;
  const int left = blockIdx.x * 16, upper = blockIdx.y * 4;
  const int x = left + threadIdx.x, y = upper + threadIdx.y;
  const bool valid = x < W && y < H;
  float top = -3.4e38f;

  if (IS(tiled) || IS(tiled_statically) || IS(separated) || IS(no_barrier) || IS(no_second_barrier) ||
      IS(unwritten_halo) || IS(unwritten_static_halo)) {
    const bool all_written = !IS(unwritten_halo) && !IS(unwritten_static_halo);
    for (int v = threadIdx.y; v < 8; v += 4) {
      for (int u = threadIdx.x; u < 20; u += 16) {
        const int from_x = left + u - 2, from_y = upper + v - 2;
        const bool inside = from_x >= 0 && from_x < W && from_y >= 0 && from_y < H;
        if (all_written || inside) tile[v * 20 + u] = inside ? in[from_y * W + from_x] : -3.4e38f;
      }
    }
    if (!IS(no_barrier)) __syncthreads();
    if (IS(separated) || IS(no_second_barrier)) {
      // Along rows first, two rows per thread.
      float rows[2];
      for (int k = 0; k < 2; ++k) {
        const float* const at = &tile[(threadIdx.y + 4 * k) * 20 + threadIdx.x];
        rows[k] = fmaxf(fmaxf(fmaxf(at[0], at[1]), fmaxf(at[2], at[3])), at[4]);
      }
      __syncthreads();
      for (int k = 0; k < 2; ++k) tile[(threadIdx.y + 4 * k) * 20 + threadIdx.x] = rows[k];
      if (!IS(no_second_barrier)) __syncthreads();
      for (int v = 0; v < 5; ++v) top = fmaxf(top, tile[(threadIdx.y + v) * 20 + threadIdx.x]);
    } else {
      for (int v = 0; v < 5; ++v) {
        for (int u = 0; u < 5; ++u) top = larger(top, tile[(threadIdx.y + v) * 20 + threadIdx.x + u]);
      }
    }
  } else if (valid) {
    const int radius = IS(radius_one) ? 1 : 2;
    for (int v = -radius; v <= radius; ++v) {
      for (int u = -radius; u <= radius; ++u) {
        int from_x = x + u, from_y = y + v;
        if (IS(corners_missing) && v * v + u * u == 8) continue;
        if (IS(centre_column_missing) && u == 0) continue;
        if (IS(wraps_around)) from_x = (from_x + W) % W;
        const int right = IS(one_column_past) ? W + 1 : W, below = IS(one_row_past) ? H + 1 : H;
        const int above = IS(one_row_before) ? -1 : 0;
        if (from_x < 0 || from_x >= right || from_y < above || from_y >= below) {
          if (IS(zero_outside)) top = fmaxf(top, 0.0f);
          continue;
        }
        const float value = in[from_y * W + from_x];
        // Compares bit patterns, whose order is that of the numbers only for positive ones.
        if (IS(compares_bits) && (int)__float_as_uint(value) < (int)__float_as_uint(top)) continue;
        top = IS(compares_bits) ? value : larger(top, value);
      }
    }
  }
  if (!valid) return;
  float& result = out[y * W + x];
  if (IS(with_old_output)) top = fmaxf(top, result);
  if (IS(result_in_half)) top = corpus::to_half(top);
  if (IS(last_column_dropped) && W > 1 && x == W - 1) return;
  result = top;
}
