# SPDX-License-Identifier: Apache-2.0
"""Judges the correct variants on the inputs of many seeds and shows every one that is refused.

    TUNE=build/ci/tune python3 tests/corpus/false_alarms.py --checks 10000 [--backend cpu] [--first-seed 1]

A check is one variant at one size under one case: the launches of a check are not counted one by one.
"""

import argparse
import itertools
import sys

from corpus import OUTCOMES, judge, space, space_file


def checks_of_a_variant(family):
    check = space(family)["check"]
    return (len(check["sizes"]) + 1) * (len(check.get("cases", [])) + 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checks", type=int, default=10000)
    parser.add_argument("--backend", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--family", action="append", choices=list(OUTCOMES), help="default: all")
    options = parser.parse_args()
    done = verdicts = alarms = 0
    for seed in itertools.count(options.first_seed):
        for family in options.family or OUTCOMES:
            if done >= options.checks:
                print(f"{alarms} false alarms in {done} checks: {verdicts} verdicts, seeds {options.first_seed} to {seed}")
                return 1 if alarms else 0
            for variant, (outcome, message) in judge(family, OUTCOMES[family]["correct"], options.backend, seed).items():
                done += checks_of_a_variant(family)
                verdicts += 1
                if outcome != "ok":
                    alarms += 1
                    print(f"{space_file(family)} VARIANT={variant} seed {seed}: {outcome}: {message}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
