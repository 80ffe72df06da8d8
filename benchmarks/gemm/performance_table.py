#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the figures of gemm_benchmark --json into a document, between its two markers.

Usage: performance_table.py FIGURES.json DOCUMENT.md
"""
import json
import pathlib
import sys

BEGIN = "<!-- gemm_benchmark: begin (benchmarks/gemm/performance_table.py writes what follows) -->"
END = "<!-- gemm_benchmark: end -->"
ABSENT = "–"


def ratio(interval):
    """A median with half the width of its interval, bold when it is below 0.97."""
    if interval is None:
        return ABSENT
    text = f"{interval['median']:.3f} ± {(interval['high'] - interval['low']) / 2:.3f}"
    return f"**{text}**" if interval["median"] < 0.97 else text


def mean(value):
    return ABSENT if value is None else f"{value:.3f}"


def rate(shape, role, copy):
    """TFLOP/s; where the memory decides, GB/s and the share of the copy's."""
    for contender in shape["contenders"]:
        if contender["role"] == role:
            break
    else:
        return ABSENT
    if not shape["memory_bound"]:
        return f"{contender['tflops_per_s']:.2f}"
    gbytes = contender["gbytes_per_s"]
    return f"{gbytes:.0f} GB/s ({100 * gbytes / copy:.0f} %)"


def kernel(shape, role):
    names = [each["kernel"] for each in shape["contenders"] if each["role"] == role]
    return f"`{names[0]}`" if names and names[0] else ABSENT


def markdown(heading, rows):
    lines = [heading, [":--"] + ["--:"] * (len(heading) - 1), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def means_table(figures):
    rows = [[each["group"] or "all", str(each["shapes"]), str(each["tuned"]),
             mean(each["ours_to_cublas"]), mean(each["ours_to_cublasLt"]),
             mean(each["ours_to_default"])]
            for each in figures["summary"]["geometric_means"]]
    return markdown(["geometric mean", "shapes", "tuned", "to cublasSgemm", "to cublasLt",
                     "to the default"], rows)


def shapes_table(figures):
    copy = figures["copy_gbytes_per_s"]
    rows = [[shape["shape"], rate(shape, "ours", copy), rate(shape, "cublas", copy),
             rate(shape, "cublasLt", copy), ratio(shape["ours_to_cublas"]),
             ratio(shape["ours_to_cublasLt"]), ratio(shape["ours_to_default"]),
             ABSENT if shape["clock_mhz"] is None else f"{shape['clock_mhz']:.0f}"]
            for shape in figures["shapes"]]
    return markdown(["shape", "ours", "cublasSgemm", "cublasLt", "to cublasSgemm", "to cublasLt",
                     "to the default", "MHz"], rows)


def kernels_table(figures):
    rows = [[shape["shape"], kernel(shape, "ours"), kernel(shape, "cublas"),
             kernel(shape, "cublasLt")] for shape in figures["shapes"]]
    return markdown(["shape", "ours", "cublasSgemm", "cublasLt"], rows)


def notes(figures):
    lines = [f"- {shape['shape']}: {note}" for shape in figures["shapes"] for note in shape["notes"]]
    lines += [f"- {shape}: **the result is not cuBLAS's**" for shape in figures["summary"]["wrong"]]
    return "\n".join(lines)


def section(figures):
    """What stands between the markers."""
    parts = [f"{figures['device']}, driver {figures['driver']}, CUDA {figures['cuda']}, "
             f"{figures['library']}, {figures['date']}; a copy on the device moves "
             f"{figures['copy_gbytes_per_s']:.0f} GB/s.",
             means_table(figures),
             "Rates in TFLOP/s, or GB/s and the share of the copy's where the memory decides; above "
             "1, ours is faster.",
             shapes_table(figures), "What ran:", kernels_table(figures)]
    if text := notes(figures):
        parts += ["Notes:", text]
    return "\n\n".join(parts)


def with_section(document, text):
    """The document with `text` between its markers; ValueError when it does not have both, once."""
    if document.count(BEGIN) != 1 or document.count(END) != 1:
        raise ValueError(f"needs the lines '{BEGIN}' and '{END}', once each")
    before, rest = document.split(BEGIN)
    if END not in rest:
        raise ValueError(f"'{END}' stands before '{BEGIN}'")
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}"


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    figures_path, document_path = map(pathlib.Path, arguments)
    try:
        figures = json.loads(figures_path.read_text())
        if not isinstance(figures, dict) or figures.get("format") != "gemm_benchmark/1":
            raise ValueError(f"{figures_path} is not of format gemm_benchmark/1: make it with "
                             "gemm_benchmark --json FILE")
        try:
            document = with_section(document_path.read_text(), section(figures))
        except ValueError as error:
            raise ValueError(f"{document_path} {error}") from error
        document_path.write_text(document)
    except (OSError, ValueError) as error:
        print(f"performance_table.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
