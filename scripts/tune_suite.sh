#!/usr/bin/env bash
# Tunes the suite of fp32 matrix products on a GPU, which it needs, and writes the tables of the documents anew:
#   scripts/tune_suite.sh DATABASE [TILED_TIME [TMA_TIME [SKINNY_TIME]]]     default: 10m, 10m and 3m of search
# Final rounds take additional time. The same command resumes an interrupted run.
set -euo pipefail
if [ $# -lt 1 ] || [ $# -gt 4 ]; then
  sed -n '2,4s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
database=$(realpath -- "$1")
cd "$(dirname "$0")/.."
suite=spaces/suites/fp32.json
figures=benchmarks/results/fp32-$(date -u +%F).json

cmake --preset release >/dev/null
cmake --build --preset release --target tune gemm_benchmark
search() {
  build/release/tune --backend cuda --db "$database" --space spaces/gemm.json --sizes "$suite" --kernel "$@"
}
search gemm_tiled --max-time "${2:-10m}"
search gemm_tma --max-time "${3:-10m}"
search gemm_skinny --max-time "${4:-3m}"
build/release/bin/gemm_benchmark --db "$database" --suite "$suite" --json "$figures"
benchmarks/results/tables.py
