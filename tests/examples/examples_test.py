# SPDX-License-Identifier: Apache-2.0
"""The examples, as their READMEs say, with an installed tuner: on the CPU, at small sizes, briefly."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PREFIX = pathlib.Path(os.environ["PREFIX"])
CMAKE_OPTIONS = ["-DBACKEND=cpu", *shlex.split(os.environ["CMAKE_OPTIONS"])]

# Instead of what a README says: what keeps a run short and off a GPU.
SIZES = {"1024,1024,1024": "32,32,32", "4096,4096": "32,64", "16777216": "1000"}
ARGUMENTS = {"gemm": ["32"], "embedded": ["32"], "c": ["32"], "own_kernel": ["32", "64"], "record": ["8"],
             "saxpy": ["1000"], "window_square": [], "python": ["cpu"],
             "judge": ["--backend", "cpu"]}


# The interpreter that has NumPy, which install-deps.sh installs; another may come before it.
SYSTEM_PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else "python3"


def commands(example):
    """The words of every command in the example's README."""
    text = (ROOT / "examples" / example / "README.md").read_text()
    block = re.search(r"```sh\n(.*?)```", text, re.DOTALL)[1]
    return [shlex.split(line) for line in block.splitlines()]


def shortened(words):
    if words[:2] == ["tune", "--space"]:
        kept = [SIZES.get(word, word) for word in words]
        if "--max-time" in kept:
            at = kept.index("--max-time")
            del kept[at:at + 2]
        return [*kept, "--backend", "cpu", "--max-evals", "1", "-q"]
    if words[:2] == ["cmake", "-B"]:
        return [*words, *CMAKE_OPTIONS]
    if words[0] == "python3":
        return [SYSTEM_PYTHON, *words[1:], *ARGUMENTS["judge" if "loop.py" in words else "python"]]
    program = pathlib.PurePath(words[-1])
    return words + ARGUMENTS[program.name] if program.parts[0] == "build" and words[0] != "cmake" else words


class ExamplesTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="tune-test-")
        self.addCleanup(directory.cleanup)
        self.tree = pathlib.Path(directory.name)
        for folder in ("examples", "spaces", "kernels"):
            shutil.copytree(ROOT / folder, self.tree / folder)
        self.environment = {**os.environ, "CMAKE_PREFIX_PATH": str(PREFIX), "TUNER_DB": str(self.tree / "results.db"),
                            "PATH": f"{PREFIX / 'bin'}:{os.environ['PATH']}",
                            "PYTHONPATH": str(PREFIX / "lib/python3/dist-packages")}

    def run_in(self, example, words, environment=None):
        environment = dict(self.environment if environment is None else environment)
        while "=" in words[0]:
            name, value = words[0].split("=", 1)
            environment[name] = value
            words = words[1:]
        done = subprocess.run(words, cwd=self.tree / "examples" / example, env=environment, text=True, timeout=240,
                              stdin=subprocess.DEVNULL, capture_output=True)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}{done.stderr}")
        return done.stdout

    def outputs(self, example):
        """What each command of the example's README writes to stdout."""
        return [self.run_in(example, shortened(words)) for words in commands(example)]

    def test_gemm(self):
        self.assertRegex(self.outputs("gemm")[-1], r"answer: (exact|library), .*\nC\[0\]\[0\] = ")

    def test_own_kernel(self):
        self.assertRegex(self.outputs("own_kernel")[-1], r'answer: exact, rms_norm \{"VEC":\d,"WARPS":\d+\}\ny\[0\]')

    def test_embedded_needs_no_database(self):
        self.outputs("embedded")
        for file in self.tree.glob("results.db*"):
            file.unlink()
        home = self.tree / "home"
        home.mkdir(mode=0o700)
        bare = {"PATH": "/usr/bin:/bin", "HOME": str(home)}
        text = self.run_in("embedded", ["build/embedded", "32"], bare)
        self.assertRegex(text, r"answer: (exact|library), ")
        self.assertEqual(list(self.tree.rglob("*.db*")), [])
        libraries = subprocess.run(["ldd", str(self.tree / "examples/embedded/build/embedded")], text=True, check=True,
                                   capture_output=True).stdout
        self.assertIn("libtuner_dispatch.so", libraries)
        self.assertNotIn("sqlite", libraries)

    def test_record(self):
        outputs = self.outputs("record")
        sizes = ["8x64", "8x96", "8x128"]
        self.assertEqual(outputs[3], "".join(f"{size}: nearest\n" for size in sizes))
        self.assertEqual(outputs[5], "".join(f"{size}: exact\n" for size in sizes))

    def test_c(self):
        self.assertRegex(self.outputs("c")[-1], r"answer: rung \d, .*\nC\[0\]\[0\] = ")

    def test_saxpy(self):
        self.assertEqual(self.outputs("saxpy")[-1], "answer: exact\ny[0] = -9\n")

    def test_python(self):
        self.assertRegex(self.outputs("python")[-1], r"product: 16777216.0\nsaxpy: 3000000.0 .*BLOCK")

    def test_window_square(self):
        def rows(text):
            return [[int(word) for word in line.split()] for line in text.splitlines()]
        of_ones, in_one_window, of_63 = (rows(text) for text in self.outputs("window_square")[-3:])
        covering = [min(i, 14 - i, 4) + 1 for i in range(15)]
        self.assertEqual(of_ones, [[5 * y * x for x in covering] for y in covering])
        self.assertEqual(in_one_window, [[15] * 15] * 15)
        self.assertEqual(of_63, [[min(65535, 5 * 63 * 63 * y * x) for x in covering] for y in covering])

    def test_judge(self):
        lines = self.outputs("judge")[-1].splitlines()
        self.assertRegex(lines[0], r"^attempt 0: compile_error: .*error")
        self.assertRegex(lines[1], r"^attempt 1: wrong_result: size .*: mean\[\d+\] is .*, should be ")
        self.assertRegex(lines[2], r"^attempt 2: right in \d+ checks, [0-9.]+ times as fast as the reference")

    def test_none_is_forgotten(self):
        folders = {path.parent.name for path in (ROOT / "examples").glob("*/README.md")}
        self.assertEqual(folders, set(ARGUMENTS))


if __name__ == "__main__":
    unittest.main()
