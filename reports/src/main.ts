// SPDX-License-Identifier: Apache-2.0
// The page is complete without this script; with it, it has charts, choices and downloads.
import { barsChart } from "./charts/bars";
import { budgetChart } from "./charts/budget";
import { convergenceChart, type Progress } from "./charts/convergence";
import { curvesChart, type Scale } from "./charts/curves";
import { distributionChart } from "./charts/distribution";
import { failuresChart } from "./charts/failures";
import { finalistsChart, finalistsNote } from "./charts/finalists";
import { heatmapChart, pairTable } from "./charts/heatmap";
import { performanceChart } from "./charts/performance";
import { searchChart, searchNote } from "./charts/search";
import { addCopyButtons, choice, downloadButton, makeTabs } from "./controls";
import { at, columnIndex, readReport, type CurveProgress, type HeatmapSection, type MarkedSection, type PerformanceSection, type SearchSection, type Section, type Size, type Table } from "./document";
import { Figure, type Draw } from "./figure";
import { count } from "./format";
import { curvesCsv, showTable, tableCsv, trialsCsv } from "./tables";

const report = readReport();

function part<T extends HTMLElement>(section: HTMLElement, selector: string): T {
  return section.querySelector<T>(selector)!;
}

function offerCsv(element: HTMLElement, name: string, content: () => string, label = "Download CSV"): void {
  part(element, ".tools").append(downloadButton(label, `${name}.csv`, "text/csv", content));
}

/** A chart of bars is as high as its rows need. */
function setHeight(chart: HTMLElement, rowHeight: number, rows: number): void {
  chart.style.height = `${Math.min(40, 5 + rowHeight * rows)}rem`;
}

function convergence(element: HTMLElement, section: MarkedSection, size: Size): void {
  const { trials } = size;
  const draw = (progress: Progress): Draw => (theme) => convergenceChart(section, trials, progress, theme);
  const figure = new Figure(part(element, ".chart"), draw("evaluation"));
  const over: Progress[] = ["evaluation", "elapsed_s"];
  part(element, ".controls").append(choice("Over", ["candidates", "elapsed time"], 0, (i) => figure.redraw(draw(over[i]))).element);
  part(element, ".note").textContent = trials.shown === trials.total
    ? "Each dot is a candidate; the line is the best so far."
    : `Dots: ${count(trials.shown)} of ${count(trials.total)} candidates, the fastest and an even sample of the others; the line is the best so far.`;
  offerCsv(element, `candidates-${size.problem}`, () => trialsCsv(trials), "Download candidates (CSV)");
}

function search(element: HTMLElement, section: SearchSection, size: Size): void {
  const draw = (progress: CurveProgress): Draw => (theme) => searchChart(section, progress, theme);
  const figure = new Figure(part(element, ".chart"), draw("candidates"));
  const over: CurveProgress[] = ["candidates", "seconds"];
  part(element, ".controls").append(choice("Over", ["candidates", "elapsed time"], 0, (i) => figure.redraw(draw(over[i]))).element);
  part(element, ".note").textContent = searchNote(section);
  offerCsv(element, `curves-${size.problem}`, () => curvesCsv(section), "Download curves (CSV)");
}

function heatmap(element: HTMLElement, section: HeatmapSection): () => Table {
  let [x, y] = [0, 1];
  const draw: Draw = (theme) => heatmapChart(section, x, y, theme);
  const figure = new Figure(part(element, ".chart"), draw);
  const names = section.parameters.map((parameter) => parameter.name);
  const pick = (newX: number, newY: number) => {
    [x, y] = newX === newY ? [y, x] : [newX, newY]; // the same on both: they change places
    [across.select.selectedIndex, up.select.selectedIndex] = [x, y];
    figure.redraw(draw);
    showTable(part(element, "table"), pairTable(section, x, y));
  };
  const across = choice("Across", names, x, (i) => pick(i, y));
  const up = choice("Up", names, y, (i) => pick(x, i));
  part(element, ".controls").append(across.element, up.element);
  part(element, ".note").textContent = "The best over all other parameters; a cross marks pairs of which nothing worked.";
  return () => pairTable(section, x, y);
}

function curves(element: HTMLElement, section: Section): void {
  const known: Scale[] = ["logarithmic", "linear"];
  const scales = { x: known[0], y: known[0] };
  const draw: Draw = (theme) => curvesChart(section, scales, theme);
  const figure = new Figure(part(element, ".chart"), draw);
  const scaleOf = (axis: "x" | "y") => (i: number) => {
    scales[axis] = known[i];
    figure.redraw(draw);
  };
  part(element, ".controls").append(choice("Sizes", known, 0, scaleOf("x")).element, choice("Times", known, 0, scaleOf("y")).element);
}

/** Bars for one size at a time, the last at first. */
function barsBySize(element: HTMLElement, { table }: Section, name: string, keys: string[]): void {
  const sizes = [...new Set(table.rows.map((row) => String(row[0])))];
  const rowsOf = (i: number) => table.rows.filter((row) => row[0] === sizes[i]);
  const draw = (i: number): Draw => (theme) => barsChart(table, rowsOf(i), name, keys, theme);
  const last = sizes.length - 1;
  setHeight(part(element, ".chart"), 2.25, Math.max(...sizes.map((_, i) => rowsOf(i).length)));
  const figure = new Figure(part(element, ".chart"), draw(last));
  part(element, ".controls").append(choice("Size", sizes, last, (i) => figure.redraw(draw(i))).element);
}

/** Bars for one column of factors at a time, a bar for each size. */
function ratios(element: HTMLElement, { table }: Section): void {
  const columns = table.columns.slice(1).filter((_, i) => table.rows.some((row) => row[i + 1] !== null));
  const rowsOf = (key: string) => table.rows.filter((row) => row[columnIndex(table, key)] !== null);
  const draw = (i: number): Draw => (theme) => barsChart(table, rowsOf(columns[i].key), "size", [columns[i].key], theme);
  setHeight(part(element, ".chart"), 2.25, table.rows.length);
  const figure = new Figure(part(element, ".chart"), draw(0));
  part(element, ".controls").append(choice("Of", columns.map((column) => column.label), 0, (i) => figure.redraw(draw(i))).element);
}

function enhance(element: HTMLElement): void {
  const pointer = element.dataset.section!;
  const section = at<Section>(report, pointer);
  if (!element.querySelector(".tools")) return; // nothing to draw: the answer says why
  const size = pointer.includes("/sizes/") ? at<Size>(report, pointer.replace(/\/sections.*/, "")) : null;
  const chart = element.querySelector<HTMLElement>(".chart");
  let table = () => section.table;
  switch (section.kind) {
    case "performance": new Figure(chart!, (theme) => performanceChart(section as PerformanceSection, theme)); break;
    case "failures":
      setHeight(chart!, 2.25, new Set(section.table.rows.map((row) => row[0])).size);
      new Figure(chart!, (theme) => failuresChart(section, theme));
      break;
    case "budget":
      setHeight(chart!, 5.5, section.table.rows.length);
      new Figure(chart!, (theme) => budgetChart(section, theme));
      break;
    case "curves": curves(element, section); break;
    case "split": barsBySize(element, section, "trip", ["allocate_ns", "to_device_ns", "kernel_ns", "to_host_ns", "free_ns"]); break;
    case "ratios": ratios(element, section); break;
    case "speedups": barsBySize(element, section, "contender", ["speedup"]); break;
    case "start_up":
      setHeight(chart!, 2.25, section.table.rows.length);
      new Figure(chart!, (theme) => barsChart(section.table, section.table.rows, "what", ["time_ns"], theme));
      break;
    case "convergence": convergence(element, section as MarkedSection, size!); break;
    case "search": search(element, section as SearchSection, size!); break;
    case "distribution": new Figure(chart!, (theme) => distributionChart(section as MarkedSection, theme)); break;
    case "heatmap": table = heatmap(element, section as HeatmapSection); break;
    case "finalists":
      new Figure(chart!, (theme) => finalistsChart(section, theme));
      part(element, ".note").textContent = finalistsNote(section);
      break;
  }
  offerCsv(element, size ? `${section.kind}-${size.problem}` : section.kind, () => tableCsv(table()));
}

document.documentElement.classList.add("scripted");
for (const sizes of document.querySelectorAll(".sizes")) {
  makeTabs([...sizes.querySelectorAll<HTMLElement>(".size")], "Problem size");
}
document.querySelectorAll<HTMLElement>("[data-section]").forEach(enhance);
addCopyButtons(document);
document.getElementById("download")!.append(
  downloadButton("Download its data (JSON)", "report.json", "application/json", () => JSON.stringify(report)));
Figure.followTheme();
