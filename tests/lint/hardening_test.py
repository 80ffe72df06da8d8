#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hardening_test.py FILE...: each program or library has the protections of cmake/Hardening.cmake."""

import subprocess
import sys


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], capture_output=True, text=True, check=True).stdout


def missing(file):
    dynamic, segments = readelf("-d", file), readelf("-l", file)
    symbols = readelf("--dyn-syms", file)
    stack = next(line for line in segments.splitlines() if "GNU_STACK" in line)
    if "GNU_RELRO" not in segments or "NOW" not in dynamic:
        yield "full RELRO (-z relro -z now)"
    if "__stack_chk_fail" not in symbols:
        yield "stack protector"
    if "_chk@" not in symbols:
        yield "_FORTIFY_SOURCE"
    if "RWE" in stack:
        yield "a stack that cannot be executed"
    if "TEXTREL" in dynamic:
        yield "read-only code (it has text relocations)"


failures = [f"{file}: {what} is missing" for file in sys.argv[1:] for what in missing(file)]
sys.exit("\n".join(failures) or 0)
