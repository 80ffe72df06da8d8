#!/usr/bin/env bash
# The program without agents has no code of the module cluster, so that nothing else needs it, and refuses --launch.
set -euo pipefail
tune=$1 without=$2 root=$3 nm=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

in_cluster() { "$nm" --demangle "$1" | grep -c 'tuner::cluster::' || true; }
[ "$(in_cluster "$tune")" -gt 0 ]
[ "$(in_cluster "$without")" -eq 0 ]

# refused MESSAGE ARGUMENT…
refused() {
  local message=$1 code=0
  shift
  "$without" "$@" 2>"$work/errors" || code=$?
  [ "$code" -eq 2 ] && grep -qF -- "$message: this program was built without agents" "$work/errors" && return
  echo "exit code $code instead of 2:" >&2
  cat "$work/errors" >&2
  exit 1
}
refused '--launch' --db "$work/tune.db" --space "$root/examples/saxpy/saxpy.json" --kernel saxpy --size 1000 --launch 'ssh node1'
refused '`tune worker node`' worker node
