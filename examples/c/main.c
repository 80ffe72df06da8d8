/* SPDX-License-Identifier: Apache-2.0 */
/* Multiplies matrices with the best kernels of the database, from C. */

#include <stdio.h>
#include <stdlib.h>
#include <tuner/dispatch/dispatch.h>

#ifdef EXAMPLE_ON_CUDA
#include <cuda_runtime_api.h>
static const char* const backend = "cuda";
static float* allocate(size_t count) {
  void* memory = NULL;
  return cudaMallocManaged(&memory, count * sizeof(float), cudaMemAttachGlobal) == cudaSuccess
             ? memory
             : NULL;
}
static int wait_for_device(void) { return cudaDeviceSynchronize() == cudaSuccess; }
static void release(float* memory) { cudaFree(memory); }
#else
static const char* const backend = "cpu";
static float* allocate(size_t count) { return malloc(count * sizeof(float)); }
static int wait_for_device(void) { return 1; }
static void release(float* memory) { free(memory); }
#endif

static int fail(void) {
  fprintf(stderr, "c: %s\n", tuner_last_error());
  return 1;
}

int main(int argc, char** argv) {
  const int64_t n = argc > 1 ? atoll(argv[1]) : 1024;
  const size_t count = (size_t)(n * n);
  const tuner_table table = {TUNER_TABLE_DATABASE, NULL};
  const tuner_options options = {.struct_size = sizeof options, .backend = backend};

  tuner_dispatcher* dispatcher = NULL;
  if (tuner_open(table, &options, &dispatcher) != TUNER_OK) return fail();
  uint32_t gemm = 0;
  const int64_t numbers[] = {n, n, n};
  const tuner_size size = {numbers, 3};
  tuner_answer_info answer = {.struct_size = sizeof answer};
  if (tuner_find_family(dispatcher, "gemm", &gemm) != TUNER_OK ||
      tuner_prepare(dispatcher, gemm, &size, 1, TUNER_CHOOSE_BY_EXPECTATION, NULL) != TUNER_OK ||
      tuner_answer(dispatcher, gemm, numbers, 3, &answer) != TUNER_OK) {
    return fail();
  }
  printf("answer: rung %d, %s %s\n", (int)answer.rung, answer.kernel, answer.configuration);

  float *a = allocate(count), *b = allocate(count), *c = allocate(count);
  if (a == NULL || b == NULL || c == NULL) return 1;
  for (size_t i = 0; i < count; ++i) {
    a[i] = (float)(i % 7) - 3;
    b[i] = (float)(i % 5) - 2;
  }
  if (tuner_sgemm(dispatcher, NULL, TUNER_NO_TRANSPOSE, TUNER_NO_TRANSPOSE, n, n, n, 1, a, n, b, n, 0,
                  c, n) != TUNER_OK) {
    return fail();
  }
  float expected = 0;
  for (int64_t k = 0; k < n; ++k) expected += a[k] * b[k * n];
  const int good = wait_for_device() && c[0] == expected;
  printf("C[0][0] = %g, expected %g\n", (double)c[0], (double)expected);
  release(a);
  release(b);
  release(c);
  tuner_close(dispatcher);
  return good ? 0 : 1;
}
