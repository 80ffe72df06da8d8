# SPDX-License-Identifier: Apache-2.0
"""The program `tune`: where it is, and its runs."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence

from . import _library
from ._library import Error

Event = Dict[str, Any]
LONGEST_SILENCE_S = 4500.0  # no step of the program takes longer: a launch may last an hour
_ARGUMENTS = {"--allow-shared": "allow_shared=True", "--device": "device=…", "--max-time": "time", "--effort": "effort"}


def _candidates() -> Iterator[pathlib.Path]:
    """Where the program may lie, the nearest first: the wheel, the prefix or the sources that this file is a part of."""
    package = pathlib.Path(__file__).resolve().parent
    library = pathlib.Path(_library.library_path())
    if library.is_absolute():
        yield from (library.parent / "tune", library.parents[1] / "bin/tune", library.parents[2] / "bin/tune")
    if (package.parents[1] / "tuner/dispatch/dispatch.h").exists():
        builds = package.parents[1].glob("build/*/tune")
        yield from sorted(builds, key=lambda path: path.stat().st_mtime, reverse=True)


def path() -> str:
    """$TUNER_PROGRAM, else that of the wheel, prefix or build tree around the package, else that of $PATH."""
    if named := os.environ.get("TUNER_PROGRAM"):
        if not shutil.which(named):
            raise Error(f"TUNER_PROGRAM={named}: is no program: set it to the path of `tune`")
        return named
    for candidate in _candidates():
        if candidate.is_file() and os.access(candidate, os.X_OK) and not _library._others_may_change(candidate):
            return str(candidate)
    if found := shutil.which("tune"):
        return found
    raise Error("the program `tune` is not installed: install the wheel that scripts/wheel.sh makes, or the Debian package, or "
                "set TUNER_PROGRAM to its path")


def run(arguments: Sequence[str]) -> str:
    """What a command prints. Raises Error with its message."""
    done = subprocess.run([path(), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False, env=_environment())
    if done.returncode != 0:
        raise Error(message_of(done.stderr) or f"tune {' '.join(arguments)} ended with {done.returncode}")
    return done.stdout


def message_of(stderr: str) -> str:
    """The error of a command without what it told before."""
    lines = stderr.strip().splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith("error: ")), 0)
    return in_python("\n".join(lines[first:]).removeprefix("error: ").strip())


def in_python(text: str) -> str:
    """A message with the arguments of tuner.tune() in place of options."""
    for option, argument in _ARGUMENTS.items():
        text = text.replace(option, argument)
    return text


def _environment(**more: str) -> Dict[str, str]:
    return {**os.environ, "TUNER_PARENT": str(os.getpid()), **more}


class Running:
    """A command that runs beside this process, in a group of its own: Ctrl-C reaches this process alone.

    As a context it ends with the block: what still runs is stopped, and so is a command that says nothing for `silence_s`.
    """

    def __init__(self, arguments: Sequence[str], on_event: Callable[[Event], None] = lambda event: None,
                 silence_s: float = LONGEST_SILENCE_S, **environment: str) -> None:
        self.warnings: List[str] = []
        self._on_event = on_event
        self._silence_s, self._is_silent = silence_s, False
        self._heard_s: Optional[float] = time.monotonic()  # None while it waits for an answer
        self._ended = threading.Event()
        self._process = subprocess.Popen([path(), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=subprocess.PIPE, text=True, start_new_session=True,
                                         env=_environment(**environment))
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while not self._ended.wait(min(self._silence_s, 5)):
            if self._heard_s is not None and time.monotonic() - self._heard_s > self._silence_s:
                self._is_silent = True
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                return

    def _listen(self) -> None:
        assert self._process.stderr
        for line in self._process.stderr:
            if self._heard_s is not None:
                self._heard_s = time.monotonic()
            event = None
            if line.startswith("{"):
                with contextlib.suppress(ValueError):
                    event = json.loads(line)
            if event is None:
                self.warnings.append(line.rstrip())
            else:
                self._on_event(event)

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: Any) -> None:
        self._ended.set()
        if self._process.poll() is None:
            self._process.kill()  # its children end with it
        self._process.wait()
        self._listener.join(5)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream:
                with contextlib.suppress(OSError):
                    stream.close()

    def lines(self) -> Iterator[str]:
        assert self._process.stdout
        for line in self._process.stdout:
            self._heard_s = None
            yield line.rstrip("\n")
            self._heard_s = time.monotonic()

    def answer(self, line: str) -> None:
        assert self._process.stdin
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(" ".join(line.split()) + "\n")
            self._process.stdin.flush()

    def interrupt(self) -> None:
        """As Ctrl-C: the first ends the search and saves it, the second ends all at once."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGINT)

    def finish(self) -> int:
        """Waits for the end."""
        code = self._process.wait()
        self._listener.join(5)
        return code

    def error(self, code: int) -> Error:
        if self._is_silent:
            return Error(f"tune said nothing for {self._silence_s:g} s and was stopped: run it again, which continues; results so far are kept")
        return Error(message_of("\n".join(self.warnings)) or f"tune ended with {code}")


class Line:
    """One line about the progress, on a terminal or in a notebook; nothing elsewhere."""

    def __init__(self, shown: Optional[bool]) -> None:
        self._notebook = _notebook()
        self._shown = shown if shown is not None else self._notebook is not None or sys.stderr.isatty()
        self._handle: Any = None
        self._width = 0

    def show(self, text: str) -> None:
        if not self._shown:
            return
        if self._notebook is not None:
            content = {"text/plain": text}
            if self._handle is None:
                self._handle = self._notebook(content, raw=True, display_id=True)
            else:
                self._handle.update(content, raw=True)
            return
        print("\r" + text.ljust(self._width), end="", file=sys.stderr, flush=True)
        self._width = len(text)

    def end(self) -> None:
        if self._shown and self._notebook is None and self._width:
            print("\r" + " " * self._width + "\r", end="", file=sys.stderr, flush=True)
            self._width = 0


def _notebook() -> Any:
    """IPython's display(), where this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    return __import__("IPython.display", fromlist=["display"]).display
