# SPDX-License-Identifier: Apache-2.0
"""The best configurations of devices and sizes in a file, and as a header."""

from __future__ import annotations

import collections
import json
import pathlib
from typing import Any, Dict, List, Mapping, Optional, Sequence

from . import util
from .util import NpEncoder


def _size_text(problem_size: Any) -> Any:
    if isinstance(problem_size, (tuple, list)):
        return "x".join(str(each) for each in problem_size)
    return str(problem_size)


class TuneResults:
    """A file of store_results()."""

    def __init__(self, results_filename: Any) -> None:
        document = json.loads(pathlib.Path(results_filename).read_text(encoding="utf-8"))
        if document.get("version_number") != "1.0":
            raise ValueError(f"{results_filename}: is no file of store_results(): version_number is {document.get('version_number')!r}")
        self.meta = {key: value for key, value in document.items() if key != "configurations"}
        self.objective: str = document["objective"]
        self.objective_higher_is_better: bool = document["objective_higher_is_better"]
        self.data: List[Dict[str, Any]] = [
            {"device_name": device, "problem_size": size, **dict(zip(document["tunable_parameters"], row[:len(document["tunable_parameters"])])),
             self.objective: row[-1]}
            for device, sizes in document["configurations"].items() for size, rows in sizes.items() for row in rows]

    def get_best_config(self, gpu_name: str = "default", problem_size: Any = None) -> Dict[str, Any]:
        """The parameters that are best at a size of a device; without one, or where it is not known, those best most often."""
        of_device = [each for each in self.data if each["device_name"] == gpu_name.replace(" ", "_")] or self.data
        of_size = [each for each in of_device if problem_size is not None and each["problem_size"] == _size_text(problem_size)]
        if of_size:
            return self._parameters(util.get_best_config(of_size, self.objective, self.objective_higher_is_better))
        groups: Dict[Any, List[Dict[str, Any]]] = collections.defaultdict(list)
        for each in of_device:
            groups[each["device_name"], each["problem_size"]].append(each)
        counts: collections.Counter[str] = collections.Counter()
        for rows in groups.values():
            best = util.get_best_config(rows, self.objective, self.objective_higher_is_better)
            counts[json.dumps(self._parameters(best))] += len(of_device) + 1
            counts.update(json.dumps(self._parameters(each)) for each in rows)
        return dict(json.loads(counts.most_common(1)[0][0]))

    def _parameters(self, entry: Mapping[str, Any]) -> Dict[str, Any]:
        return {key: entry[key] for key in self.meta["tunable_parameters"]}


def store_results(results_filename: Any, kernel_name: str, kernel_string: Any, tune_params: Mapping[str, Any], problem_size: Any,
                  results: Sequence[Mapping[str, Any]], env: Mapping[str, Any], top: float = 3, objective: Optional[str] = None,
                  objective_higher_is_better: Optional[bool] = None) -> None:
    """Adds the results within `top` percent of the best to a file, in place of earlier ones of this device and size."""
    objective, higher = util.get_objective_defaults(objective, objective_higher_is_better)
    valid = [each for each in results if "__error__" not in each and objective in each]
    if not valid:
        raise ValueError(f"results: none has {objective}")
    best = util.get_best_config([dict(each) for each in valid], objective, higher)[objective]
    kept = [each for each in valid if (each[objective] >= best * (1 - top / 100) if higher else each[objective] <= best * (1 + top / 100))]
    path = pathlib.Path(results_filename)
    document: Dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {
        "version_number": "1.0", "tunable_parameters": list(tune_params), "kernel_name": kernel_name,
        "kernel_string": kernel_string if isinstance(kernel_string, str) else "", "objective": objective,
        "objective_higher_is_better": higher, "configurations": {}}
    if document["kernel_name"] != kernel_name or document["tunable_parameters"] != list(tune_params):
        raise ValueError(f"{path}: has results of {document['kernel_name']} with the parameters {', '.join(document['tunable_parameters'])}: "
                         "name another file")
    device = str(env["device_name"]).replace(" ", "_")
    document["configurations"].setdefault(device, {})[_size_text(problem_size)] = \
        [[each[key] for key in tune_params] + [each[objective]] for each in kept]
    path.write_text(json.dumps(document, cls=NpEncoder, indent=1) + "\n", encoding="utf-8")


def create_device_targets(header_filename: Any, results_filename: Any, objective: Optional[str] = None,
                          objective_higher_is_better: Optional[bool] = None) -> None:
    """Writes a header that defines the best parameters for each device, chosen by -DTARGET_NAME, and for others."""
    results = TuneResults(results_filename)
    if objective is not None:
        results.objective = objective
    if objective_higher_is_better is not None:
        results.objective_higher_is_better = objective_higher_is_better

    def defined(config: Mapping[str, Any]) -> List[str]:
        return [f"#define {key} {value}" for key, value in config.items()]

    lines = ["// Written by tuner.kernel_tuner.create_device_targets().", "#pragma once", "#ifndef kernel_tuner  // these are defined while tuning"]
    for i, device in enumerate(dict.fromkeys(each["device_name"] for each in results.data)):
        name = "".join(each if each.isalnum() else "_" for each in device)
        lines += [f"#{'el' if i else ''}if defined(TARGET_{name})", *defined(results.get_best_config(device))]
    lines += ["#else", *defined(results.get_best_config()), "#endif", "#endif"]
    pathlib.Path(header_filename).write_text("\n".join(lines) + "\n", encoding="utf-8")
