# SPDX-License-Identifier: Apache-2.0
"""`tune export --format json|header`: the dispatcher's table, to ship and to compile in."""

import json
import os
import subprocess
import unittest

from program import PATIENCE, SEED, SHORT_RUN, ProgramTest

COMPILER = os.environ["HOST_COMPILER"]


class DispatchTableTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.fill(*SHORT_RUN)

    def test_json_holds_the_kernel_and_its_results(self):
        done = self.tune("export", "--format", "json")
        document = json.loads(done.stdout)
        self.assertEqual(document["format"], "dispatch/1")
        self.assertIn("__global__", done.stdout)
        self.assertIn("1 kernel and 1 tuned size on ", done.stderr)
        self.assertEqual(self.tune("export", "--format", "json", "--family", "gemm", "--kernel", "gemm_naive").stdout,
                         done.stdout)
        self.tune("export", "--format", "json", "-o", "table.json")
        self.assertEqual((self.directory / "table.json").read_text(), done.stdout)

    def test_a_kernel_without_a_result_on_the_device_is_not_in_its_table(self):
        before = self.tune("export", "--format", "json")
        device = json.loads(before.stdout)["device"]["name"]
        self.tune("-q", "import", SEED)
        after = self.tune("export", "--format", "json", "--device", device)
        self.assertIn("1 kernel and 1 tuned size on ", after.stderr)
        self.assertEqual(json.loads(after.stdout)["kernels"], json.loads(before.stdout)["kernels"])

    def test_a_header_gives_the_json_back(self):
        document = self.tune("export", "--format", "json").stdout
        for name, arguments in (("gemm_table", ()), ("my_table", ("--name", "my_table"))):
            self.tune("export", "--format", "header", *arguments, "-o", "table.hpp")
            source = self.text_file("main.cpp", '#include "table.hpp"\n#include "table.hpp"\n#include <cstdio>\n'
                                    f"int main() {{ std::fputs({name}().c_str(), stdout); }}\n")
            for standard in ("c++11", "c++17", "c++20"):
                with self.subTest(name=name, standard=standard):
                    subprocess.run([COMPILER, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                                    str(source), "-o", str(self.directory / "main")], check=True, timeout=PATIENCE)
                    text = subprocess.run([str(self.directory / "main")], check=True, capture_output=True, text=True)
                    self.assertEqual(text.stdout, document)

    def test_what_cannot_be(self):
        refuse = ("export", "--format")
        self.refuse(*refuse, "header", "--name", "my-table", code=2, says=["--name", "my-table"])
        self.refuse(*refuse, "json", "--name", "table", code=2, says=["--name", "json", "header"])
        self.refuse(*refuse, "json", "--size", "16,16,16", code=2, says=["--size", "cache, t4"])
        self.refuse(*refuse, "cache", "--family", "gemm", code=2, says=["--family", "bests, json, header"])
        self.refuse(*refuse, "jsn", code=2, says=["'jsn'", "'json'"])
        self.refuse(*refuse, "json", "--family", "gem", code=5, says="gem")
        self.refuse(*refuse, "header", "--device", "no such", code=5, says="no such")


if __name__ == "__main__":
    unittest.main()
