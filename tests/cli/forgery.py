# SPDX-License-Identifier: Apache-2.0
"""Changes databases as an attacker does: with checksums that fit."""

import contextlib
import ctypes
import ctypes.util
import sqlite3
import struct

XXHASH = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


XXHASH.XXH3_128bits.restype = Hash128
XXHASH.XXH3_128bits.argtypes = (ctypes.c_char_p, ctypes.c_size_t)


def hash128(data):
    found = XXHASH.XXH3_128bits(data, len(data))
    return f"{found.high:016x}{found.low:016x}"


def row_checksum(*values):
    """The checksum of a row (tuner/store/checksum.cpp): it detects damage, and anybody can compute it."""
    row = b""
    for value in values:
        if value is None:
            row += b"\5"
        elif isinstance(value, int):
            row += b"\1" + struct.pack("<q", value)
        elif isinstance(value, float):
            row += b"\2" + struct.pack("<d", value)
        else:
            text = value.encode()
            row += b"\3" + struct.pack("<Q", len(text)) + text
    return hash128(struct.pack("<Q", len(row)) + row)


def forge(database, statement, *values):
    """Changes rows as an attacker does: with checksums that fit."""
    with contextlib.closing(sqlite3.connect(database)) as opened:
        opened.create_function("row_checksum", -1, row_checksum, deterministic=True)
        opened.execute(statement, values)
        opened.commit()
