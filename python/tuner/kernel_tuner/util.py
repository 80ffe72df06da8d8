# SPDX-License-Identifier: Apache-2.0
"""Results of tune_kernel(): errors, metrics, the best configuration."""

from __future__ import annotations

import inspect
import json
import sys
import warnings
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy

from ._configurations import evaluated


class ErrorConfig(str):
    """Why a configuration has no time; the value of `__error__`."""

    def __new__(cls) -> ErrorConfig:
        return super().__new__(cls, cls.__name__)

    def __reduce__(self) -> Any:
        return (type(self), ())


class InvalidConfig(ErrorConfig):
    """Its results are wrong, or it cannot be launched."""


class CompilationFailedConfig(ErrorConfig):
    """It does not compile."""


class RuntimeFailedConfig(ErrorConfig):
    """It fails when it is launched."""


class NpEncoder(json.JSONEncoder):
    """Writes numbers and arrays of NumPy."""

    def default(self, o: Any) -> Any:
        if isinstance(o, numpy.generic):
            return o.item()
        return o.tolist() if isinstance(o, numpy.ndarray) else super().default(o)


def get_best_config(results: Sequence[Dict[str, Any]], objective: str, objective_higher_is_better: bool = False) -> Dict[str, Any]:
    """The result with the smallest or largest number; of those that failed one only where all did."""
    worst = -sys.float_info.max if objective_higher_is_better else sys.float_info.max

    def number(result: Mapping[str, Any]) -> float:
        value = result.get(objective)
        return worst if "__error__" in result or not isinstance(value, (int, float)) else float(value)

    return (max if objective_higher_is_better else min)(results, key=number)


def get_pareto_results(results: List[Dict[str, Any]], objectives: Sequence[str], higher_is_better: Sequence[bool]) -> List[Dict[str, Any]]:
    """The results that no other one is better than in one number and as good in the others."""
    def costs(result: Mapping[str, Any]) -> List[float]:
        return [-result[key] if higher else result[key] for key, higher in zip(objectives, higher_is_better)]

    valid = [each for each in results if "__error__" not in each]
    return [each for each in valid if not any(
        all(a <= b for a, b in zip(costs(other), costs(each))) and costs(other) != costs(each) for other in valid)]


def get_objective_defaults(objective: Optional[str], higher: Optional[bool]) -> Tuple[str, bool]:
    """The objective is time unless one is given, and the smaller the better unless its name says otherwise."""
    objective = objective or "time"
    if higher is None:
        known = {"time": False, "energy": False, "fitness": True, "cost": False, "loss": False, "GFLOP/s": True, "TFLOP/s": True,
                 "GB/s": True, "TB/s": True, "GFLOPS/W": True, "TFLOPS/W": True, "GFLOP/J": True, "TFLOP/J": True}
        if objective not in known:
            raise ValueError(f"objective_higher_is_better: say whether {objective} is better when it is higher")
        higher = known[objective]
    return objective, higher


def get_config_string(params: Mapping[str, Any], keys: Optional[Sequence[str]] = None, units: Optional[Mapping[str, str]] = None) -> str:
    """A configuration and its numbers in one line."""
    shown = []
    for key, value in params.items():
        if not keys or key in keys:
            number = f"{value:.3f}" if isinstance(value, float) else str(value)
            shown.append(f"{key}={number}{(units or {}).get(key, '')}")
    return ", ".join(shown)


def get_instance_string(params: Mapping[str, Any]) -> str:
    """The values of a configuration in one word."""
    return "_".join(map(str, params.values()))


def process_metrics(params: Dict[str, Any], metrics: Optional[Mapping[str, Union[str, Callable[[Any], Any]]]]) -> Dict[str, Any]:
    """Adds each metric to a result: an expression of its names, or a function of it. Later ones may use earlier ones. Those that
    need what an observer would have measured are left out, with a warning."""
    for key, metric in (metrics or {}).items():
        try:
            params[key] = evaluated(metric, params) if isinstance(metric, str) else metric(params)
        except (KeyError, NameError) as error:
            warnings.warn(f"tuner.kernel_tuner: the metric {key} is left out: {error} is in no result", stacklevel=3)
    return params


def normalize_verify_function(function: Optional[Callable[..., Any]]) -> Optional[Callable[..., Any]]:
    """The function with a parameter `atol`, which it may lack."""
    if function is None or "atol" in inspect.signature(function).parameters:
        return function
    without: Callable[..., Any] = function
    return lambda answer, result, atol=None: without(answer, result)
