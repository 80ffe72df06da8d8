# SPDX-License-Identifier: Apache-2.0
"""Parameters, and what scripts say of them: restrictions, divisors of the grid, sizes."""

from __future__ import annotations

import inspect
import math
import re
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy

from .._expression import Untraceable, Value, _with_symbols

Config = Mapping[str, Any]  # a value of each parameter: numbers, or symbols while a function is traced
BLOCK_SIZE_NAMES = ("block_size_x", "block_size_y", "block_size_z")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_TOKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def plain(value: Any) -> Any:
    return value.item() if isinstance(value, numpy.generic) else value


class _Choice:
    """A parameter whose values are no whole numbers, while a function is traced: it can be compared."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, index: Value, values: Sequence[Any]) -> None:
        self._index, self._values = index, list(values)

    def __eq__(self, other: Any) -> Any:
        return self._index == self._values.index(other) if other in self._values else False

    def __ne__(self, other: Any) -> Any:
        return self._index != self._values.index(other) if other in self._values else True

    def __bool__(self) -> bool:
        raise Untraceable("a choice is no condition")


class Parameters:
    """The parameters of a script, and as a space file has them: those with other values than whole numbers by their index."""

    def __init__(self, given: Mapping[str, Sequence[Any]], kernel_name: str) -> None:
        self.values: Dict[str, List[Any]] = {}
        for key, values in given.items():
            if not isinstance(values, (list, tuple, range, numpy.ndarray)) or len(values) == 0:
                raise ValueError(f"tune_params: {key} has {values!r}: give a list of values")
            self.values[key] = list(dict.fromkeys(map(plain, values)))
        in_name = set(_TOKEN.findall(kernel_name.partition("<")[2]))
        self._indexed = {key for key, values in self.values.items()
                         if not all(isinstance(each, int) for each in values)
                         and not (key in in_name and all(isinstance(each, str) and _WORD.match(each) for each in values))}

    def _name(self, key: str) -> str:
        return f"{key}_index" if key in self._indexed else key

    @property
    def written(self) -> Dict[str, List[Any]]:
        """The values in a space file."""
        return {self._name(key): list(range(len(values))) if key in self._indexed else
                [int(each) if isinstance(each, bool) else each for each in values] for key, values in self.values.items()}

    def encoded(self, config: Config) -> Dict[str, Any]:
        return {self._name(key): self.values[key].index(plain(value)) if key in self._indexed else plain(value)
                for key, value in config.items()}

    def decoded(self, written: Any) -> Dict[str, Any]:
        """The configuration that the names of a space file stand for: of numbers or of symbols."""
        config = {}
        for key, values in self.values.items():
            found = written[self._name(key)]
            if key in self._indexed:
                found = _Choice(found, values) if isinstance(found, Value) else values[int(found)]
            config[key] = found
        return config

    def macros(self) -> str:
        """Defines the parameters that a space file has by their index."""
        lines = []
        for key in sorted(self._indexed):
            for i, value in enumerate(self.values[key]):
                lines += [f"#{'el' if i else ''}if {self._name(key)} == {i}", f"#define {key} {value}"]
            lines.append("#endif")
        return "".join(line + "\n" for line in lines)


def evaluated(text: str, config: Config) -> Any:
    """What an expression of parameters gives."""
    names = {"math": math, "numpy": numpy, "np": numpy, **config}
    names.update({key: value for key, value in zip(("min", "max"), _with_symbols(lambda: (min, max))())})
    names["int"] = _with_symbols(lambda: int)()
    return eval(text, names)  # pylint: disable=eval-used  # the caller's own text


def _called(function: Callable[..., Any], config: Config) -> Any:
    """A function of a configuration, of parameters by their names, or of all values in their order."""
    function = _with_symbols(function)
    takes = list(inspect.signature(function).parameters.values()) if callable(function) else []
    if any(it.kind is it.VAR_POSITIONAL for it in takes):
        return function(*config.values())
    if any(it.kind is it.VAR_KEYWORD for it in takes):
        return function(**config)
    wanted = [it.name for it in takes if it.default is it.empty]
    if wanted and all(each in config for each in wanted):
        return function(**{each: config[each] for each in wanted})
    return function(config)


def value_of(what: str, given: Any, config: Config) -> Any:
    """A number, an expression or a function, for a configuration."""
    if callable(given):
        return plain(_called(given, config))
    if isinstance(given, str):
        return evaluated(given, config)
    if isinstance(given, (int, float, numpy.generic)):
        return plain(given)
    raise TypeError(f"{what}: {given!r} is no number, text or function")


def problem_size(given: Any, config: Config) -> List[Any]:
    """The three extents of the problem."""
    found = _called(given, config) if callable(given) else given
    extents = list(found) if isinstance(found, (tuple, list, numpy.ndarray)) else [found]
    extents = [value if isinstance(value, Value) else value_of("problem_size", value, config) for value in extents]
    return [*extents, 1, 1][:3]


def grid(size: Any, divisors: Sequence[Any], block_names: Sequence[str], config: Config) -> Tuple[Any, ...]:
    """Blocks in each direction."""
    extents = problem_size(size, config)
    return tuple(math.ceil(extent / _divisor(divisor, block, config)) for extent, divisor, block in zip(extents, divisors, block_names))


def _divisor(given: Any, default: Optional[str], config: Config) -> Any:
    if given is None:
        return config.get(default, 1) if default else 1
    if isinstance(given, str):
        return _with_symbols(lambda value: int(value))(evaluated(given, config))
    if isinstance(given, (list, tuple)):
        product: Any = 1
        for each in given:
            product = product * _divisor(each, None, config)
        return product
    return value_of("grid_div", given, config)


def block(block_names: Sequence[str], config: Config) -> Tuple[Any, ...]:
    return tuple(config.get(key, default) for key, default in zip(block_names, (256, 1, 1)))


def restrictions(given: Any) -> List[Tuple[Callable[[Config], Any], str]]:
    """Each restriction as a function of a configuration, and what it says."""
    if given is None:
        return []
    return [(_restriction(each), each if isinstance(each, str) else getattr(each, "__name__", "restriction"))
            for each in (given if isinstance(given, list) else [given])]


def _restriction(given: Any) -> Callable[[Config], Any]:
    keys: Optional[Sequence[str]] = None
    if isinstance(given, tuple) and len(given) in (2, 3) and isinstance(given[1], (list, tuple)):
        given, keys = given[0], given[1]
    if hasattr(given, "_func"):  # of python-constraint
        function = given._func
        return lambda config: _truth(lambda: function(*(config[key] for key in keys or config)))
    if isinstance(given, str):
        return lambda config: _truth(lambda: evaluated(given, config))
    if not callable(given):
        raise TypeError(f"restrictions: {given!r} is neither a text nor a function of parameters")
    return lambda config: _truth(lambda: _called(given, {key: config[key] for key in keys} if keys else config))


def _truth(evaluate: Callable[[], Any]) -> Any:
    try:
        found = evaluate()
    except ZeroDivisionError:
        return True
    return found if isinstance(found, Value) else bool(found)


__all__ = ["BLOCK_SIZE_NAMES", "Config", "Parameters", "block", "evaluated", "grid", "plain", "problem_size",
           "restrictions", "value_of"]
