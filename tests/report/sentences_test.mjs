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
  stdin: { contents: 'export * from "./family"; export * from "./sweep";', resolveDir: join(nodeDirectory, "src"), loader: "ts" },
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
