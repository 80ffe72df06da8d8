# SPDX-License-Identifier: Apache-2.0
"""A database as large as those of long searches, made of the rows of a small one."""

import contextlib
import json
import random
import sqlite3

from forgery import row_checksum

PARAMETERS = 19
KERNELS, SIZES, TRIALS = 3, 72, 1500
EXTRA = 60  # trials more at the last size: 324,060 in all


def copies(opened, table, changes):
    """Adds a copy of a table's first row for each dictionary of changed columns; `id` is given there."""
    columns = [name for _, name, *_, hidden in opened.execute(f"PRAGMA table_xinfo({table})") if not hidden]
    first = dict(zip(columns, opened.execute(f"SELECT {', '.join(columns)} FROM {table} LIMIT 1").fetchone()))
    rows = ([{**first, **change}[name] for name in columns] for change in changes)
    opened.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})", rows)


def configurations(count, generator):
    """So many different ones, as canonical JSON."""
    found = set()
    while len(found) < count:
        values = {f"PARAMETER_{i:02}": 1 << generator.randrange(4) for i in range(PARAMETERS)}
        found.add(json.dumps(values, separators=(",", ":")))
    return sorted(found)


def trials(kernel, generator):
    """The changed columns of a kernel's trials; a fifth of them failed."""
    for size in range(1, SIZES + 1):
        last = kernel == KERNELS and size == SIZES
        count = TRIALS + (EXTRA if last else 0)
        for sequence, config in enumerate(generator.sample(range(1, 4 * TRIALS + 1), count), 1):
            ns = round(1e4 * size * (1 + generator.expovariate(1)), 1)
            times = {"median_ns": ns, "q1_ns": ns - 1, "q3_ns": ns + 1, "min_ns": ns - 2, "samples": 20}
            outcome = {"outcome": "ok", "message": ""}
            if generator.randrange(5) == 0:
                outcome = {"outcome": "compile_error", "message": f"ptxas: too much shared data, {sequence} bytes"}
                times = dict.fromkeys(times)
            yield {"session_id": 100 + kernel, "problem_id": 100 + size, "sequence": sequence,
                   "elapsed_s": 0.1 * (size * 2 * TRIALS + sequence), "hot_ns": None,
                   "config_id": 100 + kernel * 4 * TRIALS + config, **times, **outcome}


def fill(database):
    """Adds 324,060 trials of three kernels at 72 sizes to a database that has a run with a trial."""
    generator = random.Random(1)
    with contextlib.closing(sqlite3.connect(database)) as opened:
        opened.create_function("row_checksum", -1, row_checksum, deterministic=True)
        opened.execute("PRAGMA synchronous = OFF")
        family, = opened.execute("SELECT family FROM kernel").fetchone()
        kernels = range(1, KERNELS + 1)
        copies(opened, "kernel", ({"id": 100 + k, "name": f"kernel_{k}", "hash": f"{k:032}"} for k in kernels))
        copies(opened, "session", ({"id": 100 + k, "uuid": f"{k:08}-0000", "kernel_id": 100 + k} for k in kernels))
        copies(opened, "problem", ({"id": 100 + s, "family": family, "size": f"{64 * s},{64 * s},{64 * s}"}
                                   for s in range(1, SIZES + 1)))
        for kernel in kernels:
            copies(opened, "config", ({"id": 101 + kernel * 4 * TRIALS + i, "kernel_id": 100 + kernel, "json": text}
                                      for i, text in enumerate(configurations(4 * TRIALS, generator))))
            first = opened.execute("SELECT max(id) + 1 FROM result").fetchone()[0]
            copies(opened, "result", ({"id": first + i, **trial} for i, trial in enumerate(trials(kernel, generator))))
        opened.commit()
