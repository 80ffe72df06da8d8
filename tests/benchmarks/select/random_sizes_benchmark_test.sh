#!/usr/bin/env bash
# The benchmark on this machine: with a GPU it measures, without one it says so and exits with 3.
# Usage: random_sizes_benchmark_test.sh PROGRAM TUNE SOURCE_DIRECTORY
set -uo pipefail
program=$1 tune=$2 source=$3
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
failed=0

# expect NAME CODE TEXT COMMAND…: exits with the code and says the text.
expect() {
  local name=$1 code=$2 text=$3 said status
  shift 3
  said=$("$@" 2>&1)
  status=$?
  if [ "$status" != "$code" ] || [[ $said != *"$text"* ]]; then
    echo "$name: exit code $status instead of $code, or no '$text' in: $said"
    failed=1
  fi
}

expect "nothing to choose from" 2 "name what the dispatcher chooses from" "$program" --count 3
expect "no such database" 2 "File does not exist" "$program" --db "$directory/none.sqlite"
expect "kernels of a table" 2 "needs the database" "$program" --table "$0" --kernels-too
expect "help" 0 "--time-per-size" "$program" --help

expect "sizes" 0 "" "$program" --count 30 --write-sizes "$directory/random.json"
expect "sizes that can be tuned" 0 "gemm_naive 37x37x267: " "$tune" --backend cpu --dry-run \
  --db "$directory/tune.sqlite" --space "$source/spaces/gemm.json" --kernel gemm_naive \
  --sizes "$directory/random.json:regret"

printf '{"format": "suite/1"}' >"$directory/table.json"
if ! nvidia-smi -L 2>/dev/null | grep -q GPU; then
  expect "no GPU" 3 "skipped, as nothing can be measured here" "$program" \
    --table "$directory/table.json"
fi
exit $failed
