# SPDX-License-Identifier: Apache-2.0
"""Names, texts and files that try to be HTML, SQL, a shell's command, a path or a terminal's
command: refused, or shown as what they are."""

import html.parser
import json
import os
import stat
import subprocess
import sys
import unittest

from forgery import forge
from program import PATIENCE, ROOT, SCALE_SOURCES, SCALE_SPACE, SEED, TUNE, ProgramTest

sys.path.insert(0, str(ROOT / "tests" / "support"))
from pseudo_terminal import run_on_terminal  # noqa: E402

HTML = "<script>alert(1)</script><img src=x onerror='alert(2)'>\"&amp;"
SQL = "x'; DROP TABLE result; --"
SHELL = "$(touch pwned) `touch pwned`; touch pwned | touch pwned"
TERMINAL = "\x1b[2J\x1b]0;title\x07"
NAMES = (HTML, SQL, SHELL, "../../etc/passwd", "/etc/passwd", "a\x00b", "a\nb", TERMINAL, "\u202egpj.exe",
         "\u009b31m", "n" * 65, "", " ", "é", "-rf", "a" * 100_000)
# What a terminal acts upon; newline and tab it may.
COMMANDS = {*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), *"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"} - {"\n", "\t"}

SCALE_RUN = ("--kernel", "scale", "--backend", "cpu", "--size", "64", "--max-evals", "1")


class Page(html.parser.HTMLParser):
    """The elements and texts of a page, without the content of scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.attributes, self.texts, self.scripts = [], [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes += [name for name, _ in attrs]
        # "text/plain" holds the charts' source, which the page's own script starts when it is needed.
        is_data = dict(attrs).get("type") in ("application/json", "application/gzip", "text/plain")
        self.scripts += tag == "script" and not is_data  # a browser runs it

    def handle_data(self, data):
        self.texts.append(data)


class HostileTest(ProgramTest):
    def tune(self, *arguments, **options):
        """As always, and nothing of what is written commands a terminal."""
        done = super().tune(*arguments, **options)
        self.assertFalse(COMMANDS & set(done.stdout + done.stderr), (done.stdout, done.stderr))
        self.assertFalse((self.directory / "pwned").exists())
        return done

    def tuned(self, change=None, sources=None):
        path = self.space_file(change, sources)
        self.tune("-q", "--space", path, *SCALE_RUN)
        return path


class NameTest(HostileTest):
    def refuse_everywhere(self, change):
        path = self.space_file(change)
        self.refuse("space", "check", path, code=2, says="")
        self.refuse("--space", path, *SCALE_RUN, code=2, says="")
        self.assertFalse(self.database.exists())

    def test_names_of_everything(self):
        def kernel(space, name):
            space["kernels"][name] = space["kernels"]["scale"]

        def parameter(space, name):
            space["kernels"]["scale"]["parameters"][name] = {"values": [1], "default": 1, "kind": "define"}

        def value(space, name):
            space["kernels"]["scale"]["parameters"]["MODE"] = {"values": [name], "default": name, "kind": "define"}

        def argument(space, name):
            space["arguments"][1]["name"] = name

        def family(space, name):
            space["family"] = name

        for place in (kernel, parameter, value, argument, family):
            for name in NAMES:
                with self.subTest(place=place.__name__, name=name[:40]):
                    self.refuse_everywhere(lambda space: place(space, name))

    def test_options_that_are_none(self):
        for option in ("-D" + SQL, "-I/etc", "-include/etc/passwd", "-DA=\"/etc/passwd\"\n#include A",
                       "@/etc/passwd", "-fplugin=x.so", "-o/tmp/x", "-DA\x00-I/etc", "--pre-include=/etc/passwd"):
            with self.subTest(option=option):
                def change(space, option=option):
                    space["kernels"]["scale"]["options"] = [option]
                self.refuse_everywhere(change)

    def test_names_on_the_command_line(self):
        self.tuned()
        for name in NAMES:
            if name == "" or "\x00" in name:
                continue  # what every run's uuid begins with; what no command line can have
            with self.subTest(name=name[:40]):
                for line in (["query", f"--kernel={name}", "--size=64"], ["query", "--kernel=scale", f"--size={name}"],
                             ["query", "--kernel=scale", "--size=64", f"--device={name}"],
                             ["runs", "show", "--", name], ["space", "check", "--", name],
                             ["report", f"--device={name}", "-o", "report"]):
                    done = subprocess.run([TUNE, *line], cwd=self.directory, capture_output=True,
                                          env=self.environment(), timeout=PATIENCE)
                    output = (done.stdout + done.stderr).decode()
                    self.assertIn(done.returncode, (1, 2, 5), (line, output))
                    self.assertFalse(COMMANDS & set(output), output)
                    self.assertNotIn("defect of tune", output)
        self.assertEqual(self.rows("SELECT count(*) FROM result"), [(1,)])


class TextTest(HostileTest):
    def test_texts_are_shown_as_they_are(self):
        text = HTML + SQL + SHELL

        def change(space):
            kernel = space["kernels"]["scale"]
            space["doc"] = kernel["doc"] = kernel["parameters"]["BLOCK"]["doc"] = text
            kernel["constraints"] = [{"expr": "BLOCK <= 32", "why": text}]
        path = self.tuned(change)
        self.assertIn(text, self.tune("space", "show", path).stdout)
        self.assertIn(text, self.tune("space", "why", path, "--kernel", "scale", "BLOCK=64", code=4).stdout)
        self.assertIn("BLOCK=32", self.tune("query", "--kernel", "scale", "--size", "64", "--format", "args").stdout)
        self.assert_the_page_is_plain()
        self.assertEqual(self.rows("PRAGMA integrity_check"), [("ok",)])

    def test_texts_with_a_terminals_commands(self):
        def doc(space, text):
            space["kernels"]["scale"]["doc"] = text

        def why(space, text):
            space["kernels"]["scale"]["constraints"][0]["why"] = text

        for place in (doc, why):
            for text in (TERMINAL, "\u202egpj.exe", "\u009b31m", "a\nerror: b", "a\rb", "\x7f"):
                with self.subTest(place=place.__name__, text=text):
                    path = self.space_file(lambda space: place(space, text))
                    self.refuse("space", "show", path, code=2, says="control character")

    def test_messages_of_the_compiler(self):
        error = f"#error {TERMINAL}{HTML}\n"
        path = self.space_file(sources={"scale.cu": error + SCALE_SOURCES["scale.cu"]})
        self.tune("-q", "--space", path, *SCALE_RUN, code=4)
        self.assertIn("<script>alert(1)", self.tune("runs", "show", "1").stdout)
        self.assert_the_page_is_plain()

    def test_a_device_of_a_foreign_file(self):
        lines = map(json.loads, SEED.read_text().splitlines())
        line = next(line for line in lines if line["format"] == "tune.best/1")  # has no checksum
        line["device"]["name"] = HTML + TERMINAL
        path = self.text_file("foreign.jsonl", json.dumps(line) + "\n")
        self.refuse("import", path, code=2, says=["line 1", "'device.name' must be a text without control characters"])
        line["device"]["name"] = HTML
        path = self.text_file("foreign.jsonl", json.dumps(line) + "\n")
        self.tune("import", path)
        question = ["query", "--kernel", line["kernel"], "--size", line["problem"]]
        for command in (["runs", "list"], question, [*question, "--explain"], [*question, "--json"],
                        ["export"], ["doctor"]):
            with self.subTest(command=command):
                self.tune(*command, code=(0, 3) if command == ["doctor"] else 0)
        self.assertIn("<script>alert(1)", self.tune("export").stdout)
        self.assert_the_page_is_plain()

    def test_texts_of_a_foreign_database(self):
        self.tuned()
        texts = {"session": ("command", "started_at", "uuid", "kernel", "strategy"), "device": ("name",)}
        known = {table: {row[1] for row in self.rows(f"PRAGMA table_info({table})")} for table in texts}
        for table, columns in texts.items():
            for column in set(columns) & known[table]:
                with self.subTest(table=table, column=column):
                    [(before,)] = self.rows(f"SELECT {column} FROM {table}")
                    forge(self.database, f"UPDATE {table} SET {column} = ?", f"{before}\x1b{TERMINAL}\u009b2J\u202e\x7f")
                    for line in (["runs", "list"], ["runs", "show"], ["runs", "show", "--json"], ["export", "--format", "json"],
                                 ["export", "--format", "header"], ["export", "--format", "t4"],
                                 ["export", "--format", "cache"], ["query", "--kernel", "scale", "--size", "64"]):
                        for wide in ("60", "1000"):
                            _, said = run_on_terminal([TUNE, *line], cwd=self.directory, env=self.environment(COLUMNS=wide, TERM="xterm", NO_COLOR="1"))
                            self.assertFalse(COMMANDS & set(said), (line, said))
                            for leak in ("defect of tune", "terminate"):
                                self.assertNotIn(leak, said)
                    forge(self.database, f"UPDATE {table} SET {column} = ?", before)

    def assert_the_page_is_plain(self):
        self.tune("report", "-o", "report")
        for path in (self.directory / "report").rglob("*.html"):
            page = Page(path.read_text())
            for element in ("img", "iframe", "object", "embed", "base", "form"):
                self.assertNotIn(element, page.elements)
            for attribute in page.attributes:
                self.assertFalse(attribute.startswith("on"), attribute)
            # The page's own script; what is injected would be one more.
            self.assertLessEqual(page.scripts, 1)


class FileTest(HostileTest):
    def test_a_source_that_includes_a_file_of_someone_else(self):
        for include in ('#include "/etc/passwd"', '#include "../../../../etc/passwd"', '#define H "/etc/passwd"\n#include H',
                        '%:include "/etc/passwd"', '#incl\\\nude "/etc/passwd"', "#include </etc/passwd>"):
            with self.subTest(include=include):
                path = self.space_file(sources={"scale.cu": include + "\n" + SCALE_SOURCES["scale.cu"]})
                done = self.refuse("--space", path, *SCALE_RUN, code=2, says="scale.cu:")
                self.assertNotIn("root:", done.stderr)

    def test_file_names(self):
        for name in ("$(touch pwned).json", "; touch pwned;.json", HTML.replace("/", "") + ".json", TERMINAL + ".json",
                     "-n.json", "n" * 250 + ".json", "\u202egpj.json"):
            with self.subTest(name=name):
                for source, text in SCALE_SOURCES.items():
                    (self.directory / source).write_text(text)
                path = self.text_file(name, json.dumps(SCALE_SPACE))
                self.tune("space", "check", "--", path.name)
                self.tune("space", "show", path)
                path.write_text("{")
                self.refuse("space", "check", path, code=2, says="not valid JSON")

    def test_a_line_break_in_a_name_begins_no_message(self):
        forged = "a\nerror: forged\nnote: forged"
        for arguments in (("space", "check", forged), ("--space", forged), ("import", forged), ("merge", forged), ("replay", forged),
                          ("runs", "list", "--db", forged), ("query", "--kernel", "k", "--size", "1", "--db", forged), ("space", "import", forged),
                          ("space", "check", self.space_file(), "--device", forged), ("report", "--db", forged)):
            for content in (None, "{", "[]"):
                with self.subTest(arguments=arguments, content=content):
                    (self.directory / forged).unlink(missing_ok=True)
                    if content is not None:
                        self.text_file(forged, content)
                    done = subprocess.run([TUNE, *map(str, arguments)], cwd=self.directory, env=self.environment(), capture_output=True,
                                          text=True, timeout=PATIENCE)
                    self.assertIn(done.returncode, (1, 2, 5), done.stderr)
                    lines = (done.stdout + done.stderr).splitlines()
                    self.assertEqual([line for line in lines if line.startswith(("error: forged", "note: forged"))], [])

    def test_commands_that_messages_offer_are_quoted(self):
        database = self.text_file("$(touch pwned);touch pwned.db", "")
        database.chmod(0o666)
        done = self.refuse("runs", "list", "--db", database, code=2, says="chmod go-w")
        command = done.stderr[done.stderr.index("chmod go-w"):].split("`")[0]
        subprocess.run(["sh", "-c", command], cwd=self.directory, capture_output=True)
        self.assertFalse((self.directory / "pwned").exists(), command)
        self.assertFalse((self.directory / "pwned.db").exists(), command)

    def test_names_of_databases(self):
        for name in ("$(touch pwned).db", SQL + ".db", "a?mode=ro&vfs=x.db", "file:x.db", TERMINAL + ".db"):
            with self.subTest(name=name):
                path = self.space_file()
                self.tune("-q", "--db", self.directory / name, "--space", path, *SCALE_RUN)
                self.assertTrue((self.directory / name).exists())
                self.tune("--db", self.directory / name, "runs", "list")

    def test_space_files_that_are_bombs(self):
        bombs = {
            "deep": "[" * 500_000,
            "wide": "[" + "1," * 500_000 + "1]",
            "number": '{"format": 1e999}',
            "digits": '{"format": ' + "9" * 500_000 + "}",
            "escape": '{"format": "\\ud800"}',
            "key": '{"' + "k" * 500_000 + '": 1}',
            "twice": '{"format": "space/1", "format": "space/1"}',
            "large": '{"format": "' + "x" * (1 << 20) + '"}',
        }
        for name, text in bombs.items():
            with self.subTest(name=name):
                self.refuse("space", "check", self.text_file(name + ".json", text), code=2, says=name + ".json")
        path = self.directory / "latin.json"
        path.write_bytes(json.dumps(SCALE_SPACE).replace("scale", "sc\xe4le").encode("latin-1"))
        self.refuse("space", "check", path, code=2, says="not valid JSON")

    def test_a_space_that_no_memory_holds(self):
        def change(space):
            space["kernels"]["scale"]["parameters"].update(
                {f"P{i}": {"range": [1, 10_000, 1], "default": 1, "kind": "define"} for i in range(8)})
        self.refuse("space", "check", self.space_file(change), code=2, says="2^64")

    def test_modes_whatever_the_umask(self):
        for mask in (0o000, 0o022, 0o077):
            with self.subTest(mask=oct(mask)):
                home = self.directory / oct(mask)
                home.mkdir(mode=0o700)
                database = home / "new" / "tune.db"
                self.tune("-q", "--db", database, "--space", self.space_file(), *SCALE_RUN,
                          preexec_fn=lambda mask=mask: os.umask(mask), env={"HOME": str(home)})
                for path in (database.parent, *database.parent.iterdir()):
                    mode = stat.S_IMODE(path.stat().st_mode)
                    self.assertEqual(mode, 0o700 if path.is_dir() else 0o600, path)


if __name__ == "__main__":
    unittest.main()
