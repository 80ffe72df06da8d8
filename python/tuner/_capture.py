# SPDX-License-Identifier: Apache-2.0
"""with tuner.capture("saxpy"): one launch, with its data, as a folder to tune."""

from __future__ import annotations

import contextlib
import dataclasses
import pathlib
import threading
from typing import Callable, Iterator, List, Optional, Union

from ._library import Error


@dataclasses.dataclass
class Captured:
    """What tuner.capture() waits for, and has found."""

    name: str                             #: of the family or of the kernel
    folder: pathlib.Path                  #: that is written
    limit_bytes: int
    space: Optional[pathlib.Path] = None  #: the space file, once a launch is captured


_awaited: List[Captured] = []  # the innermost block last
_lock = threading.Lock()


@contextlib.contextmanager
def capture(name: str, folder: Union[str, pathlib.Path, None] = None, *, limit_bytes: int = 4 << 30) -> Iterator[Captured]:
    """In the block, the first launch of a kernel becomes a folder: a space file, sources, inputs and right results.

    name: the family, or one of its kernels, as a Dispatcher or what tuner.tune() returned launches it.
    folder: a new folder; by default captured_NAME. The user alone can read it: it holds the arrays' contents.
    limit_bytes: the most of all arrays.
    Yields what was captured, whose `space` is for `tune --space`. Raises Error where nothing was launched.
    """
    wanted = Captured(name, pathlib.Path(folder if folder is not None else f"captured_{name}"), limit_bytes)
    if wanted.folder.exists():
        raise FileExistsError(f"{wanted.folder}: exists already: name another folder, as in tuner.capture({name!r}, folder=…)")
    with _lock:
        _awaited.append(wanted)
    try:
        yield wanted
    finally:
        with _lock:
            if wanted in _awaited:
                _awaited.remove(wanted)
    if wanted.space is None:
        raise Error(f"tuner.capture: no kernel or family {name!r} was launched in the block by a Dispatcher or a tuned kernel")


def take(family: str, kernel: Callable[[], str]) -> Optional[Captured]:
    """The block that waits for a launch of a family, or of the kernel that serves it; it waits for no other then."""
    if not _awaited:
        return None
    names = (family, kernel())
    with _lock:
        found = next((each for each in reversed(_awaited) if each.name in names), None)
        if found is not None:
            _awaited.remove(found)
        return found
