#!/usr/bin/env bash
# Builds and runs an application of the installed dispatcher with what pkg-config says.
#   pkg_config.sh PREFIX COMPILER SOURCE FOLDER
set -euo pipefail
package=$(find "$1" -name tuner-dispatch.pc)
export PKG_CONFIG_PATH=${package%/*}
mkdir -p "$4"
read -ra flags <<<"$(pkg-config --cflags --libs tuner-dispatch)"
"$2" -std=c++20 "$3" -o "$4/serve" "${flags[@]}"
env -u LD_LIBRARY_PATH "$4/serve"
