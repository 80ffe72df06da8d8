# SPDX-License-Identifier: Apache-2.0
"""The kill matrix: SIGKILL at every failpoint of `tune` and of its workers, and what is left of a run.

Whatever is killed: the same command goes on and ends well; a row that was acknowledged is there, as it was; no
candidate counts twice; the database is whole; no process is left behind.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from matrix import ALL, part  # noqa: E402
from points import PARENT, WORKER  # noqa: E402

TUNE = os.environ["TUNE_KILLABLE"]
CACHES = pathlib.Path(os.environ["KILL_CACHES"])  # kept from run to run: compiling takes longest

OUTCOMES = {2: "compile_error", 4: "ok", 8: "ok", 16: "ok", 32: "crashed"}  # by BLOCK
BLOCKS = {"compile": (2, 4, 8, 16), "crash": (4, 8, 32)}
KEPT_TABLES = ("problem", "config", "session", "result", "final", "finalist", "canary", "strike", "card")


def command(blocks, *more):
    return [TUNE, "--space", str(HERE / "tiny.json"), "--backend", "cpu", "--set",
            "BLOCK=" + ",".join(map(str, blocks)), *more]


class Place:
    """A directory of one point of the matrix: its database, its trace, and ways to run the program there."""

    def __init__(self, directory, cache):
        self.directory = pathlib.Path(directory)
        self.cache = cache
        self.database = self.directory / "tune.db"
        self.trace_file = self.directory / "trace"
        self.latch = self.directory / "latch"

    def run(self, arguments, kill_at="", trace=None):
        (self.directory / "tmp").mkdir(exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TUNER_")}
        # A card with a uuid, as GPUs are: its rows are written, too.
        mine = {"TUNER_CPU_DEVICES": "1", "TUNER_DB": self.database, "XDG_CACHE_HOME": self.cache, "TMPDIR": self.directory / "tmp",
                "TUNER_KILL_AT": kill_at, "TUNER_KILL_LATCH": self.latch, "TUNER_KILL_TRACE": trace or "",
                "TUNER_SANDBOX": "off"}  # workers write the trace, too
        return subprocess.run(arguments, env={**kept, **{name: str(value) for name, value in mine.items()}},
                              cwd=self.directory, capture_output=True, text=True, timeout=60)

    def trace(self):
        """[(role, pid, point)] of the run that was to be killed."""
        return [tuple(line.split()) for line in self.trace_file.read_text().splitlines()]

    def acknowledged(self):
        """How many trials the program had told of before the end."""
        return sum(point == "session.trial_acknowledged" for _, _, point in self.trace())

    def rows(self):
        """{table: {id: {column: value}}} as the next to open the database finds it, which is left alone."""
        copy = self.directory / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        for file in self.directory.glob("tune.db*"):
            shutil.copy(file, copy)
        with contextlib.closing(sqlite3.connect(copy / "tune.db")) as database:
            database.row_factory = sqlite3.Row
            assert database.execute("PRAGMA integrity_check").fetchall()[0][0] == "ok"
            tables = [name for name, in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
            return {table: {row["id"]: dict(row) for row in database.execute(f"SELECT * FROM {table}")
                            if "id" in row.keys()} for table in tables}


def table(rows, name):
    return rows.get(name, {})


def trials(rows):
    """[(BLOCK, outcome)] of the trials of the family `tiny`, in the order made."""
    kernels = {id for id, kernel in table(rows, "kernel").items() if kernel["family"] == "tiny"}
    found = []
    for _, result in sorted(table(rows, "result").items()):
        config = rows["config"][result["config_id"]]
        if config["kernel_id"] in kernels:
            found.append((json.loads(config["json"])["BLOCK"], result["outcome"]))
    return found


def stays(before, after):
    """What of the rows before is missing or changed after. The session that was killed has ended meanwhile."""
    lost = []
    for name in KEPT_TABLES:
        for id, row in table(before, name).items():
            mutable = {"checksum"} | ({"state", "ended_at"} if row.get("state") == "running" else set())
            now = table(after, name).get(id, {})
            lost += [(name, id, column) for column in row.keys() - mutable if now.get(column, id) != row[column]]
    return lost


def has_ended(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def split(entry):
    name, _, count = entry.partition("@")[0].partition(":")
    return name, count or "1", entry.partition("@")[2]


class Matrix(unittest.TestCase):
    killed = went_on = acknowledged = lost = counted_twice = 0

    @classmethod
    def setUpClass(cls):
        """Compiles once what most points need: the checks' kernels, and the candidates."""
        for name, blocks in {"checks": (4,), "all": (4, 8, 16, 32)}.items():
            with tempfile.TemporaryDirectory() as directory:
                done = Place(directory, CACHES / name).run(command(blocks))
                assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        if cls.killed:
            print(f"\n{cls.__name__}: killed at {cls.killed} points, went on after {cls.went_on}; trials acknowledged "
                  f"before a kill {cls.acknowledged}, lost {cls.lost}, counted twice {cls.counted_twice}",
                  file=sys.stderr)

    @contextlib.contextmanager
    def place(self, entry, scenario="new"):
        """A subtest with a place prepared for a scenario."""
        with self.subTest(entry, scenario=scenario), \
                tempfile.TemporaryDirectory(prefix="tune-kill-", ignore_cleanup_errors=True) as directory:
            place = Place(directory, CACHES / "all")
            self.prepare(place, scenario)
            yield place
            type(self).went_on += place.latch.exists()

    def prepare(self, place, scenario):
        if scenario in ("compile", "full cache"):
            place.cache = place.directory / "cache"
            shutil.copytree(CACHES / "checks", place.cache, symlinks=True)
        if scenario == "full cache":
            with open(place.cache / "tune" / "binaries" / "huge.bin", "wb") as huge:
                huge.truncate(3 << 30)  # no disk is used
            os.utime(huge.name, (0, 0))
        if scenario == "killed before":
            self.kill(place, "parent", "session.trial_judged", command((4, 8, 16)))
            place.latch.unlink()
            place.trace_file.unlink()
        if scenario == "old":
            with contextlib.closing(sqlite3.connect(place.database)) as database:
                database.executescript((ROOT / "tests/data/store/schema-1.sql").read_text())
            place.database.chmod(0o600)

    def kill(self, place, role, entry, arguments):
        """A run that is killed, or whose worker is, at a point."""
        name, count, after = split(entry)
        run = place.run(arguments, f"{role} {name} {count} {after}", place.trace_file)
        self.assertTrue(place.latch.exists(), f"was not reached\n{run.stderr}")
        self.assertEqual(place.latch.read_text().split()[::2], [role, name])
        return run

    def count(self, place):
        type(self).killed += 1
        type(self).acknowledged += place.acknowledged()

    def expect_no_process_left(self, place):
        end = time.monotonic() + 10
        for pid in {pid for _, pid, _ in place.trace()}:
            while not has_ended(pid) and time.monotonic() < end:
                os.sched_yield()
            self.assertTrue(has_ended(pid), f"process {pid} lives on")

    def expect_every_trial_once(self, rows, blocks, again=()):
        """That every candidate of the space was tried once, but for those in `again`."""
        tried = [block for block, _ in trials(rows)]
        twice = len(tried) - len(set(tried)) - len(again)
        type(self).counted_twice += twice
        self.assertEqual(sorted(tried), sorted([*blocks, *again]))

    def expect_nothing_open(self, rows):
        self.assertEqual(table(rows, "attempt"), {})
        self.assertNotIn("running", {session["state"] for session in rows["session"].values()})

    def go_on(self, place, blocks):
        """The same command once more; what it says of its one size."""
        run = place.run(command(blocks, "--json"))
        self.assertEqual(run.returncode, 0, run.stderr)
        size, = json.loads(run.stdout)["kernels"][0]["sizes"]
        self.assertEqual(size["evaluated"], len(blocks))
        self.assertIn("best", size)
        query = place.run([TUNE, "query", "--kernel", "tiny", "--size", "6,5,4", "--json"])
        self.assertEqual(query.returncode, 0, query.stderr)
        return size

    def expect_as_it_was(self, before, after):
        changed = stays(before, after)
        type(self).lost += len(changed)
        self.assertEqual(changed, [])


class Parent(Matrix):
    """`tune` itself is killed: its workers end with it, and the same command goes on."""

    def test_every_point(self):
        for scenario, entries in PARENT.items():
            for entry in part(entries):
                with self.place(entry, scenario) as place:
                    self.check(place, entry, BLOCKS.get(scenario, (4, 8, 16)))

    def check(self, place, entry, blocks):
        run = self.kill(place, "parent", entry, command(blocks))
        self.count(place)
        self.assertEqual(run.returncode, -signal.SIGKILL, run.stderr)
        self.expect_no_process_left(place)
        before = place.rows()
        done = trials(before)
        untold = len(done) - place.acknowledged()
        type(self).lost += max(0, -untold)
        self.assertIn(untold, (0, 1), "trials that are there but were not told of")
        if "session.final_acknowledged" in [point for _, _, point in place.trace()]:
            self.assertTrue(before["final"] and before["best"])
        size = self.go_on(place, blocks)
        after = place.rows()
        self.assertEqual(size["reused"], len(done))
        self.expect_every_trial_once(after, blocks)
        self.assertEqual(dict(trials(after)), {block: OUTCOMES[block] for block in blocks})
        self.expect_as_it_was(before, after)
        self.expect_nothing_open(after)
        self.expect_strikes(before, after, 32 in blocks and (32, "crashed") not in done)

    def expect_strikes(self, before, after, crashes):
        """One for the candidate that was on the device when the program died, one for the one that crashes now."""
        suspects = [attempt["config_id"] for attempt in table(before, "attempt").values()]
        self.assertLessEqual(len(suspects), 1)
        self.assertTrue(set(suspects).isdisjoint(result["config_id"] for result in table(before, "result").values()))
        new = [strike for id, strike in after["strike"].items() if id not in table(before, "strike")]
        died = [strike["config_id"] for strike in new if strike["reason"].startswith("`tune` ended")]
        self.assertEqual(died, suspects)
        self.assertEqual(len(new) - len(died), int(crashes))


class Commit(Parent):
    """`tune` is killed between, and in the middle of, the writes of a commit."""

    WINDOWS = ("store.schema", "store.run", "store.trial", "store.final")
    KILLS_IN_EACH = 10 if ALL else 3
    undone = 0  # commits that the next to open the database had to take back

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        print(f"Commit: {cls.undone} of the commits were left half done, and undone", file=sys.stderr)

    def test_every_point(self):
        with self.place("no kill") as place:
            self.assertEqual(place.run(command((4, 8, 16)), trace=place.trace_file).returncode, 0)
            points = [point for role, _, point in place.trace() if role == "parent"]
        for window in self.WINDOWS:
            begin, end = points.index(window + "_ready"), points.index(window + "_committed")
            self.assertGreater(end - begin, self.KILLS_IN_EACH)
            for i in range(self.KILLS_IN_EACH):
                at = begin + 1 + i * (end - begin - 2) // (self.KILLS_IN_EACH - 1)
                entry = f"{points[at]}:{points[:at + 1].count(points[at])}"
                with self.place(entry) as place:
                    self.check(place, entry, (4, 8, 16))
        self.assertGreater(self.undone, 0)

    def count(self, place):
        super().count(place)
        journal = place.directory / "tune.db-journal"
        type(self).undone += journal.exists() and journal.stat().st_size > 0


class Worker(Matrix):
    """The process that drives the device is killed: the run goes on with another."""

    def test_every_point(self):
        for cost, entries in WORKER.items():
            for entry in part(entries):
                with self.place(entry, cost) as place:
                    self.check(place, entry, cost, (4, 8, 16))

    def check(self, place, entry, cost, blocks):
        run = self.kill(place, "worker", entry, command(blocks))
        self.count(place)
        self.expect_no_process_left(place)
        if cost == "the run":
            self.assertEqual(run.returncode, 3, run.stderr)
            self.assertIn("was ended by signal 9", run.stderr)
            self.assertFalse(place.database.exists())
            self.go_on(place, blocks)
            return
        self.assertEqual(run.returncode, 0, run.stderr)
        rows = place.rows()
        crashed = [block for block, outcome in trials(rows) if outcome == "crashed"]
        self.assertEqual(len(crashed), int(cost in ("a candidate", "a contender")))
        again = crashed if cost == "a contender" else []
        self.expect_every_trial_once(rows, blocks, again)
        self.assertEqual(place.acknowledged(), len(blocks) + len(again))
        self.assertEqual(len(rows["strike"]), len(crashed))
        respawns = [session["respawns"] for session in rows["session"].values()]
        self.assertEqual(respawns, [int(cost != "nothing before the run")])
        self.expect_nothing_open(rows)
        size = self.go_on(place, blocks)
        after = place.rows()
        self.assertEqual(size["reused"], len(blocks))
        self.assertEqual(trials(after), trials(rows))
        self.expect_as_it_was(rows, after)


class Names(unittest.TestCase):
    def test_the_matrix_names_every_failpoint_of_the_sources(self):
        used = {}
        for source in (ROOT / "tuner").rglob("*.cpp"):
            for name in re.findall(r'\bfailpoint\("([^"]*)"\)', source.read_text()):
                self.assertNotIn(name, used, "a name stands for one place")
                self.assertEqual(name.partition(".")[0], source.relative_to(ROOT / "tuner").parts[0])
                used[name] = source
        of_compilers = re.findall(r'"(\w+\.job_\w+)"', (HERE / "compile_worker_test.cpp").read_text())
        killed = {split(entry)[0] for entries in (*PARENT.values(), *WORKER.values()) for entry in entries}
        self.assertEqual(killed | set(of_compilers), set(used))
        self.assertGreaterEqual(len(used), 30)


if __name__ == "__main__":
    unittest.main()
