# SPDX-License-Identifier: Apache-2.0
"""A program writes a kernel until `tune judge` accepts it.

    python3 loop.py [OPTION OF tune judge]...
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def judge(space, *options):
    """The verdict on the kernel of a space file."""
    done = subprocess.run(["tune", "judge", space, "--json", "-q", "--max-time", "60s", *options],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def feedback(verdict):
    """What the next attempt should know."""
    if verdict["compile"]["outcome"] == "compile_error":
        return verdict["compile"]["log"]
    failed = [check for check in verdict["checks"] if check["outcome"] != "ok"]
    if failed and failed[0]["element"]:
        element = failed[0]["element"]
        return (f"size {failed[0]['size']}, {failed[0]['inputs']} inputs: {element['buffer']}[{element['index']}] "
                f"is {element['value']}, should be {element['expected']}")
    return verdict["message"]


def generate(attempt, said):
    """Stands for a model that is given `said`, what was wrong with its last attempt: gives the source."""
    right = (HERE / "row_mean.cu").read_text()
    return [right.replace("sum / columns", "sum / colums"),        # does not compile
            right.replace("i = lane; i < columns", "i = lane; i + 32 <= columns"),  # leaves a tail out
            right][attempt]


def main(options):
    with tempfile.TemporaryDirectory() as folder:
        space = shutil.copytree(HERE, pathlib.Path(folder) / "judge") / "row_mean.json"
        said = ""
        for attempt in range(3):
            (space.parent / "row_mean.cu").write_text(generate(attempt, said))
            verdict = judge(space, *options)
            if verdict["verdict"] == "ok":
                ratio = verdict["ratios"]["reference"]
                print(f"attempt {attempt}: right in {len(verdict['checks'])} checks, "
                      f"{ratio['ratio']:.2f} times as fast as the reference")
                return 0
            said = feedback(verdict)
            lines = [line for line in said.splitlines() if "error" in line] or said.splitlines()
            print(f"attempt {attempt}: {verdict['outcome'] or verdict['verdict']}: {lines[0]}")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
