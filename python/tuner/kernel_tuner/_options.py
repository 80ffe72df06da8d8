# SPDX-License-Identifier: Apache-2.0
"""What is refused, what is ignored with a warning, and compiler options."""

from __future__ import annotations

import pathlib
import re
import warnings
from typing import Any, List, Mapping, Optional, Sequence, Tuple

_LANGUAGES = ("CUDA", "CUPY", "NVCUDA", "PYCUDA")
_KEPT = ("-std=c++17", "-std=c++20", "--use_fast_math", "--fmad=false", "-lineinfo", "--extra-device-vectorization")
_SAME = {"-use_fast_math": "--use_fast_math", "-fmad=false": "--fmad=false", "--generate-line-info": "-lineinfo",
         "--std=c++17": "-std=c++17", "--std=c++20": "-std=c++20"}
# Say how nvcc compiles, or which host code; none changes what a kernel computes.
_WITHOUT_EFFECT = re.compile(
    r"-O[0-3]\Z|-arch|--gpu-architecture|-gencode|--generate-code|-code|-w\Z|-Xptxas|--ptxas-options|-Xcompiler|--compiler-options|"
    r"--?expt-relaxed-constexpr|--?expt-extended-lambda|--?extended-lambda|--?std=c\+\+(03|11|14)|--?default-device|--?keep|-Wno|"
    r"--?diag[-_]suppress|-G\Z|-g\Z|--restrict|-restrict|-res-usage|--resource-usage|-v\Z|--?Werror|-Wall\Z|-m64\Z|--?fmad=true\Z|-ftz|-prec-|--prec-|--ftz")
_WITH_VALUE = ("-arch", "--gpu-architecture", "-gencode", "--generate-code", "-code", "-Xptxas", "--ptxas-options", "-Xcompiler",
               "--compiler-options", "--diag-suppress", "-diag-suppress")


class Refused(ValueError):
    """An argument that this module cannot honour."""

    __module__ = "tuner.kernel_tuner"


def ignored(what: str, why: str) -> None:
    warnings.warn(f"tuner.kernel_tuner: {what} is ignored: {why}", stacklevel=4)


def require_cuda(lang: Optional[str], compiler: Optional[str], texmem_args: Any) -> None:
    """Refuses what is no CUDA kernel."""
    if lang is not None and lang.upper() not in _LANGUAGES:
        reason = "host code that launches its kernels itself" if lang.upper() == "C" else f"{lang} sources"
        raise Refused(f"lang={lang!r}: {reason} cannot be tuned: pass the CUDA kernel itself, with lang=\"CUDA\"")
    if compiler not in (None, "nvcc"):
        raise Refused(f"compiler={compiler!r}: kernels are compiled by NVRTC, or by g++ on the cpu backend: leave it out")
    if texmem_args:
        raise Refused("texmem_args: texture references no longer exist in CUDA 12 and later: read the array through a pointer")


def require_kernel(source: str, name: str) -> None:
    """Refuses directives of other languages."""
    if re.search(r"^\s*#\s*pragma\s+(acc|omp\s+target)\b", source, re.MULTILINE):
        raise Refused("kernel_source: OpenACC and OpenMP directives are not compiled: pass a CUDA kernel")
    if "__global__" not in source and "#include" not in source:
        raise Refused(f"kernel_source: has no __global__ function, so {name} is no CUDA kernel (OpenCL, Fortran and host code are not tuned)")
    if re.search(r"\b(texture|surface)\s*<", source):
        raise Refused("kernel_source: has a texture reference, which no longer exists in CUDA 12 and later")


def compiler_options(given: Optional[Sequence[str]]) -> Tuple[List[str], List[pathlib.Path]]:
    """Options of a space file, and folders of headers."""
    kept: List[str] = []
    folders: List[pathlib.Path] = []
    dropped: List[str] = []
    rest = [part for option in given or () for part in str(option).split() if part]
    while rest:
        option = rest.pop(0)
        option = _SAME.get(option, option)
        if option in ("-I", "--include-path", "-isystem") and rest:
            folders.append(pathlib.Path(rest.pop(0)))
        elif option.startswith(("-I", "--include-path=")):
            folders.append(pathlib.Path(option.partition("=")[2] if "=" in option else option[2:]))
        elif option == "-D" and rest:
            kept.append("-D" + rest.pop(0))
        elif option in _KEPT or option.startswith("-D"):
            kept.append(option)
        elif match := re.match(r"--?maxrregcount=?(\d*)\Z", option):
            kept.append(f"--maxrregcount={match[1] or rest.pop(0)}")
        elif _WITHOUT_EFFECT.match(option):
            dropped.append(option)
            if option in _WITH_VALUE and rest:
                dropped.append(rest.pop(0))
        else:
            raise Refused(f"compiler_options: {option} is not possible: {'separate compilation needs a linker' if 'dc' in option else 'kernels are compiled by NVRTC'}"
                          f": leave it out; there are -I, -D and {', '.join(_KEPT)}, --maxrregcount=N")
    if dropped:
        ignored(f"compiler_options {' '.join(dropped)}", "the device decides, or it says nothing of the kernel")
    return kept, [folder for folder in folders if folder.is_dir()]


def search_options(strategy: Any, options: Optional[Mapping[str, Any]]) -> List[str]:
    """Options of `tune` for a strategy and its budget."""
    options = dict(options or {})
    arguments = []
    if evaluations := options.pop("max_fevals", None):
        arguments += ["--max-evals", str(int(evaluations))]
    if seconds := options.pop("time_limit", None):
        arguments += ["--max-time", f"{seconds}s"]
    if strategy == "brute_force":
        arguments += ["--strategy", "exhaustive"]
    elif strategy == "random_sample":
        arguments += ["--strategy", "random"]
    elif strategy is not None:
        ignored(f"strategy={getattr(strategy, '__name__', strategy)!r}", "the search of `tune` takes its place")
    if options:
        ignored(f"strategy_options {', '.join(options)}", "they are of a strategy of Kernel Tuner")
    return arguments
