# SPDX-License-Identifier: Apache-2.0
"""Large arrays in files: written once for all runs of this process, and removed with it."""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import pathlib
import shutil
from typing import Any

import numpy

from .._space import StoredArray, default_base, make_private

_LARGE_BYTES = 1 << 20


def base() -> pathlib.Path:
    """The folder of space folders."""
    return default_base().parent / "kernel_tuner"


def stored(array: Any) -> Any:
    """An array of one dimension, or its file if it is large."""
    if array.nbytes < _LARGE_BYTES:
        return array
    digest = hashlib.sha256(array.dtype.str.encode())
    digest.update(array.view("u1"))
    path = _folder(os.getpid()) / f"{digest.hexdigest()}.npy"
    if not path.exists():
        numpy.save(path, array)
    return StoredArray(path, digest.digest())


@functools.lru_cache(maxsize=None)
def _folder(process: int) -> pathlib.Path:
    make_private(base())
    for left in base().glob(".arrays-*"):
        if not pathlib.Path("/proc", left.name.rpartition("-")[2]).exists():  # its process was killed
            shutil.rmtree(left, ignore_errors=True)
    folder = base() / f".arrays-{process}"
    make_private(folder)
    atexit.register(_remove, folder, process)
    return folder


def _remove(folder: pathlib.Path, process: int) -> None:
    if os.getpid() == process:  # not in what was forked
        shutil.rmtree(folder, ignore_errors=True)


__all__ = ["base", "stored"]
