# SPDX-License-Identifier: Apache-2.0
"""The folder of a space file that stands for a call of tuner.tune()."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import io
import itertools
import json
import math
import os
import pathlib
import re
import tempfile
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy

from . import _program
from ._arguments import BYTES, Described, Parameter, Size
from ._expression import Cases, Value, expressions, name
from ._library import Error

MOST_SOURCES = 512  # as many configurations as a function may return sources for
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}\Z")
# assert_close of PyTorch: the larger of both margins, which is stricter than their sum.
_TORCH_TOLERANCE = {"__half": (1e-3, 1e-5), "__nv_bfloat16": (1.6e-2, 1e-5), "float": (1.3e-6, 1e-5), "double": (1e-7, 1e-7)}


@dataclasses.dataclass
class Source:
    """The CUDA source and which of its functions is launched."""

    text: Union[str, Callable[..., str]]
    entry: str                                # "saxpy<ITEMS>"
    folder: Optional[pathlib.Path] = None     # where its headers are

    @property
    def function(self) -> str:
        return self.entry.partition("<")[0].strip()


def read_source(source: Any, entry: Optional[str], parameters: Sequence[str]) -> Source:
    """A source as a text, a path or a function of the parameters."""
    folder = None
    if isinstance(source, pathlib.Path) or (isinstance(source, str) and "\n" not in source and source.endswith((".cu", ".cuh"))):
        path = pathlib.Path(source)
        if not path.is_file():
            raise FileNotFoundError(f"source: there is no file {path}")
        source, folder = path.read_text(encoding="utf-8"), path.resolve().parent
    if not isinstance(source, str) and not callable(source):
        raise TypeError(f"source is {type(source).__name__}: give the CUDA source as a text, its path, or a function that returns "
                        "it for a configuration")
    if entry is None:
        if callable(source):
            raise TypeError("entry: name the kernel's function, as in tuner.tune(source, \"saxpy\", …): the source is a function")
        names = re.findall(r"__global__[^;{(]*?\b(\w+)\s*\(", re.sub(r"__launch_bounds__\s*\([^)]*\)", "", source))
        if len(set(names)) != 1:
            raise TypeError(f"entry: the source has {len(set(names))} kernels{': ' if names else ''}{', '.join(sorted(set(names)))}: "
                            "name one, as in tuner.tune(source, \"saxpy<ITEMS>\", …)")
        entry = names[0]
    return Source(source, entry, folder)


def configurations(parameters: Mapping[str, Sequence[Any]]) -> List[Dict[str, Any]]:
    return [dict(zip(parameters, values)) for values in itertools.product(*parameters.values())]


def read_parameters(parameters: Mapping[str, Any], dims: Sequence[str]) -> Dict[str, List[Any]]:
    """The values of each parameter."""
    read: Dict[str, List[Any]] = {}
    for key, values in parameters.items():
        if not _WORD.match(key) or key in dims:
            raise TypeError(f"parameters: {key!r} is no name of a parameter"
                            f"{', since the size has a dimension of this name' if key in dims else ''}")
        values = list(values) if hasattr(values, "__iter__") and not isinstance(values, str) else [values]
        values = [each.item() if isinstance(each, numpy.generic) else each for each in values]
        if not values or not all(isinstance(each, (int, str)) for each in values):
            raise TypeError(f"parameters: {key} has the values {values!r}: they must be whole numbers, True and False, or words")
        read[key] = values
    return read


class _Combinations(Sequence[Dict[str, Any]]):
    """Each configuration at each size, made where it is asked for: spaces have millions."""

    def __init__(self, parameters: Mapping[str, Sequence[Any]], sizes: Sequence[Mapping[str, Any]]) -> None:
        self._parameters, self._sizes = parameters, sizes
        self._number = math.prod(map(len, parameters.values())) * len(sizes)

    def __len__(self) -> int:
        return self._number

    def __getitem__(self, i: Any) -> Any:
        if not 0 <= i < self._number:
            raise IndexError(i)
        i, place = divmod(i, len(self._sizes))
        made = dict(self._sizes[place])
        for key, values in self._parameters.items():
            i, place = divmod(i, len(values))
            made[key] = values[place]
        return made


class SpaceWriter:
    """Makes the space file of a kernel."""

    def __init__(self, source: Source, parameters: Dict[str, List[Any]], described: Described, sizes: Sequence[Size],
                 check_sizes: Sequence[Size]) -> None:
        self.source, self.parameters, self.described = source, parameters, described
        self.sizes, self.check_sizes = sizes, check_sizes
        self._cases: Optional[Cases] = None
        self._at_known_sizes = False

    def cases(self) -> Cases:
        """All combinations of parameters and sizes."""
        if self._cases is None:
            sizes = [dict(zip(self.described.dims, size)) for size in dict.fromkeys((*self.sizes, *self.check_sizes))]
            self._cases = _Combinations(self.parameters, sizes)
        return self._cases

    def written(self, what: str, given: Any, least: int = 1) -> List[Union[str, int]]:
        made = self._expressions(what, given)
        if not least <= len(made) <= 3:
            raise TypeError(f"{what} has {len(made)} numbers: one to three are possible")
        return made

    def _expressions(self, what: str, given: Any) -> List[Union[str, int]]:
        def know_sizes() -> None:
            self._at_known_sizes = True

        return expressions(what, given, list(self.parameters), self.described.dims, self.cases, know_sizes)

    def size_constraints(self) -> List[Dict[str, str]]:
        """That the size is one of those for which functions were evaluated, where expressions hold at these alone."""
        if not self._at_known_sizes:
            return []
        sizes = dict.fromkeys((*self.sizes, *self.check_sizes))
        known = " or ".join("(" + " and ".join(f"{dim} == {n}" for dim, n in zip(self.described.dims, size)) + ")" for size in sizes)
        return [{"expr": known, "why": "a function of the Python program was evaluated at these sizes alone"}]

    def constraints(self, given: Sequence[Any]) -> List[Dict[str, str]]:
        made = []
        for i, each in enumerate(given):
            expression, why = each if isinstance(each, (tuple, list)) else (each, None)
            text = str(self._expressions(f"constraints[{i}]", expression)[0])
            made.append({"expr": text, "why": " ".join((why or f"constraint {i + 1}").split())})
        return made

    def default(self, holds: Callable[[Mapping[str, Any]], bool], given: Mapping[str, Any]) -> Dict[str, Any]:
        """The first configuration that satisfies all constraints; with the values that the user asks for."""
        unknown = [f"{key}={value!r}" for key, value in given.items() if value not in self.parameters.get(key, ())]
        if unknown:
            raise TypeError(f"default: there is no {', '.join(unknown)} among the parameters' values")
        pinned = {key: [given[key]] if key in given else values for key, values in self.parameters.items()}
        found = next((each for each in configurations(pinned) if holds(each)), None)
        if found is None:
            raise TypeError("constraints: no configuration satisfies all of them")
        return found

    def parameter_entries(self, default: Mapping[str, Any]) -> Dict[str, Any]:
        """Parameters of a space file: of the template where the entry names them, macros where the source does, else of the
        launch alone."""
        of_template = set(re.findall(r"\w+", self.source.entry.partition("<")[2]))
        in_source = set(re.findall(r"\w+", self.source.text)) if isinstance(self.source.text, str) else set(self.parameters)
        entries = {}
        for key, values in self.parameters.items():
            kind = "template" if key in of_template else "define" if key in in_source else "launch"
            entries[key] = {"values": values, "default": default[key], "kind": kind}
        return entries

    def entry(self) -> str:
        """The function with ${NAME} for parameters and dimensions."""
        function, bracket, rest = self.source.entry.partition("<")
        known = (*self.parameters, *self.described.dims)

        def placed(word: "re.Match[str]") -> str:
            return "${" + word[0] + "}" if word[0] in known else word[0]

        return function.strip() + bracket + re.sub(r"\b[A-Za-z_]\w*\b", placed, rest)

    def source_text(self, is_valid: Callable[[Dict[str, Any]], bool] = lambda _: True) -> str:
        """The source; of a function one source for each valid configuration, of which macros choose one."""
        if isinstance(self.source.text, str):
            return self.source.text
        every = [each for each in configurations(self.parameters) if is_valid(each)]
        if len(every) > MOST_SOURCES:
            raise TypeError(f"source: a function that returns the source can have {MOST_SOURCES} configurations, these are "
                            f"{len(every)}: use macros of the parameters' names in one source instead")
        texts: Dict[str, List[Dict[str, Any]]] = {}
        for configuration in every:
            made = self.source.text(configuration)
            if not isinstance(made, str) or made != self.source.text(configuration):
                raise TypeError(f"source: the function returns {type(made).__name__}, or another text each time, for {configuration}: "
                                "it must return the CUDA source as a function of the configuration alone")
            texts.setdefault(made, []).append(configuration)
        parts = []
        for i, (made, for_) in enumerate(texts.items()):
            conditions = " || ".join("(" + " && ".join(f"{key} == {int(value)}" for key, value in each.items()) + ")" for each in for_)
            parts.append(f"#{'el' if i else ''}if {conditions}\n{made}\n")
        return "".join(parts) + "#endif\n"

    def buffer_bytes(self) -> str:
        """Bytes of all buffers, written ones that are read twice."""
        terms = []
        for entry in self.described.entries:
            if "count" not in entry:
                continue
            times = 2 if entry.get("role") == "inout" else 1
            terms.append(f"{times * BYTES[entry['type'][:-1]]}*({entry['count']})")
        return " + ".join(terms)


def signature(source: str, function: str) -> List[Parameter]:
    """The parameters of a kernel, as `tune` reads them from the source."""
    with tempfile.TemporaryDirectory(prefix="tune-") as folder:
        path = pathlib.Path(folder) / "kernel.cu"
        path.write_text(source, encoding="utf-8")
        try:
            draft = _program.run(["space", "init", str(path), "--kernel", function.rpartition("::")[2]])
        except Error as error:
            raise Error(re.sub(r"\S*kernel\.cu", "source", str(error))) from None
    document = json.loads(re.sub(r"^\s*//.*$", "", draft, flags=re.MULTILINE))
    read = []
    for entry in document["arguments"]:
        kind = entry["type"]
        if kind.endswith("[]"):
            raise TypeError(f"source: {function} takes {entry['name']} as a struct or vector by value, which tuner.tune() does not "
                            "pass: write a space file for it (docs/reference/space-file.md)")
        is_pointer = kind.endswith("*")
        read.append(Parameter(entry["name"], kind.rstrip("*"), is_pointer, is_pointer and "role" not in entry, entry.get("align")))
    return read


def tolerance_of(given: Any, element: str) -> Optional[Dict[str, float]]:
    """A tolerance of a space file; None: the measured bound."""
    if given is None:
        return None
    if given == "torch":
        relative, absolute = _TORCH_TOLERANCE.get(element, (0.0, 0.0))
        if not relative:
            raise TypeError(f"tolerance=\"torch\": torch.testing.assert_close has none for elements of type {element}")
        return {"relative": relative, "absolute": absolute}
    if isinstance(given, Mapping):
        return dict(given)
    numbers = given if isinstance(given, (tuple, list)) else (given, given)
    if len(numbers) != 2 or not all(isinstance(each, (int, float)) and each >= 0 for each in numbers):
        raise TypeError(f"tolerance is {given!r}: give a number, (relative, absolute), \"torch\", or nothing for the measured bound")
    return {key: float(value) for key, value in zip(("relative", "absolute"), numbers) if value > 0}


@dataclasses.dataclass(frozen=True)
class StoredArray:
    """An array in a .npy file, which other folders may share."""

    path: pathlib.Path
    digest: bytes


class Folder:
    """A space file and its files, under a name that follows from their content. Stored arrays are there inside of `arrays()`."""

    def __init__(self, base: pathlib.Path, family: str, document: Dict[str, Any], files: Dict[str, Any]) -> None:
        self._stored = {file: content for file, content in files.items() if isinstance(content, StoredArray)}
        contents = {file: _bytes_of(content) for file, content in files.items() if file not in self._stored}
        digests = {file: hashlib.sha256(content).digest() for file, content in contents.items()}
        digests.update((file, stored.digest) for file, stored in self._stored.items())
        digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode())
        for file, its_digest in sorted(digests.items()):
            digest.update(file.encode() + its_digest)
        self.family = f"{family}_{digest.hexdigest()[:8]}"
        self.path = base / self.family
        self.space = self.path / f"{family}.json"
        document = {**document, "family": self.family}
        make_private(self.path)
        for file, content in {**contents, self.space.name: (json.dumps(document, indent=2) + "\n").encode()}.items():
            write_if_other(self.path / file, content)

    @contextlib.contextmanager
    def arrays(self, keep: bool = False) -> Iterator[None]:
        """Has the stored arrays in the folder, for the time of the block unless they are to be kept."""
        for file, stored in self._stored.items():
            part = self.path / f".{file}.{os.getpid()}"
            os.link(stored.path, part)
            part.replace(self.path / file)
        try:
            yield
        finally:
            for file, stored in self._stored.items():
                # Another process may have put its own file there.
                if not keep and (self.path / file).exists() and (self.path / file).samefile(stored.path):
                    (self.path / file).unlink()


def _bytes_of(content: Any) -> bytes:
    if isinstance(content, str):
        return content.encode()
    if isinstance(content, bytes):
        return content
    buffer = io.BytesIO()
    numpy.save(buffer, numpy.ascontiguousarray(content).reshape(-1))
    return buffer.getvalue()


def make_private(path: pathlib.Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise type(error)(error.errno, f"{error.strerror}: name another folder, as in tuner.tune(…, folder=…)", str(path)) from None
    if path.is_symlink() or path.stat().st_uid != os.geteuid():
        raise PermissionError(f"{path} belongs to another user: name another folder, as in tuner.tune(…, folder=…)")


def write_if_other(path: pathlib.Path, content: bytes) -> None:
    """Replaces a file as a whole."""
    if path.is_file() and path.read_bytes() == content:
        return
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_bytes(content)
    part.replace(path)


def default_base() -> pathlib.Path:
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return pathlib.Path(data) / "tune/python"


__all__ = ["MOST_SOURCES", "Folder", "Source", "SpaceWriter", "StoredArray", "Value", "name"]
