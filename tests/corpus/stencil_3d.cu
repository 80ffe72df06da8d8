// SPDX-License-Identifier: Apache-2.0
// A time step of the heat equation in a box: out = in + rate * (sum of six neighbours - 6 in) inside, out = in on
// the faces.
#include "variant.cuh"

__global__ void stencil_3d_plain(int X, int Y, int Z, float rate, const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= X * Y * Z) return;
  const int x = i % X, y = i / X % Y, z = i / (X * Y);
  float result = in[i];
  if (x > 0 && x < X - 1 && y > 0 && y < Y - 1 && z > 0 && z < Z - 1) {
    result += rate * (in[i - 1] + in[i + 1] + in[i - X] + in[i + X] + in[i - X * Y] + in[i + X * Y] -
                      6.0f * in[i]);
  }
  out[i] = result;
}

/// One block per 16 x 4 columns along z.
__global__ void stencil_3d(int X, int Y, int Z, float rate, const float* in, float* out) {
  __shared__ float plane[6][18];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  const int column = y * X + x, area = IS(square_planes) ? X * X : X * Y;
  const bool tiled = IS(tiled) || IS(no_barrier_after_load) || IS(no_barrier_before_load);
  const bool in_the_box = x < X && y < Y;
  if (!tiled && !in_the_box) return;
  const bool last_x = IS(wraps_at_the_right) ? x == X : x == X - 1;
  const bool on_a_side = x == 0 || last_x || y == 0 || y == Y - 1;
  float below = 0.0f, centre = in_the_box ? in[column] : 0.0f;
  const int depth = IS(last_plane_dropped) ? Z - 1 : Z;
  for (int z = 0; z < depth; ++z) {
    int i = z * area + column;
    if (IS(index_in_short)) i = (int)(short)i;
    if (tiled) {
      if (!IS(no_barrier_before_load)) __syncthreads();
      for (int row = threadIdx.y; row < 6; row += 4) {
        for (int at = threadIdx.x; at < 18; at += 16) {
          const int from_x = (int)blockIdx.x * 16 + at - 1, from_y = (int)blockIdx.y * 4 + row - 1;
          if (from_x >= 0 && from_x < X && from_y >= 0 && from_y < Y) {
            plane[row][at] = in[z * area + from_y * X + from_x];
          }
        }
      }
      if (!IS(no_barrier_after_load)) __syncthreads();
      if (!in_the_box) continue;
    }
    const float above = z + 1 < Z ? in[i + area] : 0.0f;
    float result = IS(marching) || tiled ? centre : in[i];
    const bool on_top = IS(top_face_moves) ? false : z == Z - 1;
    if (!on_a_side && z > 0 && !on_top) {
      float neighbours;
      if (tiled) {
        const int row = threadIdx.y + 1, at = threadIdx.x + 1;
        neighbours = plane[row][at - 1] + plane[row][at + 1] + plane[row - 1][at] + plane[row + 1][at] + below + above;
      } else if (IS(marching)) {
        neighbours = below + above + (in[i - X] + in[i + X]) + (in[i - 1] + in[i + 1]);
      } else {
        neighbours = in[i - 1] + in[i + 1] + in[i - X] + in[i + X] + in[i - area] + above;
      }
      if (IS(neighbours_in_half)) neighbours = corpus::to_half(neighbours);
      if (IS(five_neighbours)) neighbours = neighbours - in[i - X] + in[i];
      const float r = IS(rate_ignored) ? 0.125f : IS(rate_in_bf16) ? corpus::to_bf16(rate) : rate;
      result = IS(regrouped) ? fmaf(r, neighbours, (1.0f - 6.0f * r) * result)
                             : result + r * (neighbours - 6.0f * result);
    } else if (IS(faces_unwritten)) {
      continue;
    }
    if (IS(faces_are_zero) && z == 0) result = 0.0f;
    out[i] = result;
    below = tiled || IS(marching) ? centre : 0.0f;
    centre = above;
  }
}
