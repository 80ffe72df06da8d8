# SPDX-License-Identifier: Apache-2.0
"""The code of a notebook, run by Python alone."""

import ast
import json


def run(path):
    """The names that it defines, and what each of its code cells shows: the value of an expression at its end."""
    names, shown = {"__name__": "__main__"}, []
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, str(path), "exec"), names)
        shown.append(eval(compile(last, str(path), "eval"), names) if last else None)
    return names, shown
