// SPDX-License-Identifier: Apache-2.0
// The parts of the page, made from its document.
import { kernelVerdict, wordsOf } from "./answers";
import { ratiosChart } from "./charts/ratios";
import { rooflineChart } from "./charts/roofline";
import { copyable, downloadButton } from "./controls";
import { columnIndex, readReport, texts, type Cell, type Column, type Comparison, type Family, type KernelSummary, type Overview, type Sweep } from "./document";
import { make, makeCards, makeTable } from "./elements";
import { notesOf, toDo, toDoInBrief, typesOf, typesTable, verdictOf, type OfType, type ToDo } from "./family";
import { Figure } from "./figure";
import { count, plural } from "./format";
import { makePanel } from "./panel";
import { SizesTable } from "./sizes";
import { recall, remember } from "./state";
import { sweepSections, sweepVerdict } from "./sweep";
import { withoutEmptyColumns } from "./tables";

// ---- index ----

function goTo(id: string): void {
  const target = document.getElementById(id);
  if (!target) return;
  if (target instanceof HTMLDetailsElement) target.open = true;
  target.scrollIntoView();
  target.tabIndex = -1; // the next Tab goes on from here
  target.focus({ preventScroll: true });
}

function makeLink(id: string, text: string): HTMLAnchorElement {
  const link = make("a", { href: `#${id}` }, text);
  link.addEventListener("click", (event) => {
    event.preventDefault();
    goTo(id);
    remember("at", id);
  });
  return link;
}

/** One line: the families and what else the page has. */
function makeIndex({ families, kernels, sweeps, comparisons }: Overview): HTMLElement {
  const entries: [string, string][] = [
    ...families.map(({ family }, i): [string, string] => [`family-${i}`, family]),
    ...comparisons.map(({ title }, i): [string, string] => [`comparison-${i}`, title]),
    ...(kernels.length > 0 ? [["kernels", "Kernels"] as [string, string]] : []),
    ...sweeps.map(({ family }, i): [string, string] => [`sweep-${i}`, `${family} over sizes`]),
  ];
  return make("nav", { class: "index", "aria-label": "Index" }, make("ul", {}, ...entries.map(([id, text]) => make("li", {}, makeLink(id, text)))));
}

// ---- live ----

/** During a run: loads the page anew, unless a reader holds it. */
function livePart({ live }: Overview): HTMLElement[] {
  if (!live) return [];
  let isHeld = false;
  const hold = make("button", { type: "button", class: "link", "aria-pressed": "false" }, "Hold");
  hold.addEventListener("click", () => {
    isHeld = !isHeld;
    hold.setAttribute("aria-pressed", String(isHeld));
    hold.textContent = isHeld ? "Go on" : "Hold";
  });
  setInterval(() => { if (!isHeld && !document.hidden) location.reload(); }, 1000 * live.every_s);
  return [make("p", { class: "banner live", role: "status" },
    `A run is in progress. These are its results at ${live.at} UTC; the page is loaded again every ${live.every_s} seconds. `, hold)];
}

// ---- summary ----

/** A row for each family and type: where it stands and what is to be done, before anything else. */
function makeSummary({ families }: Overview): HTMLElement[] {
  const libraries = [...new Set(families.map(({ library }) => library).filter((name) => name !== ""))];
  const library = libraries.length === 1 ? libraries[0] : "library";
  const columns: Column[] = [
    { key: "family", label: "Family", kind: "text" }, { key: "type", label: "Type", kind: "text" }, { key: "sizes", label: "Sizes", kind: "count" },
    { key: "ratio", label: `× ${library}`, kind: "factor" }, { key: "median", label: "median", kind: "factor" }, { key: "default", label: "× default, cold", kind: "factor" },
    { key: "roof", label: "% of roof (median)", kind: "share" }, { key: "ahead", label: "Ahead at", kind: "count" },
    { key: "behind", label: "Behind at", kind: "count" }, { key: "todo", label: "Sizes to do", kind: "text" },
  ];
  const all = families.map((family) => ({ family, types: typesOf(family) }));
  const rows = all.flatMap(({ family, types }) => {
    const table = typesTable(family, types);
    return types.map((type, i) => columns.map(({ key }): Cell => key === "family" ? family.family : key === "todo" ? toDoInBrief(type) : table.rows[i][columnIndex(table, key)]));
  });
  if (rows.length < 2) return [];
  const holder = makeTable(withoutEmptyColumns({ columns, rows }), "Summary");
  const places = all.flatMap(({ types }, f) => types.map(({ type }) => ({ f, type: type || "not known" })));
  holder.querySelectorAll("tbody th").forEach((head, i) => {
    const { f, type } = places[i];
    const link = makeLink(`family-${f}`, head.textContent!);
    link.addEventListener("click", () => tables[f]?.chooseType(type));
    head.replaceChildren(link);
  });
  makeCards(holder.querySelector("table")!);
  return [make("section", { class: "summary" }, make("h2", {}, "Summary"),
    make("p", { class: "note" }, "Geometric means, and a median, over the sizes of a type, of times back to back where both sides were timed so, else of cold launches; beside the default always of cold ones. “Ahead” and “behind”: by the 95\u00a0% interval."), holder)];
}

// ---- families ----

/** The wins of each kernel in a sentence; of several types they are in the table of types. */
function winsPart(types: OfType[]): HTMLElement[] {
  if (types.length !== 1 || types[0].wins.length < 2 || types[0].wins.every(([, won]) => won === 0)) return [];
  const { wins } = types[0];
  const winners = wins.flatMap(([kernel, won]) => won > 0 ? [make("strong", {}, kernel), ` at ${plural(won, "size")}`, ", "] : []).slice(0, -1);
  const others = wins.flatMap(([kernel, won]) => won === 0 ? [kernel] : []);
  return [make("p", { class: "wins" }, "Best kernel: ", ...winners, ".", others.length > 0 ? ` Best at no size: ${others.join(", ")}.` : "")];
}

/** Links to what is known of each kernel over all sizes. */
function kernelLinks({ family, sizes }: Family, { kernels }: Overview): HTMLElement {
  const links = kernels.flatMap((kernel, k) => {
    if (kernel.family !== family) return [];
    const link = makeLink(`kernel-${k}`, sizes.columns.find((one) => one.kernel === kernel.kernel)?.label ?? kernel.kernel);
    if (link.textContent !== kernel.kernel) link.setAttribute("aria-label", kernel.kernel);
    return [link, " "];
  });
  return make("p", { class: "note" }, "Details of each kernel: ", ...links.slice(0, -1));
}

function toDoItem({ text, commands, note, show }: ToDo, sizes: SizesTable): HTMLElement {
  const link = make("button", { type: "button", class: "link" }, "Show them");
  link.setAttribute("aria-label", `Show them: ${text.slice(0, 60)}`);
  link.addEventListener("click", () => sizes.showWorst(show.state, show.sort));
  return make("li", {}, make("span", {}, text), " ", link, ...(note === "" ? [] : [make("span", { class: "screen" }, ` ${note}`)]),
    ...commands.map((command) => copyable("command", command)));
}

/** What is to be done about the sizes shown: of the type that is chosen, else of all. */
function toDoPart(overview: Overview, family: Family, sizes: SizesTable): HTMLElement {
  const list = make("ul", {}), part = make("section", { class: "todo" }, make("h3", {}, "To do"), list);
  sizes.whenFiltered.push(() => {
    const items = toDo(overview, family, sizes.chosenType);
    part.hidden = items.length === 0;
    list.replaceChildren(...items.map((item) => toDoItem(item, sizes)));
  });
  return part;
}

/** A row for each type, where there are several; pressing one chooses its sizes. */
function typesPart(family: Family, types: OfType[], sizes: SizesTable): HTMLElement[] {
  if (types.length < 2) return [];
  const table = makeTable(withoutEmptyColumns(typesTable(family, types)), `${family.family}: types`);
  makeCards(table.querySelector("table")!);
  for (const head of table.querySelectorAll("tbody th")) {
    const type = head.textContent!;
    const button = make("button", { type: "button", class: "pick", "aria-pressed": "false" }, type);
    button.addEventListener("click", () => {
      sizes.toggleType(type);
      if (sizes.chosenType === type) sizes.scrollTo();
    });
    sizes.whenFiltered.push(() => button.setAttribute("aria-pressed", String(sizes.chosenType === type)));
    head.replaceChildren(button);
  }
  return [make("div", { class: "types" }, table)];
}

/** The tables of sizes, by the place of their family, and when each shows what the address names. */
const tables: SizesTable[] = [];
const begun: Promise<void>[] = [];

/** The charts that are drawn from the table of sizes. */
function overviewCharts(family: Family, sizes: SizesTable): HTMLElement {
  const { clock_mhz } = family.peak;
  const peak = clock_mhz > 0 ? ` The peak is nominal, at the highest clock measured: ${count(clock_mhz)}\u00a0MHz.` : "";
  const charts = [
    { name: "ratios", title: "Ratio to the library over the size", draw: ratiosChart, note: "" },
    { name: "roofline", title: "Roofline", draw: rooflineChart, note: `The roof is made of the highest rates measured on this device.${peak}` },
  ];
  return make("div", { class: "grid" }, ...charts.map(({ name, title, draw, note }) => {
    const chart = make("div", { class: "chart", role: "img", "aria-label": title });
    const panel = make("section", { class: "panel", "data-overview": name }, make("h3", {}, title), chart, make("p", { class: "note" }, note));
    const reactions = { pick: (i: number) => sizes.show(i), whenEmpty: () => { panel.hidden = true; } };
    const figure = new Figure(chart, (theme) => draw(family, () => true, theme), reactions);
    figure.redraw((theme) => draw(family, sizes.passes, theme));
    sizes.whenFiltered.push(() => figure.redraw());
    return panel;
  }));
}

function makeFamily(overview: Overview, family: Family, index: number): HTMLElement {
  const sizes = new SizesTable(overview, family);
  tables[index] = sizes;
  const types = typesOf(family), table = typesPart(family, types, sizes), charts = overviewCharts(family, sizes), toDo = toDoPart(overview, family, sizes);
  begun.push(sizes.begin());
  return make("section", { class: "family", id: `family-${index}` },
    make("h2", {}, family.family), make("p", { class: "verdict" }, verdictOf(family, types)), kernelLinks(family, overview), ...table, ...winsPart(types),
    make("p", { class: "note" }, notesOf(family, types)), toDo, charts, sizes.heading,
    make("p", { class: "note" }, "Ranking, ratios, rates and shares: back to back with cold operands where timed so, else single launches from a cold cache (“Cold”), of which the ratio to the default always is. "
      + (sizes.hasKernelColumns ? "The column of a kernel: the best ratio times the best time over the kernel's own, so that equal ratios are equal times." : "")), ...sizes.elements);
}

// ---- kernels ----

/** A kernel's sections, made when it is first opened. */
function kernelContent(kernel: KernelSummary): HTMLElement[] {
  const grid = make("div", { class: "grid" }, ...kernel.sections.map((section) => makePanel(section, wordsOf(section), "h3")));
  if (kernel.commands.length === 0) return [grid];
  const commands = make("section", { class: "panel" }, make("h3", {}, "Reproduce"), make("p", { class: "answer" }, "The commands of the runs, the latest first."),
    ...kernel.commands.map((command) => copyable(`command of ${kernel.kernel}`, command)));
  return [grid, commands];
}

function makeKernel(kernel: KernelSummary, index: number): HTMLElement {
  const key = `kernel-${index}`;
  const fine = make("p", { class: "fine" }, `Kernel version ${kernel.hash.slice(0, 12)}.`);
  const element = make("details", { class: "kernel", id: key }, make("summary", {}, make("h2", {}, kernel.kernel)), make("p", { class: "verdict" }, kernelVerdict(kernel)), fine);
  let filled = false;
  element.addEventListener("toggle", () => {
    remember(key, element.open ? "open" : "");
    if (!element.open || filled) return;
    filled = true;
    fine.before(...kernelContent(kernel));
  });
  element.open = recall(key) === "open";
  return element;
}

function kernelsPart(kernels: KernelSummary[]): HTMLElement {
  return make("section", { class: "kernels", id: "kernels" }, make("h2", { class: "eyebrow" }, "Kernels"), ...kernels.map(makeKernel));
}

/** A part of the page that has panels alone: a comparison, or what was measured over sizes. */
function makePart(id: string, eyebrow: string, title: string, verdict: string, panels: HTMLElement[]): HTMLElement {
  return make("section", { class: "kernel", id }, make("p", { class: "eyebrow" }, eyebrow), make("h2", {}, title), make("p", { class: "verdict" }, verdict), make("div", { class: "grid" }, ...panels));
}

function comparisonPart({ title, sides: [a, b], verdict, table }: Comparison, index: number): HTMLElement {
  const panel = makePanel({ kind: "comparison", table }, { title: "Speed of B over that of A", answer: `A: ${a}. B: ${b}.` }, "h3");
  return makePart(`comparison-${index}`, "Comparison", title, verdict.join(" "), [panel]);
}

function sweepPart(sweep: Sweep, index: number): HTMLElement {
  return makePart(`sweep-${index}`, "Over sizes", sweep.family, sweepVerdict(sweep), sweepSections(sweep).map((section) => makePanel(section, section, "h3")));
}

// ---- page ----

/** What was checked before a time counted, and what was not. */
function checks({ families }: Overview): HTMLElement {
  const states = families.flatMap(({ sizes }) => texts(sizes, "state").map((state) => state.split(", ")));
  const having = (state: string) => count(states.filter((one) => one.includes(state)).length);
  return make("p", { class: "checks" }, "Verification: a configuration has a time only if it gave the results of its family's reference, within the bound of the error, at the check sizes, at the size itself and in the timed launches. ",
    `Of ${count(states.length)} sizes, ${having("imported")} are imported (checked by the program that wrote the imported file) and ${having("unproven")} unproven (of kernels that no card of the architecture has run).`);
}

function credits(): HTMLElement {
  return make("p", {}, "Charts by ", make("a", { href: "https://echarts.apache.org" }, "Apache ECharts"),
    " (Apache-2.0, © The Apache Software Foundation) and ZRender (BSD-3-Clause, © Baidu Inc.); their licences are in this page, at the beginning of the charts’ script.");
}

/** The device is on the page already: what it is, and when it was measured. */
function completeHeader(header: HTMLElement, { facts, period }: Overview): HTMLElement {
  if (period !== "") header.querySelector("p")!.append(` · ${period}`);
  header.append(make("dl", {}, ...facts.map(([label, value]) => make("div", {}, make("dt", {}, label), make("dd", {}, value)))));
  return header;
}

/** Fills the page, a part a task so that a reader sees the first ones at once, and moves to what its address names. */
export async function showPage(overview: Overview): Promise<void> {
  const skip = makeLink("family-0", "Skip to the sizes");
  skip.className = "skip";
  const main = document.getElementById("main")!;
  main.before(skip);
  main.replaceChildren(completeHeader(main.querySelector("header")!, overview), ...livePart(overview), makeIndex(overview), ...makeSummary(overview));
  const parts = [
    ...overview.families.map((family, i) => () => makeFamily(overview, family, i)),
    ...overview.comparisons.map((comparison, i) => () => comparisonPart(comparison, i)),
    ...(overview.kernels.length > 0 ? [() => kernelsPart(overview.kernels)] : []),
    ...overview.sweeps.map((sweep, i) => () => sweepPart(sweep, i)),
  ];
  for (const part of parts) {
    await new Promise((next) => { setTimeout(next); });
    main.append(part());
  }
  const download = downloadButton("Download its data (JSON)", "report.json", "application/json", async () => JSON.stringify(await readReport(overview)));
  const footer = document.querySelector("footer")!;
  footer.querySelector("p")!.append(" ", download);
  footer.append(checks(overview), credits());
  await Promise.all(begun);
  const opened = tables.map(({ openedRow }) => openedRow).find((row) => row !== null);
  const at = recall("at") ?? (location.hash.startsWith("#~") ? "" : location.hash.slice(1));
  if (at === "" && opened) opened.scrollIntoView({ block: "start" });
  goTo(at);
  main.dataset.complete = "true";
}
