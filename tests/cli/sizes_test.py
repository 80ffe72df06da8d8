# SPDX-License-Identifier: Apache-2.0
"""Sizes with names, from the command line and from suites, through everything that shows them."""

import json
import unittest

from program import ProgramTest

SUITE = {
    "format": "suite/1",
    "family": "scale",
    "groups": [
        {"name": "plain", "sizes": [[32]]},
        {"name": "batched", "sizes": [{"N": 64, "BATCH": 4, "TRANS": 1}, [32]]},
    ],
}
RUN = ("--kernel", "scale", "--backend", "cpu", "--max-evals", "1")


def with_kinds(document):
    """`scale` of several vectors; TRANS is a kind of problem that changes nothing."""
    document["problem"]["dims"] += [{"name": "BATCH", "default": 1},
                                    {"name": "TRANS", "values": [0, 1], "default": 0}]
    document["problem"]["constraints"] = [{"expr": "N * BATCH < 1000", "why": "small ones only"}]
    document["arguments"][0]["value"] = "N*BATCH"
    for argument in document["arguments"][1:]:
        argument["count"] = "N*BATCH"
    for kernel in document["kernels"].values():
        kernel["launch"]["grid"] = ["ceil_div(N*BATCH, 32)"]
    document["check"]["sizes"] = [["N // 2 + 1"], {"N": 3, "BATCH": "BATCH + 1"}]


class SizesTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.space = self.space_file(with_kinds)
        self.suite = self.text_file("suite.json", json.dumps(SUITE))

    def test_a_size_with_names_from_a_suite_to_the_report(self):
        run = self.tune_json("--space", self.space, *RUN, "--sizes", f"{self.suite}:batched")
        self.assertEqual([size["size"] for size in run["kernels"][0]["sizes"]],
                         [{"N": 64, "BATCH": 4, "TRANS": 1}, [32]])
        self.assertEqual(self.rows("SELECT size FROM problem ORDER BY size"), [("32",), ("64,BATCH=4,TRANS=1",)])

        ask = ("query", "--kernel", "scale", "--size")
        exact = self.tune_json(*ask, "N=64xTRANS=1,BATCH=4")
        self.assertEqual((exact["rung"], exact["size"]), ("exact", {"N": 64, "BATCH": 4, "TRANS": 1}))
        self.assertEqual(self.tune_json(*ask, "32,TRANS=0,BATCH=1")["rung"], "exact")
        near = self.tune_json(*ask, "32,BATCH=4,TRANS=1")
        self.assertEqual((near["rung"], near["tuned"]["size"]), ("nearest", "64,BATCH=4,TRANS=1"))
        self.assertIn("scale at 64,BATCH=2,TRANS=1 on", self.tune(*ask, "64,TRANS=1,BATCH=2").stdout)
        self.assertIn("BLOCK=32", self.tune(*ask, "64,BATCH=2", "--format", "args").stdout)

        exported = self.tune("export", "--format", "t4", "--kernel", "scale", "--size", "64,TRANS=1,BATCH=4")
        self.assertIn("64,BATCH=4,TRANS=1", exported.stderr)
        self.assertIn("64,BATCH=4,TRANS=1", self.tune("runs", "list").stdout)
        self.tune("report", "-o", self.directory / "pages")
        (page,) = (self.directory / "pages").iterdir()
        self.assertIn("64, BATCH=4, TRANS=1", page.read_text())

    def test_a_suite_as_a_whole(self):
        done = self.tune("--space", self.space, *RUN, "--sizes", self.suite, "--size", "8,BATCH=2", "--dry-run")
        self.assertEqual([line.split(":")[0] for line in done.stdout.splitlines()][:3],
                         ["scale 8,BATCH=2", "scale 32", "scale 64,BATCH=4,TRANS=1"])

    def test_several_groups_of_a_suite(self):
        lists = [it for group in SUITE["groups"] for it in ("--sizes", f"{self.suite}:{group['name']}")]
        self.assertGreater(len(lists), 2)
        whole, parts = (self.tune("--space", self.space, *RUN, "--dry-run", *sizes).stdout
                        for sizes in (("--sizes", self.suite), lists))
        self.assertEqual(whole, parts)

    def test_mistakes(self):
        run = ("--space", self.space, *RUN)
        self.refuse(*run, "--sizes", f"{self.suite}:batchd", code=2, says="did you mean 'batched'?")
        self.refuse(*run, "--sizes", "nosuch.json", code=2, says="nosuch.json")
        self.refuse(*run, "--size", "8,TRANS=2", code=2, says="TRANS = 2 is none of 0, 1")
        self.refuse(*run, "--size", "8,BACH=2", code=2, says="did you mean 'BATCH'?")
        self.refuse(*run, "--size", "500,BATCH=2", code=2, says=("small ones only", "N=500, BATCH=2"))
        other = self.text_file("other.json", json.dumps({**SUITE, "family": "gemm"}))
        self.refuse(*run, "--sizes", other, code=2, says=("other.json: family", "'gemm'", "'scale'"))

    def test_a_check_size_at_which_there_is_no_launch_is_a_warning(self):
        def change(document):
            document["kernels"]["scale"]["launch"]["grid"] = ["N//BLOCK"]
        done = self.tune("space", "check", self.space_file(change))
        self.assertIn("warning: kernel scale: launch.grid[0] = N//BLOCK is 0, outside of 1 … 2147483647 (the default "
                      "configuration at the check size 1): change the launch, or take the size out", done.stderr)

    def test_what_has_no_launch_at_a_size_is_no_answer(self):
        def change(document):
            document["kernels"]["scale"]["launch"]["grid"] = ["ceil_div(N, BLOCK)", "N // 16"]
            document["check"]["sizes"] = [[16]]
        space, said = self.space_file(change), "launch.grid[1] = N // 16 is 65536, outside of 1 … 65535"
        for more in (("--dry-run",), ()):
            self.refuse("--space", space, *RUN, "--size", "1048576", *more, code=4,
                        says="no configuration of kernel scale has a launch at 1048576: kernel scale: " + said)
        both = self.tune("--space", space, *RUN, "--size", "1048576", "--size", "1024", "--dry-run")
        self.assertIn("skipped: 1 of 2 sizes for kernel scale", both.stderr)
        self.assertIn("scale 1024: 2 valid configurations\n", both.stdout)
        why = self.tune("space", "why", space, "BLOCK=32", "--kernel", "scale", "--size", "1048576", code=4)
        self.assertIn("has no launch at 1048576: kernel scale: " + said, why.stdout)
        self.tune("--space", space, *RUN, "--size", "1024")
        self.assertEqual(self.tune_json("query", "--kernel", "scale", "--size", "1048560")["rung"], "nearest")
        for more in ((), ("--json",), ("--format", "args"), ("--explain",)):
            done = self.tune("query", "--kernel", "scale", "--size", "1048576", *more, code=5)
            self.assertEqual("tune.error/1" in done.stdout, "--json" in more)
            self.assertIn("rejected: kernel scale: " + said, done.stderr)

    def test_a_configuration_without_a_launch_is_not_counted_as_valid(self):
        def change(document):
            document["kernels"]["scale"]["launch"]["grid"] = ["ceil_div(N, BLOCK)", "BLOCK * 1024"]
            document["check"]["sizes"] = [[16]]
        space = self.space_file(change)
        dry = self.tune("--space", space, *RUN, "--size", "64", "--dry-run")
        self.assertIn("scale 64: 1 valid configuration; of 1 more the first has no launch there: kernel scale: "
                      "launch.grid[1] = BLOCK * 1024 is 65536, outside of 1 … 65535\n", dry.stdout)
        (kernel,) = self.tune_json("--space", space, *RUN, "--size", "64", "--dry-run")["kernels"]
        self.assertEqual([size["valid"] for size in kernel["sizes"]], [1])

    def test_a_default_whose_number_has_another_type_is_not_valid(self):
        def change(document):
            document["kernels"]["scale"]["arguments"] = [{"name": "n", "type": "int", "value": "N*N"}, "x", "y"]
        space = self.space_file(change)
        self.refuse("space", "check", space, "--size", "64000", "--kernel", "scale", code=2,
                    says="default configuration: argument 'n' = N*N")

    def test_where_no_check_size_is_left_it_is_said(self):
        def other_code(document):
            with_kinds(document)
            document["kernels"]["scale"]["derived"] = {"REST": "N % 32"}
            document["kernels"]["scale"]["entry"] = "scale<${BLOCK} + 0 * ${REST}>"

        self.assertEqual(self.tune("space", "check", self.space).stderr, "")
        space = self.space_file(other_code)
        said = self.tune("space", "check", space, "--kernel", "scale").stderr
        self.assertIn("warning: kernel scale at 64: the default configuration is verified at no other size: "
                      "of 2 in the file 2 need other code", said)
        done = self.tune("--space", space, *RUN, "--dry-run")
        self.assertIn("is verified at no other size", done.stderr)

        def wider_where_asked(document):
            other_code(document)
            kernel = document["kernels"]["scale"]
            kernel["entry"] = "scale<${BLOCK} + 0 * ${REST} + 0 * ${WIDE}>"
            kernel["parameters"]["WIDE"] = {"values": [0, 1], "default": 0}
            kernel["constraints"] = [{"expr": "BLOCK > 32*WIDE", "why": "no narrow one is wide"}]

        done = self.tune("--space", self.space_file(wider_where_asked), *RUN, "--set", "WIDE=1")
        self.assertEqual(done.stdout.splitlines()[1].split()[-1], "BLOCK=64")
        self.assertNotIn("is verified at no other size", done.stderr)


if __name__ == "__main__":
    unittest.main()
