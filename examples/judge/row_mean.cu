// A warp for each row.
__global__ void row_mean(int rows, int columns, const float* x, float* mean) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int i = lane; i < columns; i += 32) sum += x[row * columns + i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xFFFFFFFF, sum, step);
  if (lane == 0) mean[row] = sum / columns;
}
