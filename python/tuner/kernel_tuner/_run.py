# SPDX-License-Identifier: Apache-2.0
"""Runs of the program on a problem: a search, and launches whose outputs are read."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import tempfile
import threading
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy

from .. import _program, _safetensors
from .._library import Error
from .._space import Folder, write_if_other
from .._tune import _alone, _document_of
from .._tuned import failure_summary
from ._configurations import plain
from ._problem import Problem


def backend() -> str:
    """$TUNER_BACKEND, or the GPU where there is one."""
    named = os.environ.get("TUNER_BACKEND", "auto")
    if named not in ("auto", "cuda", "cpu"):
        raise ValueError(f"TUNER_BACKEND is {named!r}, neither of \"auto\", \"cuda\", \"cpu\"")
    return named if named != "auto" else "cuda" if os.path.exists("/dev/nvidiactl") else "cpu"


def _on(device: int) -> List[str]:
    return ["--backend", backend(), "--device", str(device)]


def launch(problem: Problem, config: Mapping[str, Any], device: int = 0) -> List[Any]:
    """What a configuration leaves in the arguments: arrays in the types and shapes given, numbers as they are.

    The outputs are compared with nothing. A crash and a write outside of the buffers are Errors.
    """
    task = dataclasses.replace(problem.task, tune_params={key: [value] for key, value in config.items()}, restrictions=None,
                               compiler_options=problem.kept_options)
    one = Problem(task)
    written = [i for i in range(len(one.arrays)) if one.may_write(i)]
    check = {"reference": {"kernel": one.function}, "tolerance": {"absolute": 1e30}, "deterministic": False}
    folder = one.folder(written, check, {})
    with folder.arrays(), tempfile.TemporaryDirectory(prefix="outputs-", dir=folder.path) as saved:
        with _alone(backend(), device), _program.Running(
                ["bench", "--space", str(folder.space), "--kernel", one.function, "--size", "1", "--config", "default", "--rounds", "0",
                 "--save-outputs", saved, "--json", *_on(device)]) as running:
            text = "\n".join(running.lines())
            code = running.finish()
        _require_launch(text, running, code)
        _, arrays = _safetensors.read(pathlib.Path(saved) / "0.safetensors")
    return [_as_given(given, arrays[one.name(i)][1] if one.name(i) in arrays else None) for i, given in enumerate(task.arguments)]


def _require_launch(text: str, running: _program.Running, code: int) -> None:
    """Raises Error with what the program says of a launch that failed."""
    document = json.loads(text) if text.strip() else {}
    for contender in document.get("contenders", ()):
        if contender["outcome"] != "ok":
            raise Error(f"{contender['outcome']}: {contender['message']}")
    if code != 0:
        raise Error(_program.in_python(document["message"])) if "message" in document else running.error(code)


def _as_given(given: Any, bits: Any) -> Any:
    """The bytes of an array in the type and shape of the argument."""
    if bits is None:
        return given
    if type(given).__module__.partition(".")[0] == "torch":
        torch = __import__("torch")
        return torch.frombuffer(bytearray(bits.tobytes()), dtype=given.dtype).reshape(given.shape)
    return numpy.frombuffer(bits.tobytes()[:given.nbytes], dtype=given.dtype).reshape(given.shape).copy()


class Found:
    """The trials of a search. `failure` says why none ended ok, if so."""

    def __init__(self, problem: Problem, trials: Sequence[Mapping[str, Any]], document: Mapping[str, Any]) -> None:
        self.failure: Optional[Error] = None
        self.document = document
        self.device: str = document["device"]
        self.rows: List[Tuple[Dict[str, Any], Mapping[str, Any]]] = []
        for trial in trials:
            self.rows.append((problem.parameters.decoded(trial["config"]), trial))
        size = document["kernels"][0]["sizes"][0]
        self.best: Optional[Dict[str, Any]] = problem.parameters.decoded(size["best"]["config"]) if "best" in size else None
        self.finalists: List[Tuple[Dict[str, Any], Mapping[str, Any]]] = [
            (problem.parameters.decoded(each["config"]), each) for each in size.get("finalists", []) if each["role"] != "library"]


def search(problem: Problem, folder: Folder, options: Sequence[str], device: int, *, reuse: bool,
           is_in_vain: Callable[[Sequence[Mapping[str, Any]]], bool] = lambda trials: False) -> Optional[Found]:
    """Tunes. Without `reuse` all is measured anew. None: after one of the trials `is_in_vain` was true, and the search ended."""
    line = _program.Line(None)
    trials: List[Dict[str, Any]] = []
    in_vain = threading.Event()
    record = folder.path / f"trials-{backend()}-{device}.json"
    if reuse and record.is_file():
        trials = json.loads(record.read_text(encoding="utf-8"))

    def take(event: Mapping[str, Any]) -> None:
        if event.get("event") == "trial":
            trials.append({key: event[key] for key in ("config", "outcome", "message", "median_ns")})
            line.show(f"{problem.function}: {event['evaluated']} of {event['planned']} configurations")
            if not in_vain.is_set() and is_in_vain(trials):
                in_vain.set()
                running.interrupt()

    arguments = ["--space", str(folder.space), "--kernel", problem.function, "--size", "1", "--json", "--progress", "json", *options,
                 *_on(device), *([] if reuse else ["--fresh"])]
    try:
        with folder.arrays(keep=reuse), _alone(backend(), device), _program.Running(arguments, take) as running:
            document, _, interrupted = _document_of(running)
    finally:
        line.end()
    if in_vain.is_set():
        return None
    latest = {json.dumps(trial["config"], sort_keys=True): trial for trial in trials}
    write_if_other(record, json.dumps(list(latest.values())).encode())
    found = Found(problem, list(latest.values()), document)
    if found.best is None and not interrupted:
        found.failure = failure_summary([{**trial, "size": "1"} for trial in latest.values()], problem.function)
    return found


__all__ = ["Error", "Found", "backend", "launch", "search"]
