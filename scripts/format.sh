#!/usr/bin/env bash
# Formats the C++ sources, and the CUDA sources but those of tests, in place; with --check only says
# which are not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=(-i)
[ "${1:-}" = --check ] && mode=(--dry-run -Werror)
git ls-files -co --exclude-standard '*.cpp' '*.hpp' '*.cu' '*.cuh' ':!tests/*.cu' ':!tests/*.cuh' ':!examples/interchange' |
  xargs clang-format-16 "${mode[@]}"
