# SPDX-License-Identifier: Apache-2.0
"""docs/terminal.txt is a session in a terminal of 80 columns: what the program prints, but for what was measured.

terminal_test.py --write writes it anew.
"""

import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile
import unittest

TUNE = os.environ["TUNE"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from pseudo_terminal import run_on_terminal  # noqa: E402

SESSION = ROOT / "docs/terminal.txt"
WIDTH = 80

COMMANDS = """
tune space check examples/saxpy/saxpy.json
tune --space examples/saxpy/saxpy.json --backend cpu --size 100000 --max-evals 9
tune query --kernel saxpy --size 100000
tune query --kernel saxpy --size 130000 --explain
tune query --kernel sxpy --size 100000
tune runs show
tune space why spaces/gemm.json --kernel gemm_naive BLOCK_X=1024,BLOCK_Y=2
""".strip().splitlines()

# What was measured, and where. The longest kinds of numbers first.
MEASURED = [
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?Z?( UTC)?", "DATE"),
    (r"\b[0-9a-f]{32}\b", "ID"),
    (r"BLOCK=\d+(.)ITEMS=\d+", "CONFIGURATION"),
    (r"\b\d+ (min|h) \d\d (s|min)\b", "N"),
    (r"(×?\d+(\.\d+)?(–×?\d+(\.\d+)?)?)+ ?([nµm]?s|[GMT](FLOP|B)/s|min|%|of OpenBLAS)?\b", "N"),
    (r"DEVICE \(\w+, g\+\+ [^)]*\)", "DEVICE"),
    (r"g\+\+ [\w.]+|OpenBLAS [\w.]+", "VERSION"),
]


def session():
    """Each command with what it prints."""
    text = ""
    with tempfile.TemporaryDirectory(prefix="tune-test-") as directory:
        for folder in ("spaces", "kernels", "examples"):
            shutil.copytree(ROOT / folder, pathlib.Path(directory) / folder)
        surroundings = {name: value for name, value in os.environ.items() if not name.startswith("TUNER")}
        for command in COMMANDS:
            _, printed = run_on_terminal([TUNE, *shlex.split(command)[1:]], WIDTH, ("stdin", "stdout", "stderr"), cwd=directory,
                                         env={**surroundings, "LC_ALL": "C.UTF-8", "TERM": "dumb", "TUNER_DB": "tune.db"})
            text += f"$ {command}\n{printed.rstrip()}\n\n"
    return text.rstrip() + "\n"


def masked(text):
    """The text without what was measured, without its lines, which end where the numbers and names in them let them, and
    with the lines of a search once, however often it found something better."""
    text = re.sub(r"(?m)^ties .*\n", "", text)
    text = re.sub(r"(?m)^ *\d+ trials? timed again because the device had drifted\n", "", text)  # on a busy machine
    text = re.sub(r"\s+", " ", text)
    text = text.replace(re.search(r" saxpy on (.+?) \((?:x86_64|aarch64),", text)[1], "DEVICE")
    for pattern, word in MEASURED:
        text = re.sub(pattern, word, text)
    text = re.sub(r"[ –]+", " ", text)
    text = re.sub(r"(back to back (there )?N), N after a pause", r"\1", text)  # where the two differ
    text = text.replace("estimated search time: N ", "")  # something better may be found after it
    return re.sub(r"(saxpy: N/NN: best N \(N\) (N left )?failed: none )+", "SEARCH ", text).split(" ")


class TerminalTest(unittest.TestCase):
    maxDiff = None

    def test_the_session_is_what_the_program_prints(self):
        printed = session()
        self.assertEqual(masked(SESSION.read_text()), masked(printed), "terminal_test.py --write writes it anew")

    def test_it_fits_the_terminal(self):
        text = SESSION.read_text()
        commands = re.findall(r"^(?:\$ .*|  tune .*|  command: .*)$", text, flags=re.M)
        for line in text.splitlines():
            if line not in commands:  # what is there to be copied stays in one line
                self.assertLessEqual(len(line), WIDTH, line)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        SESSION.write_text(session())
    else:
        unittest.main()
