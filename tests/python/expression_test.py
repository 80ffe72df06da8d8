# SPDX-License-Identifier: Apache-2.0
"""Python functions as expressions of a space file."""

import itertools
import math
import time
import unittest

from tuner._expression import expressions
from tuner._space import _Combinations

CASES = [{"B": b, "I": i, "N": n} for b, i, n in itertools.product((32, 64, 128), (1, 2, 4), (1, 37, 1000))]


def branches(p, s):
    blocks = (s.N + p["B"] * p["I"] - 1) // (p["B"] * p["I"])
    if blocks > 10 and p.I == 2:
        return int(blocks / 1)
    if p.B in (32, 64):
        return blocks, 2
    return blocks


def up(a, b):
    return a // b + int(a % b != 0)


class ExpressionTest(unittest.TestCase):
    def made(self, given):
        self.known_sizes = False
        return expressions("grid", given, ["B", "I"], ["N"], lambda: CASES, lambda: setattr(self, "known_sizes", True))

    def refuses(self, given, text):
        with self.assertRaisesRegex(TypeError, text):
            self.made(given)

    def test_texts_and_numbers_stay(self):
        self.assertEqual(self.made("ceil_div(N, B)"), ["ceil_div(N, B)"])
        self.assertEqual(self.made(["N", 1]), ["N", 1])

    def test_arithmetic_is_written(self):
        self.assertEqual(self.made(lambda p, s: math.ceil(s.N / (p.B * p.I))), ["ceil_div(N, B*I)"])
        self.assertEqual(self.made(lambda p, s: -(-s.N // (p.B * p.I))), ["-(-N//(B*I))"])
        self.assertEqual(self.made(lambda p, s: (s.N - 1) // p.B + 1), ["(N - 1)//B + 1"])
        self.assertEqual(self.made(lambda B, N: N % B), ["N%B"])
        self.assertEqual(self.made(lambda p, s: up(s.N, p.B)), ["N//B + (N%B != 0)"])
        self.assertEqual(self.made(lambda p: max(1, p.B - p.I, 3)), ["max(1, max(B - I, 3))"])
        self.assertEqual(self.made(lambda p: 2**p.I + (p.B >> 1)), ["(1 << I) + (B >> 1)"])
        self.assertEqual(self.made(lambda p, s: int(s.N / p.B)), ["N//B"])
        self.assertFalse(self.known_sizes)

    def test_both_outcomes_of_conditions_are_explored(self):
        first, second = self.made(branches)
        self.assertIn("?", first)
        value = {"B": 32, "I": 4, "N": 1000}
        self.assertEqual(self.of_python(second, value), 2)
        for case in CASES:
            expected = branches(Space(case), Space(case))
            expected = expected if isinstance(expected, tuple) else (expected, 1)
            self.assertEqual((self.of_python(first, case), self.of_python(second, case)), expected)

    @staticmethod
    def of_python(text, values):
        """The value of an expression whose only other syntax than Python's is `?:`."""
        def translated(part):
            depth = 0
            for i, c in enumerate(part):
                depth += (c == "(") - (c == ")")
                if c == "?" and depth == 0:
                    rest, level, nested = part[i + 1:], 0, 0
                    for j, d in enumerate(rest):
                        level += (d == "(") - (d == ")")
                        nested += d == "?" and level == 0
                        if d == ":" and level == 0:
                            if nested == 0:
                                return f"(({translated(rest[:j])}) if ({part[:i]}) else ({translated(rest[j + 1:])}))"
                            nested -= 1
            inner = part.strip()
            if inner.startswith("(") and inner.endswith(")") and "?" in inner:
                return f"({translated(inner[1:-1])})"
            return part
        return eval(translated(text), {}, dict(values))

    def test_what_cannot_be_traced_is_evaluated_for_all_cases(self):
        text, = self.made(lambda p, s: s.N.bit_length() * p.I)
        self.assertTrue(self.known_sizes)
        for case in CASES:
            self.assertEqual(self.of_python(text, case), case["N"].bit_length() * case["I"])
        text, = self.made(lambda p: {1: 10, 2: 20, 4: 30}[p.I])
        self.assertEqual(text, "I == 1 ? 10 : I == 2 ? 20 : 30")
        self.assertFalse(self.known_sizes)  # it depends on no size

    def test_each_value_of_a_parameter_is_looked_at_however_large_the_space(self):
        seen = []

        class Seen(_Combinations):
            def __getitem__(self, i):
                seen.append(super().__getitem__(i))
                return seen[-1]

        cases = Seen({"A": [1, 2], "B": [1, 2, 4, 8], "C": list(range(1, 4097)), "D": list(range(8192))}, [{"N": 5}, {"N": 7}])
        self.assertEqual(len(cases), 2 * 4 * 4096 * 8192 * 2)
        made = expressions("grid", lambda p, s: p.A * p.B + s.N, ["A", "B", "C", "D"], ["N"], lambda: cases, lambda: None)
        self.assertEqual(len(made), 1)
        self.assertLess(len(seen), 1000)
        self.assertEqual({(each["A"], each["B"], each["N"]) for each in seen}, set(itertools.product((1, 2), (1, 2, 4, 8), (5, 7))))

    def test_functions_that_are_none_of_their_arguments_are_refused(self):
        self.refuses(lambda p, s: time.perf_counter_ns(), "another result each time.*clock")
        self.refuses(lambda p, s: "x", "must return a whole number")
        self.refuses(lambda p, s: 0.5, "must return a whole number")
        self.refuses(lambda x, y, z: 1, "write lambda p, s")
        with self.assertRaisesRegex(AttributeError, "no parameter 'Q'; there are B, I"):
            self.made(lambda p, s: p.Q)


class Space:
    """Parameters and sizes by attribute and by item."""

    def __init__(self, values):
        self.__dict__.update(values)

    def __getitem__(self, key):
        return self.__dict__[key]


if __name__ == "__main__":
    unittest.main()
