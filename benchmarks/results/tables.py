#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of the documents from the results in this folder.

Usage: tables.py [--check]    --check: writes nothing, and fails if a document is not up to date

A document marks the place of a table: <!-- table: NAME --> … <!-- end -->
"""
import csv
import json
import math
import pathlib
import re
import sys

RESULTS = pathlib.Path(__file__).resolve().parent
ROOT = RESULTS.parents[1]
PLACE = re.compile(r"(<!-- table: (\S+) -->\n).*?(<!-- end -->)", re.S)
ABSENT = "–"
# The documents' GPU.
DEVICE = "NVIDIA H200"


def load(name):
    return json.loads((RESULTS / name).read_text())


def markdown(heading, rows):
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"|{'|'.join(cells)}|" for cells in lines)


def newest(suite):
    """The newest results of a suite on the documents' GPU: scripts/tune_suite.sh adds others beside them."""
    all_of_suite = map(load, sorted(path.name for path in RESULTS.glob(f"{suite}-*.json")))
    figures = max((it for it in all_of_suite if it["device"] == DEVICE), key=lambda it: it["date"])
    if wrong := figures["summary"]["wrong"]:
        raise ValueError(f"wrong results must not be published: {', '.join(wrong)}")
    return figures


def origin(figures):
    return (f"{figures['device']}, driver {figures['driver']}, CUDA {figures['cuda']}, {figures['library']}, "
            f"{figures['date'][:10]}.")


def fixed(value, digits=3):
    return ABSENT if value is None else f"{value:.{digits}f}"


def summary(suite, library):
    figures = newest(suite)
    rows = [[each["group"] or "all", str(each["shapes"]), fixed(each["ours_to_cublas"]), fixed(each["ours_to_cublasLt"]),
             fixed(each["ours_to_default"], 2)] for each in figures["summary"]["geometric_means"]]
    worst = next(shape for shape in figures["shapes"] if shape["shape"] == figures["summary"]["worst"])
    rows.append([f"worst shape: {worst['shape']}", "1", *(median(worst[f"ours_to_{name}"], digits)
                                                          for name, digits in (("cublas", 3), ("cublasLt", 3), ("default", 2)))])
    heading = ["shapes", "number", f"to {library}", "to the best of cublasLt", "to the kernel's default"]
    return f"{origin(figures)} Geometric means.\n\n{markdown(heading, rows)}"


def rate(shape, copy):
    ours = next(each for each in shape["contenders"] if each["role"] == "ours")
    if not shape["memory_bound"]:
        return f"{ours['tflops_per_s']:.2f}"
    return f"{ours['gbytes_per_s']:.0f} GB/s ({100 * ours['gbytes_per_s'] / copy:.0f} %)"


def median(ratio, digits=3):
    return fixed(ratio and ratio["median"], digits)


def fp32_shapes():
    figures = newest("fp32")
    copy = figures["copy_gbytes_per_s"]
    rows = [[shape["shape"], rate(shape, copy), median(shape["ours_to_cublas"]), median(shape["ours_to_cublasLt"]),
             median(shape["ours_to_default"])] for shape in figures["shapes"]]
    widths = [(shape[name]["high"] - shape[name]["low"]) / 2 for shape in figures["shapes"]
              for name in ("ours_to_cublas", "ours_to_cublasLt") if shape[name]]
    text = (f"{origin(figures)} A copy on the device moves {copy:.0f} GB/s. The 95 % intervals of the ratios to the "
            f"libraries are ± {max(widths):.3f} or less. Rates are in TFLOP/s, or in GB/s with the share of the copy's rate where "
            "the problem is bound by memory.")
    return f"{text}\n\n{markdown(['shape', 'ours', 'to cublasSgemm', 'to cublasLt', 'to the default'], rows)}"


def microseconds(nanoseconds):
    value = nanoseconds / 1e3
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def cpu_gpu():
    figures = load("cpu-gpu-h200-2026-11-23.json")
    labels = [size["label"].split("x")[0] + "³" for size in figures["sizes"]]

    def row(label, times, key):
        by_size = {}
        for each in times:
            if each["outcome"] == "ok":
                by_size[each["size"]] = min(each[key], by_size.get(each["size"], each[key]))
        return [label, *(microseconds(by_size[at]) if at in by_size else "" for at in range(len(labels)))]
    rows = []
    for side in figures["sides"]:
        names = list(dict.fromkeys(each["contender"] for each in side["times"]))
        rows += [row(f"{side['name']}: {name}", [each for each in side["times"] if each["contender"] == name], "median_ns")
                 for name in names]
    gpu = figures["sides"][-1]
    for place in figures["placements"]:
        at_place = [each for each in gpu["transfers"] if each["placement"] == place["name"]]
        rows.append(row(f"fastest with transfers, {place['name']}", at_place, "total_ns"))
    start = gpu["start_up"]
    after = f"Paid once: opening the device {start['device_ms']:.0f} ms, the library's first call {start['library_ms']:.0f} ms."
    return f"{markdown(['median time in µs', *labels], rows)}\n\n{after}"


def small_sizes():
    shown = (1, 4, 8, 16, 24, 32, 48, 64, 96, 128)
    with open(RESULTS / "cpu-gpu-small-h200-2026-11-23.csv", newline="") as lines:
        by_size = {int(row.pop("n")): row for row in csv.DictReader(lines)}
    contenders = [name for name in by_size[1]]
    rows = [[name.removesuffix(" [ns]"), *(microseconds(float(by_size[n][name])) for n in shown)] for name in contenders]
    return markdown(["median time in µs", *(f"{n}³" for n in shown)], rows)


def transfers():
    figures = load("cpu-gpu-h200-2026-11-23.json")
    at = next(i for i, size in enumerate(figures["sizes"]) if size["label"] == "1024x1024x1024")
    parts = ("allocate_ns", "to_device_ns", "kernel_ns", "to_host_ns", "free_ns", "total_ns")
    rows = [[each["contender"], each["placement"], *(microseconds(each[part]) for part in parts)]
            for each in figures["sides"][-1]["transfers"] if each["size"] == at and each["outcome"] == "ok"]
    return markdown(["1024³, µs", "host memory", "allocation", "to the device", "kernel", "to the host", "free", "total"], rows)


def counters(prefix, columns):
    """A row for each kernel with this prefix, a column for each (heading, function of its metrics)."""
    by_kernel = {}
    with open(RESULTS / "counters-h200-2026-11-23.csv", newline="") as lines:
        for row in csv.DictReader(lines):
            by_kernel.setdefault(row["kernel"], {})[row["metric"]] = int(row["value"])
    rows = [[f"`{kernel}`", *(shown(metrics) for _, shown in columns)]
            for kernel, metrics in by_kernel.items() if kernel.startswith(prefix)]
    return markdown(["kernel", *(heading for heading, _ in columns)], rows)


def sectors(direction):
    name = f"l1tex__t_%s_pipe_lsu_mem_global_op_{direction}.sum"
    return lambda metrics: f"{metrics[name % 'sectors'] / metrics[name % 'requests']:.1f}"


def megabytes(*names):
    return lambda metrics: f"{sum(metrics[name] for name in names) / 1e6:,.0f}"


COUNTED_TIME = ("µs", lambda metrics: microseconds(metrics["gpu__time_duration.sum"]))


def transpose_counters():
    return counters("transpose", [
        COUNTED_TIME, ("sectors per load", sectors("ld")), ("sectors per store", sectors("st")),
        ("bytes through L2, MB", megabytes("lts__t_bytes.sum")),
        ("DRAM read, MB", megabytes("dram__bytes_read.sum")),
        ("bank conflicts", lambda metrics: f"{metrics['l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum']:,}")])


def shared_conflicts(metrics):
    """Of the accesses to shared memory."""
    conflicts = metrics["l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"]
    wavefronts = metrics["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"]
    return f"{100 * conflicts / wavefronts:.1f} %"


def gemm_counters():
    return counters("gemm", [
        COUNTED_TIME, ("global loads, MB", megabytes("l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum")),
        ("through L2, MB", megabytes("lts__t_bytes.sum")), ("DRAM read, MB", megabytes("dram__bytes_read.sum")),
        ("bank conflicts", shared_conflicts)])


def valid_configurations():
    figures = load("valid-configurations-2026-11-29.json")
    rows = []
    for space in figures["spaces"]:
        for kernel, counts in space["kernels"].items():
            if len(set(counts)) == 1:
                continue
            shares = [f"{100 * count / max(counts):.0f}" if count else ABSENT for count in counts]
            rows.append([f"`{kernel}`, {space['size']}", f"{max(counts):,}", *shares])
    return markdown(["kernel, size", "valid, at most", *figures["cards"]], rows)


def spaces():
    figures = load("space-2026-11-21.json")
    times = {each["run_name"]: each["cpu_time"] * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[each["time_unit"]]
             for each in figures["benchmarks"] if each["aggregate_name"] == "median"}

    def shown(name):
        if name not in times:
            return ABSENT
        value = times[name] * 1e6
        return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"
    names = sorted(name.split("/")[1] for name in times if name.startswith("construct/"))
    rows = [[name, shown(f"parse/{name}"), shown(f"construct/{name}"), shown(f"brute_force/{name}")] for name in names]
    together = f"Processor time in µs; the field's eight standard spaces together: {shown('construct_standard_eight')}."
    return f"{together}\n\n{markdown(['space', 'parsing', 'construction', 'brute force'], rows)}"


LINE = re.compile(r"^(\d+x\d+x\d+)\s+(\w+)\s+(\S+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+) \+-", re.M)


def random_sizes():
    rows = LINE.findall((RESULTS / "random-sizes-h200-2026-11-22.txt").read_text())
    ratios = sorted(float(row[5]) for row in rows)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    worst = max(rows, key=lambda row: float(row[5]))
    library = sum(row[1] == "library" for row in rows)
    heading = ["sizes", "geometric mean", "median", "95 % below", "worst", "left to the library"]
    return markdown(heading, [[str(len(ratios)), f"{mean:.3f}", f"{(ratios[len(ratios) // 2 - 1] + ratios[len(ratios) // 2]) / 2:.3f}",
                               f"{ratios[math.ceil(0.95 * len(ratios)) - 1]:.3f}", f"{ratios[-1]:.3f} ({worst[0]})",
                               str(library)]])


def reduction():
    lines = re.findall(r"^ *(\d+)  CUB +([\d.]+) us.*?ours +([\d.]+) us +(\d+) GB/s  x([\d.]+)  reading.*?x([\d.]+)",
                       (RESULTS / "reduction-h200-2026-11-22.txt").read_text(), re.M)
    first = {count: rest for count, *rest in reversed(lines)}  # 4096 was measured three times: the first
    rows = [[f"{int(count):,}", time, rate, ratio, share]
            for count, (_, time, rate, ratio, share) in sorted(first.items(), key=lambda item: int(item[0]))]
    return markdown(["floats", "µs", "GB/s", "to CUB", "of the rate of reading"], rows)


def transpose_bounds():
    lines = re.findall(r"^ *(\d+)\^2  (.*?) {2,}[\d.]+ us +\d+ GB/s  x([\d.]+)",
                       (RESULTS / "transpose-bounds-h200-2026-11-22.txt").read_text(), re.M)
    sides = list(dict.fromkeys(side for side, _, _ in lines))
    names = [name for name in dict.fromkeys(name for _, name, _ in lines) if name != "cublasSgeam"]
    ratio = {(side, name): value for side, name, value in lines}
    return markdown(["to cublasSgeam", *(f"{side}²" for side in sides)],
                    [[name, *(ratio[side, name] for side in sides)] for name in names])


def transpose_tuned():
    """Tuned results of db/seed at 8192x8192, the fastest first."""
    lines = map(json.loads, (ROOT / "db/seed/nvidia-h200.jsonl").read_text().splitlines())
    rows = sorted((line["time_ns"]["median"], line) for line in lines
                  if (line["family"], line["problem"]) == ("transpose", "8192,8192"))
    return markdown(["tuned", "µs", "GB/s", "× its default", "configuration"], [
        [f"`{line['kernel']}`", f"{time / 1e3:.1f}", f"{line['bytes'] / time:,.0f}", fixed(line["default"]["ratio"], 2),
         f"`{','.join(f'{name}={value}' for name, value in line['config'].items())}`"] for time, line in rows])


def isolation():
    folder = "h200-2026-11-21"
    aa, slow, stable, faults = (load(f"{folder}/{name}.json") for name in ("aa", "slowdown", "stability", "faults"))
    finals = sum(size["finals"] for size in aa["sizes"])

    def middle(values):
        return sorted(values)[len(values) // 2]
    rows = [["eight names of one kernel end as one tie", f"{sum(size['one_tie'] for size in aa['sizes'])} of {finals} finals"],
            ["the largest ratio in any of these", f"{max(max(size['largest_ratios']) for size in aa['sizes']):.4f}"],
            ["one of eight with 2 % more arithmetic ranks last and is no tie",
             f"{sum(size['beyond_a_tie'] for size in slow['sizes'])} of {sum(size['finals'] for size in slow['sizes'])} finals"]]
    rows += [[f"independent runs at {size['size'].split(',')[0]}³ with the same winner",
              f"{size['agreement'] * stable['runs']:.0f} of {stable['runs']}; its time differs by {100 * size['spread_of_best']:.2f} %"]
             for size in stable["sizes"]]
    for name, what in (("infinite_loop", "a hang, beyond its deadline"), ("trap", "a trap"),
                       ("far_out_of_bounds", "an access far out of bounds")):
        fault = faults["faults"][name]
        rows.append([f"cost of {what}; until the next candidate is through",
                     f"{middle(fault['cost_s']):.2f} s; {middle(fault['respawn_s']):.2f} s"])
    return markdown(["question", "seen"], rows)


TABLES = {"fp32-summary": lambda: summary("fp32", "cublasSgemm"), "fp32-shapes": fp32_shapes,
          "bf16-summary": lambda: summary("bf16", "cublasGemmEx"), "cpu-gpu": cpu_gpu, "small-sizes": small_sizes,
          "transfers": transfers, "transpose-counters": transpose_counters,
          "gemm-counters": gemm_counters, "spaces": spaces,
          "valid-configurations": valid_configurations,
          "random-sizes": random_sizes, "reduction": reduction, "transpose-bounds": transpose_bounds, "transpose-tuned": transpose_tuned,
          "isolation": isolation}


def with_tables(text):
    """The document with every table as the results have it. KeyError names a table that there is not."""
    return PLACE.sub(lambda found: f"{found[1]}\n{TABLES[found[2]]()}\n\n{found[3]}", text)


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    stale = []
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = path.read_text()
        if (new := with_tables(text)) == text:
            continue
        stale.append(str(path.relative_to(ROOT)))
        if not arguments:
            path.write_text(new)
    if arguments and stale:
        print(f"not up to date, run benchmarks/results/tables.py: {', '.join(stale)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
