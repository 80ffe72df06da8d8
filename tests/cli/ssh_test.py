# SPDX-License-Identifier: Apache-2.0
"""Agents that ssh starts: a real sshd on this machine. Skipped where it cannot run."""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import unittest

from agents import SIZES, AgentsTest

SSHD = shutil.which("sshd") or shutil.which("/usr/sbin/sshd")


class SshTest(AgentsTest):
    def setUp(self):
        super().setUp()
        self.directory.chmod(0o700)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.directory / key], check=True)
        self.keys = self.directory / "authorized_keys"
        shutil.copy(self.directory / "user.pub", self.keys)
        self.text_file("banner", "Authorized users only\n")
        settings = self.text_file("sshd_config", f"""Port {port}
ListenAddress 127.0.0.1
HostKey {self.directory}/host
AuthorizedKeysFile {self.keys}
StrictModes no
UsePAM no
PidFile none
Banner {self.directory}/banner
AcceptEnv XDG_CACHE_HOME
""")
        pathlib.Path("/run/sshd").mkdir(exist_ok=True)
        server = subprocess.Popen([SSHD, "-D", "-f", settings], stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.ssh = (f"ssh -p {port} -i {self.directory}/user -o StrictHostKeyChecking=no -o SendEnv=XDG_CACHE_HOME "
                    f"-o UserKnownHostsFile={self.directory}/known -o ConnectionAttempts=20 127.0.0.1")

    def test_two_agents(self):
        run = self.tune(*self.line(self.ssh, self.ssh, sizes=SIZES[:2]))
        self.assertIn("saxpy on 2 × ", run.stderr)
        self.expect_every_size(sizes=SIZES[:2])

    def test_a_host_that_asks_for_a_password(self):
        self.keys.unlink()
        self.refuse(*self.line(self.ssh), code=3, says=("no agent could be started", "Authorized users only",
                                                        "Permission denied"))

    def test_a_host_that_does_not_answer(self):
        self.refuse(*self.line("ssh -p 1 127.0.0.1"), code=3, says="Connection refused")


if __name__ == "__main__":
    if SSHD is None or shutil.which("ssh") is None or os.getuid() != 0:
        print("skipped: sshd cannot run here: it is not installed, or this is not root")
        sys.exit(77)
    unittest.main()
