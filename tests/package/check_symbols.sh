#!/usr/bin/env bash
# The installed dispatcher shows the functions of its C interface and nothing of C++, and takes in
# what an application should not have to install.
#   check_symbols.sh PREFIX
set -euo pipefail
library=$(find "$1" -name libtuner_dispatch.so)
header=$1/include/tuner/dispatch/dispatch.h

shown=$(nm -D --defined-only "$library" | cut -d' ' -f3 | sort -u)
declared=$(grep -v '^ \*\|/\*\*' "$header" | tr '\n' ' ' | grep -oP 'TUNER_API [^(;]*?\Ktuner_\w+(?=\()' | sort -u)
[ "$shown" = "$declared" ] || {
  echo "exported, but not declared (<), or declared, but not exported (>):" >&2
  diff <(echo "$shown") <(echo "$declared") >&2
  exit 1
}

needed=$(readelf -d "$library" | grep -oP 'NEEDED.*\[\K[^]]+')
allowed='^(libfmt|libstdc\+\+|libgcc_s|libm|libc|ld-linux.*|lib[at]san|libubsan|libpthread|libdl|librt)\.so'
unwanted=$(grep -vE "$allowed" <<<"$needed" || true)
[ -z "$unwanted" ] || { echo "an application would need: $unwanted" >&2; exit 1; }
