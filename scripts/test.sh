#!/usr/bin/env bash
# Installs, builds with warnings as errors, and runs every test that this machine can run. Tests
# that need a GPU skip themselves without one; TUNER_REQUIRE_GPU=1 makes them fail instead.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-deps.sh --tests
cmake --preset ci
cmake --build --preset ci
ctest --preset ci "$@"
scripts/fuzz.sh 10
