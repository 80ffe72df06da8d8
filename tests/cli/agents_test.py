# SPDX-License-Identifier: Apache-2.0
"""Agents that a program starts: `tune --launch`, here on this machine with the processor as their device."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import unittest

from agents import EVALUATIONS, SIZES, TUNE, AgentsTest, SAXPY, frame
from program import PATIENCE, ROOT

sys.path.insert(0, str(ROOT / "tests" / "support"))
from matrix import part  # noqa: E402

ENV = "env TUNER_CPU_DEVICES=1"
SLOW = "sh -c 'sleep 4; exec \"$0\" \"$@\"'"
STRANGE = f"{sys.executable} {pathlib.Path(__file__).with_name('strange_agent.py')}"


class RunsTest(AgentsTest):
    def test_one_run_on_several_agents(self):
        run = self.tune(*self.line(ENV, ENV, "env TUNER_CPU_DEVICES=2", more=("--device", "0", "--json")))
        self.assertIn("saxpy on 3 × ", run.stderr)
        self.assertRegex(run.stderr, r"device 0 \(CPU-0 on \S+\) busy \d+ %, \d size")
        self.expect_every_size()
        cards = json.loads(run.stdout)["kernels"][0]["cards"]
        self.assertEqual(sum(card["sizes"] for card in cards), len(SIZES))
        self.assertEqual([bool(card["host"]) for card in cards], [True] * 3)
        self.assertEqual(len(self.rows("SELECT DISTINCT problem_id FROM card WHERE host <> ''")), len(SIZES))
        again = self.tune(*self.line(ENV))
        self.assertIn(f"; {EVALUATIONS * len(SIZES)} from the database", again.stderr)

    def test_an_agent_with_two_devices(self):
        run = self.tune(*self.line("env TUNER_CPU_DEVICES=2", more=("--device", "all")))
        self.assertIn("saxpy on 2 × ", run.stderr)
        self.expect_every_size()

    def test_an_agent_that_is_killed(self):
        run = self.start(*self.line(ENV, ENV, more=("--jobs", "1")))
        self.read_until(run, ": best ")
        os.kill(self.agents()[0], signal.SIGKILL)
        _, errors = run.communicate()
        self.assertEqual(run.returncode, 0, errors)
        self.assertIn("is dropped, its sizes continue", errors)
        self.assertIn("was ended by signal 9 (Killed)", errors)
        self.expect_every_size()

    def test_an_agent_that_is_stopped(self):
        run = self.start(*self.line(ENV, ENV, more=("--heartbeat", "600ms")))
        self.read_until(run, ": best ")
        os.kill(self.agents()[0], signal.SIGSTOP)
        _, errors = run.communicate()
        self.assertEqual(run.returncode, 0, errors)
        self.assertIn("nothing was heard of it for 1.5 s", errors)
        self.expect_every_size()

    def test_the_last_agent_that_is_killed(self):
        run = self.start(*self.line(ENV, sizes=SIZES[:2], evaluations=6))
        self.read_until(run, ": best ")
        os.kill(self.agents()[0], signal.SIGKILL)
        _, errors = run.communicate()
        self.assertEqual(run.returncode, 3, errors)
        self.assertIn("is lost", errors)
        self.expect_none_left()
        resumed = self.tune(*self.line(ENV, sizes=SIZES[:2], evaluations=6))
        self.assertIn("resuming", resumed.stderr)
        self.assertEqual(len(self.rows("SELECT * FROM best")), 2)

    def test_what_an_agent_says_costs_itself_only(self):
        for how, says in part((("garbage", "is not a frame"), ("truncated", "has ended or its connection is lost"),
                          ("short", "cut short"), ("oversized", "announces a message of 4294967295 bytes"),
                          ("unasked", "sent an answer without a request"), ("lane", "no valid 'lane'"),
                          ("nothing", "sent an answer without a request"), ("error", "no valid 'code'"),
                          ("result", "an invalid answer"))):
            with self.subTest(how=how):
                self.database.unlink(missing_ok=True)
                run = self.tune(*self.line(f"{STRANGE} {how}", "env",
                                           sizes=SIZES[:2], evaluations=1))
                self.assertIn(says, run.stderr)
                self.expect_every_size(sizes=SIZES[:2], evaluations=1)

    def test_another_tune(self):
        run = self.tune(*self.line(f"{STRANGE} version", ENV, sizes=SIZES[:1]))
        self.assertRegex(run.stderr, r"the agent on \S+ is refused: it is tune 9\S+, this is ")
        other = self.directory / "other"
        shutil.copy(TUNE, other)
        with other.open("ab") as file:
            file.write(b"another build")
        run = self.tune(*self.line(f"{other} worker node", ENV, sizes=SIZES[:1], more=("--fresh",)))
        self.assertRegex(run.stderr, r"is refused: it is another build of tune \S+")
        self.expect_none_left()

    def test_an_agent_that_comes_late(self):
        run = self.tune(*self.line(ENV, SLOW, sizes=range(1000, 7000, 1000), evaluations=4))  # longer than it is late
        self.assertRegex(run.stderr, r"device 1 joins: on|device 1 joins: CPU-0 on")
        self.expect_every_size(sizes=range(1000, 7000, 1000), evaluations=4)

    def test_the_end_of_the_parent(self):
        for end, code in ((signal.SIGKILL, -9), (signal.SIGINT, 130), (signal.SIGSTOP, None)):
            with self.subTest(signal=end):
                run = self.start(*self.line(ENV, ENV, evaluations=20, more=("--fresh", "--heartbeat", "500ms")))
                self.read_until(run, ": best ")
                run.send_signal(end)
                if code is not None:
                    run.communicate()
                    self.assertEqual(run.returncode, code)
                self.expect_none_left()
                run.kill()
                run.communicate()


class NetworkTest(AgentsTest):
    """A database on a network file system. A library stands in for one: statfs calls the folder `net` NFS."""

    def setUp(self):
        super().setUp()
        (self.directory / "nfs.c").write_text("""
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <stdlib.h>
            #include <string.h>
            #include <sys/vfs.h>
            int statfs(const char* path, struct statfs* status) {
              int (*real)(const char*, struct statfs*) = dlsym(RTLD_NEXT, "statfs");
              const int result = real(path, status);
              if (strstr(path, "/net")) status->f_type = 0x6969;
              return result;
            }""")
        library = self.directory / "nfs.so"
        subprocess.run([os.environ["HOST_COMPILER"], "-shared", "-fPIC", "-x", "c", self.directory / "nfs.c",
                        "-o", library, "-ldl"], check=True)
        (self.directory / "net").mkdir(mode=0o700)
        self.database = self.directory / "net" / "results.db"
        self.preload = {"LD_PRELOAD": str(library)}

    def test_results_are_saved_after_each_size(self):
        line = self.line("env", more=("--db", self.database), sizes=SIZES[:2])
        run = self.tune(*line, env=self.preload)
        self.assertRegex(run.stderr, r"results\.db is on NFS: this run works on a copy in /\S+, saved after each size")
        self.expect_every_size(sizes=SIZES[:2])
        again = self.tune(*line, env=self.preload)
        self.assertIn(f"; {EVALUATIONS * 2} from the database", again.stderr)
        self.refuse("runs", "list", "--db", self.database, env=self.preload, code=2, says="(NFS)")
        self.assertEqual([path.name for path in self.database.parent.iterdir()], ["results.db"])

    def test_trials_are_saved_if_the_last_agent_is_killed(self):
        run = self.start(*self.line("env", more=("--db", self.database), sizes=[1_000_000], evaluations=100),
                         env=self.environment(**self.preload))
        copy = re.search(r"works on a copy in (\S+),", self.read_until(run, "works on a copy in"))[1]
        for _ in range(600):
            with contextlib.suppress(sqlite3.OperationalError):  # it is being made
                with contextlib.closing(sqlite3.connect(f"file:{copy}?mode=ro", uri=True)) as database:
                    if database.execute("SELECT count(*) FROM result").fetchone()[0] > 0:
                        break
            time.sleep(0.1)
        os.kill(self.agents()[0], signal.SIGKILL)
        _, errors = run.communicate()
        self.assertEqual(run.returncode, 3, errors)
        self.assertGreater(len(self.rows("SELECT * FROM result")), 0)
        self.assertEqual(self.rows("SELECT * FROM best"), [])


class StrangersTest(AgentsTest):
    """Agents that connect by TCP, as tasks of one srun do, and who else does."""

    SHARED = ENV + " SLURM_STEP_NUM_TASKS=2"

    def port_of(self, run):
        """Where the program listens."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            mine = set()
            for descriptor in pathlib.Path(f"/proc/{run.pid}/fd").glob("*"):
                with contextlib.suppress(OSError):
                    mine.add(os.readlink(descriptor))
            for table in ("tcp", "tcp6"):
                for line in pathlib.Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                    _, local, _, state, _, _, _, _, _, inode, *_ = line.split()
                    if state == "0A" and f"socket:[{inode}]" in mine:
                        return int(local.rsplit(":", 1)[1], 16)
            time.sleep(0.02)
        self.fail("it does not listen")

    def test_strangers_neither_end_nor_delay_a_run(self):
        run = self.start(*self.line(f"{SLOW} {self.SHARED}"))  # or it could end before they all come
        port = self.port_of(run)
        hello = {"hello": {"program": {"version": "", "hash": ""}, "host": "\x1b]0;x", "job": "", "processors": "", "threads": -2**31,
                           "nonce": "", "proof": ""}}
        strangers = []
        for said in [b""] * 200 + [b"GET / HTTP/1.1\r\n\r\n", b"tune\xff\xff\xff\x03", frame(hello), frame({"open": {}}), frame([])] * 4:
            strangers.append(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))
            with contextlib.suppress(OSError):
                strangers[-1].sendall(said)
        _, errors = run.communicate(timeout=PATIENCE)
        self.assertEqual(run.returncode, 0, errors)
        self.assertNotIn("\x1b", errors)
        self.assertLessEqual(errors.count("is refused"), 6, errors)
        self.expect_every_size()
        for stranger in strangers:
            stranger.close()

    def test_an_agent_obeys_nobody_who_does_not_know_the_token(self):
        """Another program listens at the address that the agent was told."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(20)
            agent = subprocess.Popen([TUNE, "worker", "node"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, env=self.environment(SLURM_STEP_NUM_TASKS="2"))
            where = {"host": "elsewhere", "addresses": ["127.0.0.1"], "port": listener.getsockname()[1], "token": "the secret token"}
            agent.stdin.write(frame({"connect": where}))
            agent.stdin.flush()
            connection, _ = listener.accept()
            connection.settimeout(20)
            connection.sendall(frame({"challenge": "0" * 32}))
            said = connection.recv(65536)
            self.assertIn(b"proof", said)
            self.assertNotIn(b"the secret token", said)
            connection.sendall(frame({"welcome": "0" * 64}) + frame({"open": {}}))
            _, errors = agent.communicate(timeout=PATIENCE)
            connection.close()
        self.assertEqual(agent.returncode, 1)
        self.assertIn(b"does not know the token", errors)


class BadInputTest(AgentsTest):
    def test_launchers_that_bring_nobody(self):
        for launcher, says, more in (
                ("no-such-launcher -n4", "no-such-launcher: cannot be started: No such file", ()),
                ("false", "false", ()),
                ("sh -c 'echo Permission denied, please try again >&2; exit 255'",
                 "its launcher ended with exit code 255: Permission denied, please try again", ()),
                ("sh -c 'echo Welcome to node n1; exec \"$0\" \"$@\"'",
                 "printed 'Welcome to node n1", ()),
                ("sh -c 'printf \"password: \"; sleep 30'", "printed 'password: '", ()),
                ("sh -c 'printf \"password: \" >&2; sleep 30'", "within 1 s", ("--agent-wait", "1s")),
                ("sh -c 'sleep 30'", "no agent within 1 s", ("--agent-wait", "1s"))):
            with self.subTest(launcher=launcher):
                refused = self.refuse(*self.line(launcher, more=more),
                                      code=1 if "no-such" in launcher else 3, says=says)
                if "password" in launcher:
                    self.assertIn("password: ", refused.stderr)
                self.expect_none_left()

    def test_a_launcher_that_asks_at_the_terminal(self):
        """It has none: it must fail, not wait."""
        self.refuse(*self.line("sh -c 'read secret < /dev/tty'", more=("--agent-wait", "20s")), code=3,
                    says="/dev/tty")

    def test_options(self):
        self.refuse(*self.line(" "), code=2, says="--launch: names no program")
        self.refuse(*self.line(ENV, more=("--heartbeat", "0s")), code=2, says="--heartbeat")
        self.refuse(*self.line(ENV, more=("--agent-wait", "soon")), code=2, says="--agent-wait")
        self.refuse(*self.line(ENV, more=("--dry-run",)), code=2, says="leave out --launch")
        self.refuse(*self.line(ENV, more=("--device", "7")), code=3, says="there is no CPU device 7")

    def test_agents_without_a_gpu(self):
        """Nobody asked for the processor."""
        refused = self.refuse("--space", SAXPY, "--kernel", "saxpy", "--size", "1000", "--max-evals", "1",
                              "--launch", "env CUDA_VISIBLE_DEVICES=", code=3, says="the agent on ")
        self.assertIn("no NVIDIA driver found", refused.stderr)

    def test_one_launcher_that_fails_beside_one_that_does_not(self):
        run = self.tune(*self.line("sh -c 'echo sorry >&2; exit 1'", ENV, sizes=(1000,)))
        self.assertIn("exit code 1: sorry", run.stderr)
        self.expect_every_size(sizes=(1000,))


if __name__ == "__main__":
    unittest.main()
