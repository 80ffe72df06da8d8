# SPDX-License-Identifier: Apache-2.0
"""tuner.tune(): a space folder from Python, and a run of the program on it."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import pathlib
import re
import shutil
import socket
import sys
import tempfile
import threading
import warnings
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import _memory, _program
from ._arguments import Described, Parameter, Size, describe, dimensions, read_size
from ._library import Error
from ._reference import Reference
from ._space import Folder, Source, SpaceWriter, default_base, make_private, read_parameters, read_source, signature, \
    tolerance_of, write_if_other
from ._tuned import Tuned, failure_summary

_PRIMES = (37, 41, 43, 29, 31, 23, 19, 17)


@dataclasses.dataclass(frozen=True)
class CudaReference:
    """A correct CUDA kernel that takes the same arguments, as the reference of tuner.tune()."""

    source: Any                 #: a text or a path
    entry: Optional[str] = None
    grid: Any = None            #: of the size alone
    block: Any = 256


@dataclasses.dataclass
class _Work:
    """What a call of tune() is about, once read."""

    folder: Folder
    kernel: str
    described: Described
    parameters: List[Parameter]
    outputs: List[str]
    sizes: List[Size]
    backend: str
    device: int
    options: Dict[str, Any]  # of the run


def tune(source: Any, entry: Optional[str] = None, *, args: Any, grid: Any, block: Any,
         parameters: Optional[Mapping[str, Any]] = None, constraints: Sequence[Any] = (), default: Optional[Mapping[str, Any]] = None,
         out: Union[str, Sequence[str], None] = None, sizes: Optional[Sequence[Any]] = None,
         check_sizes: Optional[Sequence[Any]] = None, reference: Any = None, tolerance: Any = None,
         deterministic: bool = True, flops: Any = 0, bytes: Any = None, dynamic_shared_bytes: Any = None,
         options: Sequence[str] = (), include: Sequence[Any] = (), time: Optional[str] = None, max_evals: Optional[int] = None,
         effort: str = "normal", seed: int = 0, backend: str = "auto", device: int = 0, database: Any = None,
         folder: Any = None, fresh: bool = False, progress: Optional[bool] = None, offload: Any = False,
         allow_shared: bool = False) -> Tuned:
    """Finds the fastest configuration of a CUDA kernel whose results are those of a reference.

    source: the CUDA source: a text, a path, or a function that returns it for a configuration.
    entry: the kernel's function, with parameters as template arguments: "saxpy<ITEMS>". By default the only kernel.
    args: a function of a size and `rng` that returns the arguments by name, lambda N, rng: dict(n=N, x=rng.normal(N)),
        or a dict of fixed arrays and numbers, which are verified at one size only.
    out: the buffers that the kernel writes; by default those that it does not take as const.
    grid, block: blocks and threads: a number, an expression such as "ceil_div(N, BLOCK)", a function of parameters and
        sizes such as lambda p, s: …, or up to three of these.
    parameters: values by name; the source gets them as template arguments or macros.
    constraints: expressions or functions; each may be a pair with the reason.
    sizes, check_sizes: to tune, and to verify besides.
    reference: a function of arguments by their names that returns the outputs, for arrays of the library that it uses
        (NumPy, PyTorch or CuPy); or a CudaReference. Without one, results are compared with the default configuration's.
    tolerance: by default the bound that is measured with the reference; else a number, (relative, absolute), a dict of
        "relative", "absolute" and "ulp", or "torch", that of torch.testing.assert_close.
    time: of the whole run, such as "5m"; by default it ends when the search is not expected to improve.
    offload: True, a module or tensors of PyTorch: kept in the host's memory while the GPU is timed.
    allow_shared: times are taken although other programs use the GPU.
    Raises TypeError and ValueError for what cannot be tuned, and tuner.Error where `tune` cannot run it.
    """
    if backend not in ("auto", "cuda", "cpu"):
        raise ValueError(f"backend is {backend!r}, neither of \"auto\", \"cuda\", \"cpu\"")
    backend = backend if backend != "auto" else "cuda" if os.path.exists("/dev/nvidiactl") else "cpu"
    dims = dimensions(args)
    values = read_parameters(parameters or {}, dims)
    read = read_source(source, entry, list(values))
    first = {key: each[0] for key, each in values.items()}
    declared = signature(read.text if isinstance(read.text, str) else read.text(first), read.function)
    outputs = _outputs(out, declared)
    tuned_sizes, checked = _read_sizes(args, dims, sizes, check_sizes, outputs)
    described = describe(args, declared, outputs, [*tuned_sizes, *checked], (backend, device))
    writer = SpaceWriter(read, values, described, tuned_sizes, checked)
    document, files = _document(writer, reference=reference, outputs=outputs, constraints=constraints, default=default or {},
                                tolerance=tolerance, deterministic=deterministic, grid=grid, block=block, flops=flops, bytes=bytes,
                                dynamic_shared_bytes=dynamic_shared_bytes, options=options)
    base = pathlib.Path(folder) if folder is not None else default_base()
    make_private(base)
    name = read.function.rpartition("::")[2]
    _add_include(document, read, include, base / "x")
    made = Folder(base, name, document, files)
    work = _Work(made, name, described, declared, outputs, tuned_sizes, backend, device,
                 {"time": time, "max_evals": max_evals, "effort": effort, "seed": seed,
                  "database": None if database is None else os.fspath(database), "allow_shared": allow_shared})
    _finish_work(backend)
    line = _program.Line(progress)
    try:
        with _alone(backend, device), _memory.offloaded(offload, device) as held:
            needed = _memory.require(described, [*tuned_sizes, *checked], backend, device, name)
            identity = _evaluate(reference, work, line, held, needed) if callable(reference) else ""
            found = _look_up(work, identity, fresh)
            if found is None:
                held.offload()
                found = _run(work, identity, fresh, line)
            return found
    finally:
        line.end()


def _finish_work(backend: str) -> None:
    """Nothing of this process may run on the GPU while candidates are timed there."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if backend == "cuda" and torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()
    if backend == "cuda" and cupy is not None:
        cupy.cuda.runtime.deviceSynchronize()


def _outputs(out: Union[str, Sequence[str], None], declared: Sequence[Parameter]) -> List[str]:
    pointers = [it.name for it in declared if it.is_pointer]
    named = [out] if isinstance(out, str) else list(out) if out is not None else \
        [it.name for it in declared if it.is_pointer and not it.is_const]
    unknown = [each for each in named if each not in pointers]
    if unknown or not named:
        raise TypeError(f"out names {', '.join(unknown) or 'nothing'}: the buffers of the kernel are {', '.join(pointers)}")
    return [each for each in pointers if each in named]


def _read_sizes(args: Any, dims: Sequence[str], sizes: Optional[Sequence[Any]], check_sizes: Optional[Sequence[Any]],
                outputs: Sequence[str]) -> Tuple[List[Size], List[Size]]:
    if isinstance(args, Mapping):
        if sizes is not None or check_sizes:
            raise TypeError("sizes: args has fixed arrays, which have one size: give args as a function, such as lambda N, rng: …")
        warnings.warn("tuner.tune: args has fixed arrays, so results are verified at one size and on these values only; a function "
                      "such as lambda N, rng: dict(n=N, x=rng.normal(N)) has them verified at others too", stacklevel=3)
        shape = getattr(args.get(outputs[0]), "shape", None)
        if not shape:
            raise TypeError(f"args: {outputs[0]} is an output: give an array for it")
        count = 1
        for extent in shape:
            count *= int(extent)
        return [(max(1, count),)], []
    if not sizes:
        raise TypeError(f"sizes: which are to be tuned? Give a list of {'numbers' if len(dims) == 1 else 'tuples'} for "
                        f"{', '.join(dims)}")
    if check_sizes is None:
        primes = _PRIMES * len(dims)
        check_sizes = [(1,) * len(dims), primes[:len(dims)], tuple(primes[1:len(dims) + 1]), (128,) * len(dims)]
    return [read_size(each, dims) for each in sizes], [read_size(each, dims) for each in dict.fromkeys(map(_hashable, check_sizes))]


def _hashable(size: Any) -> Any:
    return tuple(size.values()) if isinstance(size, Mapping) else tuple(size) if hasattr(size, "__iter__") else size


def _document(writer: SpaceWriter, *, reference: Any, outputs: Sequence[str], constraints: Sequence[Any],
              default: Mapping[str, Any], tolerance: Any, deterministic: bool, grid: Any, block: Any, flops: Any, bytes: Any,
              dynamic_shared_bytes: Any, options: Sequence[str]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """The space file without the family's name, and the files beside it."""
    described, name = writer.described, writer.source.function.rpartition("::")[2]
    launch: Dict[str, Any] = {"grid": writer.written("grid", grid), "block": writer.written("block", block)}
    if dynamic_shared_bytes is not None:
        launch["dynamic_shared_bytes"] = writer.written("dynamic_shared_bytes", dynamic_shared_bytes)[0]
    rules = writer.constraints(constraints)
    if not all(isinstance(each, int) for each in launch["block"]):
        threads = "*".join(f"({each})" for each in launch["block"])
        rules.append({"expr": f"{threads} <= dev.max_threads_per_block", "why": "device limit of threads per block"})
    chosen = writer.default(lambda config: all(_holds(each["expr"], config, writer) for each in rules), default)
    kernel: Dict[str, Any] = {"source": f"{name}.cu", "entry": writer.entry(), "parameters": writer.parameter_entries(chosen), "launch": launch,
              **({"constraints": rules} if rules else {}), **({"options": list(options)} if options else {})}
    files: Dict[str, Any] = {**described.files, f"{name}.cu": writer.source_text()}
    check: Dict[str, Any] = {"reference": {"results": "expected"}}
    kernels = {name: kernel}
    if isinstance(reference, CudaReference):
        check["reference"], files["reference.cu"] = {"kernel": "reference"}, _add_cuda_reference(reference, writer, kernels)
    elif reference is None:
        warnings.warn("tuner.tune: without a reference, results are only compared with those of the default configuration", stacklevel=3)
        check["reference"] = {"kernel": name}
    elif not callable(reference):
        raise TypeError(f"reference is {type(reference).__name__}: give a function of arguments by their names, or a "
                        "tuner.CudaReference")
    if writer.check_sizes:
        check["sizes"] = [list(size) for size in writer.check_sizes]
    if not deterministic:
        check["deterministic"] = False
    elements = [entry["type"][:-1] for entry in described.entries if entry["name"] in outputs]
    margin = tolerance_of(tolerance, next((each for each in elements if each in ("float", "double", "__half", "__nv_bfloat16")),
                                          elements[0]))
    if margin is not None:
        check["tolerance" if margin else "exact"] = margin or True
    problem: Dict[str, Any] = {"dims": described.dims, "flops": writer.written("flops", flops)[0],
               "bytes": {"at_most": writer.buffer_bytes()} if bytes is None else writer.written("bytes", bytes)[0],
               "sizes": {"default": [list(size) for size in writer.sizes]}}
    limits = writer.size_constraints()
    problem.update({"constraints": limits} if limits else {})
    return {"format": "space/1", "family": name, "problem": problem, "arguments": described.entries, "check": check,
            "kernels": kernels}, files


def _add_cuda_reference(reference: CudaReference, writer: SpaceWriter, kernels: Dict[str, Any]) -> str:
    read = read_source(reference.source, reference.entry, [])
    if not isinstance(read.text, str) or reference.grid is None:
        raise TypeError("reference: a CudaReference has a source and a grid, such as grid=\"ceil_div(N, 256)\"")
    plain = SpaceWriter(read, {}, writer.described, writer.sizes, writer.check_sizes)
    kernels["reference"] = {"source": "reference.cu", "entry": plain.entry(),
                            "launch": {"grid": plain.written("grid", reference.grid), "block": plain.written("block", reference.block)}}
    return read.text


class _AnyDevice:
    """Attributes of a device that allow everything a GPU allows."""

    max_threads_per_block, compute_capability = 1024, 90

    def __getattr__(self, key: str) -> int:
        return 1 << 20


def _holds(expression: str, config: Mapping[str, Any], writer: SpaceWriter) -> bool:
    """Whether a constraint allows a configuration at every tuned size; True for what Python does not read."""
    functions = {"ceil_div": lambda a, b: -(-a // b), "min": min, "max": max, "abs": abs, "dev": _AnyDevice(),
                 "is_pow2": lambda a: a > 0 and a & (a - 1) == 0, "log2": lambda a: a.bit_length() - 1,
                 "align_up": lambda a, multiple: -(-a // multiple) * multiple}
    for size in writer.sizes:
        names = {**functions, **dict(zip(writer.described.dims, size)), **config}
        try:
            if not eval(expression, {"__builtins__": {}}, names):  # pylint: disable=eval-used  # the caller's own text
                return False
        except (SyntaxError, NameError, TypeError):
            continue
        except ArithmeticError:
            return False
    return True


def _add_include(document: Dict[str, Any], source: Source, include: Sequence[Any], below: pathlib.Path) -> None:
    folders = [pathlib.Path(each).resolve() for each in include] + ([source.folder] if source.folder else [])
    if folders:
        document["include"] = [os.path.relpath(each, below.resolve()) for each in folders]


@contextlib.contextmanager
def _alone(backend: str, device: int) -> Iterator[None]:
    """One run at a time of all processes of this user on a device."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if backend == "cuda" else []
    name = re.sub(r"[^\w-]", "", visible[device]) if device < len(visible) and visible[device] else device
    base = default_base()
    make_private(base)
    with (base / f".{backend}-{name}.lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            warnings.warn(f"tuner.tune waits until another run of this user on {backend} {device} has ended", stacklevel=4)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _arguments_of(work: _Work, *, with_kernel: bool) -> List[str]:
    arguments = []
    for size in work.sizes:
        arguments += ["--size", ",".join(map(str, size))]
    if with_kernel:
        arguments += ["--kernel", work.kernel]
    return [*arguments, "--backend", work.backend, "--device", str(work.device), "--seed", str(work.options["seed"])]


def _evaluate(function: Callable[..., Any], work: _Work, line: _program.Line, held: _memory.Offloaded, needed: int) -> str:
    """Stores the results of a function on all inputs that the run will have; their identity."""
    reference = Reference(function, [it.name for it in work.parameters], work.outputs, work.described.shapes,
                          (work.backend, work.device), needed)
    arguments = ["space", "results", str(work.folder.space), *_arguments_of(work, with_kernel=False)]
    with _exchange(work) as exchange, held.used(), _program.Running(arguments, TMPDIR=exchange) as running:
        last = reference.serve(running.lines(), running.answer, lambda count: line.show(f"{work.kernel}: {count} evaluations of the "
                                                                                       "reference"))
        code = running.finish()
        if code != 0:
            raise running.error(code)
    return str(last["identity"])


@contextlib.contextmanager
def _exchange(work: _Work) -> Iterator[str]:
    """A folder of this user alone for arrays, in memory where there is enough."""
    largest = 0
    for size in [*work.sizes]:
        named = dict(zip(work.described.dims, size))
        bytes_of_size = 0
        for shape in work.described.shapes.values():
            count = 8
            for extent in shape(named):
                count *= extent
            bytes_of_size += count
        largest = max(largest, bytes_of_size)
    memory = pathlib.Path("/dev/shm")
    fits = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 4 * largest
    with tempfile.TemporaryDirectory(prefix="tuner-", dir=memory if fits else None) as folder:
        yield folder


def _specification(work: _Work, identity: str) -> Dict[str, Any]:
    """All on which what is found depends."""
    return {"identity": identity, "sizes": [list(size) for size in work.sizes], "options": work.options, "backend": work.backend,
            "device": work.device, "machine": socket.gethostname(), "version": _program.run(["--version"])}


def _record_file(work: _Work, specification: Mapping[str, Any]) -> pathlib.Path:
    return work.folder.path / f"run-{work.backend}-{work.device}.json"


def _look_up(work: _Work, identity: str, fresh: bool) -> Optional[Tuned]:
    """What an equal call found, as long as the database has it."""
    specification = _specification(work, identity)
    file = _record_file(work, specification)
    if fresh or not file.is_file():
        return None
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        return None
    if stored.get("specification") != specification or not stored["complete"]:
        return None
    try:
        for size in work.sizes:
            _program.run([*_database(work), "query", "--family", work.folder.family, "--size", ",".join(map(str, size)), "--policy",
                          "exact", "--format", "json"])
    except Error:
        return None
    return _tuned(work, stored["record"], complete=True, looked_up=True)


def _database(work: _Work) -> List[str]:
    return ["--db", work.options["database"]] if work.options["database"] else []


def _run(work: _Work, identity: str, fresh: bool, line: _program.Line) -> Tuned:
    options = work.options
    arguments = [*_database(work), "--space", str(work.folder.space), *_arguments_of(work, with_kernel=True), "--json", "--progress",
                 "json", "--effort", options["effort"]]
    arguments += ["--max-time", options["time"]] if options["time"] else []
    arguments += ["--max-evals", str(options["max_evals"])] if options["max_evals"] else []
    arguments += ["--fresh"] if fresh else []
    arguments += ["--allow-shared"] if options["allow_shared"] else []
    trials: List[Dict[str, Any]] = []
    with _program.Running(arguments, lambda event: _take(event, trials, work, line)) as running:
        document, code, interrupted = _document_of(running)
        record = {"document": document, "trials": trials, "warnings": [each for each in running.warnings if each.strip()]}
        found = any("best" in size for kernel in document["kernels"] for size in kernel["sizes"])
        if not found and not interrupted:
            raise failure_summary(trials + _earlier_failures(document), work.kernel)
        if code != 0 and not interrupted:
            raise running.error(code)
    complete = code == 0 and not interrupted
    specification = _specification(work, identity)
    write_if_other(_record_file(work, specification), json.dumps(
        {"specification": specification, "complete": complete, "record": record}).encode())
    return _tuned(work, record, complete=complete, looked_up=False)


def _document_of(running: _program.Running) -> Tuple[Dict[str, Any], int, bool]:
    """What `tune --json` prints of a run, its exit code, and whether Ctrl-C ended it. Raises Error where there was no run."""
    text, interrupted = _output_of(running)
    code = running.finish()
    if not text.strip():
        if interrupted:
            raise KeyboardInterrupt
        raise running.error(code)
    document = json.loads(text)
    if "kernels" not in document:  # one that says what is wrong
        raise Error(_program.in_python(document["message"]))
    return document, code, interrupted


def _output_of(running: _program.Running) -> Tuple[str, bool]:
    """What the command prints. Ctrl-C ends the search, a second one the command."""
    lines: List[str] = []
    ended = threading.Event()  # not Thread.join(), after whose interruption a thread counts as ended

    def read() -> None:
        try:
            lines.extend(running.lines())
        finally:
            ended.set()

    threading.Thread(target=read, daemon=True).start()
    interrupted = False
    while True:
        try:
            while not ended.wait(0.2):
                pass
            break
        except KeyboardInterrupt:
            if interrupted:
                raise
            interrupted = True
            running.interrupt()
    return "\n".join(lines), interrupted


def _earlier_failures(document: Mapping[str, Any]) -> List[Dict[str, Any]]:
    return [{**trial, "size": json.dumps(size["size"])} for kernel in document["kernels"] for size in kernel["sizes"]
            for trial in size.get("reused_failures", [])]


def _take(event: Mapping[str, Any], trials: List[Dict[str, Any]], work: _Work, line: _program.Line) -> None:
    if event.get("event") == "trial":
        trials.append({key: event[key] for key in ("size", "config", "outcome", "message", "median_ns")})
        failed = sum(trial["outcome"] != "ok" for trial in trials)
        line.show(f"{work.kernel} at {event['size']}: {event['evaluated']} of {event['planned']} configurations, {failed} failed")
    elif event.get("event") == "final":
        line.show(f"{work.kernel} at {event['size']}: final round of {event['finalists']}")


def _tuned(work: _Work, record: Mapping[str, Any], *, complete: bool, looked_up: bool) -> Tuned:
    return Tuned(family=work.folder.family, kernel=work.kernel, space=work.folder.space, dims=work.described.dims,
                 parameters=work.parameters, outputs=work.outputs,
                 updated=[entry["name"] for entry in work.described.entries if entry.get("role") == "inout"],
                 symbols=work.described.symbols, numbers=work.described.numbers, backend=work.backend,
                 device=work.device, database=work.options["database"], record=record, complete=complete, looked_up=looked_up)
