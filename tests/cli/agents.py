# SPDX-License-Identifier: Apache-2.0
"""What the tests of agents share: a short run on several, their processes, and what must hold at its end."""

import os
import pathlib
import re
import signal
import struct
import time

from program import ROOT, TUNE, ProgramTest

SAXPY = ROOT / "examples" / "saxpy" / "saxpy.json"
SIZES = (1000, 2000, 5000, 10000)
EVALUATIONS = 2  # of each size: the fewest of which one wins


def processes():
    """(pid, parent, state, words) of every process."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
            state, parent = (process / "stat").read_text().rsplit(")", 1)[1].split()[:2]
        except (OSError, ValueError):
            continue
        yield int(process.name), int(parent), state, words


def cbor(value):
    """RFC 8949, as far as messages have it."""
    def head(major, number):
        return bytes([major << 5 | 27]) + struct.pack(">Q", number)
    match value:
        case bool() | None:
            return {False: b"\xf4", True: b"\xf5", None: b"\xf6"}[value]
        case int():
            return head(0, value) if value >= 0 else head(1, -1 - value)
        case str():
            return head(3, len(value.encode())) + value.encode()
        case list():
            return head(4, len(value)) + b"".join(map(cbor, value))
        case dict():
            return head(5, len(value)) + b"".join(cbor(part) for item in value.items() for part in item)


def frame(message):
    payload = cbor(message)
    return b"tune" + struct.pack("<I", len(payload)) + payload


class AgentsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        # By the name of its cache, which all tests share, a process is known to be of this test.
        place = pathlib.Path(os.environ["XDG_CACHE_HOME"]) / "tests" / self.directory.name
        place.mkdir(parents=True)
        self.addCleanup(place.rmdir)
        self.cache = f"{place}/../.."
        self.addCleanup(self.end_stragglers)

    def environment(self, **changes):
        return super().environment(**{"XDG_CACHE_HOME": self.cache, **changes})

    def ours(self):
        """The worker processes of this test, whoever is their parent."""
        mine = f"XDG_CACHE_HOME={self.cache}".encode()
        for pid, _, state, words in processes():
            if state == "Z" or "worker" not in words[1:2]:
                continue
            try:
                if mine in pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                    yield pid, words
            except OSError:
                continue

    def agents(self):
        return sorted(pid for pid, words in self.ours() if words[2:3] == ["node"])

    def end_stragglers(self):
        for pid, _ in self.ours():
            os.kill(pid, signal.SIGKILL)

    def expect_none_left(self, within=60):
        end = time.monotonic() + within
        while time.monotonic() < end and list(self.ours()):
            time.sleep(0.05)
        self.assertEqual(list(self.ours()), [])

    def line(self, *launchers, more=(), sizes=SIZES, evaluations=EVALUATIONS):
        size = [word for each in sizes for word in ("--size", str(each))]
        launch = [word for each in launchers for word in ("--launch", each)]
        return ("--space", SAXPY, "--kernel", "saxpy", *size, "--backend", "cpu", "--max-evals", str(evaluations),
                *launch, *more)

    def read_until(self, run, text):
        """What a run says up to a line with this text."""
        said = []
        for line in run.stderr:
            said.append(line)
            if text in line:
                return "".join(said)
        self.fail(f"'{text}' is not in\n" + "".join(said))

    def expect_every_size(self, sizes=SIZES, evaluations=EVALUATIONS, said=""):
        """`said`: what the run printed, such as trials that a busy machine had timed again."""
        self.assertEqual(self.rows("SELECT state FROM session"), [("complete",)])
        self.assertEqual(len(self.rows("SELECT * FROM best")), len(sizes), "every size has its result")
        self.assertEqual(self.rows("SELECT count(*) FROM (SELECT DISTINCT problem_id, config_id FROM result)"),
                         [(evaluations * len(sizes),)], "no row is lost")
        moved = len(self.rows("SELECT * FROM card")) - len(sizes)
        double = self.rows("SELECT count(*) FROM result")[0][0] - evaluations * len(sizes)
        drifted = sum(int(trials) for trials in re.findall(r"(\d+) trials? timed again because", said))
        self.assertLessEqual(double - drifted, 4 * moved, "only leaders of a size that moves are timed twice")
        self.assertEqual(self.rows("SELECT * FROM attempt"), [], "nothing is in flight")
        self.expect_none_left()


__all__ = ["AgentsTest", "EVALUATIONS", "SAXPY", "SIZES", "TUNE", "processes"]
