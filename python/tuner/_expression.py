# SPDX-License-Identifier: Apache-2.0
"""Python functions of sizes and parameters as expressions of a space file."""

from __future__ import annotations

import builtins
import inspect
import itertools
import math
import re
import types
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

Names = Dict[str, Any]  # the value of each name

_LONGEST = 4096   # characters of an expression in a space file
_MOST_PATHS = 64  # through a function
_MOST_CALLS = 1 << 16
_CONDITION, _OR, _COMPARED, _BITS, _SHIFT, _SUM, _PRODUCT, _UNARY, _ATOM = range(9)


class Untraceable(Exception):
    """A function does something with a symbolic value that no expression says."""


class _Branch(BaseException):
    """A condition whose outcome is not decided on the path that is explored."""

    def __init__(self, condition: Value) -> None:
        self.condition = condition


_decided: List[Dict[str, bool]] = []  # of the functions that are traced now: outcomes by condition


class Value:
    """A number that depends on sizes and parameters: its text in a space file, and what computes it."""

    __slots__ = ("text", "rank", "compute", "parts")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: str, rank: int, compute: Callable[[Names], Any],
                 parts: Optional[Tuple[Value, Value]] = None) -> None:
        self.text, self.rank, self.compute = text, rank, compute
        self.parts = parts  # of a quotient that may be a fraction: what is divided by what

    def __repr__(self) -> str:
        return self.text

    def depends_on(self, names: Sequence[str]) -> bool:
        return any(re.search(rf"\b{each}\b", self.text) for each in names)

    def __bool__(self) -> bool:
        if not _decided:
            raise Untraceable(f"whether {self.text} is true depends on the size")
        if self.text not in _decided[-1]:
            raise _Branch(self)
        return _decided[-1][self.text]

    def _refuse(self, *_: Any) -> Any:
        raise Untraceable(f"{self.text} is not a number yet")

    __index__ = __int__ = __float__ = __len__ = __iter__ = __round__ = _refuse

    def __ceil__(self) -> Value:
        return call("ceil_div", *self.parts) if self.parts else self

    def __floor__(self) -> Value:
        return self.parts[0] // self.parts[1] if self.parts else self

    __trunc__ = __floor__

    def __add__(self, other: Any) -> Value: return _binary(self, "+", other, _SUM)
    def __radd__(self, other: Any) -> Value: return _binary(other, "+", self, _SUM)
    def __sub__(self, other: Any) -> Value: return _binary(self, "-", other, _SUM)
    def __rsub__(self, other: Any) -> Value: return _binary(other, "-", self, _SUM)
    def __mul__(self, other: Any) -> Value: return _binary(self, "*", other, _PRODUCT)
    def __rmul__(self, other: Any) -> Value: return _binary(other, "*", self, _PRODUCT)
    def __floordiv__(self, other: Any) -> Value: return _binary(self, "//", other, _PRODUCT)
    def __rfloordiv__(self, other: Any) -> Value: return _binary(other, "//", self, _PRODUCT)
    def __mod__(self, other: Any) -> Value: return _binary(self, "%", other, _PRODUCT)
    def __rmod__(self, other: Any) -> Value: return _binary(other, "%", self, _PRODUCT)
    def __truediv__(self, other: Any) -> Value: return _binary(self, "/", other, _PRODUCT)
    def __rtruediv__(self, other: Any) -> Value: return _binary(other, "/", self, _PRODUCT)
    def __lshift__(self, other: Any) -> Value: return _binary(self, "<<", other, _SHIFT)
    def __rlshift__(self, other: Any) -> Value: return _binary(other, "<<", self, _SHIFT)
    def __rshift__(self, other: Any) -> Value: return _binary(self, ">>", other, _SHIFT)
    def __rrshift__(self, other: Any) -> Value: return _binary(other, ">>", self, _SHIFT)
    def __and__(self, other: Any) -> Value: return _binary(self, "&", other, _BITS)
    def __rand__(self, other: Any) -> Value: return _binary(other, "&", self, _BITS)
    def __eq__(self, other: Any) -> Value: return _binary(self, "==", other, _COMPARED)  # type: ignore[override]
    def __ne__(self, other: Any) -> Value: return _binary(self, "!=", other, _COMPARED)  # type: ignore[override]
    def __lt__(self, other: Any) -> Value: return _binary(self, "<", other, _COMPARED)
    def __le__(self, other: Any) -> Value: return _binary(self, "<=", other, _COMPARED)
    def __gt__(self, other: Any) -> Value: return _binary(self, ">", other, _COMPARED)
    def __ge__(self, other: Any) -> Value: return _binary(self, ">=", other, _COMPARED)
    def __neg__(self) -> Value: return Value("-" + _within(self, _UNARY), _UNARY, lambda names: -self.compute(names))
    def __abs__(self) -> Value: return call("abs", self)

    def __pow__(self, exponent: Any) -> Value:
        if not isinstance(exponent, int) or not 1 <= exponent <= 4:
            raise Untraceable(f"{self.text} to the power of {exponent!r} is no expression")
        return self if exponent == 1 else self * self**(exponent - 1)

    def __rpow__(self, base: Any) -> Value:
        if base != 2:
            raise Untraceable(f"{base!r} to the power of {self.text} is no expression")
        return _binary(1, "<<", self, _SHIFT)


_OPERATIONS: Dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "//": lambda a, b: a // b,
    "%": lambda a, b: a % b, "/": lambda a, b: a / b, "<<": lambda a, b: a << b, ">>": lambda a, b: a >> b,
    "&": lambda a, b: a & b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}
_FUNCTIONS: Dict[str, Callable[..., Any]] = {"ceil_div": lambda a, b: -(-a // b), "min": min, "max": max, "abs": abs}


def constant(number: Any) -> Value:
    if isinstance(number, Value):
        return number
    if isinstance(number, str):
        return Value(f"'{number}'", _ATOM, lambda names: number)
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if hasattr(number, "__index__"):
        number = number.__index__()
        return Value(str(int(number)), _ATOM if number >= 0 else _UNARY, lambda names: int(number))
    raise Untraceable(f"{number!r} is no whole number")


def name(text: str) -> Value:
    return Value(text, _ATOM, lambda names: names[text])


def _within(value: Value, rank: int) -> str:
    return value.text if value.rank >= rank else f"({value.text})"


def _binary(left: Any, operator: str, right: Any, rank: int) -> Value:
    a, b = constant(left), constant(right)
    operation = _OPERATIONS[operator]
    spaced = operator if rank == _PRODUCT else f" {operator} "
    text = _within(a, rank + (rank == _COMPARED)) + spaced + _within(b, rank + 1)
    return Value(text, rank, lambda names: operation(a.compute(names), b.compute(names)), (a, b) if operator == "/" else None)


def call(function: str, *arguments: Any) -> Value:
    given = [constant(each) for each in arguments]
    while len(given) > 2:  # the functions of a space file take two
        given[-2:] = [call(function, *given[-2:])]
    return Value(f"{function}({', '.join(each.text for each in given)})", _ATOM,
                 lambda names: _FUNCTIONS[function](*(each.compute(names) for each in given)))


def choice(condition: Value, yes: Value, no: Value) -> Value:
    if yes.text == no.text:
        return yes
    text = f"{_within(condition, _OR)} ? {_within(yes, _OR)} : {no.text}"
    return Value(text, _CONDITION, lambda names: (yes if condition.compute(names) else no).compute(names))


def _chosen(builtin: Callable[..., Any], function: str) -> Callable[..., Any]:
    def choose(*arguments: Any, **options: Any) -> Any:
        given = list(arguments[0]) if len(arguments) == 1 and not isinstance(arguments[0], Value) else list(arguments)
        if options or not any(isinstance(each, Value) for each in given):
            return builtin(*arguments, **options)
        return call(function, *given) if len(given) > 1 else given[0]
    return choose


def _whole(value: Any = 0, *base: Any) -> Any:
    return math.floor(value) if isinstance(value, Value) else int(value, *base)


# What functions are traced with instead of the builtins of these names.
_TRACED = {"int": _whole, "min": _chosen(builtins.min, "min"), "max": _chosen(builtins.max, "max")}


class Namespace:
    """The parameters or the size of a function: `p.BLOCK` and `p["BLOCK"]`."""

    def __init__(self, what: str, values: Names) -> None:
        self.__dict__.update(_what=what, _values=values)

    def __getitem__(self, key: str) -> Any:
        values = self.__dict__["_values"]
        if key not in values:
            raise KeyError(f"there is no {self.__dict__['_what']} {key!r}; there are {', '.join(values)}")
        return values[key]

    def __getattr__(self, key: str) -> Any:
        if key.startswith("__"):
            raise AttributeError(key)
        try:
            return self[key]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def keys(self) -> Any:
        return self.__dict__["_values"].keys()


def caller(function: Callable[..., Any], parameters: Sequence[str], dims: Sequence[str]) -> Callable[[Names], Any]:
    """Calls a function with (p, s), with (p), or with parameters and dimensions by their names."""
    known = (*parameters, *dims)
    wanted = [it.name for it in inspect.signature(function).parameters.values()
              if it.default is it.empty and it.kind in (it.POSITIONAL_ONLY, it.POSITIONAL_OR_KEYWORD, it.KEYWORD_ONLY)]
    if wanted and all(it in known for it in wanted):
        return lambda names: function(**{it: names[it] for it in wanted})
    if not 1 <= len(wanted) <= 2:
        raise TypeError(f"the function takes ({', '.join(wanted)}): write lambda p, s: … (parameters p.{parameters[0] if parameters else 'NAME'}, "
                        f"sizes s.{dims[0]}), or take parameters and dimensions by their names")
    spaces = (("parameter", parameters), ("dimension", dims))[:len(wanted)]
    return lambda names: function(*(Namespace(what, {it: names[it] for it in its}) for what, its in spaces))


def _with_symbols(function: Any, depth: int = 4) -> Any:
    """The function, and functions of its module that it calls, with builtins that take symbolic values."""
    if not isinstance(function, types.FunctionType) or depth == 0:
        return function
    known = function.__globals__
    hidden = {key: value for key, value in _TRACED.items() if key not in known}
    called = {key: _with_symbols(known[key], depth - 1) for key in function.__code__.co_names
              if isinstance(known.get(key), types.FunctionType) and known[key] is not function}
    copy = types.FunctionType(function.__code__, {**known, **hidden, **called}, function.__name__,
                              function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _paths(call_it: Callable[[], Tuple[Any, ...]], decided: Dict[str, bool], budget: Iterator[int]) -> Tuple[Value, ...]:
    """The results of all paths, joined by the conditions between them."""
    if next(budget) > _MOST_PATHS:
        raise Untraceable(f"the function has more than {_MOST_PATHS} paths")
    _decided.append(decided)
    try:
        result = call_it()
    except _Branch as branch:
        condition = branch.condition
    else:
        if any(isinstance(each, str) for each in result):
            raise Untraceable("words are for comparisons alone")
        return tuple(constant(each) for each in result)
    finally:
        _decided.pop()
    yes, no = (_paths(call_it, {**decided, condition.text: outcome}, budget) for outcome in (True, False))
    longest = max(len(yes), len(no))
    return tuple(choice(condition, a, b) for a, b in zip(_padded(yes, longest), _padded(no, longest)))


def _padded(values: Sequence[Any], length: int) -> Tuple[Value, ...]:
    return (*(constant(each) for each in values), *[constant(1)] * (length - len(values)))


def _as_tuple(result: Any) -> Tuple[Any, ...]:
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


Cases = Sequence[Names]  # values of all names, for which a function is evaluated


def expressions(what: str, given: Union[Callable[..., Any], Sequence[Any], str, int, Value], parameters: Sequence[str],
                dims: Sequence[str], cases: Callable[[], Cases], known_sizes: Callable[[], None]) -> List[Union[str, int]]:
    """The expressions of a space file that a function, a number, a text or several of these stand for.

    A function is run on symbolic values; where that cannot say what it computes, on all cases: if these differ by the
    size, the expressions hold at their sizes alone, and `known_sizes` is called. Raises TypeError where it is no function
    of its arguments alone, or has too many different results.
    """
    if not callable(given):
        parts = given if isinstance(given, (tuple, list)) else (given,)
        return [part.text if isinstance(part, Value) else part for part in parts]
    call_it = caller(given, parameters, dims)
    sample = cases()
    try:
        traced = _traced(given, parameters, dims)
    except Exception:  # pylint: disable=broad-except  # the function itself says what is wrong with it, on numbers
        traced = None
    if traced is not None and all(_agree(traced, call_it, case) for case in _spread(sample, 256)):
        if all(len(each.text) <= _LONGEST for each in traced):
            return [each.text for each in traced]
    tabulated = _tabulated(what, call_it, [*parameters, *dims], sample)
    if any(each.depends_on(dims) for each in tabulated):
        known_sizes()
    return [each.text for each in tabulated]


def _traced(function: Callable[..., Any], parameters: Sequence[str], dims: Sequence[str]) -> Tuple[Value, ...]:
    symbols = {it: name(it) for it in (*parameters, *dims)}
    call_it = caller(_with_symbols(function), parameters, dims)
    return _paths(lambda: _as_tuple(call_it(symbols)), {}, itertools.count(1))


def _spread(cases: Sequence[Any], most: int) -> Sequence[Any]:
    """At most so many of them, in which every parameter has each of its values: a fixed step could keep some at their first."""
    golden = (math.sqrt(5) - 1) / 2
    return cases if len(cases) <= most else [cases[int(len(cases) * (i * golden % 1))] for i in range(most)]


def _agree(traced: Sequence[Value], call_it: Callable[[Names], Any], case: Names) -> bool:
    try:
        expected = _as_tuple(call_it(case))
        found = [each.compute(case) for each in traced]
    except ArithmeticError:
        return False
    return found[:len(expected)] == list(expected) and all(each == 1 for each in found[len(expected):])


def _tabulated(what: str, call_it: Callable[[Names], Any], names: Sequence[str], cases: Cases) -> List[Value]:
    """Expressions that look up what the function gives in each case."""
    if len(cases) > _MOST_CALLS:
        raise TypeError(f"{what}: what the function computes cannot be written as an expression, and it has {len(cases)} "
                        "combinations of parameters and sizes: give the expression as a text, such as \"ceil_div(N, BLOCK)\"")
    results = [_numbers(what, call_it(case)) for case in cases]
    again = [_numbers(what, call_it(case)) for case in _spread(cases, 64)]
    if again != list(_spread(results, 64)):
        raise TypeError(f"{what}: the function gives another result each time, as one that reads a clock or random numbers: "
                        "make it a function of parameters and sizes alone")
    longest = max(map(len, results))
    columns = [[row[i] if i < len(row) else 1 for row in results] for i in range(longest)]
    made = [_tree(names, list(zip(cases, column))) for column in columns]
    for each in made:
        if len(each.text) > _LONGEST:
            raise TypeError(f"{what}: what the function computes cannot be written as an expression of {_LONGEST} characters: "
                            "give it as a text, such as \"ceil_div(N, BLOCK)\"")
    return made


def _numbers(what: str, result: Any) -> Tuple[int, ...]:
    try:
        return tuple(int(constant(each).text) for each in _as_tuple(result))
    except (Untraceable, ValueError):  # a word is no number
        raise TypeError(f"{what}: the function returns {result!r}: it must return a whole number, or several") from None


def _tree(names: Sequence[str], cases: List[Tuple[Names, int]]) -> Value:
    if len({result for _, result in cases}) == 1:
        return constant(cases[0][1])
    for i, key in enumerate(names):
        groups: Dict[Any, List[Tuple[Names, int]]] = {}
        for case in cases:
            groups.setdefault(case[0][key], []).append(case)
        if len(groups) == 1:
            continue
        trees = [(value, _tree(names[i + 1:], group)) for value, group in groups.items()]
        tree = trees[-1][1]
        for value, each in reversed(trees[:-1]):
            tree = choice(name(key) == value, each, tree)
        return tree
    raise AssertionError("cases of equal names differ")
