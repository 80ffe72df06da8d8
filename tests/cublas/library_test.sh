#!/usr/bin/env bash
# What is preloaded into every program: it shows the functions of cuBLAS and dlsym alone, without versions, and needs the
# C library alone.
#   library_test.sh LIBRARY
set -euo pipefail
shown=$(nm -D --defined-only "$1" | awk '{print $3}' | LC_ALL=C sort | tr '\n' ' ')
expected="cublasCreate_v2 cublasDestroy_v2 cublasGemmEx cublasGemmEx_64 cublasGemmStridedBatchedEx cublasGemmStridedBatchedEx_64 \
cublasLtCreate cublasLtDestroy cublasLtMatmul cublasSgemmStridedBatched cublasSgemmStridedBatched_64 cublasSgemm_v2 \
cublasSgemm_v2_64 dlsym "
[ "$shown" = "$expected" ] || { echo "it shows: $shown" >&2; exit 1; }
needed=$(readelf -dW "$1" | grep -oP 'NEEDED.*\[\K[^]]+' | grep -vE '^(libm|libc|libdl|libpthread|ld-linux.*)\.so' || true)
[ -z "$needed" ] || { echo "a program would need: $needed" >&2; exit 1; }
if readelf -dW "$1" | grep -q STATIC_TLS; then
  echo "it cannot be opened late" >&2
  exit 1
fi
LD_PRELOAD=$1 /bin/sh -c 'echo works' | grep -qx works
