# SPDX-License-Identifier: Apache-2.0
"""One launch in a process of its own: a kernel that damages its process ends this one alone.

A request on stdin, a JSON object: the database, family, backend, device; of each array its file; where outputs are written.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any, Dict, Mapping

import numpy

from .._dispatcher import Dispatcher, Table
from .._library import Error


def run(request: Mapping[str, Any], environment: Mapping[str, str]) -> Dict[str, Any]:
    """The arrays by their names after the launch. Raises Error where it fails."""
    done = subprocess.run([sys.executable, "-B", "-m", "tuner.kernel_tuner._launch"], input=json.dumps(dict(request)), text=True,
                          capture_output=True, check=False, env=dict(environment))
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [""])[-1]
        raise Error(f"the launch ended with {done.returncode}: {last.removeprefix('tuner.Error: ')}")
    with numpy.load(request["outputs"]) as saved:
        return {name: saved[name] for name in saved.files}


def _on_device(array: Any, backend: str, device: int) -> Any:
    if backend == "cpu":
        return array
    try:
        cupy = __import__("cupy")
    except ImportError:
        raise Error("arrays are passed to a GPU by CuPy, which is not installed: pip install cupy-cuda12x") from None
    with cupy.cuda.Device(device):
        return cupy.asarray(array)


def main() -> None:
    request = json.load(sys.stdin)
    backend, device = request["backend"], request["device"]
    dispatcher = Dispatcher(Table.database(request["database"]), backend=backend, device=device)
    given = {name: _on_device(numpy.load(file), backend, device) for name, file in request["arrays"].items()}
    wanted = [argument.name for argument in dispatcher.arguments(request["family"], (1,))]
    dispatcher.launch(request["family"], (1,), *({**given, **request["numbers"]}[name] for name in wanted))
    numpy.savez(request["outputs"], **{name: array.get() if hasattr(array, "get") else array for name, array in given.items()})


if __name__ == "__main__":
    main()
