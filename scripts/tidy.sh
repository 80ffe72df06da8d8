#!/usr/bin/env bash
# Runs clang-tidy over the given sources, or over all of tuner/, with the compile commands of the
# preset `dev`. Slow; not part of the tests.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v clang-tidy-16 >/dev/null || { echo "tidy.sh: needs clang-tidy-16: apt-get install clang-tidy-16" >&2; exit 2; }
[ -e build/dev/compile_commands.json ] || cmake --preset dev >/dev/null
files=("$@")
[ ${#files[@]} -gt 0 ] || mapfile -t files < <(git ls-files 'tuner/*.cpp')
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 1 clang-tidy-16 --quiet -p build/dev
