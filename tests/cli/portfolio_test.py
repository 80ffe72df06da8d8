# SPDX-License-Identifier: Apache-2.0
"""tune portfolio: few configurations for many sizes, stored, served and exported."""

import fcntl
import json
import signal
import subprocess
import unittest

from program import GEMM, PATIENCE, SCALE_SOURCES, TUNE, ProgramTest

SCALE = ("--backend", "cpu", "-q")


class PortfolioTest(ProgramTest):
    def distribution(self, **changed):
        path = self.directory / "sizes.json"
        document = {"format": "distribution/1", "family": "scale",
                    "shapes": [{"dims": {"N": [16, 80, 400, 900, 2000, 4000]}}]}
        path.write_text(json.dumps(document | changed))
        return path

    def portfolio(self, *arguments, space=None, **options):
        return self.tune("portfolio", "--space", space or self.space_file(), "--like", self.distribution(),
                         "--draw", "4", *SCALE, *arguments, **options)

    def test_members_are_chosen_stored_and_answer_for_untuned_sizes(self):
        done = json.loads(self.portfolio("--json", "-k", "2").stdout)
        self.assertEqual(done["schema"], "tune.portfolio/1")
        (portfolio,) = done["portfolios"]
        self.assertEqual(len(portfolio["sizes"]), 4)
        self.assertEqual(len(portfolio["further_sizes"]), 2)
        self.assertIn(len(portfolio["members"]), (1, 2))
        self.assertLessEqual(1, portfolio["loss"])
        self.assertLessEqual(portfolio["loss"], portfolio["left_out_loss"] + 1e-9)
        self.assertIsNone(portfolio["library_loss"], "the family has no library")
        members = [done["candidates"][i]["kernel"] for i in portfolio["members"]]
        answer = self.tune("query", "--family", "scale", "--size", "777", "--explain").stdout
        self.assertRegex(answer, "of the .* of the portfolio of")
        self.assertTrue(any(kernel in answer for kernel in members), answer)
        self.assertEqual(len(json.loads(self.tune("runs", "list", "--json").stdout)["sessions"]), 2, "of each kernel one")

    def test_the_same_command_again_runs_nothing(self):
        space = self.space_file()
        first = json.loads(self.portfolio("--json", space=space).stdout)
        again = json.loads(self.portfolio("--json", space=space).stdout)
        self.assertGreater(first["trials"], 0)
        self.assertEqual(again["trials"], 0)

    def extend(self, *arguments, **options):
        return self.tune("portfolio", "--space", self.space_file(), "--like", self.distribution(), *SCALE, "--extend",
                         *arguments, **options)

    def test_a_portfolio_is_extended_by_more_sizes(self):
        space = self.space_file()
        first = json.loads(self.tune("portfolio", "--space", space, "--sizes", "default", *SCALE, "--json").stdout)
        (before,) = first["portfolios"]
        self.assertRegex(self.extend("--draw", "2").stdout, rf"^scale: \d members?, timed at {len(before['sizes'])} sizes?, \d+ now\n$")
        done = json.loads(self.extend("--json").stdout)
        (portfolio,) = done["portfolios"]
        self.assertEqual(portfolio["loss"], before["loss"])
        self.assertEqual([done["candidates"][i] for i in portfolio["members"]],
                         [first["candidates"][i] for i in before["members"]])
        self.assertTrue(portfolio["further_sizes"])
        self.refuse("portfolio", "--space", space, "--like", self.distribution(), *SCALE, "--extend", code=2,
                    says=("have all of these sizes", "--seed"))
        table = json.loads(self.tune("export", "--format", "json").stdout)
        sizes = [row[0] for row in table["portfolios"][0]["sizes"]]
        self.assertEqual(len(sizes), len(set(sizes)))
        self.assertLessEqual({"16", "80", "400", "900", "2000", "4000"}, set(sizes))

    def test_winners_of_tuned_sizes_become_members_of_an_extended_portfolio(self):
        def only(block):
            def change(space):
                space["kernels"]["scale"]["parameters"]["BLOCK"] = {"values": [block], "default": block}
            return self.space_file(change)

        self.portfolio("--kernel", "scale", "-k", "1", space=only(32))
        self.tune("--kernel", "scale", "--space", only(64), "--size", "500", *SCALE)
        more = ("portfolio", "--space", self.space_file(), "--like", self.distribution(shapes=[{"dims": {"N": [5000]}}]),
                "--draw", "1", *SCALE, "--extend", "-k")
        self.assertRegex(self.tune(*more, "4").stdout, r"^scale: 2 members, ")
        table = json.loads(self.tune("export", "--format", "json").stdout)
        members = [json.loads(it["values"])["BLOCK"] for it in table["portfolios"][0]["members"]]
        self.assertEqual(members, [32, 64])
        self.refuse(*more, "2", code=2, says="every portfolio has as many members already: write a larger number")

    def test_an_interrupted_extension_keeps_the_finished_sizes(self):
        self.portfolio("-k", "1")
        many = self.distribution(shapes=[{"dims": {"N": {"uniform": [5000, 9000]}}}])
        command = [TUNE, "portfolio", "--space", self.space_file(), "--like", many, "--draw", "1000", "--backend", "cpu", "--extend"]
        with subprocess.Popen(command, cwd=self.directory, env=self.environment(), text=True, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE) as running:
            finished = next(line for line in running.stderr if line.startswith("further size 2 "))
            running.send_signal(signal.SIGINT)
            said = running.stderr.read()
            self.assertEqual(running.wait(PATIENCE), 130, said)
        self.assertIn("interrupted: the finished sizes are stored", said)
        table = json.loads(self.tune("export", "--format", "json").stdout)
        size = finished.split("  ")[1].split(":")[0]
        self.assertIn(size, [row[0] for row in table["portfolios"][0]["sizes"]])

    def test_only_what_there_is_is_extended(self):
        self.refuse("portfolio", "--space", self.space_file(), "--like", self.distribution(), *SCALE, "--extend", code=2,
                    says="no portfolio to extend")
        self.refuse("portfolio", "--space", self.space_file(), "--like", self.distribution(), *SCALE, "--extend", "--kernel", "scale",
                    code=2, says="leave out --kernel")
        self.portfolio()
        changed = self.space_file(sources={"scale.cu": SCALE_SOURCES["scale.cu"] + "\n#define CHANGED 1\n"})
        self.refuse("portfolio", "--space", changed, "--like", self.distribution(), *SCALE, "--extend", code=2,
                    says="its kernel scale has changed since")

    def test_people_get_a_table(self):
        text = self.portfolio("-k", "1").stdout
        self.assertRegex(text, r"scale +fastest at +loss so far")
        self.assertRegex(text, r"At 4 sizes the fastest of these takes [0-9.]+ % longer than the fastest known; at a")
        self.assertIn("Its members were also timed at 2 further sizes.", text)

    def test_a_table_carries_it(self):
        self.portfolio()
        table = self.directory / "table.json"
        self.tune("export", "--format", "json", "-o", table)
        (portfolio,) = json.loads(table.read_text())["portfolios"]
        self.assertEqual(portfolio["distribution"], "sizes.json, seed 0", "no path of this machine")
        self.assertIn("portfolio of scale: ", self.tune("tables", "check", table).stdout)

    def test_members_of_installed_tables_are_candidates(self):
        self.portfolio("-k", "1")
        table = json.loads(self.tune("export", "--format", "json").stdout)
        del table["checksum"]
        table["device"]["name"] = "another processor"
        (hash_of_scale,) = (it["hash"] for it in table["kernels"] if it["kernel"] == "scale")
        table["portfolios"][0]["members"] = [{"kernel": "scale", "hash": hash_of_scale, "values": '{"BLOCK":64}'}]
        for kernel in table["kernels"]:
            kernel["entries"] = []
        installed = self.installed_with(table["device"]["name"], json.dumps(table))
        done = subprocess.run([installed, "--db", "new.db", "portfolio", "--space", self.space_file(), "--like", self.distribution(),
                               "--draw", "4", "--backend", "cpu", "--json"], cwd=self.directory, env=self.environment(),
                              text=True, capture_output=True, timeout=PATIENCE, check=True)
        self.assertIn(": 3 candidates, 0 kernels to search, at 4 sizes", done.stderr)
        self.assertEqual([(it["kernel"], it["config"]) for it in json.loads(done.stdout)["candidates"]],
                         [("scale", {"BLOCK": 64}), ("scale", {"BLOCK": 32}), ("plain", {})])

    def test_a_recorded_program_counts_by_its_time(self):
        def product(m, count, timed_ns):
            return {"function": "cublasSgemm_v2", "type": "f32", "m": m, "n": 8, "k": 8, "batch": 1,
                    "trans_a": False, "trans_b": False, "lda": 8, "ldb": 8, "ldc": 8, "align": 4, "epilogue": 1,
                    "bias": 0, "activation": 0, "objection": "", "count": count, "captured": 0, "timed": 1,
                    "timed_ns": timed_ns}

        suite = self.text_file("recorded.json", json.dumps({
            "format": "suite/1", "family": "gemm", "groups": [{"name": "recorded_1", "sizes": [[4, 8, 8], [9, 8, 8]]}],
            "recorded": {"format": "calls/1", "device": "d",
                         "products": [product(4, 3, 100), product(9, 2, 1000)]}}))
        done = json.loads(self.tune("portfolio", "--space", GEMM, "--kernel", "gemm_naive", "--like", suite, *SCALE,
                                    "--max-time", "15s", "--json").stdout)
        (portfolio,) = done["portfolios"]
        weights = {size["size"][0]: size["weight"] for size in portfolio["sizes"]}
        self.assertEqual(weights, {4: 300, 9: 2000})
        self.assertEqual(portfolio["types"], "TYPE=f32")

    def test_setup_measures_the_included_families(self):
        self.assertRegex(self.tune("doctor", code=(0, 3)).stdout, "`tune setup` measures")
        done = json.loads(self.tune("setup", *SCALE, "--max-time", "6s", "--json").stdout)
        self.assertEqual([it["family"] for it in done["portfolios"]], ["reduction", "transpose", "gemm"])
        for it in done["portfolios"]:
            self.assertTrue(it["portfolios"][0]["members"])
        self.assertIn("3 portfolios", self.tune("doctor", code=(0, 3)).stdout)

    def test_two_setups_at_once_are_one_too_many(self):
        with open(f"{self.database}.setup", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.refuse("setup", *SCALE, code=1, says="another `tune setup` is running")

    def test_what_cannot_be_is_refused(self):
        space = self.space_file()
        self.refuse("portfolio", "--space", space, *SCALE, "-k", "0", code=2, says="at least one member")
        self.refuse("portfolio", "--space", space, *SCALE, "-k", "99", code=2, says=("-k 99", "at most"))
        self.refuse("portfolio", *SCALE, code=2, says="name a space file")
        for changed, says in (({"shapes": []}, "at least 1 element"),
                              ({"shapes": [{"dims": {"N": {"uniform": [9, 3]}}}]}, "impossible range"),
                              ({"shapes": [{"weight": -1, "dims": {"N": 3}}]}, "not positive")):
            self.refuse("portfolio", "--space", space, "--like", self.distribution(**changed), *SCALE, code=2,
                        says=says)
        self.refuse("portfolio", "--space", space, "--like", self.distribution(), "--sizes", "default", *SCALE,
                    code=2, says="leave out one")


if __name__ == "__main__":
    unittest.main()
