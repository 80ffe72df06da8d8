# SPDX-License-Identifier: Apache-2.0
"""A program on a terminal of a test's own."""

import fcntl
import os
import pty
import struct
import subprocess
import termios


def run_on_terminal(command, columns=80, streams=("stdout", "stderr"), **options):
    """The exit code, and what the terminal receives from those of the program's streams that are on it."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    run = subprocess.Popen(command, **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **dict.fromkeys(streams, follower)}, **options)
    os.close(follower)
    received = b""
    try:
        while part := os.read(leader, 65536):
            received += part
    except OSError:
        pass  # the program has ended
    os.close(leader)
    return run.wait(timeout=120), received.decode().replace("\r\n", "\n")
