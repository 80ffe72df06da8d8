// SPDX-License-Identifier: Apache-2.0
import type { Cell, CurveProgress, SearchSection, Table, Trials } from "./document";

/** A text that a spreadsheet would take for a formula gets an apostrophe, which it takes for text. */
function csvField(value: Cell): string {
  const formula = typeof value === "string" && /^[=+\-@\t\r]/.test(value) && Number.isNaN(Number(value));
  const text = value === null ? "" : (formula ? "'" : "") + String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csv(header: string[], rows: Cell[][]): string {
  return [header, ...rows].map((row) => row.map(csvField).join(",")).join("\r\n") + "\r\n";
}

/** Without the columns that have no value in any row. */
export function withoutEmptyColumns({ columns, rows }: Table): Table {
  const kept = columns.flatMap((_, i) => rows.some((row) => row[i] !== null && row[i] !== "") ? [i] : []);
  return { columns: kept.map((i) => columns[i]), rows: rows.map((row) => kept.map((i) => row[i])) };
}

/** A table as RFC 4180 CSV, with the raw numbers. */
export function tableCsv(table: Table): string {
  return csv(table.columns.map((column) => column.kernel ?? (column.key === "x" || column.key === "y" ? column.label : column.key)), table.rows);
}

export function trialsCsv(trials: Trials): string {
  const cold = trials.cold_ns ?? trials.ns;
  const header = ["run", "trial", "elapsed_s", "outcome", "ranking_ns", "cold_ns", ...trials.parameters.map((p) => p.name)];
  return csv(header, trials.trial.map((trial, i) => [
    trials.run[i] + 1, trial, trials.elapsed_s[i], trials.outcome[i], trials.ns[i], cold[i],
    ...trials.parameters.map((p) => p.values[p.choices[i]]),
  ]));
}

/** The corners of every strategy's steps over candidates, then over seconds. */
export function curvesCsv(section: SearchSection): string {
  const over: CurveProgress[] = ["candidates", "seconds"];
  return csv(["strategy", "runs", "over", "at", "low", "median", "high"], section.curves.flatMap((one) => over.flatMap((progress) => {
    const { at, low, median, high } = one[progress];
    return at.map((x, i): Cell[] => [one.strategy, one.runs, progress, x, low[i], median[i], high[i]]);
  })));
}
