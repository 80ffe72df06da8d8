# SPDX-License-Identifier: Apache-2.0
"""Every command that the documents show must run; of those in the table of experiments a part, with TUNER_ALL_TESTS=1 all.

Commands are the lines of code blocks that start with a program of RULES. Blocks that show a synopsis
([…], a|b, …) are not for typing and skipped; in a block with one command, every line needs a rule.
CTest runs each class as a test of its own, so that they run side by side.
"""

import contextlib
import json
import os
import pathlib
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

TUNE = os.environ["TUNE"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from matrix import part  # noqa: E402

RESULTS = ROOT / "docs" / "results"
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

# What keeps a run short, and off a GPU: options of `tune` that are dropped with their value, and
# what is appended instead. Queries keep their size: they are answered from the nearest.
DROPPED = ("--size", "--sizes", "--range", "--max-time", "--max-evals", "--rounds", "--backend", "--device")
SHORT = ("--backend", "cpu", "--max-evals", "1")
SHORT_BENCH = ("--backend", "cpu", "--rounds", "6")
SHORT_SWEEP = ("--kernel", "gemm_naive,gemm_cpu_naive")  # not Eigen's, which compiles for seconds; cli.sweep has it
# Where a command tunes all kernels of a family.
SHORT_FAMILY = {"spaces/gemm.json": ("--kernel", "gemm_naive"), "spaces/window_square.json": ("--kernel", "window_square_gather")}
SMALL = {"spaces/gemm.json": "16,16,16", "spaces/transpose.json": "16,16", "spaces/copy.json": "16,16",
         "spaces/reduction.json": "16", "spaces/gemm_tensor.json": "16,16,16",
         "spaces/convolution.json": "16,16,15", "spaces/window_square.json": "15,15",
         "examples/studies/fused_multiply_add.json": "16,16,3", "examples/studies/fused_gemm.json": "16,16,16",
         "examples/studies/frames.json": "15,15", "examples/studies/strips.json": "15,15", "examples/studies/host_transpose.json": "16,16", "examples/saxpy/saxpy.json": "1000",
         "examples/own_kernel/rms_norm.json": "8,32"}

SHELLS = ("", "sh", "bash", "shell", "console")
SYNOPSIS = re.compile(r"\[.*\]|…|\w\|\w")


def code_blocks(text):
    """The (language, lines) of the fenced and of the indented blocks."""
    block, language = None, ""
    previous = ""
    for line in text.splitlines():
        if line.startswith("```"):
            if block is None or language == "indented":
                if block is not None:
                    yield "", block
                block, language = [], line[3:].strip()
            else:
                yield language, block
                block = None
        elif block is not None and language != "indented":
            block.append(line)
        elif line.startswith("    ") and (block is not None or not previous.strip()):
            block, language = [*(block or []), line[4:]], "indented"
        elif block is not None and line.strip():
            yield "", block
            block = None
        previous = line
    if block is not None:
        yield "", block


def expanded(word):
    """The words that bash makes of an option with a list in braces: --config=UNROLL={1,2}."""
    found = re.fullmatch(r"(--[\w-]+=[^{}]*)\{([^{}]*,[^{}]*)\}([^{}]*)", word)
    return [found[1] + one + found[3] for one in found[2].split(",")] if found else [word]


def command_lines(block):
    """The lines of a block as a shell would read them: joined, lists in braces expanded, without prompts and comments."""
    for line in "\n".join(block).replace("\\\n", " ").splitlines():
        words = [word for given in shlex.split(line.removeprefix("$ "), comments=True) for word in expanded(given)]
        while words:
            end = words.index("&&") if "&&" in words else len(words)
            command, words = words[:end], words[end + 1:]
            while command and re.fullmatch(r"[A-Z_]+=.*", command[0]):
                command = command[1:]
            if command:
                yield command


def program(line):
    """The rule that a line of a block falls under, if any."""
    word = (line.removeprefix("$ ").split() or [""])[0]
    if re.match(r"(\./)?scripts/", word):
        return "script"
    return pathlib.PurePath(word).name if pathlib.PurePath(word).name in RULES else None


class TreeTest(unittest.TestCase):
    """A copy of what the commands name, with a database in it."""

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="tune-test-")
        cls.addClassCleanup(directory.cleanup)
        cls.tree = pathlib.Path(directory.name)
        for folder in ("spaces", "kernels", "examples", "docs", "db/seed", "tests/data/recorded"):
            shutil.copytree(ROOT / folder, cls.tree / folder)
        (cls.tree / "train.py").write_text("print('trained')\n")  # a program to record
        (cls.tree / "solver").symlink_to(os.environ.get("CAPTURE_PROGRAM", "/bin/true"))  # and one of which a launch is captured
        (cls.tree / "sizes.json").write_text(json.dumps(  # and what is recorded of another one
            {"format": "suite/1", "family": "copy", "groups": [{"name": "recorded", "sizes": [[16, 16]]}]}))
        cls.database = cls.tree / "results.db"
        cls.measured = set()

    @classmethod
    def run_program(cls, *command):
        subprocess.run(command, cwd=cls.tree, check=True, timeout=400, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                       env={**os.environ, "TUNER_DB": str(cls.database)})

    @classmethod
    def measure(cls, *arguments):
        """Runs the program, but no second time where two documents' commands are the same once they are short."""
        if arguments not in cls.measured:
            cls.run_program(TUNE, *arguments)
            cls.measured.add(arguments)


class DocumentsTest(TreeTest):
    documents = ()

    def run_portfolio(self, arguments):
        """With a few draws and seconds for each family."""
        kept, words = [], iter(arguments)
        for word in words:
            if word in (*DROPPED, "--draw"):
                next(words)
            else:
                kept.append(word)
        listed = ("--draw", "2") if "--like" in kept else ("--sizes", "cpu") if "--space" in kept else ()
        self.measure(*kept, *listed, "--backend", "cpu", "--max-time", "1s")

    def run_tune(self, arguments):
        if arguments[:1] in (["portfolio"], ["setup"]):
            self.run_portfolio(arguments)
            return
        benches = arguments[:1] == ["bench"]
        if arguments and not arguments[0].startswith("-") and not benches:
            self.run_program(TUNE, *arguments)
            return
        kept = []
        words = iter(arguments)
        for word in words:
            if word in DROPPED:
                next(words)
            elif word == "--launch":  # whatever starts agents elsewhere
                next(words)
                kept += (word, "env")
            elif word.split("=")[0] not in DROPPED:
                kept.append(word)
        if "--space" not in kept and "--sizes" in arguments:
            kept += ("--sizes", "sizes.json", *SHORT)
        if "--space" in kept:
            small = SMALL.get(kept[kept.index("--space") + 1])
            kept += (SHORT_BENCH if benches else SHORT) + (("--size", small) if small else ())
            if not benches and "--kernel" not in kept:
                kept += SHORT_FAMILY.get(kept[kept.index("--space") + 1], ())
            if "--cpu" in kept:
                kept += SHORT_SWEEP
        self.measure(*kept)

    def check_preset(self, command):
        presets = json.loads((ROOT / "CMakePresets.json").read_text())
        kind = "test" if command[0] == "ctest" else "build" if "--build" in command else "configure"
        name = command[command.index("--preset") + 1]
        self.assertIn(name, [preset["name"] for preset in presets[f"{kind}Presets"]])

    def check_script(self, command):
        self.assertTrue(os.access(ROOT / command[0], os.X_OK), f"{command[0]} is no program")

    def run_sqlite(self, command):
        if shutil.which("sqlite3"):
            files = [word for word in command[1:] if not word.startswith("-")][:1]
            named = [str(self.database) if word in files else word for word in command]
            self.run_program(*named, *([] if len(named) > 3 else [".tables"]))

    def run_sql(self, text):
        with contextlib.closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as database:
            for statement in filter(str.strip, text.split(";")):
                database.execute(statement).fetchall()

    def run_block(self, block):
        for line in block:
            if line.strip() and not line.startswith((" ", "#")):
                self.assertIsNotNone(program(line), f"no rule for: {line}")
        for command in command_lines(block):
            with self.subTest(command=shlex.join(command)):
                try:
                    RULES[program(command[0])](self, command)
                except subprocess.CalledProcessError as error:
                    self.fail(f"exit code {error.returncode}: {error.stderr}")

    def every_command_runs(self):
        commands = 0
        for document in self.documents:
            for language, block in code_blocks(document.read_text()):
                text = "\n".join(block)
                with self.subTest(document=document.name, block=block[:1]):
                    if language in ("", "sql") and text.startswith("SELECT"):
                        self.run_sql(text)
                    elif language in SHELLS and any(map(program, block)) and not SYNOPSIS.search(text):
                        commands += 1
                        self.run_block(block)
        self.assertGreaterEqual(commands, 3, "the documents' commands were not found")


class CommandsTest(DocumentsTest):
    documents = [document for document in DOCUMENTS if RESULTS not in document.parents]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.measure("--space", "spaces/gemm.json", *SHORT, "--size", SMALL["spaces/gemm.json"], *SHORT_FAMILY["spaces/gemm.json"])
        for name in ("other.sqlite", "before.sqlite", "after.sqlite"):  # as if of another machine or day
            shutil.copy(cls.database, cls.tree / name)

    def test_every_command_runs(self):
        self.every_command_runs()


class ResultsTest(DocumentsTest):
    documents = [document for document in DOCUMENTS if RESULTS in document.parents]

    def test_every_command_runs(self):
        self.every_command_runs()


class ExperimentsTest(TreeTest):
    def test_commands_of_a_table_run_as_they_stand(self):
        tables = "".join(re.findall(r"(?m)^\|.*$", (ROOT / "docs/howto/repeat-the-experiments.md").read_text()))
        commands = re.findall(r"`tune ([^`]+)`", tables)
        self.assertGreaterEqual(len(commands), 9, "the experiments' commands were not found")
        for command in part(commands):
            with self.subTest(command=command):
                try:
                    self.run_program(TUNE, *shlex.split(command))
                except subprocess.CalledProcessError as error:
                    self.fail(f"exit code {error.returncode}: {error.stderr}")


RULES = {
    "tune": lambda test, command: test.run_tune(command[1:]),
    "script": DocumentsTest.check_script,
    "cmake": DocumentsTest.check_preset,
    "ctest": DocumentsTest.check_preset,
    "sqlite3": DocumentsTest.run_sqlite,
    # Run by python.wheel_program.
    "pip": lambda test, command: test.assertRegex(command[-1], r"^(tuner-[0-9.]+-py3-none-manylinux_2_35_x86_64\.whl|python/)$"),
    "python3": lambda test, command: test.assertTrue((ROOT / command[1]).is_file(), command[1]),
    "cd": lambda test, command: None,
    "export": lambda test, command: None,
    "git": lambda test, command: None,
}


if __name__ == "__main__":
    unittest.main()
