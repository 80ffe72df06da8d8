#!/usr/bin/env bash
# Fuzzes every target of tests/fuzz from its corpus in tests/data/fuzz, two at a time:
#   scripts/fuzz.sh [SECONDS [TARGET…]]     default: 10 s each
# Up to a minute each the targets are not optimised, since their build would take longer than they
# gain. New inputs stay in build/fuzz/corpus; one that is a finding is named in the output. Mend it, and
# add the input to tests/data/fuzz/TARGET: every build's tests run that corpus.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-10}
targets=("${@:2}")
preset=fuzz
[ "$seconds" -gt 60 ] || preset=fuzz-quick
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset"
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(cd tests/fuzz && ls ./*_fuzz.cpp | sed 's,./,,; s,_fuzz.cpp$,,')

fuzz() {
  mkdir -p "build/fuzz/corpus/$2"
  if "build/$preset/bin/fuzz_$2" -max_total_time="$1" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/finding-$2-" "build/fuzz/corpus/$2" "tests/data/fuzz/$2" >"build/fuzz/$2.log" 2>&1; then
    echo "fuzz $2: $(sed -n 's/^stat::number_of_executed_units: *//p' "build/fuzz/$2.log") inputs, no finding"
  else
    echo "fuzz $2: a finding:" >&2
    tail -n 40 "build/fuzz/$2.log" >&2
    return 1
  fi
}
export -f fuzz
export preset
printf '%s\n' "${targets[@]}" | xargs -P 2 -I{} bash -c 'fuzz "$@"' _ "$seconds" {}
