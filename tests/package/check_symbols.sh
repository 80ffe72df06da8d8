#!/usr/bin/env bash
# The installed dispatcher shows what its public headers declare, and takes in what an application
# should not have to install.
#   check_symbols.sh PREFIX
set -euo pipefail
library=$(find "$1" -name libtuner_dispatch.so)
headers=$(cd "$1/include/tuner/dispatch" && cat ./*.h ./*.hpp)

hidden=$(nm -DC --defined-only "$library" | cut -d' ' -f3- | sed -E 's/\(.*//; s/.* //' | sort -u |
  while read -r symbol; do
    name=${symbol##*::}
    [[ $symbol == tuner::* || $symbol == tuner_* ]] && grep -qF "${name#\~}" <<<"$headers" ||
      echo "$symbol"
  done)
[ -z "$hidden" ] || { echo "not of the public interface, but exported: $hidden" >&2; exit 1; }

needed=$(readelf -d "$library" | grep -oP 'NEEDED.*\[\K[^]]+')
allowed='^(libfmt|libstdc\+\+|libgcc_s|libm|libc|ld-linux.*|lib[at]san|libubsan|libpthread|libdl|librt)\.so'
unwanted=$(grep -vE "$allowed" <<<"$needed" || true)
[ -z "$unwanted" ] || { echo "an application would need: $unwanted" >&2; exit 1; }
