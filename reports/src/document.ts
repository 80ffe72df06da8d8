// SPDX-License-Identifier: Apache-2.0
// The document that the program wrote into the page (format "tune.report/1").

export type Kind = "text" | "code" | "count" | "time" | "duration" | "number" | "factor" | "share";
export type Cell = string | number | null;
export interface Column { key: string; label: string; kind: Kind }
export interface Table { columns: Column[]; rows: Cell[][] }

/** A time to compare candidates with: of the best, the default, the library. */
export interface Mark { role: "best" | "default" | "library"; label: string; ns: number }

export interface Section { kind: string; title: string; answer: string; table: Table }
export interface PerformanceSection extends Section { unit: string }
export interface MarkedSection extends Section { marks: Mark[] }

export interface Parameter { name: string; values: string[]; impact: number }
export interface Pair { x: number; y: number; rows: [number, number, number | null, number, number][] }
export interface HeatmapSection extends Section {
  higher_is_better: boolean;
  parameters: Parameter[];
  pairs: Pair[];
}

/** Lowest, median and highest of a strategy's sessions, as multiples of the best known time. */
export interface Curve { at: number[]; low: (number | null)[]; median: (number | null)[]; high: (number | null)[] }
export type CurveProgress = "candidates" | "seconds";
export interface StrategyCurves extends Record<CurveProgress, Curve> { strategy: string; sessions: number }
export interface SearchSection extends Section { curves: StrategyCurves[]; near: number[] }

/** The candidates one by one: columns of equal length. */
export interface Trials {
  total: number;
  shown: number;
  evaluation: number[];
  elapsed_s: number[];
  median_ns: (number | null)[];
  outcome: string[];
  parameters: { name: string; values: string[]; choices: number[] }[];
}

export interface Size { problem: string; label: string; verdict: string; sections: Section[]; trials: Trials }
export interface Kernel { family: string; kernel: string; sections: Section[]; sizes: Size[] }
/** A part of the page about a range of sizes. */
export interface Sweep { family: string; sections: Section[] }
export interface Report { format: string; device: string; kernels: Kernel[]; sweeps: Sweep[] }

export function readReport(): Report {
  return JSON.parse(document.getElementById("report")!.textContent!) as Report;
}

/** What a JSON pointer of the page names, e.g. "/kernels/0/sections/1". */
export function at<T>(report: Report, pointer: string): T {
  let node: unknown = report;
  for (const key of pointer.split("/").slice(1)) node = (node as Record<string, unknown>)[key];
  return node as T;
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
