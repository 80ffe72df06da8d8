// SPDX-License-Identifier: Apache-2.0
// A part of the page: a question, its answer, a chart and the table that the chart draws.
import { barsChart } from "./charts/bars";
import { budgetChart } from "./charts/budget";
import { convergenceChart, type Progress } from "./charts/convergence";
import { curvesChart, curvesNote, legendRows, type Scale } from "./charts/curves";
import { distributionChart } from "./charts/distribution";
import { energyChart } from "./charts/energy";
import { failuresChart } from "./charts/failures";
import { finalistsChart, finalistsNote, finalistsTable } from "./charts/finalists";
import { heatmapChart, pairTable } from "./charts/heatmap";
import { performanceChart } from "./charts/performance";
import { rooflinePlaceChart } from "./charts/roofline_place";
import { searchChart, searchNote } from "./charts/search";
import { sharesChart } from "./charts/shares";
import { sharesBySizeChart } from "./charts/shares_by_size";
import { contenderName, counted, speedOfLightChart } from "./charts/speed_of_light";
import { choice, downloadButton } from "./controls";
import { columnIndex, texts, type ConvergenceSection, type CurveProgress, type EnergySection, type ExplanationSection, type HeatmapSection, type PerformanceSection, type SearchSection, type Section, type SweepSection, type Table, type Trials, type Words } from "./document";
import { make, makeCards, makeTable } from "./elements";
import { Figure, type Draw } from "./figure";
import { count } from "./format";
import { curvesCsv, tableCsv, trialsCsv, withoutEmptyColumns } from "./tables";

/** What a panel about one size needs besides its section. */
export interface OfSize { problem: string; trials: Trials }

/** The places of a panel that a chart fills. */
class Places {
  constructor(readonly element: HTMLElement, readonly chart: HTMLElement) {}

  private get title(): string {
    return this.part("h3, h4").textContent!;
  }
  private part(selector: string): HTMLElement {
    return this.element.querySelector<HTMLElement>(selector)!;
  }
  control(element: HTMLElement): void {
    this.part(".controls").append(element);
  }
  note(text: string): void {
    this.part(".note").textContent = text;
  }
  offerCsv(name: string, content: () => string, label = "Download CSV"): void {
    const button = downloadButton(label, `${name}.csv`, "text/csv", content);
    button.setAttribute("aria-label", `${label}: ${this.title}`);
    this.part(".tools").append(button);
  }
  /** A chart of bars is as high as its rows need. */
  height(rowHeight: number, rows: number): void {
    this.chart.style.height = `${Math.min(40, 5 + rowHeight * rows)}rem`;
  }
  showTable(table: Table): void {
    this.part("details .scroll")?.replaceWith(makeTable(table, this.title));
  }
}

function convergence(places: Places, section: ConvergenceSection, size: OfSize): void {
  const { trials } = size;
  const draw = (progress: Progress): Draw => (theme) => convergenceChart(section, trials, progress, theme);
  const figure = new Figure(places.chart, draw("trial"));
  const over: Progress[] = ["trial", "elapsed_s"];
  places.control(choice("Over", ["trials", "elapsed time"], 0, (i) => figure.redraw(draw(over[i]))).element);
  const lines = section.runs.length > 1 ? "a line is the best so far of a run, the latest the thickest" : "the line is the best so far";
  places.note(trials.shown === trials.total
    ? `Each dot is a trial; ${lines}.`
    : `Dots: ${count(trials.shown)} of ${count(trials.total)} trials, the fastest and an even sample of the others; ${lines}.`);
  places.offerCsv(`trials-${size.problem}`, () => trialsCsv(trials), "Download trials (CSV)");
}

/** Sizes of one type at a time. */
function performance(places: Places, section: PerformanceSection): void {
  const types = [...new Set(texts(section.table, "type"))].sort();
  const draw = (i: number): Draw => (theme) => performanceChart(section, types[i], theme);
  const figure = new Figure(places.chart, draw(0));
  if (types.length > 1) places.control(choice("Type", types, 0, (i) => figure.redraw(draw(i))).element);
}

function search(places: Places, section: SearchSection, size: OfSize): void {
  const draw = (progress: CurveProgress): Draw => (theme) => searchChart(section, progress, theme);
  const figure = new Figure(places.chart, draw("candidates"));
  const over: CurveProgress[] = ["candidates", "seconds"];
  places.control(choice("Over", ["trials", "elapsed time"], 0, (i) => figure.redraw(draw(over[i]))).element);
  places.note(searchNote(section));
  places.offerCsv(`curves-${size.problem}`, () => curvesCsv(section), "Download curves (CSV)");
}

function heatmap(places: Places, section: HeatmapSection): () => Table {
  let [x, y] = [0, 1];
  const draw: Draw = (theme) => heatmapChart(section, x, y, theme);
  const figure = new Figure(places.chart, draw);
  const names = section.parameters.map((parameter) => parameter.name);
  const pick = (newX: number, newY: number) => {
    [x, y] = newX === newY ? [y, x] : [newX, newY]; // the same on both: they change places
    [across.select.selectedIndex, up.select.selectedIndex] = [x, y];
    figure.redraw(draw);
    places.showTable(pairTable(section, x, y));
  };
  const across = choice("Across", names, x, (i) => pick(i, y));
  const up = choice("Up", names, y, (i) => pick(x, i));
  places.control(across.element);
  places.control(up.element);
  const { kind, label } = section.table.columns[2];
  places.note(`The best ${kind === "time" ? "time" : label} over all other parameters; a cross marks pairs of which nothing worked, an empty cell one that was not tried.`);
  return () => pairTable(section, x, y);
}

/** The best one's use of each unit and its place below the roof, and those of one other contender. */
function explanation(places: Places, section: ExplanationSection): void {
  const names = counted(section).map((row) => contenderName(section, row));
  const units = (other: number): Draw => (theme) => speedOfLightChart(section, other, theme);
  const place = (other: number): Draw => (theme) => rooflinePlaceChart(section, other, theme);
  const roof = make("div", { class: "chart", role: "img", "aria-label": `Roofline: ${section.answer}` });
  const pair = make("div", { class: "pair" });
  places.chart.before(pair);
  pair.append(places.chart, roof);
  const figures = [new Figure(places.chart, units(1)), new Figure(roof, place(1))];
  if (names.length === 0) return;
  const redraw = (other: number) => figures.forEach((figure, i) => figure.redraw([units, place][i](other)));
  if (names.length > 1) places.control(choice("Beside", names.slice(1), 0, (i) => redraw(i + 1)).element);
  places.note("Bars: the share of the most that each unit can do while the kernel runs, once, from a cold cache."
    + (section.roofline ? " The roof is nominal: the multiprocessors at the clock of the run, and the memory." : ""));
}

function energy(places: Places, section: EnergySection): void {
  const sizes = [...new Set(texts(section.table, "size"))];
  const draw = (i: number): Draw => (theme) => energyChart(section, i === 0 && sizes.length > 1 ? null : sizes[Math.max(0, i - 1)], theme);
  const figure = new Figure(places.chart, draw(0));
  if (sizes.length > 1) places.control(choice("Size", ["all", ...sizes], 0, (i) => figure.redraw(draw(i))).element);
  places.note("Energy of the whole device, idle power included, over windows of many runs back to back.");
}

function curves(places: Places, section: SweepSection): void {
  const known: Scale[] = ["logarithmic", "linear"];
  const scales = { x: known[0], y: known[0] };
  const draw: Draw = (theme) => curvesChart(section, scales, theme);
  places.height(1.5, 10 + legendRows(section)); // the legend takes nothing from the plot
  const figure = new Figure(places.chart, draw);
  const scaleOf = (axis: "x" | "y") => (i: number) => {
    scales[axis] = known[i];
    figure.redraw(draw);
  };
  places.note(curvesNote(section));
  places.control(choice("Sizes", known, 0, scaleOf("x")).element);
  places.control(choice("Times", known, 0, scaleOf("y")).element);
}

/** Bars for one column of factors at a time, a bar for each size. */
function ratios(places: Places, { table }: SweepSection): void {
  const columns = table.columns.slice(1).filter((_, i) => table.rows.some((row) => row[i + 1] !== null));
  const rowsOf = (key: string) => table.rows.filter((row) => row[columnIndex(table, key)] !== null);
  const draw = (i: number): Draw => (theme) => barsChart(table, rowsOf(columns[i].key), "size", [columns[i].key], theme);
  places.height(2.25, table.rows.length);
  const figure = new Figure(places.chart, draw(0));
  places.control(choice("Of", columns.map((column) => column.label), 0, (i) => figure.redraw(draw(i))).element);
}

/** Bars for one size at a time, the last at first. */
function barsBySize(places: Places, { table }: SweepSection, name: string, keys: string[]): void {
  const sizes = [...new Set(table.rows.map((row) => String(row[0])))];
  const rowsOf = (i: number) => table.rows.filter((row) => row[0] === sizes[i]);
  const draw = (i: number): Draw => (theme) => barsChart(table, rowsOf(i), name, keys, theme);
  const last = sizes.length - 1;
  places.height(2.25, Math.max(...sizes.map((_, i) => rowsOf(i).length)));
  const figure = new Figure(places.chart, draw(last));
  places.control(choice("Size", sizes, last, (i) => figure.redraw(draw(i))).element);
}

/** Draws a section's chart and offers its rows for download. */
function fillPanel(places: Places, section: Section, size?: OfSize): void {
  const { chart } = places;
  let table = () => section.table;
  switch (section.kind) {
    case "comparison": chart.hidden = true; break;
    case "performance": performance(places, section); break;
    case "failures":
      places.height(2.25, new Set(section.table.rows.map((row) => row[0])).size);
      new Figure(chart, (theme) => failuresChart(section, theme));
      break;
    case "budget":
      places.height(5.5, section.table.rows.length);
      new Figure(chart, (theme) => budgetChart(section, theme));
      break;
    case "importance":
    case "importance_over_sizes":
      places.height(1.6, section.table.rows.length);
      new Figure(chart, (theme) => sharesChart(section, theme));
      places.note("Bars: the share that the parameter alone explains; lines: 95\u00a0% intervals.");
      break;
    case "importance_by_size":
      places.height(1.6, section.table.columns.length + 6); // and the sizes below, on edge
      new Figure(chart, (theme) => sharesBySizeChart(section, theme));
      places.note("The share of the variance of log time that the parameter alone explains at the size.");
      break;
    case "curves": curves(places, section); break;
    case "split": barsBySize(places, section, "transfer", ["allocate_ns", "to_device_ns", "kernel_ns", "to_host_ns", "free_ns"]); break;
    case "ratios": ratios(places, section); break;
    case "speedups": barsBySize(places, section, "contender", ["speedup"]); break;
    case "start_up":
      places.height(2.25, section.table.rows.length);
      new Figure(chart, (theme) => barsChart(section.table, section.table.rows, "what", ["time_ns"], theme));
      break;
    case "convergence": convergence(places, section, size!); break;
    case "search": search(places, section, size!); break;
    case "distribution": new Figure(chart, (theme) => distributionChart(section, theme)); break;
    case "heatmap": table = heatmap(places, section); break;
    case "explanation": explanation(places, section); break;
    case "energy": energy(places, section); break;
    case "finalists":
      new Figure(chart, (theme) => finalistsChart(section, theme));
      places.note(finalistsNote(section));
      break;
  }
  places.offerCsv(size ? `${section.kind}-${size.problem}` : section.kind, () => tableCsv(table()));
}

/** Whether there are several runs to compare: else the panel is a small one. */
const hasSeveral = ({ curves }: SearchSection): boolean => curves.length > 1 || (curves[0]?.runs ?? 0) > 1;

/** A section's question, answer and chart; its table is made when it is first opened. */
export function makePanel(section: Section, { title, answer }: Words, level: "h3" | "h4", size?: OfSize): HTMLElement {
  const isOpen = section.kind === "comparison" || (section.kind === "search" && hasSeveral(section));
  const element = make("section", { class: isOpen || section.kind === "importance_by_size" ? "panel wide" : "panel", "data-kind": section.kind },
    make(level, {}, title), make("p", { class: "answer" }, answer));
  const shown = section.kind === "heatmap"
    ? (section.pairs.length > 0 ? pairTable(section, 0, 1) : section.table)
    : section.kind === "finalists" ? finalistsTable(section) : section.table;
  if (shown.rows.length === 0) return element; // nothing to draw: the answer says why
  const chart = make("div", { class: "chart", role: "img", "aria-label": `${title}: ${answer}` });
  const holder = make("div", { class: "scroll" });
  const table = make("details", {}, make("summary", {}, "Table"), holder);
  table.addEventListener("toggle", () => {
    if (!table.open || table.querySelector("table")) return;
    const made = makeTable(withoutEmptyColumns(shown), title);
    if (section.kind === "finalists") makeCards(made.querySelector("table")!);
    holder.replaceWith(made);
  });
  element.append(make("div", { class: "controls" }), chart, make("p", { class: "note" }), make("div", { class: "tools" }), table);
  fillPanel(new Places(element, chart), section, size);
  table.open = isOpen || ["finalists", "explanation"].includes(section.kind);
  return element;
}
