# SPDX-License-Identifier: Apache-2.0
"""python3 -m tuner.kernel_tuner SCRIPT [ARGUMENT]…: runs a script in which `kernel_tuner` is this package."""

import os
import pathlib
import runpy
import sys

import tuner.kernel_tuner


def main() -> None:
    if len(sys.argv) < 2:
        raise SystemExit("usage: python3 -m tuner.kernel_tuner SCRIPT [ARGUMENT]…")
    package = tuner.kernel_tuner.__name__
    for name, module in list(sys.modules.items()):
        if (name == package or name.startswith(package + ".")) and not name.endswith("__main__"):
            sys.modules[name.removeprefix("tuner.")] = module
    del sys.argv[0]
    sys.path[0] = str(pathlib.Path(sys.argv[0]).resolve().parent)
    runpy.run_path(os.path.abspath(sys.argv[0]), run_name="__main__")  # __file__ is absolute, as in a script that Python runs


if __name__ == "__main__":
    main()
