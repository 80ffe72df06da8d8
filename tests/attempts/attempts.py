#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hostile files and environments: what is tried, and what has to happen.

Usage: attempts.py [--write]

Tries everything with the program $TUNE and the application $OPEN_TABLE. --write renews the page
benchmarks/results/hostile-files.md from the list; without it a page that is out of date is an error.
"""
import contextlib
import dataclasses
import functools
import json
import os
import pathlib
import sqlite3
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
os.environ.setdefault("TUNE", "tune")
from forgery import forge, hash128, row_checksum  # noqa: E402
from program import SCALE_SOURCES, SCALE_SPACE  # noqa: E402

PAGE = ROOT / "benchmarks" / "results" / "hostile-files.md"
BOMB = 200_000
INCLUDED = SCALE_SOURCES["scale.cu"]
HOST = ('extern "C" { int open(const char*, int, ...); int socket(int, int, int); int unlink(const char*); int kill(int, int); int getppid();\n'
        'int fork(); int setsid(); unsigned sleep(unsigned); void _exit(int); void abort();\n'
        'long write(int, const void*, unsigned long); long read(int, void*, unsigned long); int close(int); char* getenv(const char*);\n'
        'int chmod(const char*, unsigned); int setxattr(const char*, const char*, const void*, unsigned long, int); void* malloc(unsigned long); void free(void*); int memfd_create(const char*, unsigned); }\n')

@dataclasses.dataclass
class Attempt:
    file: str      # what kind of file it is
    tried: str     # what an attacker does
    happened: str  # for the page
    command: object  # of the folder: the arguments of tune, or of the library's opener
    code: int = 2
    says: str = ""
    env: dict = dataclasses.field(default_factory=dict)
    library: bool = False


ATTEMPTS = []


def attempt(file, tried, says="", code=2, happened=None, **options):
    """The decorated function prepares the folder and returns the arguments."""
    def add(command):
        text = happened or f"refused: “… {says} …”"
        ATTEMPTS.append(Attempt(file, tried, text, command, code, says, **options))
        return command
    return add


def space(folder, change=None, sources=None):
    document = json.loads(json.dumps(SCALE_SPACE))
    if change:
        change(document)
    for name, text in {**SCALE_SOURCES, **(sources or {})}.items():
        (folder / name).write_text(text)
    (folder / "scale.json").write_text(json.dumps(document))
    return folder / "scale.json"


def check(tried, says, change=None, sources=None, file="space file", prepare=None, text=None):
    def command(folder):
        if prepare:
            prepare(folder)
        path = space(folder, change, sources)
        if text is not None:
            path.write_text(text)
        return ["space", "check", path]
    attempt(file, tried, says)(command)


def scale(document):
    return document["kernels"]["scale"]


def renamed(document):
    document["kernels"] = {"x; touch pwned": scale(document), "plain": document["kernels"]["plain"]}


def spaces():
    check("arrays nested 200,000 deep", "nested deeper than 32 levels", text="[" * BOMB)
    check("empty", "the file is empty", text="")
    check("not JSON", "not valid JSON", text="{'a': 1}")
    check("a key twice", "appears twice", text='{"format": "space/1", "format": "space/1"}')
    check("a later format", "a newer version", lambda d: d.update(format="space/99"))
    check("2 MiB", "larger than the limit", text=" " * (2 << 20))
    check("an unknown key", "unknown key", lambda d: scale(d).update(run="touch pwned"))
    check("a shell command as a kernel's name", "is not a name", renamed)
    check("a path as the family's name", "is not a name", lambda d: d.update(family="../../etc/passwd"))
    check("C++ as an argument's name", "is not a name",
          lambda d: d["arguments"][1].update(name="x) { system(\"touch pwned\"); } //"))
    check("a parameter's name with a NUL", "parameters.BL", lambda d: scale(d).update(
        parameters={"BL\0OCK": {"values": [32], "default": 32}}))
    check("a terminal's commands in a text", "control character", lambda d: scale(d).update(doc="\x1b]0;title\x07"))
    check("the compiler option -I/etc", "is not allowed", lambda d: scale(d).update(options=["-I/etc"]))
    check("the compiler option -include=/etc/passwd", "is not allowed",
          lambda d: scale(d).update(options=["-include=/etc/passwd"]))
    check("the compiler option -fplugin=x.so", "is not allowed", lambda d: scale(d).update(options=["-fplugin=x.so"]))
    check("a line break in a compiler option", "control character", lambda d: scale(d).update(options=["-DA=1\n#error"]))
    check("10^18 values of a parameter", "more than", lambda d: scale(d).update(
        parameters={"BLOCK": {"range": [0, 10**18, 1], "default": 32}}))
    check("a power of two that is 0", "not a power of two", lambda d: scale(d).update(
        parameters={"BLOCK": {"pow2": [0, 64], "default": 32}}))
    check("a size that divides by zero", "has no value", lambda d: d["arguments"][1].update(count="N // (N - N)"))
    check("an expression of 100,000 parentheses", "", lambda d: d["arguments"][1].update(count="(" * 100_000 + "N"))
    check("a negative size", "", lambda d: d["problem"].update(sizes={"default": [[-1]]}))
    check("source: /etc/passwd", "relative to the space file", lambda d: scale(d).update(source="/etc/passwd"))
    check("source: a file above that is no code", "outside of the space file's folder",
          lambda d: scale(d).update(source="../secret"))
    check("source: a link to such a file", "outside of the space file's folder",
          lambda d: scale(d).update(source="link.cu"),
          prepare=lambda folder: (folder / "link.cu").symlink_to(folder.parent / "secret"))
    check("source: a directory", "there is no file", lambda d: scale(d).update(source="."))
    check("source: a named pipe", "there is no file", lambda d: scale(d).update(source="pipe"),
          prepare=lambda folder: os.mkfifo(folder / "pipe"))


def include(tried, says, line, prepare=None):
    check(tried, says, sources={"scale.cu": line + "\n" + INCLUDED}, file="source", prepare=prepare)


def sources():
    include('#include "/etc/passwd"', "is an absolute path", '#include "/etc/passwd"')
    include('#include "../secret"', 'contains ".."', '#include "../secret"')
    include("the same over two lines", 'contains ".."', '#incl\\\nude "../sec\\\nret"')
    include("the same as a digraph", 'contains ".."', '%:include "../secret"')
    include("an include by a macro", "must name its file", "#define A \"/etc/passwd\"\n#include A")
    include("__has_include of a file elsewhere", "is an absolute path", '#if __has_include("/etc/shadow")\n#endif')
    include("#include_next", "may not use #include_next", "#include_next <a.h>")
    include("#embed", "may not use #embed", '#embed "/etc/passwd"')
    include("a header that is a link out of the folder", "outside of the kernel's folder", '#include "a.cuh"',
            lambda folder: (folder / "a.cuh").symlink_to("/etc/passwd"))
    check("2 MiB", "larger than the limit", sources={"scale.cu": "//" + "x" * (2 << 20)}, file="source")
    check("UTF-16", "UTF-16", file="source", prepare=None, sources={"scale.cu": INCLUDED})
    last = ATTEMPTS[-1].command

    def utf16(folder):
        command = last(folder)
        (folder / "scale.cu").write_bytes(b"\xff\xfe" + INCLUDED.encode("utf-16-le"))
        return command
    ATTEMPTS[-1].command = utf16
    def large(tried, text, happened, says="", code=0):
        attempt("source", tried, says, code, happened)(
            lambda folder: ["--dry-run", *RUN, space(folder, sources={"scale.cu": INCLUDED + text})])
    large("400,000 opening parentheses", "(" * 400_000, "read at once; the compiler fails, and its candidate alone", "does not compile", 1)
    large("70,000 declarations", "extern int a; " * 70_000, "read at once")
    large("40,000 macros that lead to __device__",
          "".join(f"#define A{i} A{i + 1}\n" for i in range(40_000)) + "#define A40000 __device__\n", "read at once")


RUN = ["-q", "--kernel", "scale", "--backend", "cpu", "--max-evals", "1", "--launch-timeout", "2", "--space"]


def kernel(tried, happened, body="", before="", code=4, says="", value="2 * x[i]", **options):
    def command(folder):
        source = HOST + before + INCLUDED.replace("  if (i < N)", f"  {body}\n  if (i < N)").replace("2 * x[i]", value)
        source = source.replace("{above}", str(folder.parent))
        return [*RUN, space(folder, sources={"scale.cu": source})]
    attempt("kernel on the cpu backend", tried, says, code, happened, **options)(command)


def kernels():
    failed = "the candidate fails, the run ends by itself: exit code 4"
    kernel("300,000 characters after extern __shared__", failed, before="extern __shared__ " + "x" * 300_000)
    kernel("templates without end", failed, before="template <int I> struct A { static constexpr int v = A<I + 1>::v; };\n"
           "static_assert(A<0>::v == 0, \"\");\n")
    kernel("a null pointer", failed, "*(volatile int*)0 = 1;")
    kernel("abort()", failed, "abort();")
    kernel("_exit(0)", failed, "_exit(0);")
    kernel("writes 4 MiB behind its output", failed, "y[N + (1 << 20)] = 1;")
    kernel("writes into its input", failed, "if (i == 0) const_cast<float*>(x)[0] = 1;")
    kernel("garbage into the channel to the tuner", failed, 'write(3, "garbage garbage garbage", 23);')
    kernel("closes all descriptors", failed, "for (int d = 0; d < 1000; ++d) close(d);")
    kernel("reads a token from the environment", "it is not there: the result is right", code=0,
           value='(getenv("GITHUB_TOKEN") != nullptr ? 3 : 2) * x[i]', env={"GITHUB_TOKEN": "secret"})
    kernel("reads the password of a cache of compilers from the environment", "it is not there: the result is right", code=0,
           value='(getenv("CCACHE_REMOTE_STORAGE") != nullptr ? 3 : 2) * x[i]', env={"CCACHE_REMOTE_STORAGE": "redis://user:secret@host"})
    refused = "refused: the result is right"
    kernel("limits the tuner to a second of the processor", refused, code=0, before='extern "C" int prlimit64(int, int, const void*, void*);\n',
           body="const unsigned long second[2] = {1, 1};", value="(prlimit64(getppid(), 0, second, nullptr) == 0 ? 3 : 2) * x[i]")
    kernel("shared memory that outlives it", refused, code=0, before='extern "C" int shmget(int, unsigned long, int);\n',
           value="(shmget(0, 4096, 01600) >= 0 ? 3 : 2) * x[i]")
    kernel("another time of the space file", refused, code=0, before='extern "C" int utimensat(int, const char*, const void*, int);\n',
           value='(utimensat(-100, "scale.json", nullptr, 0) == 0 ? 3 : 2) * x[i]')
    kernel("a system call that is newer than tune: setxattrat", refused, code=0, before='extern "C" long syscall(long, ...);\n',
           body='struct { const void* value; unsigned size, flags; } what{"b", 1, 0};',
           value='(syscall(463, -100, "scale.json", 0, "user.a", &what, sizeof what) == 0 ? 3 : 2) * x[i]')
    kernel("a terabyte of memory as a stack that grows", refused, code=0,
           before='extern "C" void* mmap(void*, unsigned long, int, int, int, long);\n',
           value="(mmap(nullptr, 1ul << 40, 3, 0x122, -1, 0) != (void*)-1 ? 3 : 2) * x[i]")
    kernel("creates a file in the working directory", refused, code=0, value='(open("pwned", 0101, 0600) >= 0 ? 3 : 2) * x[i]')
    kernel("writes over the space file", refused, code=0, value='(open("scale.json", 2) >= 0 ? 3 : 2) * x[i]')
    kernel("a socket to another machine", refused, code=0, value="(socket(2, 1, 0) >= 0 ? 3 : 2) * x[i]")
    kernel("ends the tuner by a signal", refused, code=0, value="(kill(getppid(), 0) == 0 ? 3 : 2) * x[i]")
    kernel("a socket of this machine, as of a bus or a daemon", refused, code=0, value="(socket(1, 1, 0) >= 0 ? 3 : 2) * x[i]")
    kernel("lets everybody read the space file", refused, code=0, value='(chmod("scale.json", 0666) == 0 ? 3 : 2) * x[i]')
    kernel("an attribute of the space file", refused, code=0,
           value='(setxattr("scale.json", "user.a", "b", 1, 0) == 0 ? 3 : 2) * x[i]')
    kernel("a program into the cache that applications load from", refused, code=0, env={"XDG_CACHE_HOME": "{folder}/cache"},
           value='(open("cache/tune/binaries/planted.bin", 0101, 0600) >= 0 ? 3 : 2) * x[i]')
    kernel("a message of two million empty parts to the tuner", failed,
           body="if (i == 0) { char* all = (char*)malloc(2097165); const unsigned char head[13] = {'t', 'u', 'n', 'e', 5, 0, 32, 0, "
                "0x9a, 0, 32, 0, 0}; for (int k = 0; k < 2097165; ++k) all[k] = k < 13 ? head[k] : 0xf6; write(3, all, 2097165); }")
    kernel("all memory of the machine", "the system ends that process first, not another", code=0,
           body='char first[8] = {}; const int file = open("/proc/self/oom_score_adj", 0); read(file, first, 4); close(file);',
           value="(first[0] == '1' && first[3] == '0' ? 2 : 3) * x[i]")
    kernel("processes without end", "refused: the result is right", code=0,
           body="const int made = fork(); if (made == 0) _exit(0);", value="(made > 0 ? 3 : 2) * x[i]")
    kernel("another program in its place", refused, code=0, before='extern "C" int execl(const char*, ...);\n',
           body='if (i == 0) execl("/bin/true", "true", (char*)nullptr);')
    kernel("20 TiB of memory that it does not use", "what is free in the machine: the result is right", code=0,
           body="int blocks = 0; char** last = nullptr; if (i == 0) while (blocks < 20000) { char** next = (char**)malloc(1ul << 30); "
                "if (!next) break; *next = (char*)last; last = next; ++blocks; } "
                "while (last) { char** next = (char**)*last; free(last); last = next; }", value="(blocks == 20000 ? 3 : 2) * x[i]")
    kernel("memory that is a file", refused, code=0, value='(memfd_create("memory", 0) >= 0 ? 3 : 2) * x[i]')
    home = {"HOME": "{folder}"}
    kernel("reads a key in the home directory", refused, code=0, env=home, value='(open("../secret", 0) >= 0 ? 3 : 2) * x[i]')
    kernel("reads the user's passwords (/etc/passwd)", refused, code=0, value='(open("/etc/passwd", 0) >= 0 ? 3 : 2) * x[i]')
    kernel("reads the environment of the tuner", refused, code=0,
           body='char name[32] = "/proc/"; int at = 6; int digits = 0; char word[12]; for (int pid = getppid(); pid; pid /= 10) '
                'word[digits++] = (char)(48 + pid % 10); while (digits) name[at++] = word[--digits]; '
                'const char rest[] = "/environ"; for (int k = 0; k < 9; ++k) name[at + k] = rest[k];', value="(open(name, 0) >= 0 ? 3 : 2) * x[i]")
    kernel("reads the memory of the tuner", refused, code=0, before='extern "C" long process_vm_readv(int, const void*, unsigned long, const void*, unsigned long, unsigned long);\n',
           body="char byte; struct { const void* at; unsigned long size; } here{&byte, 1}, there{(const void*)0x400000, 1};",
           value="(process_vm_readv(getppid(), &here, 1, &there, 1, 0) == 1 ? 3 : 2) * x[i]")
    kernel("3 GB in its program by the assembler", failed, body='asm volatile(".pushsection .data\\n.zero 3000000000\\n.popsection");')
    for path in ("{above}/secret", "/etc/passwd"):
        kernel(f".incbin of {path.replace('{above}', '..')} in its assembler code", failed,
               body=f'asm volatile(".pushsection .rodata\\n.incbin \\"{path}\\"\\n.popsection");')


@functools.cache
def honest_run():
    """The content of the database of an honest run, which each attempt changes in its own way."""
    with tempfile.TemporaryDirectory(prefix="tune-attempt-") as above:
        folder = pathlib.Path(above)
        run([*RUN, space(folder), "--db", folder / "theirs.db"], folder, {}, check=True)
        return (folder / "theirs.db").read_bytes()


@functools.cache
def honest_table():
    """What `tune export` writes of it."""
    with tempfile.TemporaryDirectory(prefix="tune-attempt-") as above:
        folder = pathlib.Path(above)
        return run(["export", "--format", "json", "--db", tuned(folder)], folder, {}, check=True).stdout


def tuned(folder):
    """A database of an honest run, beside the sources that it tuned."""
    space(folder)
    database = folder / "theirs.db"
    database.touch(mode=0o600)
    database.write_bytes(honest_run())
    return database


def database(tried, says, command, change=None, code=2, happened=None, **options):
    def prepared(folder):
        path = tuned(folder)
        if callable(change):
            change(path)
        elif change:
            forge(path, change)
        return [*command, path] if command[0] == "merge" else [*command, "--db", path]
    attempt("database", tried, says, code, happened, **options)(prepared)


def nested(path):
    forge(path, f"UPDATE config SET json = '{'[' * BOMB}{']' * BOMB}'")


def plain(path, script):
    with contextlib.closing(sqlite3.connect(path)) as opened:
        opened.create_function("row_checksum", -1, row_checksum, deterministic=True)
        opened.executescript(script)


def databases():
    other = "UPDATE kernel SET source_text = replace(source_text, '2 *', '3 *') WHERE name = 'scale'"
    cpp = ["query", "--kernel", "scale", "--size", "64", "--format", "cpp"]
    listed = ["runs", "list"]
    database("another source under a known hash, merged", "not what was tuned", ["merge"], other)
    database("the same, exported as a table", "not what was tuned", ["export", "--format", "json"], other)
    database("the same, exported as a header", "not what was tuned", ["export", "--format", "header"], other)
    database("the same, printed as code", "not what was tuned", cpp, other)
    database("another header under a known hash", "not what was tuned", ["merge"],
             """UPDATE kernel SET headers_json = '[{"name": "a.cuh", "text": "int a;"}]' WHERE name = 'scale'""")
    database("another launch under a known hash", "not what was tuned", ["merge"],
             "UPDATE kernel SET space_text = replace(space_text, 'ceil_div(N, BLOCK)', 'ceil_div(N, 1)')")
    database("a launch divided by 2, behind // as if it were a comment", "not what was tuned", ["merge"],
             "UPDATE kernel SET space_text = replace(space_text, 'ceil_div(N, BLOCK)', 'ceil_div(N, BLOCK)//2')")
    database("a comment that g++ continues over the check of bounds", "not what was tuned", ["merge"],
             r"UPDATE kernel SET source_text = replace(source_text, '  if (i < N)', '  // \ ' || char(10) || '  if (i < N)') WHERE name = 'scale'")
    database("a hash of the form of before SHA-256", "not what was tuned", cpp,
             "UPDATE kernel SET hash = '0123456789abcdef0123456789abcdef' WHERE name = 'scale'")
    database("a kernel's file of another family", "is of the family scale", ["merge"],
             "UPDATE kernel SET family = 'gemm'")
    database("code in a source's name, printed as code", "is not the name of a source file", cpp,
             "UPDATE kernel SET source_name = 'a.cu\"\n#include \"/etc/passwd' WHERE name = 'scale'")
    database("a compiler option in the stored space file", "is not allowed", ["merge"],
             "UPDATE kernel SET space_text = replace(space_text, '\"source\": \"scale.cu\"',"
             " '\"options\": [\"-include=/etc/passwd\"], \"source\": \"scale.cu\"')")
    database("a stored space file nested 200,000 deep", "nested deeper than 32 levels", ["merge"],
             f"UPDATE kernel SET space_text = '{'[' * BOMB}' WHERE name = 'scale'")
    database("a configuration nested 200,000 deep, exported", "nested deeper than 32 levels", ["export"], nested)
    database("a shell's commands as the command of a run", "", ["runs", "show"],
             "UPDATE session SET command = 'tune; touch pwned'", 0, "shown quoted: tune ';' …, or not at all")
    database("a terminal's commands as the device's name", "", ["runs", "list"],
             "UPDATE device SET name = char(27) || ']0;title' || char(7)", 0, "shown as \\x1b]0;title\\x07")
    database("an escape that ends nowhere as the device's name, exported", "", ["export", "--format", "json"],
             "UPDATE device SET name = name || char(27) || '[31'", 0, "shown as \\x1b[31")
    database("HTML as a device's name, in a report", "", ["report", "-o", "pages"],
             "UPDATE device SET name = '<script>alert(1)</script>'", 0, "shown as text")
    database("a row that was changed by sqlite3", "", listed,
             lambda path: plain(path, "PRAGMA writable_schema = ON; UPDATE session SET seed = seed + 1;"), 0,
             "computed anew by SQLite: a checksum detects damage, not forgery")
    database("a flipped byte in a row", "damaged", listed, flip, 1)
    database("a trigger that deletes all runs", "its tables are not those that tune makes", listed,
             lambda path: plain(path, "CREATE TRIGGER t AFTER INSERT ON session BEGIN DELETE FROM session; END;"), 1)
    database("a view in place of a table", "", listed,
             lambda path: plain(path, "ALTER TABLE strike RENAME TO s; CREATE VIEW strike AS SELECT * FROM s;"), 1)
    database("of another application", "another application", listed, lambda path: plain(path, "PRAGMA application_id = 7"))
    database("of a newer version", "newer tune", listed, lambda path: plain(path, "PRAGMA user_version = 99"))
    database("of schema -5", "damaged", listed, lambda path: plain(path, "PRAGMA user_version = -5"), 1)
    database("writable for everybody", "other users may write to the file", listed, lambda path: path.chmod(0o666))
    database("in a directory for everybody", "other users may write to the directory", listed,
             lambda path: path.parent.chmod(0o777))
    database("in a directory such as /tmp", "in a directory of your own", listed, lambda path: path.parent.chmod(0o1777))
    database("text", "is not a database", listed, lambda path: path.write_text("text\n" * 1000))
    database("a directory", "is a directory", listed, lambda path: (path.unlink(), path.mkdir()))
    database("a named pipe", "is a pipe or a device", listed, lambda path: (path.unlink(), os.mkfifo(path)))
    names = "names a second journal"
    database("a journal by which SQLite deletes a file of the reader", names, listed, journal)
    database("the same, for a run", names, [*RUN, "scale.json"], journal)
    database("a named pipe as its journal", "is not a regular file", listed, lambda path: pipe(f"{path}-journal"))
    database("a named pipe as its shared memory", "is not a regular file", listed, lambda path: pipe(f"{path}-shm"))
    database("a link to a device", "is a pipe or a device", listed, lambda path: (path.unlink(), path.symlink_to("/dev/zero")))


def pipe(path):
    """In place of what the writer may have left there."""
    pathlib.Path(path).unlink(missing_ok=True)
    os.mkfifo(path)


def flip(path):
    content = bytearray(path.read_bytes())
    at = content.find(b"AMD") if b"AMD" in content else content.find(b"cpu")
    content[content.find(b"tune", at)] ^= 1
    path.write_bytes(content)


def journal(path):
    """A rollback journal of no pages that names ../secret as its super-journal (sqlite.org/fileformat.html, section 3)."""
    magic, name = bytes.fromhex("d9d505f920a163d7"), str(path.parents[1] / "secret").encode()
    head = magic + struct.pack(">5I", 0, 1, path.stat().st_size // 4096, 512, 4096)
    end = struct.pack(">I", 0x40000000 // 4096 + 1) + name + struct.pack(">2I", len(name), sum(name)) + magic
    pathlib.Path(f"{path}-journal").write_bytes(head.ljust(512, b"\0") + end)


def lines():
    def line(tried, says, text, command=("import",), name="lines.jsonl", file="exported lines"):
        def prepared(folder):
            (folder / name).write_text(text)
            return [*command, folder / name]
        attempt(file, tried, says)(prepared)
    line("nested 200,000 deep", "nested deeper than 32 levels", "[" * BOMB)
    line("another format", "format", json.dumps({"format": "tune/99"}))
    seed = (ROOT / "tests" / "data" / "bests" / "nvidia-h200.jsonl").read_text().splitlines()[0]
    line("a faster time, with the old checksum", "checksum", seed.replace('"median":', '"median":1e-9,"x":', 1))
    impossible = json.loads(next(each for each in (ROOT / "tests/data/store/best-1.jsonl").read_text().splitlines()))

    def number(tried, says, change):
        document = json.loads(json.dumps(impossible))
        change(document)
        line(tried, says, json.dumps(document))
    number("a time of 1e-300 ns", "is impossible", lambda d: d["time_ns"].update(min=1e-300, q1=1e-300, median=1e-300, q3=1e-300))
    number("999,999,999 times as fast as the library", "'library.ratio' is 1e+09", lambda d: d["library"].update(ratio=999999999))
    number("a ratio outside of its interval", "outside of its interval", lambda d: d["library"].update(ratio=1, ratio_low=3, ratio_high=2))
    number("of the year 9999", "a date from 2007 to 2099", lambda d: d.update(recorded_at="9999-01-01T00:00:00Z"))
    number("a device's name of 200,000 characters", "at most 1024", lambda d: d["device"].update(name="H" * BOMB))
    line("no JSON", "not valid JSON", "__import__('os').system('touch pwned')")
    t1 = {"ConfigurationSpace": {"TuningParameters": [{"Name": "BLOCK", "Type": "int", "Values": "[32, 64]", "Default": 32}],
                                 "Conditions": []},
          "KernelSpecification": {"Language": "CUDA", "KernelName": "scale", "ProblemSize": [64], "Arguments": [],
                                  "KernelFile": "scale.cu"}}

    def description(tried, says, change):
        document = json.loads(json.dumps(t1))
        change(document)
        line(tried, says, json.dumps(document), ("space", "import"), "t1.json", "T1 description")
    description("KernelFile: ../../../etc/passwd", "outside of the file's folder",
                lambda d: d["KernelSpecification"].update(KernelFile="../../../etc/passwd"))
    description("KernelFile: /etc/passwd", "outside of the file's folder",
                lambda d: d["KernelSpecification"].update(KernelFile="/etc/passwd"))
    description("Python that runs a program as a list of values", "",
                lambda d: d["ConfigurationSpace"]["TuningParameters"][0].update(Values="[__import__('os').system('touch pwned')]"))
    description("Python that fills the memory", "",
                lambda d: d["ConfigurationSpace"]["TuningParameters"][0].update(Values="[1] * 10**12"))
    line("nested 200,000 deep", "nested deeper than 32 levels", "[" * BOMB, ("space", "import"), "t1.json", "T1 description")
    for tried, text in (("nested 200,000 deep", "[" * BOMB), ("empty", ""), ("the first half of one",
                        (ROOT / "tests" / "data" / "interop" / "t4.json").read_text()[:300])):
        line(tried, "", text, ("replay",), "recording.json", "recording")


def table(tried, says, change, happened=None, code=1):
    def prepared(folder):
        path = folder / "table.json"
        path.write_text(change(honest_table()))
        if change is writable:
            path.chmod(0o666)
        return ["file", path]
    attempt("dispatch table", tried, says, code, happened, library=True)(prepared)


def writable(text):
    return text


def signed(text):
    """With the checksum of the text as it is now."""
    head, rest = text.split("\n", 1)
    data = struct.pack("<Q", len(rest.encode())) + rest.encode()
    return head.replace(json.loads(head + "]}")["checksum"], hash128(data)) + "\n" + rest


def tables():
    def other(text):
        return text.replace("2 * x[i]", "3 * x[i]")

    def deep(text):
        return text.replace('"environments":', f'"deep":{"[" * BOMB}{"]" * BOMB},"environments":', 1)

    def twice(text):
        begin, end = text.index("\n{") + 1, text.rindex("\n]}")
        return text[:end] + ",\n" + text[begin:end] + text[end:]
    table("as it was exported", "", lambda text: text, "taken", 0)
    table("the same with its checksum computed anew", "", signed, "taken", 0)
    table("another source under a known hash", "not what was tuned", other)
    table("the same with a checksum that fits", "not what was tuned", lambda text: signed(other(text)))
    table("another launch under a known hash", "not what was tuned",
          lambda text: signed(text.replace("ceil_div(N, BLOCK)", "ceil_div(N, 1)")))
    table("nested 200,000 deep", "nested deeper than 32 levels", deep)
    table("the same with a checksum that fits", "nested deeper than 32 levels", lambda text: signed(deep(text)))
    table("a kernel twice", "twice", lambda text: signed(twice(text)))
    table("code in a source's name", "is not the name of a source file",
          lambda text: signed(text.replace('"source_name":"scale.cu"', '"source_name":"a.cu\\"\\n#error"')))
    table("a time below zero", "out of range", lambda text: signed(text.replace('"median_ns":', '"median_ns":-')))
    table("cut in the middle", "", lambda text: text[:len(text) // 2])
    table("no JSON", "not valid JSON", lambda text: "table")
    table("empty", "the file is empty", lambda text: "")
    table("writable for everybody", "other users may write to the file", writable)


def environments():
    @attempt("environment", "a tune.db in the working directory of an application", "no database at", 1,
             "not opened: the user's is", library=True, env={"TUNER_DB": "", "XDG_DATA_HOME": "/nonexistent"})
    def here(folder):
        tuned(folder).rename(folder / "tune.db")
        return ["default"]

    @attempt("environment", "the same, with XDG_DATA_HOME=.", "no database at", 1, "not opened: a relative path is ignored",
             library=True, env={"TUNER_DB": "", "XDG_DATA_HOME": "."})
    def relative(folder):
        (folder / "tune").mkdir()
        tuned(folder).rename(folder / "tune" / "tune.db")
        return ["default"]

    @attempt("environment", "a tune.db in the working directory of `tune`", "./tune.db is not used", 5,
             "not opened, and said so", env={"TUNER_DB": ""})
    def announced(folder):
        tuned(folder).rename(folder / "tune.db")
        return ["runs", "list"]

    @attempt("environment", "TUNER_DB=file:x?mode=memory", "no database at file:x?mode=memory", 5,
             "a file of this name", env={"TUNER_DB": "file:x?mode=memory"})
    def address(folder):
        return ["runs", "list"]

    @attempt("environment", "a cache that others may write", "other users may write", 0, "not used, and said so",
             env={"XDG_CACHE_HOME": "{folder}/open"})
    def cache(folder):
        (folder / "open" / "tune" / "binaries").mkdir(parents=True)
        (folder / "open" / "tune" / "binaries").chmod(0o777)
        return ["--kernel", "scale", "--backend", "cpu", "--max-evals", "1", "--space", space(folder)]


def run(arguments, folder, env, check=False, library=False):
    mine = {"TUNER_DB": str(folder / "mine.db"), "TERM": "dumb", "HOME": str(folder)}
    env = {name: value.replace("{folder}", str(folder)) for name, value in env.items()}
    surroundings = {name: value for name, value in os.environ.items() if name not in ("CI", "XDG_DATA_HOME")}
    program = os.environ["OPEN_TABLE" if library else "TUNE"]
    return subprocess.run([program, *map(str, arguments)], cwd=folder, env={**surroundings, **mine, **env}, text=True,
                          capture_output=True, timeout=300, check=check)


def failure(one):
    """What did not happen as it has to; empty when all did."""
    with tempfile.TemporaryDirectory(prefix="tune-attempt-") as above:
        folder = pathlib.Path(above) / "folder"
        folder.mkdir(mode=0o700)
        (folder.parent / "secret").write_text("password\n")
        done = run(one.command(folder), folder, one.env, library=one.library)
        folder.chmod(0o700)
        said = done.stdout + done.stderr
        if done.returncode != one.code:
            return f"exit code {done.returncode} instead of {one.code}: {said[:600]}"
        if one.says not in done.stderr:
            return f"does not say “{one.says}”: {done.stderr[:600]}"
        if "password" in said or "root:" in said:
            return "it shows a file of somebody else"
        if "\x1b" in said or "\x07" in said:
            return "it commands the terminal"
        if any(folder.rglob("pwned")):
            return "a foreign command ran"
        if not (folder.parent / "secret").exists():
            return "it deletes a file of somebody else"
    return ""


# Measured once, on 2026-11-24, on two shared cores (AMD EPYC).
FIGURES = """
## Figures

|what|result|command|
|---|---|---|
|fuzz targets under AddressSanitizer and UndefinedBehaviorSanitizer, 59 min in all, 11 targets|17.9 million inputs, one finding: a whole \
number of a dispatch table beyond 64 bits was converted; it is refused now|`scripts/fuzz.sh 270`, then 450 s of `printed_code` and \
`dispatch_table`|
|opening a table of 10,000 entries, with its checksum|8.1 ms of CPU time (8.0 to 8.2), 14.5 ms of a busy machine|`dispatch_benchmark opening 50`|
|a candidate with the sandbox, relative to one without, 25 alternating pairs of a release build, 2026-11-25|0.997 of the CPU time \
(95 % interval 0.943 to 1.031), 0.998 of the wall time (0.936 to 1.041); becoming a confined compiler 2.7 ms, 0.6 % of a candidate|`benchmarks/isolation/sandbox.py --pairs 25`|
"""


def page():
    lines = ["# Hostile files", "",
             f"{len(ATTEMPTS)} files and environments that attack who opens them, tried by `tests/attempts/attempts.py`, which writes this page: "
             "with each the program or the library ends by itself with the exit code and the message expected, shows no other file, "
             "runs nothing and sends a terminal nothing. What is promised: [security](../../SECURITY.md).", "",
             "|file|tried|what happened|", "|---|---|---|"]
    for one in ATTEMPTS:
        happened = one.happened if one.says or "refused" not in one.happened else f"refused: exit code {one.code}"
        lines.append("|" + "|".join(text.replace("|", "\\|") for text in (one.file, one.tried, happened)) + "|")
    return "\n".join(lines) + "\n" + FIGURES


def main():
    for group in (spaces, sources, kernels, databases, lines, tables, environments):
        group()
    if "--write" in sys.argv:
        PAGE.write_text(page())
    failures = [] if PAGE.exists() and PAGE.read_text() == page() else [f"{PAGE} is out of date: attempts.py --write"]
    for one in ATTEMPTS:
        try:
            why = failure(one)
        except subprocess.SubprocessError as error:
            why = f"{error}: {getattr(error, 'stderr', '')}"
        if why:
            failures.append(f"{one.file}: {one.tried}: {why}")
    print(f"{len(ATTEMPTS)} attempts, {len(failures)} failures")
    sys.exit("\n".join(failures) or 0)


if __name__ == "__main__":
    main()
