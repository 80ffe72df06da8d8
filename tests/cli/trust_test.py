# SPDX-License-Identifier: Apache-2.0
"""Files of others: what is refused, and that nothing of theirs is run or pasted unquoted."""

import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import time
import unittest

from forgery import forge
from program import PATIENCE, SCALE_SOURCES, TUNE, ProgramTest

SANDBOX = subprocess.run([TUNE, "doctor"], capture_output=True, text=True).stdout
RUN = ("--kernel", "scale", "--backend", "cpu", "--max-evals", "2", "--space")
class ForgedKernelTest(ProgramTest):
    """A database whose kernel has another source than its hash says; its rows have right checksums."""

    def setUp(self):
        super().setUp()
        self.theirs = self.directory / "theirs.db"
        self.space_file()
        self.fill(*RUN, "scale.json", database=self.theirs)
        self.forge("2 * x[i]", "3 * x[i]")

    def forge(self, old, new):
        forge(self.theirs, "UPDATE kernel SET source_text = replace(source_text, ?, ?)", old, new)

    def test_merging_refuses_it_by_name_and_changes_nothing(self):
        self.refuse("merge", self.theirs, code=2,
                    says=[str(self.theirs), 'kernel "scale" of family "scale"', "not what was tuned"])
        self.assertEqual(self.rows("SELECT count(*) FROM kernel"), [(0,)])

    def test_neither_is_its_code_printed_nor_exported(self):
        for command in (("export", "--format", "json"), ("export", "--format", "header"),
                        ("query", "--kernel", "scale", "--size", "64", "--format", "cpp")):
            with self.subTest(command=command):
                self.refuse(*command, "--db", self.theirs, code=2, says="not what was tuned")

    def test_its_results_can_be_read(self):
        for command in (("runs", "list"), ("runs", "show"), ("export",)):
            self.tune(*command, "--db", self.theirs)


class WorkingDirectoryTest(ProgramTest):
    def test_a_database_here_is_not_used_unless_it_is_named(self):
        env = {"TUNER_DB": "", "XDG_DATA_HOME": str(self.directory / "data")}
        self.fill(*RUN, "scale.json", database=self.directory / "tune.db")
        done = self.tune("runs", "list", env=env, code=5)
        self.assertTrue(done.stderr.startswith("./tune.db is not used: --db tune.db or TUNER_DB names it\n"), done.stderr)
        self.assertEqual(self.tune("-q", "runs", "list", env=env, code=5).stderr, done.stderr)
        self.assertEqual(self.tune("runs", "list", "--db", "tune.db", env=env).stderr, "")


@unittest.skipIf(os.geteuid(), "only root can make a link of another user")
class LinksOfOthersTest(ProgramTest):
    """A link of another user, in the last component or in a directory, leads no write anywhere."""

    def setUp(self):
        super().setUp()
        (self.directory / "real").mkdir(mode=0o700)
        self.precious = self.text_file("real/file", "precious")
        for name, target in (("file", "real/file"), ("folder", "real")):
            (self.directory / name).symlink_to(target)
            os.lchown(self.directory / name, 12345, 12345)

    def test_each_option_that_names_a_file(self):
        run = (*RUN, self.space_file())
        self.tune("-q", *run)
        for link, path in (("file", "file"), ("folder", "folder/file"), ("folder", "folder/new")):
            for arguments, code in (((*run, "--log", path), 1), ((*run, "--db", path), 2), (("export", "-o", path), 1)):
                with self.subTest(path=path, arguments=arguments[-2:]):
                    self.refuse(*arguments, code=code, says=[link, "is a link that belongs to another user"])
        self.assertEqual(self.precious.read_text(), "precious")
        self.assertEqual(os.listdir(self.directory / "real"), ["file"])


class SourcesTest(ProgramTest):
    """Messages of compilers and databases hold what a space file names."""

    def check(self, source, says=None):
        space = self.space_file(lambda document: document["kernels"]["scale"].update(source=source))
        if says is None:
            self.tune("space", "check", space)
        else:
            self.refuse("space", "check", space, code=2, says=says)

    def test_files_elsewhere_that_are_no_code(self):
        outside = self.directory.parent / f"{self.directory.name}.secret"
        self.addCleanup(outside.unlink)
        outside.write_text("password\n")
        self.check(f"../{outside.name}", ["outside of the space file's folder", outside.name])
        (self.directory / "link.cu").symlink_to(outside)
        self.check("link.cu", ["outside of the space file's folder", outside.name])
        self.check("/etc/passwd", "relative to the space file")

    def test_code_elsewhere_and_anything_in_the_folder(self):
        above = self.directory.parent / f"{self.directory.name}.cu"
        self.addCleanup(above.unlink)
        above.write_text(SCALE_SOURCES["scale.cu"])
        self.check(f"../{above.name}")
        (self.directory / "scale.kernel").write_text(SCALE_SOURCES["scale.cu"])
        self.check("scale.kernel")

    def test_a_t1_description(self):
        t1 = {"ConfigurationSpace": {"TuningParameters": [{"Name": "BLOCK", "Type": "int", "Values": "[32, 64]",
                                                           "Default": 32}], "Conditions": []},
              "KernelSpecification": {"Language": "CUDA", "KernelName": "scale", "ProblemSize": [64],
                                      "Arguments": []}}
        t1["KernelSpecification"]["KernelFile"] = "../../../etc/passwd"
        self.refuse("space", "import", self.text_file("t1.json", json.dumps(t1)), code=2,
                    says=["KernelFile", "outside of the file's folder"])
        t1["KernelSpecification"]["KernelFile"] = "kernel.cu"
        path = self.text_file("t1.json", json.dumps(t1))
        (self.directory / "kernel.cu").symlink_to("/etc/passwd")
        self.refuse("space", "import", path, code=2, says=["KernelFile", "/etc/passwd", "outside of the file's folder"])
        (self.directory / "kernel.cu").unlink()
        self.tune("space", "import", path)  # the source may come later
        (self.directory / "scale.kernel").write_text(SCALE_SOURCES["scale.cu"])
        (self.directory / "kernel.cu").symlink_to("scale.kernel")
        self.tune("space", "import", path)

    def test_arrays_elsewhere_that_are_none(self):
        def refuse(name, says):
            for place in ("fill", "reference"):
                with self.subTest(name=name, place=place):
                    def change(space, place=place):
                        npy = {"npy": "x.npy" if place == "reference" else name}
                        space["arguments"][1]["fill"] = npy
                        results = {"npy": {"y": name if place == "reference" else "y.npy"}, "size": [64]}
                        space["check"] = {"reference": results, "exact": True}
                        del space["kernels"]["plain"]
                    path = self.space_file(change)
                    self.refuse("space", "check", path, code=2, says=says)
                    self.refuse(*RUN, path, code=2, says=says)
        (self.directory / "link.npy").symlink_to("/etc/passwd")
        refuse("link.npy", "outside of the space file's folder")
        refuse("../../../../etc/passwd", "outside of the space file's folder")
        refuse("../missing", "outside of the space file's folder")
        refuse("/etc/passwd", "relative to the space file")
        for name in ("x.npy", "arrays/x", "../x.npy"):
            refuse(name, "is not there: save the array by numpy.save")


class CopiedTextTest(ProgramTest):
    """What the program offers to copy is a command of `tune`, whatever a database says."""

    HOSTILE = "tune --space x.json; touch planted $(touch planted) `touch planted` 'a"

    def setUp(self):
        super().setUp()
        self.fill(*RUN, "scale.json")
        forge(self.database, "UPDATE session SET command = ?", self.HOSTILE)

    def paste(self, line):
        bin_folder = self.directory / "bin"
        bin_folder.mkdir(exist_ok=True)
        fake = bin_folder / "tune"
        fake.write_text("#!/bin/sh\n")
        fake.chmod(0o755)
        subprocess.run(["bash", "-c", line], cwd=self.directory, timeout=10,
                       env={"PATH": f"{bin_folder}:/usr/bin:/bin"}, capture_output=True)
        self.assertFalse((self.directory / "planted").exists(), line)

    def test_runs_show(self):
        shown = self.tune("runs", "show").stdout
        command = next(line.split("command: ")[1] for line in shown.splitlines() if "command: " in line)
        self.assertEqual(shlex.split(command)[0], "tune")
        self.paste(command)

    def test_a_merged_run_starts_no_program(self):
        ours = self.directory / "ours.db"
        forge(self.database, "UPDATE session SET command = ?", "tune --launch 'touch planted' --space x.json")
        self.tune("merge", self.database, "--db", ours)
        self.assertIn("  command elsewhere: tune --space x.json\n", self.tune("runs", "show", "--db", ours).stdout)
        self.tune("report", "-o", "pages", "--db", ours)
        for page in (self.directory / "pages").rglob("*.html"):
            self.assertNotIn("touch planted", page.read_text())
        self.assertIn("  command: tune --launch 'touch planted'", self.tune("runs", "show").stdout)

    def test_another_program_is_no_command_of_ours(self):
        forge(self.database, "UPDATE session SET command = 'touch planted'")
        self.assertNotIn("touch", self.tune("runs", "show").stdout)
        self.tune("report", "-o", "pages")
        pages = list((self.directory / "pages").rglob("*.html"))
        self.assertTrue(pages)
        for page in pages:
            self.assertNotIn("touch planted", page.read_text())


class ChildrenTest(ProgramTest):
    SECRETS = ("GITHUB_TOKEN", "NVIDIA_API_KEY", "CUDA_TOKEN", "TUNER_SECRET", "CCACHE_REMOTE_STORAGE")

    def test_a_kernel_sees_no_token_of_the_user(self):
        source = 'extern "C" char* getenv(const char*);\n' + SCALE_SOURCES["scale.cu"].replace(
            "2 * x[i]", '(%s || !getenv("PATH") ? 3 : 2) * x[i]' % " || ".join(f'getenv("{name}")' for name in self.SECRETS))
        space = self.space_file(sources={"scale.cu": source})
        env = dict.fromkeys(self.SECRETS, "secret")
        done = self.tune_json("-q", *RUN, space, env=env)
        self.assertTrue(done)

    def test_what_a_kernel_leaves_behind_ends_with_the_run(self):
        mark = self.directory / "daemon"
        source = ('extern "C" { int fork(); int setsid(); unsigned sleep(unsigned); int getpid();\n'
                  ' int creat(const char*, unsigned); int dprintf(int, const char*, ...); int access(const char*, int); }\n'
                  + SCALE_SOURCES["scale.cu"].replace(
                      "  if (i < N)", '  if (i == 0 && access("%s", 0) != 0 && fork() == 0) {\n'
                      '    setsid();\n    dprintf(creat("%s", 0600), "%%d", getpid());\n'
                      '    for (;;) sleep(1);\n  }\n  if (i < N)' % (mark, mark)))
        env = {"TUNER_SANDBOX": "off"}  # the kernel writes a file
        self.tune("-q", *RUN, self.space_file(sources={"scale.cu": source}), env=env)
        pid = int(mark.read_text())
        for _ in range(50):
            if not pathlib.Path(f"/proc/{pid}").exists():
                return
            time.sleep(0.1)
        os.kill(pid, signal.SIGKILL)
        self.fail("a process of the kernel outlives the run")


class CompilerTest(ProgramTest):
    def test_the_compiler_of_the_cpu_backend_writes_nothing_elsewhere(self):
        planted = self.directory / "planted"
        compiler = self.text_file("compiler", f'#!/bin/sh\ncase "$*" in *-shared*) echo x > {planted};; esac\nexec g++ "$@"\n')
        compiler.chmod(0o755)
        run = ("-q", *RUN, self.space_file(), "--fresh", "--no-cache")  # so that it is asked
        env = {"TUNER_HOST_CXX": str(compiler)}
        self.tune(*run, env=env)
        self.assertFalse(planted.exists())
        self.tune(*run, env={**env, "TUNER_SANDBOX": "off"})
        self.assertTrue(planted.exists(), "without the sandbox")


class MissingSandboxTest(ProgramTest):
    def check(self, says, **env):
        # Explaining opens the device again.
        run = self.tune("-q", *RUN, self.space_file(), "--fresh", "--explain-winner", env=env)
        self.assertEqual([line for line in run.stderr.splitlines() if "confined" in line], [says])
        doctor = self.tune("doctor", env=env, code=(0, 3)).stdout
        self.assertIn(f"note     sandbox: off\n         {says}\n", doctor)

    def test_a_run_and_doctor_say_that_it_is_off(self):
        self.check("TUNER_SANDBOX=off: compilers and kernels are not confined", TUNER_SANDBOX="off")

    def test_and_that_a_library_is_injected(self):
        self.check("LD_PRELOAD is set: compilers and kernels are not confined", LD_PRELOAD="libm.so.6")
        self.check("NVTX_INJECTION64_PATH is set: compilers and kernels are not confined", NVTX_INJECTION64_PATH="/x")


@unittest.skipUnless("Landlock" in SANDBOX and "no Landlock" not in SANDBOX, "this system has no Landlock")
class ReadingTest(ProgramTest):
    """What a kernel of the cpu backend, and its compiler, read of the user's files."""

    INCBIN = 'asm volatile(".pushsection .rodata\\n.incbin \\"%s\\"\\n.popsection");'
    INCLUDE = 'asm volatile(".include \\"%s\\"");'

    def run_with(self, statement, value="2 * x[i]", before="", code=0, **env):
        scale = SCALE_SOURCES["scale.cu"].replace("  if (i < N)", f"  {statement}\n  if (i < N)").replace("2 * x[i]", value)
        self.tune("-q", *RUN, self.space_file(sources={"scale.cu": before + scale}), "--fresh", "--no-cache", code=code, env=env)
        return self.tune("runs", "show").stdout

    def test_the_assembler_reads_no_file_of_the_user(self):
        secret = self.text_file("secret", "password\n")
        for directive in (self.INCBIN, self.INCLUDE):
            for path in (secret, "/etc/passwd"):
                with self.subTest(directive=directive, path=path):
                    shown = self.run_with(directive % path, code=4)
                    self.assertIn("compile_error", shown)
                    self.assertNotIn("password", shown)
                    self.assertNotIn("root:", shown)
        self.run_with(self.INCBIN % secret, TUNER_SANDBOX="off")

    def test_a_kernel_reads_no_file_of_the_user(self):
        self.text_file("secret", "password\n")
        before = 'extern "C" int open(const char*, int, ...);\n'
        for path in ("secret", "/etc/passwd"):
            value = f'(open("{path}", 0) >= 0 ? 3 : 2) * x[i]'
            self.run_with("", value, before)
            self.run_with("", value, before, code=4, TUNER_SANDBOX="off")


class PreloadedLibraryTest(ProgramTest):
    """`tune exec` takes the library beside the program, unless others may have put it there."""

    def test_one_in_a_folder_for_everybody(self):
        program = self.directory / "tune"
        shutil.copy(TUNE, program)
        library = self.directory / "lib" / "libtuner_cublas.so"
        library.parent.mkdir()
        library.write_bytes(b"")
        command = [program, "exec", "--", "env"]
        options = dict(cwd=self.directory, env=self.environment(), text=True, capture_output=True, timeout=PATIENCE)
        self.assertIn(f"LD_PRELOAD={library}\n", subprocess.run(command, **options).stdout)
        library.parent.chmod(0o777)
        refused = subprocess.run(command, **options)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("libtuner_cublas.so was not found beside", refused.stderr)


if __name__ == "__main__":
    unittest.main()
