#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unmodified programs with and without `tune exec`: times, losses, calls served.

    compare.py [--rounds 2] [--max-time 60] [--kernel K,…] [--type T]… [--json FILE] [--program NAME=COMMAND]…

Each program is recorded, its products are tuned together, then it runs by itself and by `tune exec` in turn. A program
prints a JSON line for each of its cases: {"case": NAME, "ms": TIME, "losses": […]}. By default the programs are
training.py, products.py and, where a C compiler and cuBLAS are found, products.c. `tune` is the one in PATH.

`record` is the time while recorded, relative to the program by itself. Losses are compared with those of the first run by
itself: the largest relative difference of later runs by themselves, and of runs by `tune exec`.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SPACES = HERE.parents[1] / "spaces"


class Runs:
    """What the runs of a program in one way printed."""

    def __init__(self):
        self.cases = {}  # name: [(ms, losses) of each run]
        self.summary = ""

    def add(self, output):
        for line in output.splitlines():
            if line.startswith("{"):
                row = json.loads(line)
                self.cases.setdefault(row["case"], []).append((row["ms"], row["losses"]))

    def ms(self, case):
        return statistics.median(ms for ms, _ in self.cases[case])


def compiled(folder):
    """products.c as a program; None where it cannot be compiled."""
    if shutil.which("cc") is None:
        print("products.c is left out: there is no C compiler", file=sys.stderr)
        return None
    cuda = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    program = folder / "products"
    done = subprocess.run(["cc", "-O2", HERE / "products.c", "-o", program, f"-I{cuda}/include", f"-L{cuda}/lib64", "-lcublas",
                           "-lcudart"], capture_output=True, text=True)
    if done.returncode != 0:
        print(f"products.c is left out: {done.stderr.strip()}", file=sys.stderr)
        return None
    return program


def default_programs(folder):
    """Those whose libraries are installed."""
    python = shlex.quote(sys.executable)
    programs = {}
    if importlib.util.find_spec("torch"):
        programs |= {f"PyTorch {dtype}": f"{python} {HERE}/training.py {dtype}" for dtype in ("float32", "bfloat16")}
    if importlib.util.find_spec("cupy"):
        programs["CuPy"] = f"{python} {HERE}/products.py"
    if (program := compiled(folder)) is not None:
        programs["C"] = str(program)
    return programs


class Comparison:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.environment = {**os.environ, "TUNER_DB": str(folder / "tune.db"), "TUNER_CUBLAS_LOG": str(folder / "log")}
        self.programs = dict(it.split("=", 1) for it in options.program) or default_programs(folder)
        self.runs = {name: {way: Runs() for way in ("record", "plain", "exec")} for name in self.programs}

    def run(self, words):
        done = subprocess.run(words, env=self.environment, text=True, capture_output=True)
        if done.returncode != 0:
            sys.exit(f"{shlex.join(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done

    def prefixed(self, name, way, *prefix):
        log = self.folder / "log"
        log.unlink(missing_ok=True)
        done = self.run([*prefix, *shlex.split(self.programs[name])])
        runs = self.runs[name][way]
        runs.add(done.stdout)
        if way == "exec":
            runs.summary = log.read_text().strip() if log.exists() else ""
        return done

    def is_tuned(self, size):
        return not self.options.type or size.get("TYPE", "f32") in self.options.type

    def record(self):
        """All products in one suite, and their families."""
        suite = self.folder / "sizes.json"
        sizes = {}
        for name in self.programs:
            done = self.prefixed(name, "record", "tune", "record", "-o", str(suite), "--")
            print(f"== {name}\n{done.stderr}", flush=True)
            if suite.exists():
                recorded = json.loads(suite.read_text())
                for group in recorded["groups"]:
                    known = sizes.setdefault(group.get("family", recorded["family"]), [])
                    known += [size for size in group["sizes"] if size not in known and self.is_tuned(size)]
                suite.unlink()
        groups = [{"name": family, "family": family, "sizes": known} for family, known in sizes.items() if known]
        suite.write_text(json.dumps({"format": "suite/1", "family": "gemm", "groups": groups}))
        return suite, [group["family"] for group in groups]

    def tune(self, suite, families):
        for family in families:
            space = SPACES / f"{family}.json"
            kernels = [it for it in self.options.kernel.split(",") if f'"{it}": {{' in space.read_text()]
            for kernel in kernels or [""]:
                done = self.run(["tune", "--space", str(space), "--sizes", str(suite), "--max-time", self.options.max_time,
                                 *(["--kernel", kernel] if kernel else []), *self.options.tune])
                print(done.stdout, flush=True)

    def alternate(self):
        """Reports after every round, so that a run that is cut off leaves figures."""
        for done in range(1, self.options.rounds + 1):
            for name in self.programs:
                self.prefixed(name, "plain")
                self.prefixed(name, "exec", "tune", "exec", "--")
            print(f"\nround {done} of {self.options.rounds}")
            self.report()

    def differences(self, name, case):
        """Of losses from those of the first run by itself: of runs by themselves, and of others."""
        (_, first), *others = self.runs[name]["plain"].cases[case]

        def largest(runs):
            return max((abs(a - b) / abs(a) for _, losses in runs for a, b in zip(first, losses)), default=None)

        return largest(others), largest(self.runs[name]["exec"].cases[case])

    def rows(self):
        for name, runs in self.runs.items():
            for case in runs["plain"].cases:
                plain, ours, recorded = (runs[way].ms(case) for way in ("plain", "exec", "record"))
                own, of_exec = self.differences(name, case)
                yield {"case": case, "plain_ms": plain, "exec_ms": ours, "speedup": plain / ours, "record": recorded / plain,
                       "loss_plain": own, "loss_exec": of_exec}

    def report(self):
        rows = list(self.rows())
        print(f"{'case':28} {'alone ms':>10} {'exec ms':>10} {'speedup':>8} {'record':>7} {'losses: alone':>14} {'exec':>9}")
        for row in rows:
            losses = ["–" if row[key] is None else f"{row[key]:.1e}" for key in ("loss_plain", "loss_exec")]
            print(f"{row['case']:28} {row['plain_ms']:10.4f} {row['exec_ms']:10.4f} {row['speedup']:8.3f} "
                  f"{row['record']:7.3f} {losses[0]:>14} {losses[1]:>9}")
        summaries = {name: re.sub("^tuner: ", "", runs["exec"].summary, flags=re.M) for name, runs in self.runs.items()}
        for name, summary in summaries.items():
            print(f"{name}: {summary or 'no product'}", flush=True)
        if self.options.json:
            pathlib.Path(self.options.json).write_text(json.dumps({"rows": rows, "calls": summaries}, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--max-time", default="60", help="of the search of each family, or of each kernel that is named")
    parser.add_argument("--kernel", default="", help="kernels to tune, of any family; default: all")
    parser.add_argument("--type", action="append", help="tune products of this type, as f32; default: of all")
    parser.add_argument("--json", help="where figures go")
    parser.add_argument("--program", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--tune", action="append", default=[], metavar="OPTION", help="a further option of tune")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(options, pathlib.Path(folder))
        comparison.tune(*comparison.record())
        comparison.alternate()


if __name__ == "__main__":
    main()
