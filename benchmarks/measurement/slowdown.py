#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Planted slowdown: how often the one of eight that does 2 % more arithmetic ranks last."""

import statistics

import driver

SLOW = 8


def main():
    options = driver.arguments(__doc__, runs=40, sizes=["2048,2048,2048"], output="slowdown.json")
    device, finals = driver.finals(options, "planted")
    rows = [("size", "finals", "ranked last", "beyond a tie", "median ratio")]
    document = {"benchmark": "slowdown", "device": device, "sizes": []}
    for size in options.size:
        mine = [driver.candidates(final) for at, final in finals if at == size]
        last = sum(final[-1]["config"]["ALIAS"] == SLOW for final in mine)
        slow = [one for final in mine for one in final if one["config"]["ALIAS"] == SLOW]
        beyond = sum(one["ratio_low"] > driver.TIE for one in slow)
        ratios = [one["ratio_to_best"] for one in slow]
        rows.append((size, len(mine), last, beyond, f"{statistics.median(ratios):.4f}"))
        document["sizes"].append({"size": size, "finals": len(mine), "ranked_last": last,
                                  "beyond_a_tie": beyond, "ratios": ratios})
    driver.report(options, document, rows)


if __name__ == "__main__":
    main()
