#!/usr/bin/env bash
# The layer check must fail on an include or a namespace that a module may not have.
set -euo pipefail
root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$root/ARCHITECTURE.md" "$work/"
cp -r "$root/tuner" "$work/"
"$root/scripts/check_layers.py" "$work" >/dev/null

# A line at the end of search/strategy.cpp, and what the check says of it.
expect() {
  cp "$root/tuner/search/strategy.cpp" "$work/tuner/search/strategy.cpp"
  echo "$1" >>"$work/tuner/search/strategy.cpp"
  if output=$("$root/scripts/check_layers.py" "$work"); then
    echo "not found: $1" >&2
    exit 1
  fi
  grep -qF "tuner/search/strategy.cpp: $2" <<<"$output"
}
expect '#include "tuner/store/store.hpp"' 'search may not include store'
expect '#include "tuner/space/term.hpp"' 'term.hpp is not among the HEADERS of space'
expect 'namespace tuner {' 'search may not declare names in namespace tuner'
expect 'namespace tuner::space {' 'search may not declare names in namespace tuner::space'

cp "$root/tuner/search/strategy.cpp" "$work/tuner/search/strategy.cpp"
echo "#pragma once" >"$work/tuner/search/a.hpp"
if output=$("$root/scripts/check_layers.py" "$work"); then
  echo "not found: a module whose first header does not say what it is for" >&2
  exit 1
fi
grep -qF 'tuner/search/a.hpp: the first header of a module says' <<<"$output"
