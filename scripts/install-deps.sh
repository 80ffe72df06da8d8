#!/usr/bin/env bash
# Installs the Debian 12 packages that tuner is built and used with. Idempotent; never touches a
# driver or the CUDA Toolkit, and says how to get the toolkit when it is missing.
#   scripts/install-deps.sh                     installs what is missing
#   scripts/install-deps.sh --tests             also what the tests and the documentation need
#   scripts/install-deps.sh [--tests] --print   only prints the packages
set -euo pipefail

packages=(
  g++ cmake ninja-build pkg-config make git ca-certificates
  nlohmann-json3-dev libcli11-dev libfmt-dev libxxhash-dev libmd-dev zlib1g-dev
  libsqlite3-dev libsqlitecpp-dev
  libopenblas-dev libeigen3-dev libboost-context-dev
  nodejs npm
)
if [ "${1:-}" = --tests ]; then
  shift
  packages+=(libgtest-dev libgmock-dev libbenchmark-dev clang-format-16 python3 python3-jsonschema python3-numpy python3-pip python3-venv mypy chromium poppler-utils doxygen
    clang-16 libc++-16-dev libc++abi-16-dev libclang-rt-16-dev dpkg-dev lintian slurmctld slurmd slurm-client openssh-server openssh-client)
fi
if [ "${1:-}" = --print ]; then
  printf '%s\n' "${packages[@]}"
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] && continue
  # Node.js and npm also come from other sources than Debian's packages.
  case $package in
    nodejs) command -v node >/dev/null && continue ;;
    npm) command -v npm >/dev/null && continue ;;
  esac
  missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "installing: ${missing[*]}"
  sudo=()
  [ "$(id -u)" = 0 ] || sudo=(sudo)
  export DEBIAN_FRONTEND=noninteractive
  "${sudo[@]}" apt-get update -qq
  "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

if [ ! -e /usr/local/cuda/include/nvrtc.h ] && ! command -v nvcc >/dev/null; then
  echo "note: no CUDA Toolkit at /usr/local/cuda. Install NVIDIA's package 'cuda-toolkit'" \
    "(https://developer.nvidia.com/cuda-downloads), or configure with -DTUNER_CUDA=OFF." >&2
fi
