#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A/A test: how many finals of eight names of one kernel end as one tie. All should."""

import driver


def main():
    options = driver.arguments(__doc__, runs=40, sizes=["2048,2048,2048"], output="aa.json")
    device, finals = driver.finals(options, "alias")
    rows = [("size", "finals", "one tie", "largest ratio", "rounds")]
    document = {"benchmark": "aa", "device": device, "sizes": []}
    for size in options.size:
        mine = [final for at, final in finals if at == size]
        ties = sum(len(driver.tied(final)) == len(driver.candidates(final)) for final in mine)
        ratios = [max(one["ratio_to_best"] for one in driver.candidates(final)) for final in mine]
        rounds = [driver.candidates(final)[0]["rounds"] for final in mine]
        rows.append((size, len(mine), ties, f"{max(ratios):.4f}", f"{min(rounds)}-{max(rounds)}"))
        document["sizes"].append({"size": size, "finals": len(mine), "one_tie": ties,
                                  "largest_ratios": ratios, "rounds": rounds})
    driver.report(options, document, rows)


if __name__ == "__main__":
    main()
