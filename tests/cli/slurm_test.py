# SPDX-License-Identifier: Apache-2.0
"""Agents that Slurm starts: a real one, with two nodes on this machine. Skipped where it cannot run."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from agents import EVALUATIONS, TUNE, AgentsTest, processes
from program import PATIENCE, ROOT

HOST = socket.gethostname().split(".")[0]
DAEMONS = ("slurmctld", "slurmd", "srun")
CONFIGURATION = """
ClusterName=tune
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
AuthType=auth/none
CredType=cred/none
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=5
KillWait=2
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool-%n
SlurmdPidFile={place}/slurmd-%n.pid
SlurmctldPidFile={place}/slurmctld.pid
SlurmctldLogFile={place}/slurmctld.log
SlurmdLogFile={place}/slurmd-%n.log
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=4
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=4
PartitionName=p Nodes=ALL Default=YES State=UP
"""


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Cluster:
    """Two nodes."""

    def __init__(self):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="tune-slurm-"))
        for folder in ("state", "spool-n1", "spool-n2"):
            (self.place / folder).mkdir()
        self.configuration = self.place / "slurm.conf"
        self.configuration.write_text(CONFIGURATION.format(host=HOST, place=self.place, ports=free_ports(3)))
        os.environ["SLURM_CONF"] = str(self.configuration)
        self.start("slurmctld")
        for node in ("n1", "n2"):
            self.start("slurmd", "-N", node)
        end = time.monotonic() + PATIENCE
        while subprocess.run(["srun", "-N2", "-n2", "true"], capture_output=True, timeout=PATIENCE).returncode != 0:
            if time.monotonic() > end:
                raise RuntimeError("Slurm does not start: " + self.logs())
            time.sleep(0.2)

    def start(self, daemon, *more):
        subprocess.run([daemon, "-f", self.configuration, *more], check=True, capture_output=True)

    def logs(self):
        return "".join(log.read_text()[-2000:] for log in self.place.glob("*.log"))

    def kill_node(self, node):
        """As when its power fails: the daemon, its steps, and what runs in them."""
        for pid, *_ in processes():
            try:
                environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
            except OSError:
                continue
            if f"SLURMD_NODENAME={node}".encode() in environment.split(b"\0"):
                os.kill(pid, signal.SIGKILL)
        os.kill(int((self.place / f"slurmd-{node}.pid").read_text()), signal.SIGKILL)

    def end(self):
        for name in ("slurmctld", "slurmd-n1", "slurmd-n2"):
            try:
                os.kill(int((self.place / f"{name}.pid").read_text()), signal.SIGKILL)
            except (OSError, ValueError):
                pass
        shutil.rmtree(self.place, ignore_errors=True)


class SlurmTest(AgentsTest):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.end)

    def environment(self, **changes):
        return super().environment(SLURM_CONF=str(self.cluster.configuration), **changes)

    def expect_no_job(self):
        end = time.monotonic() + PATIENCE
        while jobs := subprocess.run(["squeue", "-h"], capture_output=True, text=True, timeout=PATIENCE).stdout:
            self.assertLess(time.monotonic(), end, jobs)
            time.sleep(0.1)

    def run_on_two(self, tasks="-n2", more=(), evaluations=EVALUATIONS):
        run = self.start(*self.line(f"srun -u -k -N2 {tasks}", more=("--heartbeat", "600ms", *more),
                                    evaluations=evaluations))
        self.read_until(run, ": best ")
        return run

    def expect_good_end(self, run, says, evaluations=EVALUATIONS):
        _, errors = run.communicate(timeout=PATIENCE)
        self.assertEqual(run.returncode, 0, errors)
        self.assertIn(says, errors)
        self.expect_every_size(evaluations=evaluations, said=errors)

    def test_two_nodes_and_one_that_comes_late(self):
        begun = self.directory / "begun"
        late = (f"sh -c 'until [ -e {begun} ]; do sleep 0.1; done; "
                "exec srun -u -k -N1 -n1 --overlap \"$0\" \"$@\"'")
        run = self.start(*self.line("srun -u -k -N2 -n2", late, evaluations=12))
        errors = self.read_until(run, ": best ")
        begun.touch()
        errors += run.communicate(timeout=PATIENCE)[1]
        self.assertEqual(run.returncode, 0, errors)
        self.assertIn("saxpy on 2 × ", errors)
        self.assertRegex(errors, "device 2 joins: on n[12]")
        self.expect_every_size(evaluations=12, said=errors)
        self.assertEqual(self.rows("SELECT DISTINCT host FROM card WHERE host IN ('n1', 'n2') ORDER BY host"),
                         [("n1",), ("n2",)])
        self.assertEqual(self.rows("SELECT count(*) FROM card WHERE job = ''"), [(0,)])
        self.expect_no_job()

    def test_an_agent_that_is_killed_and_one_that_is_stopped(self):
        run = self.run_on_two("-n3")
        killed, stopped, *_ = self.agents()
        os.kill(killed, signal.SIGKILL)
        os.kill(stopped, signal.SIGSTOP)
        self.expect_good_end(run, "nothing was heard of it for 1.5 s")
        self.expect_no_job()

    def test_a_node_that_fails(self):
        run = self.run_on_two(more=("--jobs", "1"))
        self.cluster.kill_node("n2")
        try:
            self.expect_good_end(run, "on n2 is dropped, its sizes continue")
        finally:
            self.cluster.start("slurmd", "-N", "n2")
        self.expect_no_job()

    def test_scancel(self):
        run = self.run_on_two(evaluations=20)
        subprocess.run(["scancel", "-u", "root"], check=True, timeout=PATIENCE)
        _, errors = run.communicate(timeout=PATIENCE)
        self.assertEqual(run.returncode, 3, errors)
        self.assertIn("is lost", errors)
        self.expect_none_left()
        self.assertEqual(self.rows("SELECT state FROM session"), [("interrupted",)])
        self.expect_no_job()

    def test_the_end_of_the_parent(self):
        run = self.run_on_two(evaluations=20)
        run.kill()
        run.communicate()
        self.expect_none_left()
        self.expect_no_job()

    def test_a_batch_job(self):
        script = ROOT / "examples" / "slurm" / "tune.sbatch"
        log = self.directory / "log"
        job = subprocess.run(["sbatch", "--parsable", "--wait", "-N2", "-o", str(log), str(script),
                              *map(str, self.line())],
                             env=self.environment(TUNE=TUNE, DEVICE="0"), cwd=self.directory, timeout=PATIENCE,
                             capture_output=True, text=True)
        self.assertEqual(job.returncode, 0, job.stderr + log.read_text())
        self.expect_every_size()
        self.assertEqual(self.rows("SELECT DISTINCT job FROM card"), [(job.stdout.strip(),)])


if __name__ == "__main__":
    lacking = [daemon for daemon in DAEMONS if shutil.which(daemon) is None]
    if lacking or os.getuid() != 0:
        print(f"skipped: Slurm cannot run here: {'lacks ' + ', '.join(lacking) if lacking else 'needs root'}")
        sys.exit(77)
    unittest.main()
