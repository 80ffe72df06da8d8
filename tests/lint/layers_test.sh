#!/usr/bin/env bash
# The layer check must fail on a module that includes what its row does not name.
set -euo pipefail
root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$root/ARCHITECTURE.md" "$work/"
cp -r "$root/tuner" "$work/"
"$root/scripts/check_layers.py" "$work" >/dev/null
echo '#include "tuner/store/store.hpp"' >>"$work/tuner/search/strategy.cpp"
if output=$("$root/scripts/check_layers.py" "$work"); then
  echo "a forbidden include was not found" >&2
  exit 1
fi
grep -q 'tuner/search/strategy.cpp: search may not include store' <<<"$output"
