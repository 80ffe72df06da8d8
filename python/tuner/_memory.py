# SPDX-License-Identifier: Apache-2.0
"""Memory that a run needs beside this process, and tensors of this process that make room for it."""

from __future__ import annotations

import contextlib
import gc
import pathlib
import sys
from typing import Any, ContextManager, Dict, Iterator, List, Optional, Sequence, Tuple

from ._arguments import BYTES, Described, Size
from ._library import Error

_GIB = 1 << 30
_CONTEXT_BYTES = _GIB // 2  # of a process on a GPU
# Of each element, as the program checks it: an input, and its values without signs or perturbed; an output, its result, the
# error allowed, what a launch before wrote, and what the reference gives for other inputs.
_COPIES_OF_INPUT, _COPIES_OF_OUTPUT = 2, 5


def needed_bytes(described: Described, size: Size) -> int:
    """What `tune` takes to check a kernel at a size."""
    named = dict(zip(described.dims, size))
    total = 0
    for entry in described.entries:
        if entry["name"] not in described.shapes:
            continue
        count = 1
        for extent in described.shapes[entry["name"]](named):
            count *= extent
        total += count * BYTES[entry["type"][:-1]] * (_COPIES_OF_OUTPUT if "role" in entry else _COPIES_OF_INPUT)
    return total


def require(described: Described, sizes: Sequence[Size], backend: str, device: int, kernel: str) -> int:
    """Bytes that the largest size needs. Raises Error where fewer are free."""
    largest = max(sizes, key=lambda size: needed_bytes(described, size))
    needed = needed_bytes(described, largest) + (_CONTEXT_BYTES if backend == "cuda" else 0)
    free = _free_bytes(backend, device)
    if free is not None and free[0] < needed and backend == "cuda":
        _release_caches()
        free = _free_bytes(backend, device)
    if free is None or free[0] >= needed:
        return needed
    where = f"GPU {device}" if backend == "cuda" else "this machine"
    held = _held_by_torch(device) if backend == "cuda" else 0
    remedy = f"this process holds {held / _GIB:.1f} GiB in tensors: free some, pass offload=True, which keeps them in the host's " \
             "memory for the run, or take" if held else "free arrays, or take"
    raise Error(f"{kernel}: the size {','.join(map(str, largest))} needs about {needed / _GIB:.1f} GiB on {where} to be checked (inputs "
                f"{_COPIES_OF_INPUT} times, outputs {_COPIES_OF_OUTPUT} times), of which {free[0] / _GIB:.1f} of {free[1] / _GIB:.1f} are "
                f"free: {remedy} smaller sizes")


def _free_bytes(backend: str, device: int) -> Optional[Tuple[int, int]]:
    """Free and all; None where only the program can tell."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if backend == "cpu":
        return _host_memory()
    if torch is not None and torch.cuda.is_initialized():
        free, total = torch.cuda.mem_get_info(device)
        return int(free), int(total)
    if cupy is not None:
        with cupy.cuda.Device(device):
            free, total = cupy.cuda.runtime.memGetInfo()
        return int(free), int(total)
    return None


def _host_memory() -> Optional[Tuple[int, int]]:
    fields: Dict[str, int] = {}
    with contextlib.suppress(OSError, ValueError):
        for line in pathlib.Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            name, number, *_ = line.replace(":", " ").split()
            fields[name] = int(number) * 1024
    return (fields["MemAvailable"], fields["MemTotal"]) if "MemAvailable" in fields else None


def _release_caches() -> None:
    """Arrays that nothing names any more, and what the libraries of this process keep for later ones."""
    gc.collect()
    _empty_caches()


def _empty_caches() -> None:
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()
    if cupy is not None:
        cupy.get_default_memory_pool().free_all_blocks()


def release_where_scarce(backend: str, device: int, needed: int) -> None:
    """Gives back what the libraries keep for later arrays, where less than the program needs is free on a GPU.

    Garbage is not collected: a reference is evaluated hundreds of times, and a collection may take longer than all of them.
    """
    free = _free_bytes(backend, device) if backend == "cuda" else None
    if free is not None and free[0] < needed:
        _empty_caches()


def _held_by_torch(device: int) -> int:
    torch = sys.modules.get("torch")
    return int(torch.cuda.memory_allocated(device)) if torch is not None and torch.cuda.is_initialized() else 0


class Offloaded:
    """Storages of PyTorch, of which some have their content in the host's memory for the time.

    They stay the same objects, so that views and parameters of modules stay what they are; their addresses change.
    """

    def __init__(self, storages: Sequence[Any]) -> None:
        self._storages = {storage._cdata: storage for storage in storages}
        self._contents: Dict[int, Any] = {}  # of those that are offloaded

    def offload(self) -> None:
        """Offloads all, those too that came back."""
        for key, storage in self._storages.items():
            if key not in self._contents:
                self._contents[key] = storage.cpu()
                storage.resize_(0)
        if self._storages:
            _release_caches()

    def used(self) -> ContextManager[Any]:
        """In the block a tensor comes back when PyTorch first uses it, as a reference does with weights."""
        if not self._storages:
            return contextlib.nullcontext()
        torch = sys.modules["torch"]
        base: Any = __import__("torch.utils._python_dispatch", fromlist=["TorchDispatchMode"]).TorchDispatchMode

        def bring_back(tensor: Any) -> None:
            if tensor.is_cuda and tensor.layout == torch.strided:
                self._bring_back(tensor.untyped_storage()._cdata)

        class Mode(base):  # type: ignore[misc]
            def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                for value in torch.utils._pytree.tree_flatten((args, kwargs))[0]:
                    if isinstance(value, torch.Tensor):
                        bring_back(value)
                return function(*args, **(kwargs or {}))

        return Mode()

    def _bring_back(self, key: int) -> None:
        if key in self._contents:
            storage, content = self._storages[key], self._contents[key]
            storage.resize_(content.nbytes())
            storage.copy_(content)
            del self._contents[key]

    def restore(self) -> None:
        """Brings all back. Raises Error where the GPU has no memory for them any more."""
        try:
            for key in list(self._contents):
                self._bring_back(key)
        except sys.modules["torch"].OutOfMemoryError as error:
            left = [(self._storages[key], content) for key, content in self._contents.items()]
            failure = Error(f"{len(left)} tensors could not be moved back to the GPU, whose memory others took: their storages and "
                            "contents are in this exception's `storages`: storage.resize_(content.nbytes()); storage.copy_(content)")
            failure.storages = left  # type: ignore[attr-defined]
            raise failure from error


@contextlib.contextmanager
def offloaded(which: Any, device: int) -> Iterator[Offloaded]:
    """Offloads tensors of PyTorch on a GPU for the time of the block: those given, or all that Python knows."""
    torch = sys.modules.get("torch")
    tensors = [] if which is False or torch is None or not torch.cuda.is_initialized() else _tensors(which, torch, device)
    storages = [tensor.untyped_storage() for tensor in tensors]
    held = Offloaded([storage for storage in storages if storage.nbytes() > 0 and storage.resizable()])
    try:
        held.offload()
        yield held
    finally:
        held.restore()


def _tensors(which: Any, torch: Any, device: int) -> List[Any]:
    if which is True:
        kinds = (torch.Tensor, torch.nn.Parameter)
        found = [each for each in gc.get_objects() if type(each) in kinds]
    elif isinstance(which, torch.nn.Module):
        found = [*which.parameters(), *which.buffers()]
    else:
        found = [which] if isinstance(which, torch.Tensor) else list(which)
        if others := [each for each in found if not isinstance(each, torch.Tensor)]:
            raise TypeError(f"offload: {type(others[0]).__name__} is no tensor of PyTorch: give True, a module or tensors")
    return [each for each in found if each.is_cuda and each.get_device() == device and each.layout == torch.strided]

