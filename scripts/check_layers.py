#!/usr/bin/env python3
"""Checks the modules of tuner/ against ARCHITECTURE.md and their CMakeLists.txt.

A module includes only the modules that its row in ARCHITECTURE.md names, and of those only the
headers that their CMakeLists.txt lists under HEADERS. It declares only namespace tuner::<module>;
core, the headers that applications include and those that kernels are compiled with declare
namespace tuner. The first header of its folder says what the module is for ("// Module NAME: …").

Usage: check_layers.py [ROOT]. Prints every violation and exits 1 when there is one.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"tuner/([a-z_]+)/([^"]+)"', re.MULTILINE)
ROW = re.compile(r"^\| *([a-z]+) *\|.*\| *([a-z, –]*[a-z–]) *\|$", re.MULTILINE)
HEADERS = re.compile(r"\bHEADERS\b([^)A-Z]*)")
NAMESPACE = re.compile(r"^namespace (tuner[a-z_:]*) \{", re.MULTILINE)
RAW_STRING = re.compile(r'R"([^(\s]*)\(.*?\)\1"', re.DOTALL)


def allowed_modules(architecture: str) -> dict[str, set[str]]:
    table = architecture[architecture.index("## Modules"):]
    return {
        module: set() if allowed == "–" else {name.strip() for name in allowed.split(",")}
        for module, allowed in ROW.findall(table)
        if module != "module"  # the heading
    }


def listed_headers(folder: pathlib.Path, call: str) -> set[pathlib.Path]:
    """The HEADERS of a call such as tuner_module in the CMakeLists.txt of a module and below."""
    return {
        (lists.parent / name).resolve()
        for lists in folder.rglob("CMakeLists.txt")
        for arguments in re.findall(rf"\b{call}\(([^)]*)\)", lists.read_text())
        for names in HEADERS.findall(arguments)
        for name in names.split()
    }


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    allowed = allowed_modules((root / "ARCHITECTURE.md").read_text())
    folders = {path.name: path for path in (root / "tuner").iterdir() if path.is_dir()}
    for_modules = {name: listed_headers(path, "tuner_module") for name, path in folders.items()}
    for_applications = listed_headers(root / "tuner", "tuner_shared_library")
    for_kernels = {
        lists.parent / name
        for lists in (root / "tuner").rglob("CMakeLists.txt")
        for name in re.findall(r"\btuner_embed\([a-z_]+ [a-z_]+ ([a-z_]+\.hpp)\)", lists.read_text())
    }
    problems = [f"module {name} has no row in ARCHITECTURE.md" for name in folders.keys() - allowed.keys()]
    problems += [f"ARCHITECTURE.md names {name}, which is no folder" for name in allowed.keys() - folders.keys()]
    for name, folder in folders.items():
        first = min(path for path in folder.iterdir() if path.suffix in (".h", ".hpp"))
        if f"\n// Module {name}: " not in first.read_text():
            problems.append(f"{first.relative_to(root)}: the first header of a module says \"// Module {name}: …\"")
    for path in sorted((root / "tuner").rglob("*.[ch]pp")):
        text = path.read_text()
        shown = path.relative_to(root)
        module = shown.parts[1]
        for included, header in INCLUDE.findall(text):
            if included == module:
                continue
            if included not in allowed.get(module, set()):
                problems.append(f"{shown}: {module} may not include {included}")
            elif folders[included] / header not in for_modules[included] | for_applications:
                problems.append(f"{shown}: {header} is not among the HEADERS of {included}")
        spaces = {"tuner"} if module == "core" else {f"tuner::{module}"}
        if path in for_applications | for_kernels or path.suffix == ".cpp" and any(
                folders[included] / header in for_applications
                for included, header in INCLUDE.findall(text) if included == module):
            spaces.add("tuner")
        for declared in NAMESPACE.findall(RAW_STRING.sub("", text)):
            if not any(declared == space or declared.startswith(f"tuner::{module}::") or
                       (module == "core" or path in for_kernels) and declared.startswith("tuner::")
                       for space in spaces):
                problems.append(f"{shown}: {module} may not declare names in namespace {declared}")
    print("\n".join(problems) or f"{len(allowed)} modules keep their layers")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
