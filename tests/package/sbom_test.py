# SPDX-License-Identifier: Apache-2.0
"""tuner.spdx.json names exactly what of other projects is inside each installed file: what its link takes in and which
headers its sources were compiled with, as Ninja says."""

import functools
import json
import os
import pathlib
import re
import subprocess
import unittest

BUILD = pathlib.Path(os.environ["BUILD"])
PREFIX = pathlib.Path(os.environ["PREFIX"])
ARCHIVES = {"libsqlite3.a": "SQLite", "libSQLiteCpp.a": "SQLiteCpp", "libmd.a": "libmd",
            "libboost_context.a": "Boost.Context", "libcudart_static.a": "cudart"}
EMPTY = {"librt.a", "libpthread.a", "libdl.a"}  # empty since glibc 2.34
HEADERS = {"fmt/": "fmt", "nlohmann/": "nlohmann-json", "boost/": "Boost.Context", "xxhash.h": "xxHash", "CLI/": "CLI11",
           "SQLiteCpp/": "SQLiteCpp"}
DECLARATIONS = ("sqlite3.h", "zlib.h", "zconf.h", "sha2.h", "md5.h")  # of what is linked
OF_THE_SYSTEM = re.compile("/usr/(include/(c\\+\\+|[a-z0-9_]+-linux-gnu)/|lib/gcc/|local/cuda)")
OF_THE_C_LIBRARY = "(?:libc6-dev|linux-libc-dev)(?::.*)?"

# Of the text of a licence.
WORDS_OF = {"MIT": "Permission is hereby granted", "blessing": "public domain", "BSL-1.0": "Boost Software License",
            "BSD-3-Clause": "Redistributions of source code", "BSD-2-Clause": "Redistributions of source code",
            "Apache-2.0": "Apache License", "0BSD": "Permission to use, copy", "GPL-3.0-or-later": "GCC RUNTIME LIBRARY EXCEPTION"}


def ninja(*arguments):
    return subprocess.run(["ninja", "-C", BUILD, *arguments], check=True, text=True, capture_output=True).stdout


@functools.cache
def of_the_c_library():
    """The files of its packages: to ask dpkg for the package of each header takes a third of a second."""
    packages = re.findall("(?m)^" + OF_THE_C_LIBRARY + "$", subprocess.run(
        ["dpkg-query", "-W", "-f", "${binary:Package}\\n"], check=True, text=True, capture_output=True).stdout)
    return set(subprocess.run(["dpkg", "-L", *packages], check=True, text=True, capture_output=True).stdout.splitlines())


def is_of_the_system(path):
    return bool(OF_THE_SYSTEM.match(path)) or path in of_the_c_library()


def built_file(name):
    """Ninja's name of an installed file."""
    if name == "tune":
        return name
    folder = {"tuner-compile": "libexec/tuner", "libtuner_cublas.so": "lib", "libtuner_capture.so": "lib"}.get(name, "tuner/dispatch")
    return str((BUILD / folder / name).resolve().relative_to(BUILD.resolve()))


def inside(name):
    inputs = ninja("-t", "inputs", built_file(name)).split()
    archives = {pathlib.Path(path).name for path in inputs if path.startswith("/usr") and path.endswith(".a")}
    found = {ARCHIVES[name] for name in archives - EMPTY}
    objects = [path for path in inputs if path.endswith(".o")]
    for line in set(ninja("-t", "deps", *objects).splitlines()):
        path = line.strip()
        if not path.startswith("/usr"):
            continue
        path = os.path.normpath(path)
        part = next((part for start, part in HEADERS.items() if path.startswith("/usr/include/" + start)), None)
        if part:
            found.add(part)
        elif not path.endswith(DECLARATIONS) and not is_of_the_system(path):
            raise AssertionError(f"{path}: of which project?")
    return found


class SbomTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sbom = json.loads((PREFIX / "share/tuner/tuner.spdx.json").read_text())
        cls.names = {package["SPDXID"]: package["name"] for package in cls.sbom["packages"]}

    def related(self, kind, name):
        return {self.names[it["relatedSpdxElement"]] for it in self.sbom["relationships"]
                if it["relationshipType"] == kind and self.names.get(it["spdxElementId"], "document") == name}

    def test_is_spdx(self):
        self.assertEqual(self.sbom["spdxVersion"], "SPDX-2.3")
        self.assertEqual(len(self.names), len(self.sbom["packages"]))
        for package in self.sbom["packages"]:
            self.assertRegex(package["SPDXID"], r"^SPDXRef-[A-Za-z0-9.-]+$")
            self.assertRegex(package["versionInfo"], r"^[0-9]+(\.[0-9]+)+$", package["name"])
            self.assertRegex(package["licenseDeclared"], r"^[A-Za-z0-9.-]+( WITH [A-Za-z0-9.-]+)?$", package["name"])
        self.assertRegex(self.sbom["creationInfo"]["created"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")

    def test_describes_what_is_installed(self):
        described = self.related("DESCRIBES", "document")
        programs = {path.name for folder in ("bin", "libexec/tuner") for path in (PREFIX / folder).glob("*")}
        libraries = {path.name for path in PREFIX.glob("lib/**/libtuner_*.so")}
        self.assertEqual(described, programs | libraries)

    def test_names_exactly_what_is_inside(self):
        for name in self.related("DESCRIBES", "document"):
            with self.subTest(name):
                # Of another language, or of the compiler.
                listed = self.related("CONTAINS", name) - {"echarts", "zrender", "tslib", "libstdc++"}
                self.assertEqual(listed, inside(name))

    def test_tells_the_compilers_library_where_it_is_inside(self):
        for name in self.related("DESCRIBES", "document"):
            [path] = [path for folder in ("bin", "lib*", "libexec/tuner", "lib/*") for path in PREFIX.glob(f"{folder}/{name}")]
            needed = subprocess.run(["readelf", "-d", path], check=True, text=True, capture_output=True).stdout
            self.assertEqual("libstdc++" in self.related("CONTAINS", name), "[libstdc++.so" not in needed, name)

    def test_has_the_licence_of_everything_inside(self):
        contained = set().union(*(self.related("CONTAINS", name) for name in self.related("DESCRIBES", "document")))
        texts = {folder.name: "".join(text.read_text() for text in folder.iterdir())
                 for folder in (PREFIX / "share/tuner/licenses").iterdir()}
        self.assertEqual(set(texts), contained - {"cudart"}, "NVIDIA's Toolkit brings no text")
        for package in self.sbom["packages"]:
            if package["name"] in texts:
                words = WORDS_OF[package["licenseDeclared"].partition(" ")[0]]
                self.assertRegex(texts[package["name"]], words, package["name"])

    def test_tells_the_charts_of_the_report(self):
        has_charts = b"echarts" in (PREFIX / "bin/tune").read_bytes()
        self.assertEqual("echarts" in self.related("CONTAINS", "tune"), has_charts)


if __name__ == "__main__":
    unittest.main()
