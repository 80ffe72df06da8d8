// SPDX-License-Identifier: Apache-2.0
// The document that the program writes into the page (format "tune.report/3"). This is its only
// declaration: the test report.document has tsc check documents of the program against it.

export type Kind = "text" | "code" | "count" | "time" | "duration" | "bytes" | "number" | "factor" | "share";
export type Cell = string | number | null;
/** `kernel`: whose column it is, where the label is short. */
export interface Column { key: string; label: string; kind: Kind; kernel?: string }
export interface Table { columns: Column[]; rows: Cell[][] }

export type FailedOutcome =
  | "compile_error" | "compile_timeout" | "launch_error" | "wrong_result" | "out_of_bounds" | "nondeterministic"
  | "timeout" | "crashed" | "unstable" | "implausible" | "quarantined";
export type Outcome = "ok" | FailedOutcome;

/** What a time is of: launches back to back with cold operands, or single ones from a cold cache. */
export type Measure = "back to back" | "cold";
/** A time to compare trials with: of the best, the default, the library. */
export interface Mark { role: "best" | "default" | "library"; label: string; ns: number }

/** `kind` names the chart, which draws the rows of the table, and the sentence (answers.ts). */
interface Part<K extends string> { kind: K; table: Table }
export interface Words { title: string; answer: string }

export type BudgetSection = Part<"budget">;
export interface FailuresSection extends Part<"failures"> { tried: number }
/** `library`: empty where none was timed; the column `ratio` is its time over the best one's. */
export interface PerformanceSection extends Part<"performance"> { unit: string; library: string }
/** `near`: trials within 5 % of the fastest. `median`: in ns, null without a success. */
export interface DistributionSection extends Part<"distribution"> { near: number; median: number | null; marks: Mark[]; measure: Measure }
/** What a size's roofline is made of: its work, and the nominal rates of the device a second; null where one is not known. */
export type Roofline = { flops: number; bytes: number; peak_gflops: number; peak_gbytes: number } | null;
/** A row for each contender, the best first. The counters are null where they could not be read. */
export interface ExplanationSection extends Part<"explanation"> { answer: string; roofline: Roofline }
/** A row for each contender whose energy was measured, by size. */
export type EnergySection = Part<"energy">;
/** `measure`: of the chart's axis; a column `measure` where ratios of some contenders are of the other one. `imported_from`: null of a final round that ran
 * here. `card`: empty where there was one alone. `rule`: null where the chosen one is the fastest; `numbers` of the chosen and of the fastest. */
export interface FinalistsSection extends Part<"finalists"> {
  ties: number; measure: Measure; imported_from: string | null; card: string; repetitions: number;
  rule: { by: "energy" | "incumbent" | "default" | "resources" | "registers" | "shared_bytes" | "order"; numbers?: number[] } | null;
}
/** Shares of the variance of log time: at one size, or within all sizes of a kernel. */
export interface ImportanceSection extends Part<"importance"> { trials: number }
export interface SpreadSection extends Part<"importance_over_sizes"> { trials: number; sizes: number }
/** A row for each size, a column `parameter` for each parameter, labelled with its name: the same shares. `sizes`: of the kernel. */
export interface SharesBySize extends Part<"importance_by_size"> { sizes: number }

/** How the search of a run ended. */
export type Convergence = "exhausted" | "few_trials" | "improving" | "converged";
export interface Run { run: string; strategy: string; trials: number; elapsed_s: number; state: Convergence }
export interface ConvergenceSection extends Part<"convergence"> { runs: Run[]; marks: Mark[] }

export interface Parameter { name: string; values: string[] }
/** Rows [x, y, best, succeeded, tried]; x and y are positions among the parameters' values. */
export interface Pair { x: number; y: number; rows: [number, number, number | null, number, number][] }
export interface HeatmapSection extends Part<"heatmap"> { higher_is_better: boolean; parameters: Parameter[]; pairs: Pair[] }

/** Lowest, median and highest of a strategy's runs, as multiples of the best known time. */
export interface Curve { at: number[]; low: (number | null)[]; median: (number | null)[]; high: (number | null)[] }
export type CurveProgress = "candidates" | "seconds";
export interface StrategyCurves extends Record<CurveProgress, Curve> { strategy: string; runs: number }
export interface SearchSection extends Part<"search"> {
  curves: StrategyCurves[];
  left_out: number[]; // runs: that reused results, that were told a winner, of other environments
  near: number[];
  best_ns: number | null; // the fastest trial; null without a success
}

/** Parts about a range of sizes, which sweep.ts makes. */
export type SweepSection = Part<"curves" | "split" | "ratios" | "speedups" | "start_up">;
export type ComparisonSection = Part<"comparison">;

export type KernelSection = BudgetSection | FailuresSection | PerformanceSection | SpreadSection | SharesBySize | EnergySection;
export type SizeSection =
  | ConvergenceSection | DistributionSection | SearchSection | ImportanceSection | HeatmapSection | FinalistsSection | ExplanationSection;
export type Section = KernelSection | SizeSection | SweepSection | ComparisonSection;

/** The trials that stand, one for each configuration: columns of equal length. */
export interface Trials {
  total: number;
  shown: number;
  run: number[];
  trial: number[];
  elapsed_s: number[];
  measure: Measure;
  ns: (number | null)[]; // what the search ranks by, of that measure
  cold_ns?: (number | null)[]; // of single launches, where the measure is another
  outcome: Outcome[];
  parameters: { name: string; values: string[]; choices: number[] }[];
}

/** The best known of a size. `rate`: in `unit`, null where its work is not known. `confirmed`: by a final round; else it is of a screening. `ratio`: the
 * library's time over it; `gain`: the default's, of cold launches. `ties`: other finalists not shown to be over 1 % slower. */
export interface Result {
  ns: number; rate: number | null; unit: string; measure: Measure; confirmed: boolean; library: string; ratio: number | null; gain: number | null; ties: number;
}

export interface Size {
  problem: string; label: string; result: Result | null;
  // null without a result; what is null in it: of kernels whose files are not known, or that are not CUDA's
  use: { config: string; command: string; dispatch: string | null; code: string | null; layout: string | null; source: string | null } | null;
  sections: SizeSection[]; trials: Trials;
}
interface KernelOf<S> {
  family: string; kernel: string; hash: string;
  unproven: string; // why; empty: it is proven
  largest: { label: string; result: Result | null }; // the largest size with a result; without any the last one
  types: { type: string; sizes: number; library: string; ratio: [number, number] | null; gain: [number, number] | null }[]; // lowest and highest of several sizes
  sections: KernelSection[]; sizes: S[]; commands: string[];
  options: string; // what names it to commands: "--kernel K --space FILE"
  environments: string[]; // of its results, the latest first
}
/** As the page reads it at once: without sizes. */
export type KernelSummary = KernelOf<never>;
export type Kernel = KernelOf<Size>;

/** The first part of the page. `sizes` has a column `kernel` for each kernel. */
export interface Family {
  family: string;
  library: string; // empty: none was timed, and ratios are to the fastest kernel
  unit: string;
  /** The highest rates measured on the device, a second, by type, and what reached them. */
  roofs: { gflops: Record<string, number>; gflops_from: Record<string, string>; gbytes: number; gbytes_from: string };
  peak: { gflops: Record<string, number>; clock_mhz: number }; // the nominal rates at the highest clock measured; by type
  imported_from: string[]; // files
  sizes: Table;
}
/** Of a document "tune.sweep/2" what the page reads. `size`: its place among `sizes`; a side is a processor or a device, to which data travel, the last. */
export interface Sweep {
  family: string; measured_at?: string; vector_bits: number; agree: boolean | null;
  sizes: { size: string; flops: number }[];
  placements: { name: string }[];
  comparisons: { of: string; between: string[]; leads: { faster: string; first: number; last: number }[] }[];
  sides: Side[];
}
export interface Side {
  name: string; device: string; backend: string; cores: number; driver: string; compiler: string; library: string;
  start_up: { device_ms: number; library_ms: number };
  times: { contender: string; size: number; compile_ms: number; median_ns?: number; cycles?: number }[];
  transfers: Transfer[];
  skipped?: { contender: string; placement: string; size: number }[]; // empty contender: all; empty placement: without transfers
}
export interface Transfer {
  contender: string; size: number; placement: string; allocate_ns?: number; to_device_ns?: number; kernel_ns?: number; to_host_ns?: number; free_ns?: number;
  total_ns?: number; pin_ns?: number;
}
/** The results of the page, B, beside others: a row for each size that both sides have. */
export interface Comparison { title: string; sides: [string, string]; verdict: string[]; table: Table }
/** What the page reads at once. */
export interface Overview {
  format: "tune.report/3"; device: string; backend: string; facts: [string, string][]; period: string;
  families: Family[]; kernels: KernelSummary[]; sweeps: Sweep[]; comparisons: Comparison[];
  live?: { every_s: number; at: string }; // during a run: how often it is loaded anew, when it was written (UTC)
}
export interface Report extends Omit<Overview, "kernels"> { kernels: Kernel[] }

export function readOverview(): Overview {
  return JSON.parse(document.getElementById("report")!.textContent!) as Overview;
}

/** One size of the kernel at a position. */
export interface Detail { kernel: number; size: Size }

/** The details and the charts' script stand below the script, which runs before they are there. */
export const complete = new Promise<unknown>((done) => document.addEventListener("DOMContentLoaded", done));

/** The details of sizes that the page holds compressed together, from the first of them on. */
async function readTogether(family: number, first: number): Promise<Detail[][]> {
  const text = atob(document.getElementById(`sizes-${family}-${first}`)!.textContent!);
  const packed = new Blob([Uint8Array.from(text, (c) => c.charCodeAt(0))]);
  return await new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).json() as Detail[][];
}

const holds = (family: number, size: number) => document.getElementById(`sizes-${family}-${size}`) !== null;

/** The details of a family's size. */
export async function readDetails(family: number, size: number): Promise<Detail[]> {
  await complete;
  let first = size;
  while (first > 0 && !holds(family, first)) --first;
  return (await readTogether(family, first))[size - first];
}

/** Those of each of a family's sizes, whose number is given: what is compressed together is read once. */
export async function readAllDetails(family: number, sizes: number): Promise<Detail[][]> {
  await complete;
  const all: Detail[][] = [];
  for (let size = 0; size < sizes; ++size) {
    if (holds(family, size)) all.push(...await readTogether(family, size));
  }
  return all;
}

/** The overview with all details. */
export async function readReport(overview: Overview): Promise<Report> {
  const details = (await Promise.all(overview.families.map((family, f) => readAllDetails(f, family.sizes.rows.length)))).flat(2);
  const kernels = overview.kernels.map((kernel, k) => ({ ...kernel, sizes: details.filter((one) => one.kernel === k).map((one) => one.size) }));
  return { ...overview, kernels };
}

/** The position of a table's column. */
export function columnIndex(table: Table, key: string): number {
  return table.columns.findIndex((column) => column.key === key);
}

export function numbers(table: Table, key: string): (number | null)[] {
  const index = columnIndex(table, key);
  return table.rows.map((row) => row[index] as number | null);
}

export function texts(table: Table, key: string): string[] {
  const index = columnIndex(table, key);
  return table.rows.map((row) => String(row[index] ?? ""));
}

/** A row by the keys of its columns. */
export type Row = Record<string, Cell>;
export function rowsOf({ columns, rows }: Table): Row[] {
  return rows.map((row) => Object.fromEntries(columns.map(({ key }, i) => [key, row[i]])));
}
