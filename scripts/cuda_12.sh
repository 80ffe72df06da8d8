#!/usr/bin/env bash
# Builds the program against CUDA 12.4, the oldest toolkit, with the packages of Debian 13, which it unpacks into a folder (1.1 GB to
# download, 0.7 GB of disk) and does not install. It needs no GPU.
#   scripts/cuda_12.sh FOLDER [TARGET…]     by default all targets but tests; the program is FOLDER/build/tune
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1"
folder=$(realpath "$1")
shift
archive=${DEBIAN_ARCHIVE:-http://deb.debian.org/debian}/pool
toolkit_packages=$archive/non-free/n/nvidia-cuda-toolkit

for package in "$toolkit_packages"/libcublas{12,lt12}_12.4.5.8~12.4.1-2_amd64.deb "$toolkit_packages"/libcupti{12,-dev}_12.4.127~12.4.1-2_amd64.deb \
  "$toolkit_packages"/{libcudart12,libnvjitlink12,libnvrtc12,libnvrtc-builtins12.4,nvidia-cuda-dev}_12.4.127~12.4.1-2_amd64.deb \
  "$archive"/main/c/cccl/lib{cu++,cub,thrust}-dev_2.3.2-2_all.deb; do
  mark=$folder/$(basename "$package").done
  [ -e "$mark" ] && continue
  curl --fail --no-progress-meter -o "$folder/package.deb" "$package"
  dpkg-deb -x "$folder/package.deb" "$folder"
  rm "$folder/package.deb"
  find "$folder/usr" -name '*.a' ! -name libcudart_static.a -delete  # most of its size
  touch "$mark"
done

# As NVIDIA's packages lay it out; headers for kernels are looked for beside the folder of NVRTC. CMake asks nvcc for the version alone.
toolkit=$folder/toolkit
mkdir -p "$toolkit/bin"
if [ ! -e "$toolkit/lib64" ]; then
  mv "$folder/usr/include" "$toolkit/include"
  mv "$folder/usr/lib/x86_64-linux-gnu" "$toolkit/lib64"
fi
printf '#!/bin/sh\necho "#$ TOP=%s"\necho "release 12.4, V12.4.127"\n' "$toolkit" >"$toolkit/bin/nvcc"
chmod +x "$toolkit/bin/nvcc"

tests=OFF
[ $# -gt 0 ] && tests=ON
cmake --preset release -B "$folder/build" -DCUDAToolkit_ROOT="$toolkit" -DTUNER_TESTS="$tests"
cmake --build "$folder/build" ${1+--target "$@"}
