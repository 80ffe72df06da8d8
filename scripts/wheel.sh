#!/usr/bin/env bash
# Builds the wheel of the package `tuner` with the program, libraries, kernels, spaces and tables, and prints its path.
#   scripts/wheel.sh [FOLDER]     by default build/release
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-deps.sh >&2
cmake --preset release >&2
cmake --build --preset release --target wheel >&2
exec python3 scripts/pack_wheel.py build/release "${1:-build/release}"
