// SPDX-License-Identifier: Apache-2.0
// What the page says of the facts of its document, and what it makes of them.
//   sentences_test.mjs NODE_DIRECTORY PAGE_FIXTURE
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [nodeDirectory, fixture] = process.argv.slice(2);
const { buildSync } = createRequire(join(nodeDirectory, "package.json"))("esbuild");
const { outputFiles: [{ text: code }] } = buildSync({
  stdin: { contents: 'export * from "./answers"; export * from "./family"; export * from "./format"; export * from "./sweep";', resolveDir: join(nodeDirectory, "src"), loader: "ts" },
  bundle: true, format: "esm", write: false,
});
const page = await import(`data:text/javascript,${encodeURIComponent(code)}`);

const directory = mkdtempSync(join(tmpdir(), "tuner-sentences-"));
const overview = JSON.parse(readFileSync(execFileSync(fixture, [directory], { encoding: "utf8" }).trim(), "utf8").match(/id="report">(.*?)<\/script>/s)[1]);
rmSync(directory, { recursive: true });

/** A table of these rows, whose columns have the keys of the first. */
const table = (rows) => ({ columns: Object.keys(rows[0]).map((key) => ({ key, label: key, kind: "text" })), rows: rows.map((row) => Object.values(row)) });

/** A family without a library that is best by one kernel at sizes of these values. */
function familyOf(sizes, values = {}) {
  const usual = { problem: "", type: "f32", best: "k", ratio: null, low: null, high: null, default: null, sustained_ns: null, median_ns: 1e5, rate: 10, roof: 1, peak: null, state: "ok", work: 2, intensity: 600 };
  const rows = sizes.map((size) => ({ ...usual, ...size, size: size.problem.split(",").slice(0, 3).join("×") + size.problem.split(",").slice(3).map((part) => `, ${part}`).join("") }));
  const columns = table(rows);
  columns.columns.push({ key: "kernel", label: "k", kind: "factor", kernel: "k" });
  return { family: "f", library: "", unit: "TFLOP/s", roofs: { gflops: {}, gflops_from: {}, gbytes: 0, gbytes_from: "" }, peak: { gflops: {}, clock_mhz: 0 }, imported_from: [], sizes: columns, ...values };
}
const kernels = { kernels: [{ family: "f", kernel: "k", options: "--kernel k --space 'my f.json'" }] };

const tests = {
  "every type has a row of its own, and of several types there is one sentence"() {
    const rows = overview.families.find(({ family }) => family === "rows"), types = page.typesOf(rows);
    assert.equal(page.verdictOf(rows, types), "3 types, 6 sizes, 1 kernel.");
    const rounded = page.typesTable(rows, types).rows.map((row) => row.map((value) => typeof value === "number" ? Number(value.toPrecision(6)) : value));
    assert.deepEqual(rounded, [
      ["bf16", 2, 0.8, 0.8, 0, 2, 0, null, 0.8, 240, 0.224188, "rows 2"],
      ["f32", 2, 1.25, 1.25, 2, 0, 0, null, 1, 40, 0.597834, "rows 2"],
      ["f64", 2, null, null, null, null, null, null, 1, 20, 0.298917, "rows 2"]]);
  },

  "a verdict of one type says how it stands beside the library, and the highest rate"() {
    const sizes = [{ problem: "8,8,8", ratio: 2, low: 1.9, high: 2.1 }, { problem: "9,9,9", ratio: 0.5, low: 0.4, high: 0.6, rate: 1234.5678, peak: 0.5 }, { problem: "10,10,10", ratio: 1.01, low: 0.99, high: 1.03 }];
    const family = familyOf(sizes, { library: "cuBLAS" }), types = page.typesOf(family);
    assert.equal(page.verdictOf(family, types), "f32: 3 sizes, 1 kernel. The best kernel of each size is 1.00× as fast as cuBLAS (geometric mean of 3 sizes; "
      + "median 1.01×): ahead at 1, behind at 1, tied at 1. Highest rate: 1235\u00a0TFLOP/s at 9×9×9, 50.0\u00a0% of the nominal peak.");
    assert.equal(page.verdictOf(familyOf([{ problem: "8", type: "", rate: null }]), page.typesOf(familyOf([{ problem: "8", type: "", rate: null }]))), "1 size, 1 kernel. No library was timed beside the best kernels.");
    assert.deepEqual(types[0].wins, [["k", 3]]);
  },

  "notes say what reached the roofs, and which sizes are imported"() {
    const roofs = { gflops: { f32: 2e4, bf16: 1e5 }, gflops_from: { f32: "gemm_shared at 512×512×512, cold", bf16: "another" }, gbytes: 4274, gbytes_from: "copy at 1" };
    const note = (sizes) => { const family = familyOf(sizes, { roofs, imported_from: ["a.jsonl"] }); return page.notesOf(family, page.typesOf(family)); };
    assert.equal(note([{ problem: "8" }]), "Roof, the highest rate measured on this device: memory 4.274\u00a0TB/s (copy at 1); f32 20.00\u00a0TFLOP/s (gemm_shared at 512×512×512, cold).");
    assert.match(note([{ problem: "8", state: "imported" }]), / Imported: timed by the program that wrote a\.jsonl, not verified on this machine\.$/);
    assert.match(note([{ problem: "8", state: "behind, imported" }, { problem: "9" }]), / Imported, 1 of 2 sizes: timed/);
    assert.equal(note([{ problem: "8", work: null, intensity: null }]), "");
  },

  "sizes without a library below half of the roof are to do, the longest first"() {
    const far = (...roofs) => page.toDo(kernels, familyOf(roofs.map((roof, i) => ({ problem: `${i},${i}`, roof, median_ns: 1e5 * (i + 1) }))), "").filter(({ show }) => show.sort === "roof");
    assert.deepEqual(far(1, 0.9), []);
    assert.deepEqual(far(1, 0.9, 0.2), [], "the median is above half");
    const [item] = far(1, 0.1, 0.2, 0.3, 0.4, 0.41, 0.42);
    assert.match(item.text, /^No library was timed here, and 6 sizes reach less than half of the roof, the longest: 6×6 \(f32\) 42\.0\u00a0%; 5×5 /);
  },

  "what is to do names types, and is of the type that is asked for"() {
    const rows = overview.families.find(({ family }) => family === "rows");
    for (const type of ["", "bf16"]) {
      const behind = page.toDo(overview, rows, type).find(({ show }) => show.state === "behind");
      assert.match(behind.text, /^2 sizes are behind cuBLAS, which the dispatcher calls there: .*1024×1024×1024 \(bf16\) 0\.800×.*\. A longer search, or another kernel, may change that\.$/);
      assert.equal(behind.show.sort, "ratio");
    }
    assert.deepEqual(page.toDo(overview, rows, "f32").filter(({ show }) => show.state === "behind"), []);
  },

  "each state of a size has its command, and many sizes are named in part"() {
    const state = (name) => page.toDo(kernels, familyOf([{ problem: "8,8", state: `${name}, unproven` }, { problem: "9,9", state: name }, { problem: "7,7" }]), "").map(({ text, commands, show }) => [text, commands, show.state]);
    assert.deepEqual(state("screened"), [["2 sizes have screening times only: re-time the fastest.", ["tune finalize --kernel k --space 'my f.json'"], "screened"]]);
    assert.deepEqual(state("few trials"), [["2 sizes have fewer than 30 trials in the latest run: search longer.", ["tune --kernel k --space 'my f.json' --size 8,8 --size 9,9"], "few trials"]]);
    assert.equal(state("improving")[0][0], "2 sizes were still improving in the last fifth of the latest run: search longer.");
    assert.deepEqual(state("no result"), []);
    const many = familyOf([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3].map((ratio, i) => ({ problem: `${i},8,8,TYPE=f32`, ratio, state: "behind" })), { library: "cuBLAS" });
    const [{ text, commands, note }] = page.toDo(kernels, many, "f32");
    assert.match(text, /: 6×8×8 \(f32\) 0\.300×; 5×8×8 \(f32\) 0\.400×; .*; 2×8×8 \(f32\) 0\.700×; and 2 more\. A longer/);
    assert.equal(commands[0].match(/--size/g).length, 5);
    assert.equal(note, "The commands are of the sizes named.");
    assert.equal(page.toDoInBrief(page.typesOf(many)[0]), "7: behind the library");
  },

  "a label loses the value that is its type alone"() {
    assert.equal(page.withoutType("8×8, TYPE=bf16, TRANS_B=1", "bf16"), "8×8, TRANS_B=1");
    assert.equal(page.withoutType("8×8, TYPE=bf16", "f32"), "8×8, TYPE=bf16");
  },
};

/** Numbers of a table as they are compared: to six digits. */
const rounded = (row) => row.map((value) => typeof value === "number" ? Number(value.toPrecision(6)) : value);
const sweepOf = (change = () => {}) => {
  const sweep = structuredClone(overview.sweeps[0]);
  change(sweep);
  return Object.assign(page.sweepSections(sweep), { of: (kind) => page.sweepSections(sweep).find((one) => one.kind === kind) });
};

Object.assign(tests, {
  "a sweep says on what it ran"() {
    assert.equal(page.sweepVerdict(overview.sweeps[0]), "CPU: Sample processor, 16 threads, vectors of 512 bits (g++ 12.2.0, OpenBLAS 0.3.21). GPU: NVIDIA H200 (NVRTC 13.0, cuBLAS 13.1.0). "
      + "All computed the same on whole numbers, bit for bit.");
  },

  "curves have a column for each contender, and gaps where it was not timed"() {
    const { table, answer } = sweepOf().of("curves");
    assert.deepEqual(table.columns.map(({ label }) => label), ["Size", "Size (mean of the dimensions)", "CPU OpenBLAS 0.3.21", "CPU slow", "GPU cuBLAS 13.1.0", "GPU tuned", "GPU broken"]);
    assert.deepEqual(rounded(table.rows[2]), ["1024×1024×1024", 1024, 8e6, null, 5e4, 48e3, null]);
    assert.equal(answer, "The kernel's time. CPU or GPU, the kernel alone: faster is GPU from 64×64×64 to 1024×1024×1024. Skipped: CPU slow from 1024×1024×1024.");
  },

  "curves with transfers have the processor beside the transfers of a placement"() {
    assert.deepEqual(sweepOf().map(({ title }) => title), ["Fastest contender over sizes", "With transfers, pageable", "With transfers, mapped", "Parts of a transfer", "GPU over CPU", "Speed-up", "One-time costs"]);
    const { table, answer } = sweepOf()[1];
    assert.equal(table.columns.length, 5);
    assert.deepEqual(rounded(table.rows[0]), ["64×64×64", 64, 2e4, 3e5, 52e3]);
    assert.equal(answer, "Allocation, copies, kernel and free. CPU or GPU, with transfers, pageable: faster is CPU at 64×64×64, then GPU from 256×256×256 to 1024×1024×1024.");
  },

  "ratios are of the fastest of each side, speed-ups over the slowest at the size"() {
    const ratios = sweepOf().of("ratios"), speedups = sweepOf().of("speedups");
    assert.deepEqual(rounded(ratios.table.rows[0]), ["64×64×64", 2.5, 0.384615, 0.990099]);
    assert.equal(ratios.answer, "At 1024×1024×1024 the fastest on GPU is 167× as fast as the fastest on CPU.");
    assert.deepEqual(rounded(speedups.table.rows[0]), ["64×64×64", "GPU tuned", 8000, 65.536, 14400, 37.5]);
    assert.deepEqual(rounded(speedups.table.rows[3]), ["64×64×64", "CPU slow", 3e5, 1.74763, null, 1]);
    assert.equal(speedups.answer, "At 1024×1024×1024 GPU tuned is 167 times as fast as CPU OpenBLAS 0.3.21.");
  },

  "a transfer has its parts, and what is paid once is in one place"() {
    const split = sweepOf().of("split"), { rows } = sweepOf().of("start_up").table;
    assert.deepEqual(rounded(split.table.rows[0]), ["64×64×64", "tuned, pageable", 5e3, 2e4, 1.5e4, 1e4, 2e3, 5.2e4]);
    assert.match(split.answer, / pageable or mapped, with transfers: faster is mapped at 64×64×64, then pageable from 256×256×256/);
    assert.deepEqual([rows[0], rows[2], rows[rows.length - 1]].map(rounded), [["CPU opening the device", 2.05e7], ["compiling slow at 64×64×64", 1.5e8], ["host memory, mapped, at 1024×1024×1024", 3e5]]);
  },

  "a sweep without transfers has no parts of them, one of an earlier version gaps"() {
    assert.equal(sweepOf(({ sides }) => { for (const side of sides) side.transfers = []; }).length, 4);
    const earlier = sweepOf(({ sides }) => { for (const side of sides) { delete side.skipped; for (const one of side.transfers) delete one.allocate_ns; } });
    assert.equal(earlier.of("split").table.rows[0][2], null);
    assert.doesNotMatch(earlier[0].answer, /Skipped/);
  },
});

/** A section of a kind and of a table with these rows. */
const answer = (kind, rows, values = {}) => page.wordsOf({ kind, table: rows.length > 0 ? table(rows) : { columns: [], rows: [] }, ...values }).answer;
const kernelOf = (values) => ({ kernel: "gemm_shared", unproven: "", types: [], sections: [], largest: { label: "1000×1000×1000", result: null }, ...values });
const resultOf = (values) => ({ ns: 1e5, rate: 20, unit: "TFLOP/s", measure: "cold", confirmed: true, library: "cuBLAS", ratio: 0.5, gain: 3.2, ties: 2, ...values });

Object.assign(tests, {
  "numbers have the forms of the program's own"() {
    assert.deepEqual([812, 12_345, 5_481_200, 2.5e9, 999.99].map((ns) => page.time(ns)), ["812.0\u00a0ns", "12.35\u00a0µs", "5.481\u00a0ms", "2.500\u00a0s", "1.000\u00a0µs"]);
    assert.deepEqual([0.42, 38, 192, 7500].map(page.duration), ["0.42\u00a0s", "38\u00a0s", "3\u00a0min\u00a012\u00a0s", "2\u00a0h\u00a005\u00a0min"]);
    assert.deepEqual([1.059, 12.34, 9.996].map(page.factor), ["1.06×", "12.3×", "10.0×"]);
    assert.deepEqual([0.4912, 0.0123, 1.083, 0.0999].map(page.share), ["49.1\u00a0%", "1.2\u00a0%", "108\u00a0%", "10\u00a0%"]);
    assert.deepEqual(["4096,1,7", "64,8,TRANS_B=1,LDA=72"].map(page.sizeLabel), ["4096×1×7", "64×8, TRANS_B=1, LDA=72"]);
    assert.deepEqual([page.bytes(60 * 2 ** 20), page.count(1_234_567), page.plural(1, "size"), page.plural(2, "size is", "sizes are")], ["60\u00a0MiB", "1,234,567", "1 size", "2 sizes are"]);
  },

  "a verdict says the rate, the share of the library, the gain and the ties"() {
    const of = (values) => page.sizeVerdict(kernelOf({}), "1000×1000×1000", resultOf(values));
    assert.equal(of({}), "1000×1000×1000: gemm_shared runs at 20.00\u00a0TFLOP/s, 50.0\u00a0% of cuBLAS and 3.20× its default configuration; "
      + "2 other finalists are not shown to be over 1\u00a0% slower.");
    assert.match(of({ measure: "back to back", ties: 1 }), / and 3\.20× its default configuration in cold launches; 1 other finalist is not/);
    assert.equal(of({ rate: null, ratio: null, gain: null, ties: 0 }), "1000×1000×1000: gemm_shared runs in 100.0\u00a0µs.");
    assert.equal(of({ rate: null, confirmed: false }), "1000×1000×1000: gemm_shared runs in 100.0\u00a0µs; screening time only, not re-timed.");
  },

  "a kernel's verdict has the ranges of each type, why it is unproven, and without a success the commonest cause"() {
    const types = [{ type: "bf16", sizes: 3, library: "cuBLAS", ratio: [0.5, 0.7], gain: [2, 3] }, { type: "f16", sizes: 1, library: "", ratio: null, gain: null }];
    assert.match(page.kernelVerdict(kernelOf({ largest: { label: "8", result: resultOf() }, types, unproven: "never run on a GPU" })),
      / slower\. Over 3 sizes of bf16 it reaches 50\.0\u00a0% to 70\.0\u00a0% of cuBLAS and 2\.00× to 3\.00× the default, cold\. Unproven: never run on a GPU\.$/);
    assert.match(page.kernelVerdict(kernelOf({ largest: { label: "8", result: resultOf() }, types: types.slice(0, 1) })), / Over 3 sizes it reaches /);
    const failures = { kind: "failures", tried: 4, table: table([["1000×1000×1000", "crashed", 1], ["1000×1000×1000", "compile_error", 2], ["8", "timeout", 9]].map(([size, outcome, count]) => ({ size, outcome, count }))) };
    assert.equal(page.kernelVerdict(kernelOf({ sections: [failures] })), "1000×1000×1000: none of 3 trials succeeded; 2 did not compile.");
    assert.equal(page.kernelVerdict(kernelOf({})), "1000×1000×1000: nothing has been tried yet.");
  },

  "performance says where the library is ahead"() {
    const of = (...ratios) => answer("performance", ratios.map((ratio, i) => ({ size: `${i}`, ratio })), { library: "cuBLAS" });
    assert.equal(of(null), "No library was timed beside this kernel.");
    assert.equal(of(0.5, null), "It reaches 50.0\u00a0% of cuBLAS.");
    assert.equal(of(0.5, 0.9), "cuBLAS is faster at every size; the best ratio is at 1 (90.0\u00a0%), the worst at 0 (50.0\u00a0%).");
    assert.match(of(1.5, 0.9, 1.1), /^This kernel is faster than cuBLAS at 2 of 3 sizes; the best ratio is at 0 \(150\u00a0%\)/);
  },

  "failures are counted by cause, the commonest first"() {
    const rows = [["8", "crashed", 1], ["8", "compile_error", 1], ["9", "compile_error", 1]].map(([size, outcome, count]) => ({ size, outcome, count }));
    assert.equal(answer("failures", rows, { tried: 4 }), "3 of 4 trials failed (75.0\u00a0%): 2 did not compile, 1 crashed.");
    assert.equal(answer("failures", [], { tried: 1200 }), "All 1,200 trials compiled, ran and computed the right result.");
    assert.equal(answer("failures", [], { tried: 0 }), "Nothing was tried.");
  },

  "the time budget is summed over runs, energy counted by size"() {
    const run = { wall_s: 100, compile_s: 60, verify_s: 1, measure_s: 20 };
    assert.equal(answer("budget", [run, run]), "3\u00a0min\u00a020\u00a0s in 2 runs: 2\u00a0min\u00a000\u00a0s compiling (beside the rest, summed over all compilers), 2\u00a0s verifying, 40\u00a0s measuring.");
    assert.equal(answer("energy", [["8", "yes"], ["8", "yes"], ["9", "yes"], ["9", "no"]].map(([size, pareto]) => ({ size, pareto }))), "At 1 of 2 sizes one contender is the fastest and takes the least energy.");
  },

  "importance names two parameters, and whether their order is certain"() {
    const rows = [{ parameter: "A", share: 0.6, low: 0.5, high: 0.7 }, { parameter: "B", share: 0.2, low: 0.1, high: 0.3 }];
    assert.equal(answer("importance", rows, { trials: 400 }), "A explains 60.0\u00a0% of the variance of log time (95\u00a0%: 50.0\u00a0% to 70.0\u00a0%), B 20.0\u00a0% (10.0\u00a0% to 30.0\u00a0%). From 400 trials.");
    assert.match(answer("importance_over_sizes", [rows[0], { ...rows[1], high: 0.55 }], { trials: 40, sizes: 2 }), /log time within sizes .*; their order is not certain\. From 40 trials at 2 sizes\.$/);
    assert.equal(answer("importance", [], { trials: 29 }), "Unknown: 30 successful trials are needed; there are 29.");
    assert.equal(answer("importance", [], { trials: 30 }), "No parameter changed the time.");
    const bySize = { columns: ["size", "A", "B"].map((label) => ({ key: "parameter", label, kind: "share" })), rows: [["8", 0.6, 0.2], ["9", null, 0.5], ["10", 0.4, 0.4], ["11", 0, 0]] };
    assert.equal(page.wordsOf({ kind: "importance_by_size", table: bySize, sizes: 5 }).answer,
      "Most important: A at 2 sizes, B at 1 size. Not known at 1 size: fewer than 30 successful trials, or all as fast.");
  },

  "convergence is told of the latest three runs, in their own trials"() {
    const step = (run, trial, ns) => ({ run, trial, elapsed_s: trial - 1, ns }), run = (name, trials, state = "converged") => ({ run: name, trials, elapsed_s: trials - 1, state });
    assert.equal(answer("convergence", [step("a", 1, 200), step("b", 1, 150), step("b", 10, 100)], { runs: [run("a", 100), run("b", 40)] }),
      "Within 5\u00a0% of the fastest: run b after 10 of 40 trials (9\u00a0s of 39\u00a0s); run a not in 100 trials.");
    assert.equal(answer("convergence", [step("a", 3, 104), step("a", 5, 100)], { runs: [run("a", 5, "few_trials")] }),
      "Within 5\u00a0% of the fastest: after 3 of 5 trials (2\u00a0s of 4\u00a0s). Fewer than 30 trials: more may find a faster one.");
    assert.match(answer("convergence", [step("d", 1, 100)], { runs: [run("a", 50), run("b", 50), run("c", 50), run("d", 50, "improving")] }), /^Within 5\u00a0% of the fastest: run d .*; run c .*; run b not in 50 trials\. 1 run before them in the table\. The best still improved/);
    assert.equal(answer("convergence", [], { runs: [run("a", 5)] }), "No trial succeeded.");
    assert.equal(answer("convergence", [], { runs: [] }), "The results were imported: no run here.");
  },

  "a distribution says how many are near the fastest"() {
    assert.equal(answer("distribution", [{ from_ns: 100, to_ns: 200, count: 60 }, { from_ns: 200, to_ns: 300, count: 40 }], { near: 1, median: 250 }),
      "1 of 100 successful trials is within 5\u00a0% of the fastest; the median one takes 2.50× as long.");
    assert.equal(answer("distribution", [], { near: 0, median: null }), "No trial succeeded.");
  },

  "searches are compared by how soon they came near, and what was left out is said"() {
    const row = (strategy, runs, candidates_3, seconds_3, reached_3) => ({ strategy, runs, candidates_3, seconds_3, reached_3 });
    const of = (rows, left_out = [0, 0, 0], best_ns = 100) => answer("search", rows, { curves: rows, left_out, best_ns });
    assert.equal(of([row("auto", 1, 41, 7, 1), row("random", 1, 90, 40, 1), row("genetic", 1, null, null, 0)]), "Within 3\u00a0% of the best known: auto after 41 trials (7\u00a0s), random after 90 trials (40\u00a0s), genetic never.");
    assert.match(of([row("auto", 3, 20, 4, 2), row("random", 3, null, null, 1)]), /, random in 1 of 3 runs\. Medians of 3 runs each\.$/);
    assert.match(of([row("auto", 3, 20, 4, 2)]), /\. Medians of 3 runs\.$/);
    assert.match(of([row("auto", 3, 20, 4, 2), row("random", 1, 9, 5, 1)]), /\. Medians over the runs of each\.$/);
    assert.match(of([row("random", 1, 9, 5, 1)], [2, 1, 1]), / Left out: 2 runs that reused earlier results, 1 run that started from an earlier winner, 1 run of another environment\.$/);
    assert.equal(of([], [2, 0, 0]), "No run began anew. Left out: 2 runs that reused earlier results.");
    assert.equal(answer("search", [], { curves: [{}], left_out: [0, 0, 0], best_ns: null }), "No trial succeeded.");
    assert.equal(of([], [0, 0, 0], null), "The results were imported: no run here.");
  },

  "finalists say who was chosen by which rule, and by how much another is ahead"() {
    const row = (standing, ratio, ratio_low, ratio_high) => ({ standing, ratio, ratio_low, ratio_high });
    const of = (rows, values = {}) => answer("finalists", rows, { ties: 1, card: "", repetitions: 30, imported_from: null, rule: null, ...values });
    const three = [row("fastest", 0.993, 0.991, 0.995), row("chosen", 1, 1, 1), row("", 1.03, 1.02, 1.04)];
    assert.equal(of(three, { rule: { by: "registers", numbers: [96, 128] } }), "3 contenders timed interleaved, 30 repetitions. Chosen among 2 that tie with the fastest, by this rule: "
      + "fewer registers, 96 instead of 128. The fastest is 0.70\u00a0% ahead of it (95\u00a0%: 0.50\u00a0% to 0.91\u00a0%).");
    const rules = { energy: "less energy, 0.06000 J per execution instead of 0.07000", incumbent: "the previous best", default: "the default", resources: "fewer registers, then less shared memory", order: "the order of the space" };
    for (const [by, words] of Object.entries(rules)) assert.ok(of(three, { rule: { by, numbers: [0.06, 0.07] } }).includes(`by this rule: ${words}. The fastest`), by);
    assert.match(of(three, { rule: { by: "shared_bytes", numbers: [1024, 2048] } }), /less shared memory, 1\u00a0KiB instead of 2\u00a0KiB/);
    assert.match(of([row("fastest", 0.998, 0.99, 1.003), row("chosen", 1, 1, 1)], { rule: { by: "incumbent" }, card: "GPU-2" }),
      /^2 contenders timed interleaved on card GPU-2, 30 repetitions\. .*\. The fastest cannot be told from it \(95\u00a0%\)\.$/);
    assert.match(of([row("library", 0.9, 0.89, 0.91), row("chosen, best of ours", 1, 1, 1), row("", 1.5, 1.49, 1.52)]),
      /The library is faster\. The chosen one is the best of ours; the next takes 50\.0\u00a0% longer \(95\u00a0%: 49\.0\u00a0% to 52\.0\u00a0%\)\.$/);
    assert.match(of([row("chosen, fastest", 1, 1, 1), row("", 1.01, 0.99, 1.03)]), /The winner is the fastest; 1 other configuration cannot be told from it/);
    assert.match(of([row("chosen, fastest", 1, 1, 1)]), / It is the only configuration\.$/);
    assert.equal(of([]), "No final round was run for this size.");
    assert.equal(of([row("chosen", 1, 1, 1)], { imported_from: "a.jsonl", ties: 2 }), "Imported from a.jsonl: what its line tells of the final round, 30 repetitions, in which 2 other finalists were not shown to be over 1\u00a0% slower. "
      + "Trials and further finalists are in the database that it was measured into.");
  },

  "of random databases every sentence is whole, and its counts are those of the trials"() {
    const documents = JSON.parse(execFileSync(fixture, ["--random"], { encoding: "utf8", maxBuffer: 1 << 28 }));
    for (const document of documents) {
      const sentences = [];
      for (const family of document.families) {
        const types = page.typesOf(family);
        sentences.push(page.verdictOf(family, types), page.notesOf(family, types), ...types.flatMap(({ type }) => page.toDo(document, family, type).map(({ text }) => text)), ...page.toDo(document, family, "").map(({ text }) => text));
        const at = (row, key) => row[family.sizes.columns.findIndex((one) => one.key === key)];
        for (const row of family.sizes.rows) assert.equal(at(row, "high") !== null && at(row, "high") < 1, String(at(row, "state")).split(", ").includes("behind"));
      }
      for (const kernel of document.kernels) {
        sentences.push(page.kernelVerdict(kernel), ...kernel.sections.map((one) => page.wordsOf(one).answer));
        const tried = kernel.sizes.reduce((sum, { trials }) => sum + trials.total, 0), lost = kernel.sizes.reduce((sum, { trials }) => sum + trials.ns.filter((ns) => ns === null).length, 0);
        const failures = page.wordsOf(kernel.sections.find(({ kind }) => kind === "failures")).answer;
        assert.ok(tried === 0 || failures.startsWith(lost > 0 ? `${lost} of ${tried} trials failed` : `All ${tried} trials`), failures);
        for (const size of kernel.sizes) {
          const words = Object.fromEntries(size.sections.map((one) => [one.kind, page.wordsOf(one).answer]));
          sentences.push(page.sizeVerdict(kernel, size.label, size.result), ...Object.values(words));
          const times = size.trials.ns.filter((ns) => ns !== null).sort((a, b) => a - b);
          if (times.length === 0) continue;
          assert.ok(words.distribution.startsWith(`${times.filter((ns) => ns <= 1.05 * times[0]).length} of ${times.length} successful trials `), words.distribution);
          assert.match(words.importance, times.length < 30 ? new RegExp(`needed; there (is|are) ${times.length}\\.$`) : new RegExp(`(From ${times.length} trials\\.|changed the time\\.)$`));
        }
      }
      for (const sentence of sentences) assert.doesNotMatch(sentence, /undefined|NaN|null|Infinity|\[object/, sentence);
    }
  },
});

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    test();
    console.log(`ok      ${name}`);
  } catch (error) {
    ++failed;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}
process.exit(failed === 0 ? 0 : 1);
