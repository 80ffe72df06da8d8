// SPDX-License-Identifier: Apache-2.0
// The table of a family's sizes: sorted, filtered, and opened for details.
import { sizeVerdict, wordsOf } from "./answers";
import { choice, copyable, downloadButton } from "./controls";
import { columnIndex, readAllDetails, readDetails, texts, type Cell, type Detail, type Family, type Overview, type Size } from "./document";
import { make, makeRow, makeTable, nameCells } from "./elements";
import { withoutType } from "./family";
import { cell } from "./format";
import { makePanel } from "./panel";
import { recall, remember } from "./state";
import { tableCsv } from "./tables";
import { trialsPanel } from "./trials";

/** `row` and `button` are made when the line is first drawn. */
interface Line { row: HTMLTableRowElement | null; button: HTMLButtonElement | null; detail: HTMLTableRowElement | null; index: number }
interface Head { cell: HTMLTableCellElement; column: number }

/** Values that filter, by the key of their column. */
interface Filter { key: "type" | "shape" | "best" | "state"; label: string; values: string[] }

const kFirstRows = 6; // drawn at once, so that a page of many families is there at once
const kMoreRows = 40; // whenever a reader scrolls to the last one
const kPaperRows = 30; // a page of paper

/** Columns that only charts and commands read. */
const kUnseen = ["problem", "work", "intensity", "low", "high"];

/** A size or a part of one however it was typed: "2048×4096", "2048 4096" and "2048,4096" are the same, as are "64^3" and "64,64,64". */
function plainSize(text: string): string {
  const power = /^(\d+)\s*(?:\^\s*([23])|([²³]))$/.exec(text.trim());
  if (power) return Array(power[2] === "2" || power[3] === "²" ? 2 : 3).fill(power[1]).join(",");
  return text.trim().toLowerCase().replaceAll(/(?<=\d)\s*[x×*,;\s]\s*(?=\d)/g, ",");
}

/** Of a size's states those that a reader should know of. */
function exceptions(state: string, common: string[]): string {
  return state.split(", ").filter((one) => one !== "ok" && !common.includes(one)).join(", ");
}

/** The states that all sizes of a family have: they say nothing of one of them, and the family's head says them once. */
function commonStates({ sizes }: Family): string[] {
  const all = texts(sizes, "state").map((state) => state.split(", "));
  return all.length === 0 ? [] : all[0].filter((state) => all.every((one) => one.includes(state)));
}

/** Whether the sizes are of several types. */
const hasTypes = ({ sizes }: Family): boolean => new Set(texts(sizes, "type")).size > 1;

/** The positions of the columns that a reader sees: those with a value in any row, and states where some differ. */
function seenColumns(family: Family): number[] {
  const { sizes } = family;
  const common = commonStates(family);
  const differ = texts(sizes, "state").some((state) => exceptions(state, common) !== "");
  const unseen = [...kUnseen, ...(hasTypes(family) ? [] : ["type"]), ...(sizes.columns.filter((one) => one.kernel).length < 2 ? ["kernel"] : []), ...(differ ? [] : ["state"])];
  return sizes.columns.flatMap(({ key }, i) => !unseen.includes(key) && sizes.rows.some((row) => row[i] !== null) ? [i] : []);
}

export class SizesTable {
  readonly heading = make("h3", { tabindex: "-1" }, "Sizes");
  /** What a page shows of the sizes, from the filters on. */
  readonly elements: HTMLElement[];
  /** Called after other sizes are shown. */
  readonly whenFiltered: (() => void)[] = [];
  private readonly lines: Line[];
  private readonly seen: number[];
  private readonly common: string[]; // states of all sizes
  private order: Line[] = []; // what passes, in the order shown
  private drawn = 0; // of these
  private readonly end = make("div", { class: "end" });
  private readonly sight = new IntersectionObserver((entries) => {
    if (this.drawn === this.order.length || !entries.some((entry) => entry.isIntersecting)) return;
    this.drawMore(kMoreRows);
    this.watchTheEnd();
  });
  private readonly heads: Head[];
  private readonly body: HTMLTableSectionElement;
  private readonly controls = make("div", { class: "controls filters" });
  private readonly status = make("p", { class: "shown", role: "status" });
  private readonly onPaper = make("p", { class: "paper" });
  private readonly chosen = new Map<string, string>();
  private readonly selects = new Map<string, HTMLSelectElement>();
  private sort = { column: -1, down: false };
  private openedForPaper: HTMLDetailsElement[] = [];
  private readonly box: HTMLElement;

  constructor(private readonly overview: Overview, private readonly family: Family) {
    const { columns, rows } = family.sizes;
    this.seen = seenColumns(family);
    this.common = commonStates(family);
    const holder = makeTable({ columns: this.seen.map((i) => columns[i]), rows: [] }, `${family.family}: sizes`);
    const table = holder.querySelector("table")!;
    table.classList.add("cards", "sorted");
    holder.append(this.end);
    holder.style.minHeight = `min(var(--most), ${4 + 2.1 * rows.length}rem)`; // rows that follow move nothing
    const csv = downloadButton("Download all sizes (CSV)", `sizes-${family.family}.csv`, "text/csv", () => this.csv());
    const narrow = make("p", { class: "note narrow-note" }, "A wider window has a column for each kernel, too; an opened size has their times.");
    this.box = make("div", { class: "sizes" }, holder, narrow);
    this.elements = [this.controls, this.status, this.box, this.onPaper, make("div", { class: "tools" }, csv)];
    const sizes = new ResizeObserver(() => this.fitColumns());
    for (const one of [holder, table]) sizes.observe(one);
    this.body = table.tBodies[0];
    this.heads = [...table.tHead!.rows[0].cells].map((cell, nth) => ({ cell, column: this.seen[nth] }));
    this.lines = rows.map((_, index) => ({ row: null, button: null, detail: null, index }));
    this.markCells(table.tHead!.rows[0]);
    this.addSorting();
    this.addFilters();
    this.body.addEventListener("keydown", (event) => this.move(event));
    window.addEventListener("beforeprint", () => this.preparePaper());
    window.addEventListener("afterprint", () => this.leavePaper());
  }

  /** Shows what the page's address names; resolves when the details of the sizes that it opens are there. */
  async begin(): Promise<void> {
    this.filter();
    const problems = texts(this.family.sizes, "problem");
    const named = (recall(this.key("open")) ?? "").split(" ").map((problem) => problems.indexOf(problem)).filter((index) => index >= 0);
    await Promise.all(named.map((index) => this.open(this.lines[index])));
  }

  /** The row of the first size that is open; null where none is. */
  get openedRow(): HTMLElement | null {
    return this.lines.find(({ detail }) => detail?.isConnected)?.button ?? null;
  }

  /** Whether several kernels have a column each. */
  get hasKernelColumns(): boolean {
    return this.seen.some((i) => this.family.sizes.columns[i].key === "kernel");
  }

  get chosenType(): string {
    return this.chosen.get("type") ?? "";
  }

  /** Opens a size and moves to it. */
  show(index: number): void {
    const line = this.lines[index];
    remember("at", "");
    void this.open(line).then(() => { line.button?.scrollIntoView({ block: "start" }); line.button?.focus(); });
  }

  /** Moves to the table. */
  scrollTo(): void {
    this.heading.scrollIntoView();
    this.heading.focus({ preventScroll: true });
  }

  /** Shows the sizes of a state, those first that have least in a column; an empty text leaves out either. */
  showWorst(state: string, sort: string): void {
    const select = this.selects.get("state");
    if (state !== "" && select) {
      // A state that all sizes have is no option.
      const index = [...select.options].findIndex((option) => option.text === state);
      if (index >= 0) {
        select.selectedIndex = index;
        select.dispatchEvent(new Event("change"));
      }
    }
    const column = columnIndex(this.family.sizes, sort);
    if (column >= 0) this.sortBy({ column, down: false });
    this.scrollTo();
  }

  /** Whether the filters let a size pass. */
  readonly passes = (index: number): boolean => {
    const { sizes } = this.family;
    const row = sizes.rows[index];
    const value = (key: string) => String(row[columnIndex(sizes, key)] ?? "");
    const wanted = (key: string) => this.chosen.get(key) ?? "";
    const text = plainSize(wanted("text"));
    return ["type", "shape", "best"].every((key) => wanted(key) === "" || value(key) === wanted(key))
      && (wanted("state") === "" || value("state").split(", ").includes(wanted("state")))
      && (text === "" || plainSize(value("size")).includes(text) || plainSize(value("problem")).includes(text));
  };

  /** Shows the sizes of one type alone, where there are several types. */
  chooseType(type: string): void {
    if (this.chosenType !== type) this.toggleType(type);
  }

  /** Shows the sizes of one type alone, or all again where it was chosen before. */
  toggleType(type: string): void {
    const select = this.selects.get("type");
    if (!select) return;
    const values = [...select.options].map((option) => option.text);
    select.selectedIndex = this.chosen.get("type") === type ? 0 : Math.max(0, values.indexOf(type));
    select.dispatchEvent(new Event("change"));
  }

  private detailsOf(index: number): Promise<Detail[]> {
    return readDetails(this.overview.families.indexOf(this.family), index);
  }

  /** All sizes with what the table has no place for. */
  private async csv(): Promise<string> {
    const { columns, rows } = this.family.sizes;
    const best = texts(this.family.sizes, "best");
    const details = await readAllDetails(this.overview.families.indexOf(this.family), rows.length);
    const added = details.map((some, index): Cell[] => {
      const detail = some.find(({ kernel }) => this.overview.kernels[kernel].kernel === best[index]);
      return detail?.size.use ? [detail.size.use.config, this.overview.kernels[detail.kernel].environments.join("; ")] : [null, null];
    });
    return tableCsv({
      columns: [...columns, { key: "configuration", label: "Configuration", kind: "code" }, { key: "environments", label: "Environments of the kernel's results", kind: "text" }],
      rows: rows.map((row, index) => [...row, ...added[index]]),
    });
  }

  private key(name: string): string {
    return `${this.family.family}.${name}`;
  }

  /** Draws a line that was not drawn yet. */
  private rowOf(line: Line): HTMLTableRowElement {
    if (line.row) return line.row;
    const { columns, rows } = this.family.sizes;
    const values = rows[line.index];
    const shown = (i: number): Cell => {
      const value = values[i];
      if (columns[i].key === "state") return exceptions(String(value), this.common);
      if (columns[i].key === "best") return columns.find((one) => one.kernel === value)?.label ?? value;
      return columns[i].key === "interval" && value !== null ? String(value).replaceAll(" ", "\u00a0") : value; // on one line
    };
    line.row = makeRow(this.seen.map(shown), this.seen.map((i) => columns[i].kind));
    nameCells(line.row, this.seen.map((i) => columns[i].label));
    this.markCells(line.row);
    line.button = this.makeButton(line);
    line.row.cells[0].replaceChildren(line.button);
    this.addBars(line, line.row);
    return line.row;
  }

  /** Marks what paper or a narrow screen leaves out. */
  private markCells({ cells }: HTMLTableRowElement): void {
    this.seen.forEach((i, nth) => {
      const { key } = this.family.sizes.columns[i];
      if (key === "interval" || key === "kernel") cells[nth].classList.add(key);
    });
  }

  private makeButton(line: Line): HTMLButtonElement {
    const { rows } = this.family.sizes;
    const at = (key: string) => String(rows[line.index][columnIndex(this.family.sizes, key)] ?? "");
    const label = at("size"), type = at("type");
    const isTypeSeen = this.seen.includes(columnIndex(this.family.sizes, "type"));
    const shown = isTypeSeen ? withoutType(label, type) : label;
    const button = make("button", { type: "button", class: "open", "aria-expanded": "false" }, shown);
    if (shown !== label) button.setAttribute("aria-label", label);
    button.addEventListener("click", () => {
      if (line.detail) return this.close(line);
      remember("at", ""); // the address leads to the size now
      void this.open(line);
    });
    return button;
  }

  /** Draws the lines that follow, at least up to one of them. */
  private drawMore(count: number, upTo?: Line): void {
    const last = Math.min(this.order.length, Math.max(this.drawn + count, upTo ? this.order.indexOf(upTo) + 1 : 0));
    if (last <= this.drawn) return;
    for (const line of this.order.slice(this.drawn, last)) this.body.append(this.rowOf(line), ...(line.detail ? [line.detail] : []));
    this.drawn = last;
    this.fitColumns();
    if (count === kMoreRows) requestAnimationFrame(() => this.fitBox());
  }

  /** Draws columns closer, then leaves out those of single kernels, then the intervals, while the table is wider than its place. */
  private fitColumns(): void {
    const holder = this.body.closest<HTMLElement>(".scroll")!;
    for (const steps of ["", "close", "close kernel", "close kernel interval"]) {
      this.box.dataset.narrow = steps;
      if (holder.scrollWidth <= holder.clientWidth) return;
    }
  }

  /** Ends the box of the table between two rows. */
  private fitBox(): void {
    const box = this.body.closest<HTMLElement>(".scroll")!;
    box.style.removeProperty("--most");
    const top = box.getBoundingClientRect().top - box.scrollTop, most = parseFloat(getComputedStyle(box).maxHeight);
    const ends = this.order.slice(0, this.drawn).map(({ row }) => row!.getBoundingClientRect().bottom - top).filter((end) => end <= most);
    const bar = box.offsetHeight - box.clientHeight; // of scrolling sideways
    if (ends.length > 0 && ends.length < this.drawn) box.style.setProperty("--most", `${Math.max(...ends) + bar}px`);
  }

  /** The lines of a page of paper, in the order shown, and by what they were chosen: as the reader sorted, else those that matter most. */
  private paperLines(): { lines: Line[]; rule: string } {
    const { sizes, library } = this.family;
    if (this.order.length <= kPaperRows) return { lines: this.order, rule: "" };
    if (this.sort.column >= 0) return { lines: this.order.slice(0, kPaperRows), rule: ": the first as sorted" };
    const value = (line: Line, key: string) => sizes.rows[line.index][columnIndex(sizes, key)];
    const number = (line: Line, key: string) => Number(value(line, key) ?? 0);
    const ns = (line: Line) => number(line, "sustained_ns") || number(line, "median_ns");
    const behind = this.order.filter((line) => String(value(line, "state")).split(", ").includes("behind"))
      .sort((a, b) => number(a, "ratio") - number(b, "ratio")).slice(0, kPaperRows / 2);
    const longest = this.order.filter((line) => !behind.includes(line)).sort((a, b) => ns(b) - ns(a)).slice(0, kPaperRows - behind.length);
    const chosen = new Set([...behind, ...longest]);
    const rule = `${behind.length > 0 ? `: the ${behind.length} furthest behind ${library} and the ${longest.length}` : `: the ${longest.length}`} of the longest times`;
    return { lines: this.order.filter((line) => chosen.has(line) || line.detail), rule };
  }

  private preparePaper(): void {
    const { lines, rule } = this.paperLines();
    this.body.replaceChildren(...lines.flatMap((line) => [this.rowOf(line), ...(line.detail ? [line.detail] : [])]));
    this.openedForPaper = [...this.body.querySelectorAll<HTMLDetailsElement>("details.questions:not([open])")];
    for (const one of this.openedForPaper) one.open = true;
    this.onPaper.textContent = lines.length < this.lines.length ? `${lines.length} of ${this.lines.length} sizes${rule}. The page on screen has all of them, also as CSV.` : "";
  }

  /** Draws what was on the screen again. */
  private leavePaper(): void {
    for (const one of this.openedForPaper.splice(0)) one.open = false;
    const count = this.drawn;
    this.body.replaceChildren();
    this.drawn = 0;
    this.drawMore(count);
  }

  /** Has more lines drawn as soon as the end of those drawn is in sight. */
  private watchTheEnd(): void {
    this.sight.unobserve(this.end); // observed anew: it may be in sight already
    this.sight.observe(this.end);
  }

  // ---- sorting and filtering ----

  private addSorting(): void {
    const { columns } = this.family.sizes;
    const remembered = recall(this.key("sort"));
    for (const { cell, column } of this.heads) {
      const { label, kernel } = columns[column];
      const button = make("button", { type: "button", class: "sort" }, ...label.split(/(?<=_)/).flatMap((part, i) => (i > 0 ? [make("wbr"), part] : [part])));
      if (kernel) button.title = kernel;
      button.addEventListener("click", () => this.sortBy(this.sort.column === column ? { column, down: !this.sort.down } : { column, down: this.isHighFirst(column) }));
      cell.replaceChildren(button);
      if (remembered === label || remembered === `${label} down`) this.sort = { column, down: remembered !== label };
    }
  }

  private sortBy(sort: { column: number; down: boolean }): void {
    this.sort = sort;
    remember(this.key("sort"), `${this.family.sizes.columns[sort.column].label}${sort.down ? " down" : ""}`);
    this.apply();
  }

  /** What a column begins with when it is sorted first: figures with the highest, but ratios with those that are behind where any is. */
  private isHighFirst(column: number): boolean {
    const { columns, rows } = this.family.sizes;
    const { key, kind } = columns[column];
    if (key === "ratio" && rows.some((row) => (row[column] as number | null ?? 1) < 1)) return false;
    return kind !== "text" && kind !== "code";
  }

  /** A line under each ratio from 1 on, to a factor of 2 on either side, and under each share. */
  private addBars(line: Line, row: HTMLTableRowElement): void {
    const { columns, rows } = this.family.sizes;
    this.heads.forEach(({ column }, nth) => {
      const { key } = columns[column];
      const value = rows[line.index][column];
      if ((key !== "ratio" && key !== "roof") || typeof value !== "number" || value <= 0) return;
      const end = key === "roof" ? value : 0.5 + Math.max(-1, Math.min(1, Math.log2(value))) / 2;
      const [from, to] = key === "roof" ? [0, end] : [Math.min(0.5, end), Math.max(0.5, end)];
      const cell = row.cells[nth];
      cell.classList.add("bar", ...(key === "ratio" && value < 1 ? ["behind"] : []));
      cell.style.setProperty("--from", `${(100 * from).toFixed(1)}%`);
      cell.style.setProperty("--to", `${(100 * Math.min(1, to)).toFixed(1)}%`);
    });
  }

  private addFilters(): void {
    const { sizes } = this.family;
    const states = [...new Set(texts(sizes, "state").flatMap((state) => state.split(", ")))].filter((state) => !this.common.includes(state)).sort();
    const filters: Filter[] = [
      { key: "type", label: "Type", values: [...new Set(texts(sizes, "type"))].sort() },
      { key: "shape", label: "Shape", values: [...new Set(texts(sizes, "shape"))].sort() },
      { key: "best", label: "Best kernel", values: [...new Set(texts(sizes, "best"))].sort() },
      { key: "state", label: "State", values: states },
    ];
    for (const { key, label, values } of filters) {
      if (values.length < (key === "state" ? 1 : 2)) continue;
      const remembered = recall(this.key(key)) ?? "";
      const chosen = values.indexOf(remembered) + 1;
      if (chosen > 0) this.chosen.set(key, remembered);
      const { element, select } = choice(label, ["all", ...values], chosen, (i) => {
        this.chosen.set(key, i === 0 ? "" : values[i - 1]);
        remember(this.key(key), this.chosen.get(key)!);
        this.filter();
      });
      this.selects.set(key, select);
      this.controls.append(element);
    }
    const search = make("input", { type: "search", placeholder: "4096", "aria-label": `Search sizes of ${this.family.family}` });
    search.value = recall(this.key("text")) ?? "";
    this.chosen.set("text", search.value);
    search.addEventListener("input", () => {
      this.chosen.set("text", search.value);
      remember(this.key("text"), search.value);
      this.filter();
    });
    this.controls.append(make("label", {}, "Search ", search));
  }

  /** Shows what passes now. */
  private filter(): void {
    this.apply();
    this.whenFiltered.forEach((react) => react());
  }

  /** Shows what passes, in order. */
  private apply(): void {
    const { column, down } = this.sort;
    const { rows } = this.family.sizes;
    const before = (a: Cell, b: Cell): number => {
      if (a === null || b === null) return Number(a === null) - Number(b === null); // absent ones last
      const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en");
      return down ? -order : order;
    };
    const sorted = column < 0 ? this.lines : [...this.lines].sort((a, b) => before(rows[a.index][column], rows[b.index][column]) || a.index - b.index);
    this.order = sorted.filter((line) => this.passes(line.index));
    this.body.replaceChildren();
    this.drawn = 0;
    this.drawMore(kFirstRows);
    this.watchTheEnd();
    for (const head of this.heads) {
      head.cell.setAttribute("aria-sort", head.column !== column ? "none" : down ? "descending" : "ascending");
    }
    const shown = this.order.length;
    this.status.textContent = shown === this.lines.length ? "" : `${shown} of ${this.lines.length} sizes shown.`;
  }

  // ---- details ----

  private async open(line: Line): Promise<void> {
    if (line.detail) return;
    const cell = make("td", { colspan: String(this.seen.length) });
    const row = this.rowOf(line);
    if (!row.isConnected) this.drawMore(0, line);
    line.detail = make("tr", { class: "detail" }, cell);
    row.after(line.detail);
    line.button!.setAttribute("aria-expanded", "true");
    this.rememberOpen();
    const content = make("div", {});
    cell.append(make("div", { class: "sheet" }, content)); // as wide as what is seen of the table
    try {
      const details = await this.detailsOf(line.index);
      const names = details.map((one) => this.overview.kernels[one.kernel].kernel);
      const first = Math.max(0, names.indexOf(texts(this.family.sizes, "best")[line.index]));
      if (details.length > 1) {
        content.before(make("div", { class: "controls" }, choice("Kernel", names, first, (i) => void this.fill(content, details[i], line.index)).element));
      }
      await this.fill(content, details[first], line.index);
    } catch (error) {
      content.append(make("p", { class: "banner" }, `The details cannot be read: ${String(error)}. They need a browser with DecompressionStream.`));
    }
  }

  /** What is known of one kernel at one size. */
  private async fill(content: HTMLElement, { kernel, size }: Detail, index: number): Promise<void> {
    const name = this.overview.kernels[kernel].kernel;
    const part = (title: string, what: string, text: string) => [make("p", { class: "note" }, title), copyable(`${what} of ${name} at ${size.label}`, text)];
    const use = make("div", { class: "use" }, ...(size.use ? [
      ...this.standingNotes(name, size, index),
      ...part("Configuration:", "configuration", size.use.config),
      ...part("Look it up:", "command", size.use.command),
      ...part("Time it again:", "timing command", `tune bench ${this.options(kernel, size)} --config '${size.use.config.replaceAll("'", "'\\''")}'`),
      ...(size.use.dispatch ? part(`In a program, by the dispatcher, which chooses the fastest by itself. ${size.use.layout ?? ""}`, "dispatcher's calls", size.use.dispatch) : []),
      ...(size.use.code ? part(`Launch ${name} without the dispatcher, from ${size.use.source ?? "its source"}:`, "launch code", size.use.code) : []),
    ] : []));
    const grid = make("div", { class: "grid" });
    content.replaceChildren(make("p", { class: "size-verdict" }, sizeVerdict(this.overview.kernels[kernel], size.label, size.result)), use, ...(size.use ? this.questions(kernel, size, index) : []), grid);
    delete content.dataset.complete;
    for (const section of size.sections) {
      await new Promise((next) => { setTimeout(next); }); // a panel a task: the page stays responsive
      if (!grid.isConnected) return; // another kernel was chosen meanwhile
      grid.append(makePanel(section, wordsOf(section), "h4", size));
    }
    const trials = trialsPanel(size.trials);
    if (trials && grid.isConnected) grid.append(trials);
    content.dataset.complete = "true";
  }

  /** Where the library serves a size, and where the table's ratio of a kernel is of another final round than its own. */
  private standingNotes(name: string, size: Size, index: number): HTMLElement[] {
    const { library, sizes } = this.family;
    const row = sizes.rows[index];
    const at = (key: string) => row[columnIndex(sizes, key)];
    const notes: string[] = [];
    const ratio = at("ratio");
    if (typeof ratio === "number" && String(at("state")).split(", ").includes("behind")) {
      notes.push(`${library} is ${(1 / ratio).toFixed(ratio > 0.5 ? 3 : 1)}× as fast; the dispatcher uses it.`);
    }
    const shown = row[sizes.columns.findIndex((one) => one.kernel === name)];
    const finalists = size.sections.find(({ kind }) => kind === "finalists")?.table;
    const own = finalists?.rows.find((one) => one[columnIndex(finalists, "standing")] === "library")?.[columnIndex(finalists, "ratio")];
    if (library !== "" && name !== at("best") && typeof shown === "number" && typeof own === "number" && cell(shown, "factor") !== cell(own, "factor")) {
      notes.push(`The table has ${cell(shown, "factor")} ${library}, of the library's time in the final round of ${String(at("best"))}; in the one of ${name}, here, it is ${cell(own, "factor")}.`);
    }
    return notes.map((text) => make("p", { class: "standing" }, text));
  }

  /** Options that name a kernel and a size to the program. */
  private options(kernel: number, size: Size): string {
    return `${this.overview.kernels[kernel].options} --size ${size.problem}`;
  }

  /** Which roof is the lower one at a size, and the share of it that is reached; empty where it is not known. */
  private limit(index: number): string {
    const { sizes, roofs } = this.family;
    const at = (key: string) => sizes.rows[index][columnIndex(sizes, key)];
    const share = at("roof"), gflops = roofs.gflops[String(at("type") ?? "")];
    if (typeof share !== "number") return "";
    const intensity = at("intensity");
    const isCompute = typeof intensity === "number" && gflops !== undefined && (roofs.gbytes === 0 || intensity > gflops / roofs.gbytes);
    return `It reaches ${cell(share, "share")} of the ${isCompute ? "arithmetic" : "memory"} roof, the lower one at this size. `;
  }

  /** What no panel below answers: why it is this fast where it was not explained, and what changed since another environment. */
  private questions(kernel: number, size: Size, index: number): HTMLElement[] {
    const { family, kernel: name, environments } = this.overview.kernels[kernel];
    const options = this.options(kernel, size);
    const isExplained = size.sections.some(({ kind }) => kind === "explanation");
    const why = isExplained ? [] : [make("details", { class: "questions" }, make("summary", {}, "Why it is this fast: not measured"),
      make("p", { class: "note" }, `${this.limit(index)}On this device, this measures what limits it:`),
      copyable(`command that explains ${name} at ${size.label}`, `tune explain ${options}`))];
    const changes = this.overview.comparisons.flatMap(({ title, table }) => table.rows
      .filter((row) => row[columnIndex(table, "size")] === `${family} ${size.label}`)
      .map((row) => `${title}: ${row[columnIndex(table, "change")]}, ${cell(row[columnIndex(table, "ratio")], "factor")} the speed`));
    const since = changes.length > 0 ? [make("p", { class: "note" }, `${changes.join("; ")}.`)] : [
      make("p", { class: "note" }, `The results of ${name} are of ${environments.join(" and ") || "an environment that is not known"}: nothing to compare with. After an update, this tunes it again, and `,
        make("code", {}, "tune report"), " compares:"),
      copyable(`command that tunes ${name} at ${size.label}`, `tune ${options}`),
    ];
    const what = `Since another driver or version: ${changes.length > 0 ? "compared" : "not known"}`;
    return [...why, make("details", { class: "questions" }, make("summary", {}, what), ...since)];
  }

  private close(line: Line): void {
    line.detail?.remove();
    line.detail = null;
    line.button!.setAttribute("aria-expanded", "false");
    this.rememberOpen();
  }

  private rememberOpen(): void {
    const problems = texts(this.family.sizes, "problem");
    remember(this.key("open"), this.lines.filter((line) => line.detail).map((line) => problems[line.index]).join(" "));
  }

  /** Arrow keys, Home and End move between the sizes; Escape closes one. */
  private move(event: KeyboardEvent): void {
    const now = this.order.findIndex((line) => line.button === document.activeElement);
    if (now < 0) return;
    if (event.key === "Escape") return this.close(this.order[now]);
    const to = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: this.order.length - 1 }[event.key];
    if (to === undefined || !this.order[to]) return;
    this.drawMore(0, this.order[to]);
    this.order[to].button!.focus();
    event.preventDefault();
  }
}
