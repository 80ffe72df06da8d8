// SPDX-License-Identifier: Apache-2.0
// The reference of frames.cu: the definition of window.cuh, one thread per element, from global
// memory.
//
// Grid (ceil(W / 32), ceil(H / 8), frames), block (32, 8).

#include "window.cuh"

template <int WINDOW>
__global__ void __launch_bounds__(256) frames_plain(int H, int W, const Pixel* in, Pixel* out) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= W || y >= H) return;
  const long long frame = static_cast<long long>(blockIdx.z) * H * W;
  unsigned long long sum = 0;
  for (int r = max(0, y - WINDOW + 1); r <= min(y, H - WINDOW); ++r) {
    for (int c = max(0, x - WINDOW + 1); c <= min(x, W - WINDOW); ++c) {
      for (int k = 0; k < WINDOW; ++k) {
        sum += 1ull * in[frame + y * W + c + k] * in[frame + (r + k) * W + x];
      }
    }
  }
  out[frame + y * W + x] = static_cast<Pixel>(sum < 65535 ? sum : 65535);
}
