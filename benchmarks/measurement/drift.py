#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drift: by how much the time of one kernel changes over many runs, each a process of its own."""

import time

import driver


def main():
    options = driver.arguments(__doc__, runs=60, sizes=["2048,2048,2048"], output="drift.json")
    size = options.size[0]
    start = time.monotonic()
    points = []
    device = ""
    for seed in range(options.runs):
        device, final = driver.planted(options, "alias", [1], size, seed)
        points.append({"elapsed_s": time.monotonic() - start,
                       "median_ns": final["best"]["median_ns"]})
    changes = [point["median_ns"] / points[0]["median_ns"] - 1 for point in points]
    rows = [("size", "runs", "seconds", "most slower", "most faster", "beyond 2 %"),
            (size, len(points), f"{points[-1]['elapsed_s']:.0f}", f"{max(changes):+.2%}",
             f"{min(changes):+.2%}", sum(abs(change) > 0.02 for change in changes))]
    driver.report(options, {"benchmark": "drift", "device": device, "size": size,
                            "points": points}, rows)


if __name__ == "__main__":
    main()
