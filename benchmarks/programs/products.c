// SPDX-License-Identifier: Apache-2.0
// A C program that is linked to cuBLAS and knows nothing of tuner: C = A*B in float at some sizes, column by column.
// Prints a JSON line for each: the median time by events. Values are whole numbers, so that results must be exact.
//   cc products.c -lcublas -lcudart
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRounds = 30, kCalls = 5, kWarmUp = 5 };

static int compare(const void* a, const void* b) {
  const float x = *(const float*)a, y = *(const float*)b;
  return (x > y) - (x < y);
}

static void check(int failed, const char* what) {
  if (!failed) return;
  fprintf(stderr, "products: %s failed\n", what);
  exit(1);
}

/// The first, a middle and the last element against sums on the host.
static int is_right(const float* a, const float* b, const float* c, int m, int n, int k) {
  const size_t places[3] = {0, ((size_t)m * n) / 2, (size_t)m * n - 1};
  for (int i = 0; i < 3; ++i) {
    const size_t row = places[i] % m, column = places[i] / m;
    double sum = 0;
    for (int l = 0; l < k; ++l) sum += (double)a[row + (size_t)l * m] * b[l + column * k];
    if (c[places[i]] != (float)sum) return 0;
  }
  return 1;
}

static float* on_device(float* host, size_t count) {
  float* device = NULL;
  for (size_t i = 0; i < count; ++i) host[i] = (float)((i * 7 + i / 11) % 5) - 2;
  check(cudaMalloc((void**)&device, count * sizeof(float)), "cudaMalloc");
  check(cudaMemcpy(device, host, count * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
  return device;
}

static void multiply(cublasHandle_t handle, int m, int n, int k) {
  const size_t of_a = (size_t)m * k, of_b = (size_t)k * n, of_c = (size_t)m * n;
  float *a = malloc(of_a * sizeof *a), *b = malloc(of_b * sizeof *b), *c = malloc(of_c * sizeof *c);
  check(a == NULL || b == NULL || c == NULL, "malloc");
  float *device_a = on_device(a, of_a), *device_b = on_device(b, of_b), *device_c = on_device(c, of_c);
  const float one = 1, zero = 0;
  float times[kRounds];
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin) || cudaEventCreate(&end), "cudaEventCreate");
  for (int round = 0; round < kRounds; ++round) {
    cudaEventRecord(begin, 0);
    for (int i = 0; i < kCalls; ++i) {
      check(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, device_a, m, device_b, k, &zero, device_c,
                        m),
            "cublasSgemm");
    }
    cudaEventRecord(end, 0);
    check(cudaEventSynchronize(end), "a product");
    cudaEventElapsedTime(&times[round], begin, end);
  }
  check(cudaMemcpy(c, device_c, of_c * sizeof *c, cudaMemcpyDeviceToHost), "cudaMemcpy");
  check(!is_right(a, b, c, m, n, k), "the check of the result");
  qsort(times + kWarmUp, kRounds - kWarmUp, sizeof times[0], compare);
  printf("{\"case\": \"C %dx%dx%d float32\", \"ms\": %.6f, \"losses\": []}\n", m, n, k,
         times[kWarmUp + (kRounds - kWarmUp) / 2] / kCalls);
  cudaFree(device_a), cudaFree(device_b), cudaFree(device_c);
  free(a), free(b), free(c);
}

int main(void) {
  cublasHandle_t handle;
  check(cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS, "cublasCreate");
  multiply(handle, 384, 384, 384);
  multiply(handle, 1000, 1000, 1000);
  multiply(handle, 4096, 16, 4096);
  multiply(handle, 4096, 4096, 1024);
  cublasDestroy(handle);
  return 0;
}
