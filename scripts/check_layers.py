#!/usr/bin/env python3
"""Checks that every module of tuner/ includes only the modules its row in ARCHITECTURE.md names.

Usage: check_layers.py [ROOT]. Prints every forbidden include and exits 1 when there is one.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"tuner/([a-z_]+)/', re.MULTILINE)
ROW = re.compile(r"^\| ([a-z]+) \| .* \| ([a-z, –]+) \|$", re.MULTILINE)


def allowed_modules(architecture: str) -> dict[str, set[str]]:
    table = architecture[architecture.index("## Modules"):]
    return {
        module: set() if allowed == "–" else {name.strip() for name in allowed.split(",")}
        for module, allowed in ROW.findall(table)
        if module != "module"  # the heading
    }


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    allowed = allowed_modules((root / "ARCHITECTURE.md").read_text())
    folders = {path.name for path in (root / "tuner").iterdir() if path.is_dir()}
    problems = [f"module {name} has no row in ARCHITECTURE.md" for name in folders - allowed.keys()]
    problems += [f"ARCHITECTURE.md names {name}, which is no folder" for name in allowed.keys() - folders]
    for path in sorted((root / "tuner").rglob("*.[ch]pp")):
        module = path.relative_to(root / "tuner").parts[0]
        for included in INCLUDE.findall(path.read_text()):
            if included != module and included not in allowed.get(module, set()):
                problems.append(f"{path.relative_to(root)}: {module} may not include {included}")
    print("\n".join(problems) or f"{len(allowed)} modules keep their layers")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
