#!/usr/bin/env bash
# Every header of tuner that an installed header includes must be installed too; the dispatcher's
# include nothing but the standard library, however indirectly.
set -euo pipefail
cd "$1"
missing=$(grep -rhoP '^#include "\Ktuner/[^"]+' tuner | sort -u | while read -r header; do
  [ -e "$header" ] || echo "$header"
done)
[ -z "$missing" ] || { echo "not installed: $missing" >&2; exit 1; }

seen=
pending=$(ls tuner/dispatch/*)
while [ -n "$pending" ]; do
  seen+=$'\n'$pending
  # shellcheck disable=SC2086
  pending=$(grep -hoP '^#include "\K[^"]+' $pending | sort -u | grep -vxF "$seen" || true)
done
# shellcheck disable=SC2086
foreign=$(grep -HoP '^#include <\K[^>]+' $seen | grep -vP ':([a-z_]+|std(int|def)\.h)$' || true)
[ -z "$foreign" ] || { echo "not of the standard library: $foreign" >&2; exit 1; }
