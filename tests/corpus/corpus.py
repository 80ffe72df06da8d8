# SPDX-License-Identifier: Apache-2.0
"""The families of the corpus, and what the program makes of their variants.

Each <family>.cu has correct variants, which differ as kernels for one problem do, and mutants with one mistake
each. outcomes.json says what becomes of the mutants:

    "mutant": "wrong_result"                          on every backend
    "mutant": ["wrong_result", "nondeterministic"]    any of them
    "mutant": {"cpu": …, "cuda": …, "why": …}         where they differ; `why` tells what hides it from one of them
"""

import contextlib
import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
OUTCOMES = json.loads((HERE / "outcomes.json").read_text())


def space_file(family):
    return HERE / f"{family}.json"


def space(family):
    return json.loads(space_file(family).read_text())


def variants(family):
    """All that the space file names, correct ones first."""
    return space(family)["kernels"][family]["parameters"]["VARIANT"]["values"]


def as_tuple(outcomes):
    return (outcomes,) if isinstance(outcomes, str) else tuple(outcomes)


def expected(entry, backend):
    """The outcomes that a mutant may have on a backend."""
    return as_tuple(entry[backend] if isinstance(entry, dict) else entry)


def judge(family, chosen, backend, seed=0):
    """Runs these variants in one run of the program; {variant: (outcome, message)}."""
    with tempfile.TemporaryDirectory(prefix="tune-corpus-") as directory:
        database = pathlib.Path(directory) / "results.db"
        done = subprocess.run(
            [os.environ["TUNE"], "--space", space_file(family), "--kernel", family, "--backend", backend, "-q",
             "--strategy", "exhaustive", "--max-evals", str(len(chosen)), "--jobs", "2", "--launch-timeout", "5s",
             "--seed", str(seed), "--set", "VARIANT=" + ",".join(chosen)],
            env={**os.environ, "TUNER_DB": str(database), "TERM": "dumb"}, cwd=directory, capture_output=True,
            text=True, timeout=280)
        if done.returncode not in (0, 4):  # 4: no candidate ended ok
            raise RuntimeError(f"{family}: exit {done.returncode}: {done.stderr}")
        with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as results:
            found = results.execute("SELECT config.json, outcome, message FROM result"
                                    " JOIN config ON config.id = config_id").fetchall()
    return {json.loads(config)["VARIANT"]: (outcome, message) for config, outcome, message in found}
