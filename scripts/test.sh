#!/usr/bin/env bash
# Installs, builds with warnings as errors, and runs every test that this machine can run. Tests
# that need a GPU skip themselves without one; TUNER_REQUIRE_GPU=1 makes them fail instead. Of large
# matrices of cases a part is run, with TUNER_ALL_TESTS=1 all.
#   scripts/test.sh [CTEST OPTION…]
#   scripts/test.sh --sanitize    instead: the unit tests with address and undefined-behaviour
#                                 sanitizers, those with threads with the thread sanitizer
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-deps.sh --tests
if [ "${1:-}" = --sanitize ]; then
  units='backend blas core cpu_backend dispatch family interop kernels lab measure report search select session source space store verify worker'
  for run in "asan:$units" 'tsan:dispatch session worker'; do
    preset=${run%%:*}
    read -ra modules <<<"${run#*:}"
    cmake --preset "$preset"
    cmake --build --preset "$preset" --target "${modules[@]/%/_tests}"
    # The sanitizers follow no forked child that starts threads, and need more memory than a compiler is given.
    TSAN_OPTIONS=die_after_fork=0 ctest --preset "$preset" -R "^($(IFS='|' && echo "${modules[*]}"))\\.[A-Z]" \
      -E 'InAForkedChild|ProcessCompilerTest' "${@:2}"
  done
  exit
fi
cmake --preset ci
cmake --build --preset ci
ctest --preset ci "$@"
tests/support/odd_identity.sh ctest --preset ci -L identity --no-tests=ignore "$@"
scripts/fuzz.sh 5
