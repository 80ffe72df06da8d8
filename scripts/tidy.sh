#!/usr/bin/env bash
# Runs clang-tidy over all of tuner/, or over the given modules. Fails on a warning. Slow; not part of
# the tests.
#   scripts/tidy.sh [MODULE…]      such as space or backend/cuda
set -euo pipefail
cd "$(dirname "$0")/.."
command -v clang-tidy-16 >/dev/null || { echo "tidy.sh: needs clang-tidy-16: apt-get install clang-16 clang-tidy-16" >&2; exit 2; }
cmake --preset tidy >/dev/null
[ $# -gt 0 ] || set -- .
# A unit includes the sources of its module, whose headers are so read once for all of them. That a
# name hides one of another source is no defect.
cd build/tidy
find "${@/#/tuner/}" -path '*/Unity/*.cxx' | sort |
  xargs -P "$(nproc)" -n 1 clang-tidy-16 --quiet --warnings-as-errors='*' -p . \
    --header-filter='/tuner/[a-z/]+/.*\.(hpp|cpp)$' --checks=-bugprone-suspicious-include --extra-arg=-Wno-shadow
