// SPDX-License-Identifier: Apache-2.0
// *sum = x[0] + … + x[N - 1], accumulated in double precision: the reference of the other kernels.
//
// Grid (1), block (1024).

template <class T, class Result>
__global__ void __launch_bounds__(1024) reduction_plain(int N, const T* x, Result* sum) {
  __shared__ double thread_sums[1024];
  double thread_sum = 0;
  for (long long i = threadIdx.x; i < N; i += 1024) thread_sum += static_cast<double>(x[i]);
  thread_sums[threadIdx.x] = thread_sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  double total = 0;
  for (int i = 0; i < 1024; ++i) total += thread_sums[i];
  *sum = static_cast<Result>(total);
}
