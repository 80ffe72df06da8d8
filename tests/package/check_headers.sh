#!/usr/bin/env bash
# Every header of tuner that an installed header includes must be installed too.
set -euo pipefail
cd "$1"
missing=$(grep -rhoP '^#include "\Ktuner/[^"]+' tuner | sort -u | while read -r header; do
  [ -e "$header" ] || echo "$header"
done)
[ -z "$missing" ] || { echo "not installed: $missing" >&2; exit 1; }
