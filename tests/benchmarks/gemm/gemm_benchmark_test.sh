#!/usr/bin/env bash
# The benchmark on this machine: with a GPU it measures, without one it says so and exits with 3.
# Usage: gemm_benchmark_test.sh PROGRAM SOURCE_DIRECTORY
set -uo pipefail
program=$1 source=$2
failed=0

# expect NAME CODE TEXT ARGUMENT…: exits with the code and says the text.
expect() {
  local name=$1 code=$2 text=$3 said status
  shift 3
  said=$("$program" "$@" 2>&1)
  status=$?
  if [ "$status" != "$code" ] || [[ $said != *"$text"* ]]; then
    echo "$name: exit code $status instead of $code, or no '$text' in: $said"
    failed=1
  fi
}

expect "nothing asked for" 2 "either --db FILE" --size 8,8,8
expect "no shapes" 2 "nothing to measure" --cublas-only
expect "both sides" 2 "either --db FILE" --cublas-only --db x.sqlite --size 8,8,8
expect "unknown group" 2 "did you mean 'squares'" --cublas-only \
  --suite "$source/spaces/suites/fp32.json:square"
expect "unknown type" 2 "did you mean 'bf16'" --cublas-only --size 8,8,8 --type bf61
expect "help" 0 "--sustained" --help

if nvidia-smi -L 2>/dev/null | grep -q GPU; then
  expect "sustained" 0 "geometric mean" --cublas-only --sustained --time-per-shape 0.05 --size 2048,2048,2048
  expect "small shapes" 0 "geometric mean" --cublas-only --time-per-shape 0.05 --size 64,64,64 \
    --size 33,17,65,BATCH=3,TRANS_A=1,LDA=40,ALIGN=1
  for type in f64 bf16 bf16_f32 f16 s8 tf32 e4m3; do
    expect "$type" 0 "cublasLt: " --cublas-only --time-per-shape 0.05 --algorithms 20 \
      --size "256,256,256,TRANS_B=1,TYPE=$type"
  done
else
  expect "no GPU" 3 "skipped, as nothing can be measured here" --cublas-only \
    --suite "$source/spaces/suites/fp32.json"
fi
exit $failed
