# SPDX-License-Identifier: Apache-2.0
"""What the program reads and writes: devices, links, pipes, modes, odd names and marks, temporary files."""

import json
import os
import pathlib
import shlex
import stat
import subprocess
import unittest

from program import PATIENCE, SCALE_SOURCES, SCALE_SPACE, SEED, TUNE, ProgramTest

SCALE_RUN = ("--kernel", "scale", "--backend", "cpu", "--size", "64", "--max-evals", "1")


class OutputTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.tune("import", SEED)
        self.text = self.tune("export").stdout
        self.assertTrue(self.text)

    def test_a_device_is_written_into(self):
        self.tune("export", "-o", "/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        self.assertEqual(self.tune("export", "-o", "/dev/stdout").stdout, self.text)

    def test_what_the_shell_appends_to_is_appended_to(self):
        log = self.text_file("log", "before\n")
        with log.open("a") as out:
            subprocess.run([TUNE, "export", "-o", "/dev/stdout"], stdout=out, check=True, timeout=PATIENCE,
                           cwd=self.directory, env=self.environment())
        self.assertEqual(log.read_text(), "before\n" + self.text)

    def test_a_named_pipe_is_written_into(self):
        pipe = self.directory / "pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        self.tune("export", "-o", pipe)
        self.assertEqual(os.read(reader, 1 << 16).decode(), self.text)
        self.assertTrue(pipe.is_fifo())

    def test_a_named_pipe_without_a_reader_does_not_hang(self):
        pipe = self.directory / "pipe"
        os.mkfifo(pipe)
        says = "is a pipe that no program reads"
        self.refuse("export", "-o", pipe, code=1, says=says)
        self.refuse("--space", self.space_file(), *SCALE_RUN, "--log", pipe, code=1, says=says)

    def test_a_log_goes_where_the_shell_says(self):
        command = f"{shlex.quote(TUNE)} -q --space {self.space_file()} {' '.join(SCALE_RUN)} --fresh --log "
        for place in (">(cat >&2)", "/dev/stderr", "/dev/stdout >&2"):
            with self.subTest(place=place):
                done = subprocess.run(["bash", "-c", command + place + "; wait"], capture_output=True, text=True, timeout=PATIENCE,
                                      cwd=self.directory, env=self.environment())
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn('"event":"opened"', done.stderr)
        self.tune("--space", self.space_file(), *SCALE_RUN, "--log", "/dev/null")

    def test_a_link_is_followed_and_stays(self):
        (self.directory / "elsewhere").mkdir()
        link = self.directory / "link"
        link.symlink_to("elsewhere/file")
        for _ in range(2):  # to a file that is not there yet, and to one that is
            self.tune("export", "-o", link)
            self.assertTrue(link.is_symlink())
            self.assertEqual((self.directory / "elsewhere" / "file").read_text(), self.text)

    def test_the_mode_is_kept(self):
        path = self.text_file("mine", "old")
        path.chmod(0o600)
        self.tune("export", "-o", path)
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.assertEqual(path.read_text(), self.text)

    def test_a_directory_is_refused(self):
        self.refuse("export", "-o", self.directory, code=1, says=[str(self.directory), "directory"])


class InputTest(ProgramTest):
    def test_a_named_pipe_does_not_hang(self):
        pipe = self.directory / "space.json"
        os.mkfifo(pipe)
        self.refuse("space", "check", pipe, code=2, says="is a named pipe, not a file")
        self.space_file()
        (self.directory / "scale.cu").unlink()
        os.mkfifo(self.directory / "scale.cu")
        self.refuse("space", "check", self.directory / "scale.json", code=2, says="there is no file")

    def test_a_database_that_is_a_named_pipe_does_not_hang(self):
        pipe = self.directory / "tune.db"
        os.mkfifo(pipe)
        for line in (["runs", "list"], ["--space", self.space_file(), *SCALE_RUN]):
            self.refuse("--db", pipe, *line, code=2, says="is a pipe or a device")

    def test_a_pipe_of_the_shell_is_read(self):
        path = self.space_file()
        done = subprocess.run(["bash", "-c", f"{shlex.quote(TUNE)} space count <(cat {path}) --kernel scale"],
                              capture_output=True, text=True, timeout=PATIENCE, env=self.environment())
        self.assertIn("2 valid configurations", done.stdout, done.stderr)

    def test_a_byte_order_mark(self):
        mark = "\ufeff"
        path = self.space_file(sources={name: mark + text for name, text in SCALE_SOURCES.items()})
        path.write_text(mark + path.read_text())
        self.tune("-q", "--space", path, *SCALE_RUN)

    def test_a_name_that_is_no_utf_8(self):
        folder = os.fsencode(self.directory) + b"/caf\xe9 \x1b[31m"
        os.mkdir(folder)
        for name, text in {"scale.json": json.dumps(SCALE_SPACE), **SCALE_SOURCES}.items():
            (pathlib.Path(os.fsdecode(folder)) / name).write_text(text)
        command = [os.fsencode(TUNE), b"--space", folder + b"/scale.json", *map(os.fsencode, SCALE_RUN)]

        def run(words):
            done = subprocess.run(words, cwd=self.directory, capture_output=True, timeout=PATIENCE, env=self.environment())
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn(b"\x1b", done.stdout + done.stderr)
            done.stderr.decode()
            return done.stdout.decode()
        named = subprocess.run([*command, b"--fresh", b"--db", folder + b"/tune.db"], cwd=self.directory,
                               capture_output=True, timeout=PATIENCE, env=self.environment())
        query = next(line.strip() for line in named.stderr.decode().splitlines() if "tune query" in line)
        asked = subprocess.run(["bash", "-c", query.replace("tune", shlex.quote(TUNE), 1)], cwd=self.directory,
                               capture_output=True, timeout=PATIENCE, env=self.environment())
        self.assertEqual(asked.returncode, 0, asked.stderr)
        run([*command, b"--json"])
        shown = json.loads(run([os.fsencode(TUNE), b"runs", b"show", b"--json"]))
        self.assertIn("caf\\351", shown["command"])
        # What is printed can be pasted.
        pasted = subprocess.run(["bash", "-c", f"{shown['command'].replace('tune', shlex.quote(TUNE), 1)}"],
                                cwd=self.directory, capture_output=True, timeout=PATIENCE, env=self.environment())
        self.assertEqual(pasted.returncode, 0, pasted.stderr)


class TemporaryFilesTest(ProgramTest):
    def test_nothing_is_left_behind(self):
        folder = self.directory / "tmp"
        folder.mkdir()
        path = self.space_file()
        for more in (("--dry-run",), ("--no-cache",), ()):
            with self.subTest(more=more):
                self.tune("-q", "--space", path, *SCALE_RUN, *more, env={"TMPDIR": str(folder)})
                self.assertEqual(list(folder.iterdir()), [])

    def test_nothing_is_left_of_a_process_that_crashed_or_a_compiler_that_was_killed(self):
        folder = self.directory / "tmp"
        folder.mkdir()
        crash = SCALE_SOURCES["scale.cu"].replace("2 * x[i]", "*(volatile float*)8")
        path = self.space_file(sources={"scale.cu": crash})
        self.tune("-q", "--space", path, *SCALE_RUN, code=4, env={"TMPDIR": str(folder)})
        self.assertEqual(self.rows("SELECT outcome FROM result"), [("crashed",)])
        self.assertEqual(list(folder.iterdir()), [])
        compiler = self.text_file("slow-c++", '#!/bin/sh\ncase "$*" in *-dumpfullversion*) exec g++ "$@";; esac\n'
                                              'touch "$TMPDIR/cc123.s"\nsleep 20\n')
        compiler.chmod(0o755)
        self.tune("-q", "--space", path, *SCALE_RUN, "--no-cache", "--fresh", "--compile-timeout", "1s", code=4,
                  env={"TMPDIR": str(folder), "TUNER_HOST_CXX": str(compiler)})
        self.assertEqual(list(folder.iterdir()), [])

    def test_an_empty_name_of_the_folder_is_none(self):
        self.tune("-q", "--space", self.space_file(), *SCALE_RUN, env={"TMPDIR": ""})

    def test_a_folder_that_is_not_there_is_named(self):
        self.refuse("--space", self.space_file(), *SCALE_RUN, code=1, says=["/none/of/this", "TMPDIR"],
                    env={"TMPDIR": "/none/of/this"})


if __name__ == "__main__":
    unittest.main()
