#!/usr/bin/env bash
# What is preloaded into every program: it shows the functions that are named and dlsym alone, without versions, and needs
# the C library alone.
#   library_test.sh LIBRARY FUNCTION...
set -euo pipefail
shown=$(nm -D --defined-only "$1" | awk '{print $3}' | LC_ALL=C sort | tr '\n' ' ')
expected=$(printf '%s\n' "${@:2}" dlsym | LC_ALL=C sort | tr '\n' ' ')
[ "$shown" = "$expected" ] || { echo "it shows: $shown" >&2; exit 1; }
needed=$(readelf -dW "$1" | grep -oP 'NEEDED.*\[\K[^]]+' | grep -vE '^(libm|libc|libdl|libpthread|ld-linux.*)\.so' || true)
[ -z "$needed" ] || { echo "a program would need: $needed" >&2; exit 1; }
if readelf -dW "$1" | grep -q STATIC_TLS; then
  echo "it cannot be opened late" >&2
  exit 1
fi
LD_PRELOAD=$1 /bin/sh -c 'echo works' | grep -qx works
