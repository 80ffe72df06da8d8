#!/usr/bin/env bash
# Makes the API reference of the dispatcher from its headers, by Doxygen; what is not documented is an error.
#   scripts/docs.sh [DIRECTORY]     default: build/docs; the first page is DIRECTORY/html/index.html
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v doxygen >/dev/null; then
  echo "docs.sh: doxygen is missing: scripts/install-deps.sh --tests installs it" >&2
  exit 1
fi
TUNER_DOCS_OUTPUT=$(realpath -m -- "${1:-build/docs}")
TUNER_VERSION=$(sed -nE 's/^project\(tuner VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
export TUNER_DOCS_OUTPUT TUNER_VERSION
mkdir -p "$TUNER_DOCS_OUTPUT"
doxygen docs/Doxyfile
echo "$TUNER_DOCS_OUTPUT/html/index.html"
