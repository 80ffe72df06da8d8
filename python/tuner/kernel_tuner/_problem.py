# SPDX-License-Identifier: Apache-2.0
"""A kernel with its arguments, as a script describes it, written as a space folder."""

from __future__ import annotations

import dataclasses
import itertools
import math
import os
import pathlib
import re
import warnings
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy

from .. import _arrays
from .._arguments import BYTES, Described, Parameter, _host
from .._library import Error
from .._space import MOST_SOURCES, Folder, Source, SpaceWriter, make_private, signature
from . import _configurations as configurations
from ._configurations import BLOCK_SIZE_NAMES, Config, Parameters
from ._options import Refused, compiler_options, require_kernel
from ._stored import base, stored

_ALIGNMENT = 256  # in bytes: what Kernel Tuner allocates has it, and kernels may rely on it
_MOST_COUNTED = 1 << 16
_MOST_BYTES = 900 << 10  # of sources: the program reads files of up to 1 MiB
_DIM = "PROBLEM"  # the only dimension, of extent 1: arrays and sizes are fixed
_CODES = {element: code for code, element in _arrays.ELEMENTS.items()}
_WIDTHS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "unsigned long long"}


@dataclasses.dataclass
class Task:
    """What a script asks for, but for what it does with the results."""

    kernel_name: str
    kernel_source: Any
    problem_size: Any
    arguments: Sequence[Any]
    tune_params: Mapping[str, Sequence[Any]]
    grid_div: Sequence[Any] = (None, None, None)
    restrictions: Any = None
    smem_args: Optional[Mapping[str, Any]] = None
    cmem_args: Optional[Mapping[str, Any]] = None
    compiler_options: Optional[Sequence[str]] = None
    defines: Optional[Mapping[str, Any]] = None
    block_size_names: Optional[Sequence[str]] = None


def looks_like_a_file(source: str) -> bool:
    return len(source) <= 250 and not any(each in source for each in "();{}\\\n#\"") and ".c" in source


def _source_of(task: Task) -> Tuple[Any, Optional[pathlib.Path]]:
    """The source as a text or a function, and the folder of its headers."""
    source = task.kernel_source
    if isinstance(source, (list, tuple)):
        source = source[0]
    if isinstance(source, pathlib.Path) or (isinstance(source, str) and looks_like_a_file(source)):
        path = pathlib.Path(source)
        if not path.is_file():
            raise FileNotFoundError(f"kernel_source: there is no file {path}")
        return path.read_text(encoding="utf-8"), path.resolve().parent
    if not isinstance(source, str) and not callable(source):
        raise TypeError(f"kernel_source is {type(source).__name__}: give the CUDA source, its path, or a function that returns it")
    return source, None


def _of_unknown_type(text: str, function: str, number: int) -> List[bool]:
    """Which parameters of a kernel are of a type that is not in its declaration, such as a template's, for which a signature has float."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    for found in re.finditer(rf"\b{function}\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*\{{", text):
        parts = re.split(r",(?![^<>]*>)", found[1])
        if len(parts) == number:
            return [re.search(r"\bfloat[1-4]?\b", part) is None for part in parts]
    return [False] * number


class Problem:
    """A task that was read. Raises Refused, TypeError or ValueError for what cannot be tuned."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.parameters = Parameters(task.tune_params, task.kernel_name)
        names = list(task.block_size_names or ())
        self.block_names = [*names, *BLOCK_SIZE_NAMES[len(names):]]
        self.function = task.kernel_name.partition("<")[0].strip().rpartition("::")[2]
        self._restrictions = configurations.restrictions(task.restrictions)
        source, self._folder = _source_of(task)
        self._source = source
        if callable(source):
            self._leave_out_values()
        self.default = self._first_valid()
        first = source(self.default) if callable(source) else source
        require_kernel(first, self.function)
        self._options, self._headers = compiler_options(task.compiler_options)
        self.kept_options = [*self._options, *(f"-I{folder}" for folder in self._headers)]
        self.declared = self._signature(first)
        self.arrays = [self._array(i) for i in range(len(task.arguments))]

    def _leave_out_values(self) -> None:
        """Leaves out every second value of parameters until each configuration can have a source of its own."""
        values = dict(self.parameters.values)
        while self._number_of(values) > MOST_SOURCES or self._source_bytes(values) > _MOST_BYTES:
            halves = ({**values, key: values[key][::2]} for key in sorted(values, key=lambda key: -len(values[key])) if len(values[key]) > 1)
            fewer = next((each for each in halves if self._number_of(each)), None)
            if fewer is None:
                break
            values = fewer
        left = [f"{len(values[key])} of {len(every)} values of {key}" for key, every in self.parameters.values.items()
                if len(values[key]) < len(every)]
        if left:
            warnings.warn(f"tuner.kernel_tuner: kernel_source is a function of more than {MOST_SOURCES} configurations, or their sources "
                          f"take more than {_MOST_BYTES >> 10} KiB: tuned are "
                          f"{', '.join(left)}; use macros of the parameters' names in one source to tune all", stacklevel=5)
            self.parameters = Parameters(values, self.task.kernel_name)

    def _number_of(self, values: Mapping[str, Sequence[Any]]) -> int:
        """Valid configurations; of very many those that are not valid are counted, too."""
        number = math.prod(map(len, values.values()))
        if number > _MOST_COUNTED:
            return number
        return sum(self._is_valid(dict(zip(values, combination))) for combination in itertools.product(*values.values()))

    def _source_bytes(self, values: Mapping[str, Sequence[Any]]) -> int:
        """What the sources of valid configurations take, each with the condition that chooses it."""
        configs = (dict(zip(values, combination)) for combination in itertools.product(*values.values()))
        texts = [self._source(config) for config in configs if self._is_valid(config)]
        condition = sum(len(key) + 20 for key in values)
        return sum(len(text) for text in set(texts)) + condition * len(texts)

    def _is_valid(self, config: Dict[str, Any]) -> bool:
        return all(holds(config) for holds, _ in self._restrictions) and \
            math.prod(map(int, configurations.block(self.block_names, config))) <= 1024

    def _first_valid(self) -> Dict[str, Any]:
        values = self.parameters.values
        for combination in itertools.product(*values.values()):
            config = dict(zip(values, combination))
            if self._is_valid(config):
                return config
        raise ValueError("restrictions: no configuration satisfies all of them, with at most 1024 threads in a block")

    def _signature(self, text: str) -> List[Optional[Parameter]]:
        """The parameters that the source declares; None for what is not read from it."""
        try:
            declared: List[Optional[Parameter]] = list(signature(self.parameters.macros() + text, self.function))
        except (Error, TypeError):
            declared = [None] * len(self.task.arguments)
        if len(declared) != len(self.task.arguments):
            raise ValueError(f"arguments: {len(self.task.arguments)} are given, but {self.function} takes {len(declared)}")
        guessed = _of_unknown_type(text, self.function, len(declared))
        return [dataclasses.replace(each, type="") if each is not None and each.type == "float" and is_guess else each
                for each, is_guess in zip(declared, guessed)]

    def _array(self, i: int) -> Any:
        """The elements of an argument, in the host's memory; None: it is a number."""
        given = self.task.arguments[i]
        if isinstance(given, (int, float, numpy.generic)):
            if self.declared[i] is not None and self.declared[i].is_pointer:  # type: ignore[union-attr]
                raise TypeError(f"arguments[{i}] is the number {given!r}, but {self.declared[i].name} is a pointer")  # type: ignore[union-attr]
            return None
        if not hasattr(given, "shape"):
            raise TypeError(f"arguments[{i}] is {type(given).__name__}: give an array or a number of NumPy")
        return numpy.ascontiguousarray(_host(given)).reshape(-1)

    def name(self, i: int) -> str:
        its = self.declared[i]
        return its.name if its is not None else f"argument_{i}"

    def _element(self, i: int) -> str:
        """The element type in the space file: that of the source where the bytes are a multiple of it."""
        array, its = self.arrays[i], self.declared[i]
        if its is not None and its.type in BYTES and array.nbytes % BYTES[its.type] == 0:
            return its.type
        code = array.dtype.str[1:]
        if code in _arrays.ELEMENTS:
            return _arrays.ELEMENTS[code]
        return {"c8": "float", "c16": "double"}.get(code, _WIDTHS.get(array.dtype.itemsize, "unsigned char"))

    def written(self, i: int, array: Any) -> Any:
        """The bits of an array as the space file has those of an argument."""
        element = self._element(i)
        bits = numpy.ascontiguousarray(array).reshape(-1).view(numpy.dtype(_CODES.get(element, f"u{BYTES[element]}")))
        return bits if bits.size else numpy.zeros(1, bits.dtype)  # a buffer has at least one element

    def may_write(self, i: int) -> bool:
        its = self.declared[i]
        return self.arrays[i] is not None and (its is None or not its.is_const)

    def _entries(self, outputs: Sequence[int]) -> Tuple[List[Dict[str, Any]], Dict[str, Any]]:
        entries: List[Dict[str, Any]] = []
        files: Dict[str, Any] = {}
        for i, given in enumerate(self.task.arguments):
            if self.arrays[i] is None:
                its = self.declared[i]
                number = configurations.plain(given)
                kind = its.type if its is not None and its.type else _arrays.ELEMENTS[numpy.asarray(given).dtype.str[1:]]
                entries.append({"name": self.name(i), "type": kind, "value": int(number) if isinstance(number, bool) else number})
                continue
            bits = self.written(i, self.arrays[i])
            file = f"{self.name(i)}.npy"
            files[file] = stored(bits)
            entries.append({"name": self.name(i), "type": f"{self._element(i)}*", "count": int(bits.size), "fill": {"npy": file},
                            "align": _ALIGNMENT, **({"role": "inout"} if i in outputs else {})})
        for symbol, value in (self.task.cmem_args or {}).items():
            bits = numpy.ascontiguousarray(_host(value)).reshape(-1)
            element = _arrays.ELEMENTS.get(bits.dtype.str[1:])
            if element is None:
                bits, element = bits.view("u1"), "unsigned char"
            files[f"symbol_{symbol}.npy"] = bits
            entries.append({"name": f"symbol_{symbol}", "type": f"{element}[]", "count": int(bits.size), "symbol": symbol,
                            "fill": {"npy": f"symbol_{symbol}.npy"}})
        return entries, files

    def _text(self) -> Any:
        """The source with the macros that a script expects."""
        head = self.parameters.macros()
        words = dict(self.task.defines or {}) if self.task.defines is not None else {}
        for key, value in words.items():
            if key != value and not callable(value) and key not in self.parameters.values:
                head += f"#define {key} {value}\n"
        unrolled = [key for key in self.parameters.values if "loop_unroll_factor" in key]

        def made(text: str) -> str:
            for key in unrolled:
                text = re.sub(rf"^[ \t]*#pragma[ \t]+unroll[ \t]+\(?{key}\)?[ \t]*$", f"#if {key}\n#pragma unroll {key}\n#endif", text,
                              flags=re.MULTILINE)
            return head + text

        if callable(self._source):
            # A function of the written values, which SpaceWriter evaluates for each configuration.
            return lambda written: made(self._source(self.parameters.decoded(written)))
        return made(self._source)

    def _defines(self, writer: SpaceWriter, words: set[str]) -> Dict[str, Any]:
        """Macros with numbers that depend on the configuration."""
        made: Dict[str, Any] = {}
        if self.task.defines is None:
            computed: Dict[str, Any] = {key: (lambda config, i=i: configurations.block(self.block_names, config)[i]) for i, key in
                        enumerate(self.block_names) if key not in self.parameters.values}
            computed.update({key: (lambda config, i=i: self._grid(config)[i]) for i, key in
                             enumerate(("grid_size_x", "grid_size_y", "grid_size_z"))})
            computed["kernel_tuner"] = lambda _: 1
        else:
            computed = {key: (lambda config, value=value: configurations.value_of("defines", value, config))
                        for key, value in self.task.defines.items() if callable(value)}
        for key, compute in computed.items():
            if key in words:
                made[key] = writer.written(key, self._of_written(compute))[0]
        in_name = set(re.findall(r"\w+", self.task.kernel_name.partition("<")[2]))
        for key, values in writer.parameters.items():
            if key in in_name and key in words and all(isinstance(each, int) for each in values):
                made[key] = key
        return made

    def _grid(self, config: Config) -> Tuple[Any, ...]:
        return configurations.grid(self.task.problem_size, self.task.grid_div, self.block_names, config)

    def _of_written(self, function: Any) -> Any:
        return lambda p: function(self.parameters.decoded({key: p[key] for key in p.keys()}))

    def folder(self, outputs: Sequence[int], check: Mapping[str, Any], expected: Mapping[str, Any]) -> Folder:
        """Writes it, with what is compared and the arrays that are expected."""
        entries, files = self._entries(outputs)
        described = Described([_DIM], entries, {}, {}, {}, {})
        text = self._text()
        writer = SpaceWriter(Source(text, self.task.kernel_name), self.parameters.written, described, [(1,)], [])
        block = writer.written("block_size", self._of_written(lambda config: configurations.block(self.block_names, config)))
        launch: Dict[str, Any] = {"block": block, "grid": writer.written("grid_div", self._of_written(self._grid))}
        if self.task.smem_args and "size" in self.task.smem_args:
            size = self.task.smem_args["size"]
            launch["dynamic_shared_bytes"] = writer.written(
                "smem_args", self._of_written(lambda config: configurations.value_of("smem_args", size, config)))[0]
        rules = writer.constraints([(self._of_written(holds), says) for holds, says in self._restrictions])
        if not all(isinstance(each, int) for each in block):
            rules.append({"expr": f"{'*'.join(f'({each})' for each in block)} <= dev.max_threads_per_block",
                          "why": "device limit of threads per block"})
        source_text = writer.source_text(lambda written: self._is_valid(self.parameters.decoded(written)))
        defines = self._defines(writer, set(re.findall(r"\w+", source_text)) | ({"#include"} if "#include" in source_text else set()))
        parameters = writer.parameter_entries(self.parameters.encoded(self.default))
        for key, entry in parameters.items():  # a header may read what the source does not
            if entry["kind"] == "launch" and "#include" in source_text:
                entry["kind"] = "define"
        name = self.function
        kernel: Dict[str, Any] = {"source": f"{name}.cu", "entry": writer.entry(), "parameters": parameters, "launch": launch,
                  **({"constraints": rules} if rules else {}), **({"options": self._options} if self._options else {}),
                  **({"defines": defines} if defines else {})}
        document: Dict[str, Any] = {
            "format": "space/1", "family": name,
            "problem": {"dims": [_DIM], "flops": 0, "sizes": {"default": [[1]]},
                        "bytes": {"at_most": sum(each.nbytes for each in self.arrays if each is not None)}},
            "arguments": entries, "check": dict(check), "kernels": {name: kernel}}
        make_private(base())
        headers = [*self._headers, *([self._folder] if self._folder else [pathlib.Path.cwd()] if '#include "' in source_text else [])]
        if headers:
            document["include"] = [os.path.relpath(each.resolve(), (base() / "x").resolve()) for each in headers]
        files.update({f"{name}.cu": source_text, **{file: stored(array) for file, array in expected.items()}})
        return Folder(base(), name, document, files)


__all__ = ["Problem", "Refused", "Task"]
