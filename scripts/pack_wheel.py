#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pack_wheel.py BUILD FOLDER: writes the wheel of a build tree, whose target `wheel` is built, and prints its path.

Its folder tuner/prefix/ is what `cmake --install` installs, less what is for C++. The tag names the oldest C library with all
functions that the binaries need; a wheel that needs another library is not written.
"""

import json
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True
import build_backend  # noqa: E402  pylint: disable=wrong-import-position

# Of the C library; those of the compiler are inside.
ALLOWED = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
DATA = f"{build_backend.NAME}.data"
PREFIX = "tuner/prefix"
# Without importing the package, which takes longer.
PROGRAM = """#!python
import importlib.util
import os
import sys

package = importlib.util.find_spec("tuner")
if package is None:
    sys.exit("the Python package `tuner`, which holds the program, is not installed for " + sys.executable)
os.execv(os.path.join(os.path.dirname(package.origin), "prefix/bin/tune"), sys.argv)
"""


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], check=True, text=True, capture_output=True).stdout


def c_library_of(files):
    """The newest version of glibc whose functions the files need."""
    newest = (2, 17)
    for file in files:
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", file)))
        if others := needed - ALLOWED:
            sys.exit(f"{file} needs {', '.join(sorted(others))}, which a system may lack: link it statically (cmake/Wheel.cmake)")
        undefined = [line for line in readelf("--dyn-syms", file).splitlines() if " UND " in line]
        if others := [line for line in undefined if "@" in line and not re.search(r"@GLIBC_[0-9.]+", line)]:
            sys.exit(f"{file} needs symbols of another library than glibc: {others[0].strip()}")
        found = re.findall(r"@GLIBC_([0-9]+)\.([0-9]+)", "\n".join(undefined))
        newest = max([newest, *((int(major), int(minor)) for major, minor in found)])
    return newest


def binaries(build):
    """The files of the target `wheel`, by their paths below the prefix."""
    made = {str(path.relative_to(build / "wheel")): path for path in (build / "wheel").rglob("*") if path.is_file()}
    for preloaded in ("libtuner_cublas.so", "libtuner_capture.so"):
        if (build / "lib" / preloaded).exists():
            made[f"lib/{preloaded}"] = build / "lib" / preloaded
    if "bin/tune" not in made:
        sys.exit(f"{build}: the target `wheel` is not built: cmake --build {build} --target wheel")
    return made


def with_compilers_library(text):
    """The list of contents of files that have libstdc++ inside."""
    document = json.loads(text)
    others = [it for it in document["relationships"] if it["relatedSpdxElement"] != "SPDXRef-libstdc--"]
    document["relationships"] = others + [{"spdxElementId": it["relatedSpdxElement"], "relationshipType": "CONTAINS",
                                           "relatedSpdxElement": "SPDXRef-libstdc--"}
                                          for it in others if it["relationshipType"] == "DESCRIBES"]
    return json.dumps(document, indent=1)


def contents(build, prefix):
    """(name in the wheel, content, whether it is a program) of all but the package's own files."""
    yield f"{DATA}/scripts/tune", PROGRAM.encode(), True
    for name, path in binaries(build).items():
        stripped = prefix / "stripped"
        subprocess.run(["strip", "--strip-all", "-o", stripped, path], check=True)
        yield f"{PREFIX}/{name}", stripped.read_bytes(), True
    installed = ["cmake", "--install", build, "--prefix", prefix, "--component", "data"]
    subprocess.run(installed, check=True, stdout=subprocess.DEVNULL)
    for path in sorted((prefix / "share").rglob("*")):
        if not path.is_file() or "__pycache__" in path.parts:
            continue
        name, content = path.relative_to(prefix), path.read_bytes()
        if path.name == "tuner.spdx.json":
            content = with_compilers_library(content).encode()
        # Manual page and completions lie where others look for them.
        yield f"{PREFIX if name.parts[1] == 'tuner' else f'{DATA}/data'}/{name}", content, False


def main(build, folder):
    glibc = "_".join(map(str, c_library_of(binaries(build).values())))
    with tempfile.TemporaryDirectory() as prefix:
        more = list(contents(build, pathlib.Path(prefix)))
    folder.mkdir(parents=True, exist_ok=True)
    name = build_backend.write_wheel(folder, [*build_backend.package_files(), *more], f"manylinux_{glibc}_{platform.machine()}",
                                     requires=["numpy"])
    print(folder / name)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]))
