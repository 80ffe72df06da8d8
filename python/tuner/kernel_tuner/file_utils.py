# SPDX-License-Identifier: Apache-2.0
"""Results in T4 files."""

from __future__ import annotations

import json
import pathlib
import platform
from typing import Any, Dict, List, Mapping, Sequence

from .. import _program
from .util import ErrorConfig, NpEncoder

_VALIDITY = {"CompilationFailedConfig": "compile", "RuntimeFailedConfig": "runtime", "InvalidConfig": "constraints"}


def _path(name: Any) -> pathlib.Path:
    path = pathlib.Path(name)
    path = path if path.suffix == ".json" else path.with_name(path.name + ".json")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def get_t4_results(results: Sequence[Mapping[str, Any]], tune_params: Mapping[str, Any], objective: str = "time") -> Dict[str, Any]:
    """The results as a T4 document."""
    entries: List[Dict[str, Any]] = []
    for result in results:
        error = result.get("__error__")
        wrong = str(result.get("message", "")).startswith("wrong_result")
        validity = "correct" if error is None else "correctness" if wrong else _VALIDITY.get(str(error), "runtime")
        measured = [{"name": key, "value": value, "unit": "ms" if key == "time" else ""} for key, value in result.items()
                    if key not in tune_params and isinstance(value, (int, float)) and error is None]
        entries.append({"configuration": {key: result[key] for key in tune_params}, "objectives": [objective],
                        "times": {"compilation_time": 0, "framework": 0, "search_algorithm": 0, "validation": 0,
                                  "runtimes": list(result.get("times", []))},
                        "invalidity": validity, "correctness": int(error is None), "measurements": measured})
    return {"schema_version": "1.0.0", "metadata": {"timeunit": "miliseconds"}, "results": entries}


def store_output_file(output_filename: Any, results: Sequence[Mapping[str, Any]], tune_params: Mapping[str, Any], objective: str = "time") -> None:
    """Writes them."""
    _path(output_filename).write_text(json.dumps(get_t4_results(results, tune_params, objective), cls=NpEncoder, indent=1) + "\n",
                                      encoding="utf-8")


def get_t4_metadata() -> Dict[str, Any]:
    """The machine and the program."""
    return {"schema_version": "1.0.0", "metadata": {"program": _program.run(["--version"]).strip(), "system": platform.platform(),
                                                    "processor": platform.machine(), "python": platform.python_version()}}


def store_metadata_file(metadata_filename: Any) -> None:
    """Writes it."""
    _path(metadata_filename).write_text(json.dumps(get_t4_metadata(), indent=1) + "\n", encoding="utf-8")


__all__ = ["ErrorConfig", "get_t4_metadata", "get_t4_results", "store_metadata_file", "store_output_file"]
