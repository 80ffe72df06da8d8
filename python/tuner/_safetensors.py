# SPDX-License-Identifier: Apache-2.0
"""Arrays of all element types in safetensors files, as NumPy arrays."""

from __future__ import annotations

import json
import pathlib
from typing import Any, Dict, Mapping, Tuple

import numpy

# The types that NumPy has, by the names of safetensors.
DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "U64": "<u8", "I32": "<i4", "U32": "<u4", "I16": "<i2",
          "U16": "<u2", "I8": "|i1", "U8": "|u1"}
# Types that NumPy lacks: the bits of an element, and how many of them are exponent and fraction.
NARROW = {"BF16": ("<u2", 8, 7), "F8_E4M3": ("|u1", 4, 3), "F8_E5M2": ("|u1", 5, 2)}


def stored_dtype(kind: str) -> str:
    """The dtype of the bits of an element type."""
    return DTYPES.get(kind) or NARROW[kind][0]


def widened(bits: Any, kind: str) -> Any:
    """Numbers of a type that NumPy lacks, each as a float32, which holds it exactly."""
    if kind == "BF16":
        return (bits.astype("<u4") << 16).view("<f4")
    return _table(kind)[bits]


def narrowed(numbers: Any, kind: str) -> Any:
    """The bits of the nearest numbers of such a type, ties to even; NaN where the number is larger than all of E4M3."""
    if kind == "BF16":
        wide = numpy.ascontiguousarray(numbers, "<f4")
        bits = wide.view("<u4")
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        return numpy.where(numpy.isnan(wide), 0x7FC0, rounded).astype("<u2")
    values = _table(kind)[:128]
    finite = values[numpy.isfinite(values)].astype("f8")
    magnitude = numpy.abs(numpy.asarray(numbers, "f8"))
    above = numpy.clip(numpy.searchsorted(finite, magnitude), 1, len(finite) - 1)
    low, high = finite[above - 1], finite[above]
    tie = (magnitude - low) == (high - magnitude)
    nearest = numpy.where(tie, above - above % 2, numpy.where(magnitude - low < high - magnitude, above - 1, above))
    largest = finite[-1] + (finite[-1] - finite[-2]) / 2
    nearest = numpy.where(~(magnitude < largest), 0x7C if kind == "F8_E5M2" else 0x7F, nearest)
    nearest = numpy.where(numpy.isnan(magnitude), 0x7F, nearest)
    return (nearest | numpy.where(numpy.signbit(numbers), 0x80, 0)).astype("|u1")


def _table(kind: str) -> Any:
    """The number of each byte."""
    _, exponent_bits, fraction_bits = NARROW[kind]
    codes = numpy.arange(256)
    exponent = (codes >> fraction_bits) & ((1 << exponent_bits) - 1)
    fraction = (codes & ((1 << fraction_bits) - 1)) / (1 << fraction_bits)
    bias = (1 << (exponent_bits - 1)) - 1
    values = numpy.where(exponent == 0, fraction * 2.0 ** (1 - bias), (1 + fraction) * 2.0 ** (exponent - bias))
    if kind == "F8_E4M3":
        values[(codes & 0x7F) == 0x7F] = numpy.nan
    else:
        values = numpy.where(exponent == 31, numpy.where(fraction == 0, numpy.inf, numpy.nan), values)
    return numpy.where(codes & 0x80, -values, values).astype("<f4")


def read(path: pathlib.Path) -> Tuple[Dict[str, str], Dict[str, Tuple[str, Any]]]:
    """Texts, and of each array its type and its bits; an array without dimensions is one of none."""
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8:8 + length])
    texts = header.pop("__metadata__", {})
    data = memoryview(content)[8 + length:]
    arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        bits = numpy.frombuffer(data[begin:end], stored_dtype(entry["dtype"])).reshape(entry["shape"])
        arrays[name] = (entry["dtype"], bits)
    return texts, arrays


def write(path: pathlib.Path, arrays: Mapping[str, Tuple[str, Any]]) -> None:
    """Arrays as `read` gives them."""
    header, end = {}, 0
    for name, (kind, bits) in arrays.items():
        begin, end = end, end + bits.nbytes
        header[name] = {"dtype": kind, "shape": list(bits.shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for kind, bits in arrays.values():
            file.write(numpy.ascontiguousarray(bits, stored_dtype(kind)).tobytes())
