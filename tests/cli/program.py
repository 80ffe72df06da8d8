# SPDX-License-Identifier: Apache-2.0
"""What the tests of the program share: a place of their own and ways to run it."""

import contextlib
import copy
import functools
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

TUNE = os.environ["TUNE"]
# Seconds until a program that does not end counts as hung. Machines that run the tests are at times six
# times as slow as quiet ones.
PATIENCE = 300
ROOT = pathlib.Path(__file__).resolve().parents[2]
GEMM = ROOT / "spaces" / "gemm.json"
TRANSPOSE = ROOT / "spaces" / "transpose.json"
COPY = ROOT / "spaces" / "copy.json"
SEED = ROOT / "tests" / "data" / "bests" / "nvidia-h200.jsonl"  # of both formats

# The smallest run that does everything: one candidate, verified and timed, and a final.
SHORT_RUN = ("--space", GEMM, "--kernel", "gemm_naive", "--backend", "cpu",
             "--size", "16,16,16", "--max-evals", "1")

SCALE_SPACE = {
    "format": "space/1",
    "family": "scale",
    "problem": {"dims": ["N"], "flops": "N", "bytes": "8*N", "sizes": {"default": [[64]]}},
    "arguments": [
        {"name": "N", "type": "int", "value": "N"},
        {"name": "x", "type": "float*", "count": "N"},
        {"name": "y", "type": "float*", "count": "N", "role": "output"},
    ],
    "check": {"reference": {"kernel": "plain"}, "sizes": [[1], [33]]},
    "kernels": {
        "scale": {
            "source": "scale.cu",
            "entry": "scale<${BLOCK}>",
            "parameters": {"BLOCK": {"values": [32, 64], "default": 32}},
            "constraints": [{"expr": "BLOCK <= 64", "why": "blocks are small"}],
            "launch": {"grid": ["ceil_div(N, BLOCK)"], "block": ["BLOCK"]},
        },
        "plain": {
            "source": "plain.cu",
            "entry": "plain",
            "launch": {"grid": ["ceil_div(N, 32)"], "block": [32]},
        },
    },
}

SCALE_SOURCES = {
    "scale.cu": "template <int BLOCK> __global__ void scale(int N, const float* x, float* y) {\n"
                "  const int i = blockIdx.x * BLOCK + threadIdx.x;\n"
                "  if (i < N) y[i] = 2 * x[i];\n"
                "}\n",
    "plain.cu": "__global__ void plain(int N, const float* x, float* y) {\n"
                "  const int i = blockIdx.x * 32 + threadIdx.x;\n"
                "  if (i < N) y[i] = 2 * x[i];\n"
                "}\n",
}


@functools.cache
def filled_database(*arguments):
    """The content of a database after a run in a folder with the family `scale`. Equal runs of a test program are one."""
    with tempfile.TemporaryDirectory(prefix="tune-test-") as name:
        folder = pathlib.Path(name)
        for file, text in {"scale.json": json.dumps(SCALE_SPACE, indent=1), **SCALE_SOURCES}.items():
            (folder / file).write_text(text)
        database = folder / "results.db"
        subprocess.run([TUNE, "-q", *map(str, arguments)], cwd=folder, env={**os.environ, "TUNER_DB": str(database)}, check=True,
                       capture_output=True, timeout=PATIENCE)
        return database.read_bytes()


class ProgramTest(unittest.TestCase):
    """A test with a directory of its own and a database in it."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="tune-test-")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.database = self.directory / "results.db"

    def environment(self, **changes):
        """The test's surroundings: its own database, none of the caller's settings, lines of any length."""
        mine = {"TUNER_DB": str(self.database), "TERM": "dumb", "LC_ALL": "C.UTF-8", "COLUMNS": "1000"}
        kept = {name: value for name, value in os.environ.items()
                if name not in ("CI", "COLUMNS", "NO_COLOR", "XDG_DATA_HOME")}
        return {**kept, **mine, **changes}

    def installed_with(self, device, table):
        """A copy of the program beside which a table of a device is installed."""
        prefix = self.directory / "prefix"
        tables = prefix / "share/tuner/tables"
        (prefix / "bin").mkdir(parents=True)
        tables.mkdir(parents=True)
        (tables / (re.sub("[^a-z0-9]", "-", device.lower()) + ".json")).write_text(table)
        return shutil.copy(TUNE, prefix / "bin")

    def start(self, *arguments, **options):
        options.setdefault("env", self.environment())
        return subprocess.Popen([TUNE, *map(str, arguments)], cwd=self.directory, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def tune(self, *arguments, code=0, env=None, timeout=PATIENCE, **options):
        """Runs the program to its end and expects this exit code, or one of several."""
        done = subprocess.run([TUNE, *map(str, arguments)], cwd=self.directory, text=True,
                              capture_output=True, timeout=timeout,
                              env=self.environment(**(env or {})), **options)
        self.assertIn(done.returncode, code if isinstance(code, tuple) else (code,),
                      f"{arguments}\n--- stdout\n{done.stdout}--- stderr\n{done.stderr}")
        return done

    def fill(self, *arguments, database=None):
        """Gives a test a database as after this run, where the test is not about the run."""
        path = database or self.database
        path.touch(mode=0o600)
        path.write_bytes(filled_database(*arguments))

    def tune_json(self, *arguments, **options):
        return json.loads(self.tune(*arguments, "--json", **options).stdout)

    def page_data(self, page):
        """The document that a page of `tune report` holds, by its path."""
        text = (self.directory / page).read_text()
        return json.loads(re.search(r'<script type="application/json" id="report">(.*?)</script>', text).group(1))

    def states(self, page):
        """The state of each size of a page with one family."""
        sizes = self.page_data(page)["families"][0]["sizes"]
        at = [column["key"] for column in sizes["columns"]].index("state")
        return [row[at] for row in sizes["rows"]]

    def refuse(self, *arguments, code, says, **options):
        """Expects one clear message, the exit code, and nothing on stdout."""
        done = self.tune("-q", *arguments, code=code, **options)
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith("error: "), done.stderr)
        self.assertNotIn("\nerror: ", done.stderr)
        self.assertLessEqual(done.stderr.count("\n"), 6, done.stderr)
        for leak in ("exception", "terminate", "defect of tune"):
            self.assertNotIn(leak, done.stderr)
        for part in (says,) if isinstance(says, str) else says:
            self.assertIn(part, done.stderr)
        return done

    def space_file(self, change=None, sources=None):
        """Writes the small family `scale`, after `change(document)`, and returns its path."""
        document = copy.deepcopy(SCALE_SPACE)
        if change:
            change(document)
        for name, text in {**SCALE_SOURCES, **(sources or {})}.items():
            (self.directory / name).write_text(text)
        return self.text_file("scale.json", json.dumps(document, indent=1))

    def text_file(self, name, text):
        path = self.directory / name
        path.write_text(text)
        return path

    def rows(self, query):
        """What a query of the database answers."""
        with contextlib.closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as database:
            return database.execute(query).fetchall()


if __name__ == "__main__":
    unittest.main()
