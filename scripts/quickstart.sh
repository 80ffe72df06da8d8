#!/usr/bin/env bash
# From a fresh machine to a tuned kernel: installs, builds, tunes the shared-memory GEMM on the GPU
# if there is one, else on the CPU, asks for the winner and writes the report.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-deps.sh
cmake --preset release -DTUNER_TESTS=OFF
cmake --build --preset release --target tune
tune=build/release/tune

export TUNER_DB=${TUNER_DB:-$PWD/build/quickstart.sqlite}
"$tune" doctor || true  # without a GPU something is missing
if "$tune" --backend cuda --kernel gemm_shared --space spaces/gemm.json --dry-run >/dev/null 2>&1; then
  size=4096,4096,4096
  "$tune" --kernel gemm_shared --space spaces/gemm.json --size "$size" --max-time 5m
else
  # No GPU: the same kernels on the CPU, small enough to end in half a minute.
  size=96,96,96
  "$tune" --kernel gemm_shared --space spaces/gemm.json --backend cpu --size "$size" --max-time 25s
fi
"$tune" query --kernel gemm_shared --size "$size" --explain
"$tune" report -o build/report | while read -r page; do echo "report: $PWD/$page"; done
