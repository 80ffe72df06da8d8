# SPDX-License-Identifier: Apache-2.0
"""A tuned kernel: what was found, and how it is launched."""

from __future__ import annotations

import dataclasses
import html
import json
import pathlib
import threading
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _arrays, _program
from ._arguments import Parameter, Shape, read_size
from ._dispatcher import Dispatcher, Table
from ._expression import Value
from ._library import Error

Size = Tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Best:
    """The fastest configuration at a size."""

    size: Dict[str, int]
    config: Dict[str, Any]
    time_ns: float                     #: of single launches from a cold cache, the median
    ratio_to_default: Optional[float]  #: the time of the default, divided by this
    ties: int                          #: other finalists that are not shown to be more than 1 % slower
    confirmed: bool                    #: by a final round; without one only the search timed it


class Tuned:
    """What tuner.tune() found. Called, it launches the fastest configuration for the arrays that it is given."""

    def __init__(self, *, family: str, kernel: str, space: pathlib.Path, dims: Sequence[str], parameters: Sequence[Parameter],
                 outputs: Sequence[str], updated: Sequence[str], symbols: Mapping[str, Shape], numbers: Mapping[str, Any], backend: str, device: int,
                 database: Optional[str], record: Mapping[str, Any], complete: bool, looked_up: bool) -> None:
        self.family, self.kernel = family, kernel
        self.space = space          #: the space file, for `tune --space …`
        self.complete = complete    #: False: it was interrupted; the same call continues
        self.looked_up = looked_up  #: all of it was known from an earlier call
        self.parameters, self.outputs = list(parameters), list(outputs)  #: of the kernel's function; buffers that it writes
        self.updated = list(updated)  #: outputs that it reads, too
        self._dims, self._symbols, self._numbers = list(dims), dict(symbols), dict(numbers)
        self.backend, self.device = backend, device
        self._database, self._record = database, record
        self._lock = threading.Lock()
        self._dispatcher: Optional[Dispatcher] = None

    @property
    def warnings(self) -> List[str]:
        """What `tune` said of the kernel, its checks and its reference."""
        return list(self._record["warnings"])

    def _sizes(self) -> List[Dict[str, Any]]:
        return [size for kernel in self._record["document"]["kernels"] for size in kernel["sizes"]]

    def best(self, size: Any = None) -> Best:
        """The fastest configuration at a size that was tuned; without one at the only size."""
        tuned = [each for each in self._sizes() if "best" in each]
        if size is None and len(tuned) == 1:
            found = tuned
        elif size is None:
            raise TypeError(f"best: which size? Tuned are {', '.join(self._shown(each['size']) for each in tuned)}")
        else:
            wanted = self._named(read_size(size, self._dims))
            found = [each for each in tuned if self._as_dict(each["size"]) == wanted]
        if not found:
            raise KeyError(f"the size {size!r} was not tuned; tuned are "
                           f"{', '.join(self._shown(each['size']) for each in tuned) or 'none'}")
        best = found[0]["best"]
        return Best(self._as_dict(found[0]["size"]), best["config"], best["median_ns"], best["ratio_to_default"], best["ties"],
                    best["confirmed"])

    def trials(self) -> List[Dict[str, Any]]:
        """A row for each configuration that was tried at each size: pandas.DataFrame(k.trials())."""
        rows = []
        for trial in self._record["trials"]:
            rows.append({"size": trial["size"], **trial["config"], "outcome": trial["outcome"], "time_ns": trial["median_ns"],
                         "message": trial["message"]})
        return rows

    def failures(self) -> Dict[str, List[Dict[str, Any]]]:
        """The trials that did not end ok, by outcome."""
        groups: Dict[str, List[Dict[str, Any]]] = {}
        for row in self.trials():
            if row["outcome"] != "ok":
                groups.setdefault(row["outcome"], []).append(row)
        return groups

    def explain(self, size: Any = None) -> str:
        """Why the best configuration is the fastest: the text of `tune explain`, which measures."""
        found = self.best(size)
        return _program.run([*self._common(), "explain", "--space", str(self.space), "--kernel", self.kernel, "--size",
                             self._option(found.size), *self._device()])

    def report(self, folder: Union[str, pathlib.Path] = "tuner-report") -> List[pathlib.Path]:
        """Writes an HTML page for each device of the database and returns their paths."""
        _program.run([*self._common(), "report", "-o", str(folder)])
        return sorted(pathlib.Path(folder).glob("*.html"))

    def export(self, path: Union[str, pathlib.Path], format: str = "json") -> pathlib.Path:
        """Writes what was found: "json", a table for a Dispatcher, or "header", the same in C++."""
        _program.run([*self._common(), "export", "--format", format, "--family", self.family, "-o", str(path)])
        return pathlib.Path(path)

    def _common(self) -> List[str]:
        return ["--db", self._database] if self._database else []

    def _device(self) -> List[str]:
        return ["--backend", self.backend, "--device", str(self.device)]

    @property
    def dispatcher(self) -> Dispatcher:
        """What launches it."""
        with self._lock:
            if self._dispatcher is None:
                self._dispatcher = Dispatcher(Table.database(self._database), backend=self.backend, device=self.device)
            return self._dispatcher

    def __call__(self, *arguments: Any, size: Any = None, stream: Optional[int] = None, **named: Any) -> None:
        """Launches the kernel on the current stream, as its function is declared; outputs are written in place.

        size: where it does not follow from the numbers and the shapes.
        """
        given = self._given(arguments, named)
        numbers = self._size_of(given) if size is None else self._named(read_size(size, self._dims))
        sized = tuple(numbers[dim] for dim in self._dims)
        for name, value in self._numbers.items():
            if isinstance(value, Value) and value.compute(numbers) != given[name]:
                raise ValueError(f"{self.kernel}: {name} is {given[name]!r}, but {value.text} is {value.compute(numbers)} at the size "
                                 f"{self._option(numbers)}: the arrays and numbers are of different sizes")
        dispatched = {info.name for info in self.dispatcher.arguments(self.family, sized)}
        self.dispatcher.launch(self.family, sized, *(given[it.name] for it in self.parameters if it.name in dispatched),
                               stream=stream)

    def _given(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> Dict[str, Any]:
        names = [it.name for it in self.parameters]
        given = dict(zip(names, arguments))
        if len(arguments) > len(names) or set(named) & set(given) or set(names) != set(given) | set(named):
            raise TypeError(f"{self.kernel} takes ({', '.join(names)})")
        return {**given, **named}

    def _size_of(self, given: Mapping[str, Any]) -> Dict[str, Any]:
        """The size that numbers and shapes tell."""
        found: Dict[str, Any] = {}
        for name, value in self._numbers.items():
            if isinstance(value, Value) and value.text in self._dims and name in given:
                found.setdefault(value.text, given[name] if _is_symbolic(given[name]) else int(given[name]))
        for name, shape in self._symbols.items():
            its_shape = _shape_of(given[name]) if name in given else ()
            if len(its_shape) != len(shape):
                continue
            for extent, number in zip(shape, its_shape):
                if isinstance(extent, Value) and extent.text in self._dims:
                    found.setdefault(extent.text, number)
        if not any(isinstance(extent, Value) for shape in self._symbols.values() for extent in shape):
            for each in self._sizes():  # of fixed arrays
                return self._as_dict(each["size"])
        missing = [dim for dim in self._dims if dim not in found]
        if missing:
            raise TypeError(f"{self.kernel}: {', '.join(missing)} of the size do not follow from the arguments: pass size=…")
        return found

    def shapes_of(self, given: Mapping[str, Any]) -> Dict[str, Tuple[Any, ...]]:
        """The shapes of all buffers at the size that some of the arguments tell."""
        size = self._size_of(given)
        return {name: tuple(extent.compute(size) if isinstance(extent, Value) else extent for extent in shape)
                for name, shape in self._symbols.items()}

    def prepare(self, *sizes: Any) -> None:
        """Compiles and loads ahead of the first launch, as before the capture of a CUDA graph."""
        self.dispatcher.prepare(self.family, [read_size(each, self._dims) for each in sizes])

    def _named(self, size: Sequence[int]) -> Dict[str, int]:
        return dict(zip(self._dims, size))

    def _as_dict(self, size: Any) -> Dict[str, int]:
        return dict(size) if isinstance(size, Mapping) else self._named(size)

    def _option(self, size: Mapping[str, int]) -> str:
        return ",".join(str(size[dim]) for dim in self._dims)

    def _shown(self, size: Any) -> str:
        return self._option(self._as_dict(size))

    def __repr__(self) -> str:
        lines = [f"{self.kernel} on {self._record['document']['device']}{'' if self.complete else ', interrupted'}"]
        for size in self._sizes():
            best = size.get("best")
            lines.append(f"  {self._shown(size['size'])}: " + (self._line(best) if best else "no configuration ended ok")
                         + self._failed(size))
        return "\n".join(lines)

    @staticmethod
    def _line(best: Mapping[str, Any]) -> str:
        config = " ".join(f"{key}={value}" for key, value in best["config"].items())
        ratio = f", {best['ratio_to_default']:.2f} times as fast as the default" if best["ratio_to_default"] else ""
        ties = f", {best['ties']} ties" if best["ties"] else ""
        return f"{config}: {_time(best['median_ns'])} cold{ratio}{ties}"

    @staticmethod
    def _failed(size: Mapping[str, Any]) -> str:
        failed = {key: count for key, count in size["outcomes"].items() if key != "ok"}
        return f" ({', '.join(f'{count} {key}' for key, count in failed.items())})" if failed else ""

    def _repr_html_(self) -> str:
        rows = []
        for size in self._sizes():
            best = size.get("best")
            config = " ".join(f"{key}={value}" for key, value in best["config"].items()) if best else "none"
            ratio = f"{best['ratio_to_default']:.2f}" if best and best["ratio_to_default"] else "–"
            failed = ", ".join(f"{count} {key}" for key, count in size["outcomes"].items() if key != "ok") or "0"
            cells = [self._shown(size["size"]), config, _time(best["median_ns"]) if best else "–", ratio,
                     str(best["ties"]) if best else "–", failed]
            rows.append("<tr>" + "".join(f"<td>{html.escape(each)}</td>" for each in cells) + "</tr>")
        title = html.escape(f"{self.kernel} on {self._record['document']['device']}{'' if self.complete else ', interrupted'}")
        head = "".join(f"<th>{each}</th>" for each in ("size", "configuration", "time, cold", "× default", "ties", "failures"))
        return f"<table><caption>{title}</caption><tr>{head}</tr>{''.join(rows)}</table>"


def _is_symbolic(number: Any) -> bool:
    """Whether torch.compile stands for it."""
    return type(number).__name__ == "SymInt"


def _shape_of(array: Any) -> Tuple[Any, ...]:
    return tuple(array.shape) if hasattr(array, "shape") else _arrays.view(array).shape


def _time(nanoseconds: float) -> str:
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= scale:
            return f"{nanoseconds / scale:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def failure_summary(trials: Sequence[Mapping[str, Any]], kernel: str) -> Error:
    """That no configuration is right, with what went wrong first."""
    counts: Dict[str, int] = {}
    for trial in trials:
        counts[trial["outcome"]] = counts.get(trial["outcome"], 0) + 1
    first = next((trial for trial in trials if trial["message"]), None)
    what = ", ".join(f"{count} {outcome}" for outcome, count in counts.items()) or "none was tried"
    detail = f"\n  {json.dumps(first['config'])} at {first['size']}: {first['message']}" if first else ""
    return Error(f"{kernel}: no configuration ended ok: {what}{detail}")
