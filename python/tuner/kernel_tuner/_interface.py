# SPDX-License-Identifier: Apache-2.0
"""tune_kernel() and run_kernel()."""

from __future__ import annotations

import dataclasses
import time
import warnings
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy

from .. import _program
from .._arguments import _host
from .._library import Error
from .._version import VERSION
from . import _options, _run, util
from ._configurations import plain
from ._problem import Problem, Task
from .accuracy import TunablePrecision

Result = Dict[str, Any]
_ERRORS: Dict[str, Callable[[], util.ErrorConfig]] = {"compile_error": util.CompilationFailedConfig, "launch_error": util.RuntimeFailedConfig}
_OF_RESULTS = ("time", "times", "message", "__error__")
_NO_TIME = 1e20  # of a configuration that failed, as in cache files
_UNCOMPARED = {"tolerance": {"absolute": 1e30}, "deterministic": False}
_MANY_WRONG = 4  # of so many trials the share tells something before a search has ended


def tune_kernel(kernel_name: str, kernel_source: Any, problem_size: Any, arguments: Sequence[Any], tune_params: Mapping[str, Any],
                grid_div_x: Any = None, grid_div_y: Any = None, grid_div_z: Any = None, restrictions: Any = None,
                answer: Optional[Sequence[Any]] = None, atol: float = 1e-6, verify: Any = None, verbose: bool = False,
                lang: Optional[str] = None, device: int = 0, platform: int = 0, smem_args: Optional[Mapping[str, Any]] = None,
                cmem_args: Optional[Mapping[str, Any]] = None, texmem_args: Any = None, compiler: Optional[str] = None,
                compiler_options: Optional[Sequence[str]] = None, defines: Optional[Mapping[str, Any]] = None, log: Any = None,
                iterations: int = 7, block_size_names: Optional[Sequence[str]] = None, quiet: bool = False, strategy: Any = None,
                strategy_options: Optional[Mapping[str, Any]] = None, cache: Any = None, metrics: Optional[Mapping[str, Any]] = None,
                simulation_mode: Any = None, parallel: Any = None, observers: Optional[Sequence[Any]] = None, objective: Any = None,
                objective_higher_is_better: Any = None, objectives: Any = None, seed: Optional[int] = None,
                result_parameters: Sequence[str] = (), effort: str = "quick", **unknown: Any) -> Tuple[List[Result], Dict[str, Any]]:
    """Finds the fastest configuration, as the function of this name of Kernel Tuner.

    Beyond its arguments: `result_parameters` names parameters on which results depend, such as the size of a filter: each of
    their values is tuned by itself. `effort` is that of `tune`. Raises Refused (a ValueError) with the argument that cannot be
    honoured, TypeError and ValueError for what makes no sense, and tuner.Error where no configuration is right.
    """
    begun = time.perf_counter()
    _options.require_cuda(lang, compiler, texmem_args)
    if simulation_mode:
        raise _options.Refused("simulation_mode: results of a cache file are not tuned again: use `tune replay` for recordings")
    for key in unknown:
        _options.ignored(key, "Kernel Tuner has no such argument")
    for key, is_given in (("log", log), ("parallel", parallel), ("platform", platform), ("iterations", iterations not in (7, None))):
        if is_given:
            _options.ignored(key, "`tune` decides it")
    for observer in observers or ():
        if not getattr(observer, "is_served", False):
            _options.ignored(f"the observer {type(observer).__name__}", getattr(observer, "reason", "it is code of the caller's"))
    search = [*_options.search_options(strategy, strategy_options), "--effort", effort, *(["--seed", str(seed)] if seed else [])]
    task = Task(kernel_name, kernel_source, problem_size, arguments, tune_params, (grid_div_x, grid_div_y, grid_div_z), restrictions,
                smem_args, cmem_args, compiler_options, defines, block_size_names)
    results: List[Result] = []
    names: List[str] = []
    tuned_by_itself = [*result_parameters, *(each.parameter for each in arguments if isinstance(each, TunablePrecision))]
    bests: List[Result] = []
    failures: List[Error] = []
    parts = _parts(task, tuned_by_itself)
    for part in parts:
        answer_of_part = [each(part.tune_params) if isinstance(each, TunablePrecision) else each for each in answer] if answer else None
        made, best, found = _tune(part, answer_of_part, atol, verify, search, device, cache is not None)
        results += made
        names.append(found.device)
        bests += [best] if best is not None else []
        failures += [found.failure] if found.failure is not None else []
    if len(failures) == len(parts):
        raise failures[0]
    for result in results:
        if "__error__" not in result:
            util.process_metrics(result, metrics)
    env = {"device_name": names[0], "kernel_tuner_version": f"tuner {VERSION}", "program": _program.run(["--version"]).strip(),
           "iterations": iterations, "total_time_ms": 1e3 * (time.perf_counter() - begun)}
    env["best_config"] = _best(results if verify is None else bests, bests, objective, objective_higher_is_better, objectives)
    if not quiet and isinstance(env["best_config"], dict):
        print(f"BEST PERFORMING CONFIGURATION: {util.get_config_string(env['best_config'], [*tune_params, 'time', *(metrics or ())], {'time': 'ms'})}")
    return results, env


def _parts(task: Task, keys: Sequence[str]) -> List[Task]:
    """A task for each combination of the values of some parameters, with arguments of their precision."""
    parts = [task.tune_params]
    for key in dict.fromkeys(keys):
        if key not in task.tune_params:
            raise ValueError(f"result_parameters: there is no parameter {key!r}")
        parts = [{**each, key: [value]} for each in parts for value in task.tune_params[key]]
    made = []
    for values in parts:
        arguments = [each(values) if isinstance(each, TunablePrecision) else each for each in task.arguments]
        made.append(dataclasses.replace(task, tune_params=values, arguments=arguments))
    return made


def _tune(task: Task, answer: Optional[Sequence[Any]], atol: Optional[float], verify: Any, search: Sequence[str], device: int,
          reuse: bool) -> Tuple[List[Result], Optional[Result], _run.Found]:
    problem = Problem(task)
    outputs = [i for i in range(len(problem.arrays)) if problem.may_write(i)]
    check: Dict[str, Any] = {"reference": {"kernel": problem.function}}
    expected: Dict[str, Any] = {}
    if answer is not None and len(answer) != len(task.arguments):
        raise ValueError(f"answer has {len(answer)} elements for {len(task.arguments)} arguments: give None for those that are not compared")
    if verify is not None:
        check.update(_UNCOMPARED)
    elif answer is not None:
        outputs, expected = _expected(problem, answer, outputs, device)
        rounding, largest = _rounding(problem, answer)
        check = {"reference": {"npy": {problem.name(i): f"expected_{problem.name(i)}.npy" for i in outputs}, "size": [1]},
                 "tolerance": {"relative": max(1e-5, rounding), "absolute": max(float(atol if atol is not None else 1e-6), rounding * largest)},
                 "deterministic": False}
    else:
        warnings.warn("tuner.kernel_tuner: without an answer, results are compared with those of the first configuration; if they depend on "
                      "parameters, name these in result_parameters", stacklevel=4)
    found = None
    if verify is None and answer is None:
        found = _run.search(problem, problem.folder(outputs, check, {}), search, device, reuse=reuse,
                            is_in_vain=lambda trials: _are_others(trials, _MANY_WRONG))
        if found is None or _are_others([trial for _, trial in found.rows], 2):
            found = None
            warnings.warn(f"tuner.kernel_tuner: most configurations of {problem.function} give other results than the first: now results are "
                          "compared with nothing, as Kernel Tuner does; give answer, verify or result_parameters", stacklevel=4)
            check.update(_UNCOMPARED)
    if found is None:
        found = _run.search(problem, problem.folder(outputs, check, expected), search, device, reuse=reuse)
    assert found is not None
    results = [_result(config, trial) for config, trial in found.rows]
    for config, finalist in found.finalists:
        for result in _of(results, config):
            if "__error__" not in result:
                result.update(time=finalist["median_ns"] / 1e6, times=[finalist["median_ns"] / 1e6])
    best = next(iter(_of(results, found.best)), None) if found.best is not None else None
    if verify is not None and best is not None:
        best = _verified(problem, results, found, answer, atol, verify, device)
    return results, best, found


def _are_others(trials: Sequence[Mapping[str, Any]], fewest: int) -> bool:
    """Whether most configurations, and not fewer, give other results than the first, as partial sums do for another number of blocks."""
    others = sum(bool(trial["outcome"] == "wrong_result") for trial in trials)
    return others >= fewest and 2 * others > len(trials)


def _expected(problem: Problem, answer: Sequence[Any], outputs: Sequence[int], device: int) -> Tuple[List[int], Dict[str, Any]]:
    """The outputs, and what they must hold: the answer, and what the first configuration leaves in the others."""
    answered = [i for i, each in enumerate(answer) if each is not None and problem.arrays[i] is not None]
    if not answered:
        raise ValueError("answer has nothing but None for arrays: leave it out")
    found: Dict[int, Any] = {i: _host(answer[i]) for i in answered}
    for i, array in found.items():
        if array.size != numpy.size(problem.task.arguments[i]):
            raise ValueError(f"answer[{i}] has {array.size} elements, the argument {numpy.size(problem.task.arguments[i])}")
        found[i] = array.astype(_host(problem.task.arguments[i]).dtype)
    others = [i for i in outputs if i not in answered]
    if others:
        left = _run.launch(problem, problem.default, device)
        for i in others:
            if _host(left[i]).tobytes() != problem.arrays[i].tobytes():
                found[i] = _host(left[i])
    return sorted(found), {f"expected_{problem.name(i)}.npy": problem.written(i, array) for i, array in found.items()}


def _rounding(problem: Problem, answer: Sequence[Any]) -> Tuple[float, float]:
    """Of arguments that are narrower than their answer: two units in the last place, as a share, and the largest number; else 0."""
    share = largest = 0.0
    for given, right in zip(problem.task.arguments, answer):
        if right is None or not hasattr(given, "shape") or type(given).__module__.partition(".")[0] == "torch":
            continue
        array = _host(right)
        if given.dtype.kind == "f" and array.dtype.kind == "f" and given.dtype.itemsize < array.dtype.itemsize and array.size:
            share = max(share, 2 * float(numpy.finfo(given.dtype).eps))
            largest = max(largest, float(numpy.nanmax(numpy.abs(array))))
    return share, largest


def _of(results: Sequence[Result], config: Mapping[str, Any]) -> List[Result]:
    return [each for each in results if all(each[key] == value for key, value in config.items())]


def _result(config: Mapping[str, Any], trial: Mapping[str, Any]) -> Result:
    result: Result = {key: plain(value) for key, value in config.items()}
    if trial["outcome"] == "ok":
        result.update(time=trial["median_ns"] / 1e6, times=[trial["median_ns"] / 1e6])
    else:
        error = _ERRORS.get(trial["outcome"], util.InvalidConfig)()
        result.update(time=_NO_TIME, __error__=error, message=f"{trial['outcome']}: {trial['message']}")
    return result


def _verified(problem: Problem, results: Sequence[Result], found: _run.Found, answer: Any, atol: Any, verify: Any,
              device: int) -> Optional[Result]:
    """The fastest finalist whose saved outputs the caller's function accepts; the others that it looked at are errors."""
    check = util.normalize_verify_function(verify)
    assert check is not None
    for config, _ in found.finalists:
        outputs = _run.launch(problem, config, device)
        result = _of(results, config)[0]
        if check(answer, outputs, atol=atol):
            return result
        result.update(time=_NO_TIME, __error__=util.InvalidConfig(), message="wrong_result: verify() returned False")
    return None


def _best(results: Sequence[Result], bests: Sequence[Result], objective: Any, higher: Any, objectives: Any) -> Any:
    if objectives:
        return util.get_pareto_results(list(results), list(objectives), list(objectives.values()))
    objective, higher = util.get_objective_defaults(objective, higher)
    if not results:  # verify() accepted none
        return {}
    if objective != "time" and not any(objective in each for each in results if "__error__" not in each):
        raise _options.Refused(f"objective={objective!r}: no result has it: it is neither time nor a metric of these")
    if objective == "time" and len(bests) == 1:
        return bests[0]
    return util.get_best_config(list(results), objective, higher)


def _is_parameter(key: str, value: Any) -> bool:
    """Whether it is a parameter: a result of tune_kernel() has others beside them."""
    return key.isidentifier() and key not in _OF_RESULTS and isinstance(plain(value), (int, float, str))


def run_kernel(kernel_name: str, kernel_source: Any, problem_size: Any, arguments: Sequence[Any], params: Mapping[str, Any],
               grid_div_x: Any = None, grid_div_y: Any = None, grid_div_z: Any = None, lang: Optional[str] = None, device: int = 0,
               platform: int = 0, smem_args: Optional[Mapping[str, Any]] = None, cmem_args: Optional[Mapping[str, Any]] = None,
               texmem_args: Any = None, compiler: Optional[str] = None, compiler_options: Optional[Sequence[str]] = None,
               defines: Optional[Mapping[str, Any]] = None, block_size_names: Optional[Sequence[str]] = None, quiet: bool = False,
               log: Any = None) -> List[Any]:
    """What a launch with these parameters leaves in the arguments, as the function of this name of Kernel Tuner. A result of
    tune_kernel() gives parameters, too. The launch is in a process of its own. Raises as tune_kernel(), and tuner.Error where the kernel fails or writes outside its buffers."""
    _options.require_cuda(lang, compiler, texmem_args)
    if platform or log:
        _options.ignored("platform" if platform else "log", "`tune` decides it")
    values = {key: [value] for key, value in params.items() if _is_parameter(key, value)}
    arguments = [each(values) if isinstance(each, TunablePrecision) else each for each in arguments]
    problem = Problem(Task(kernel_name, kernel_source, problem_size, arguments, values,
                           (grid_div_x, grid_div_y, grid_div_z), None, smem_args, cmem_args, compiler_options, defines, block_size_names))
    return _run.launch(problem, problem.default, device)
