// SPDX-License-Identifier: Apache-2.0
// What the sizes of a family come to: by element type, in sentences, and what is to be done about them.
import { rowsOf, type Cell, type Family, type Overview, type Row, type Table } from "./document";
import { count, plural, share, significant } from "./format";

const kMostNamed = 5; // sizes, in a sentence
const kHalf = 0.5; // of a roof: a family whose median is below it is far from its roof

/** `fastest`: of the highest rate. `wins`: at how many of its sizes each kernel is the best one, the most first. */
export interface OfType {
  type: string; // empty: not known
  rows: Row[];
  compared: number; ahead: number; behind: number; // with the library
  fastest: Row | null;
  wins: [string, number][];
}

/** What is to be done about sizes, with commands. `show`: how the table shows them, by a state, and lowest first by a column; empty: not. */
export interface ToDo { text: string; commands: string[]; note: string; show: { state: string; sort: string } }

const kernelsOf = ({ sizes }: Family): string[] => sizes.columns.flatMap(({ kernel }) => kernel ?? []);
const known = (rows: Row[], key: string): number[] => rows.flatMap((row) => typeof row[key] === "number" ? [row[key]] : []);
const has = (row: Row, state: string): boolean => String(row.state).split(", ").includes(state);
const geometricMean = (values: number[]): number | null =>
  values.length === 0 ? null : Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
/** The median; of an even number of values the upper one of the middle two. */
const median = (values: number[]): number | null => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? null;
/** What the sizes are ranked by. */
const ns = (row: Row): number => (row.sustained_ns ?? row.median_ns) as number;

/** The types of a family's sizes, sorted by name. */
export function typesOf(family: Family): OfType[] {
  const rows = rowsOf(family.sizes), kernels = kernelsOf(family);
  return [...new Set(rows.map((row) => String(row.type)))].sort().map((type) => {
    const some = rows.filter((row) => row.type === type), compared = some.filter(({ ratio }) => ratio !== null);
    const wins = kernels.map((kernel): [string, number] => [kernel, some.filter(({ best }) => best === kernel).length]);
    return {
      type, rows: some, compared: compared.length,
      ahead: compared.filter(({ ratio, low }) => ((low ?? ratio) as number) > 1).length,
      behind: compared.filter(({ ratio, high }) => ((high ?? ratio) as number) < 1).length,
      fastest: some.reduce((most: Row | null, row) => row.rate !== null && (most === null || row.rate > most.rate!) ? row : most, null),
      wins: wins.sort(([, a], [, b]) => b - a),
    };
  });
}

/** A row for each type. */
export function typesTable({ library, unit }: Family, types: OfType[]): Table {
  return {
    columns: [
      { key: "type", label: "Type", kind: "text" }, { key: "sizes", label: "Sizes", kind: "count" },
      { key: "ratio", label: `× ${library || "library"}`, kind: "factor" }, { key: "median", label: "median", kind: "factor" },
      { key: "ahead", label: "Ahead at", kind: "count" }, { key: "behind", label: "Behind at", kind: "count" }, { key: "equal", label: "Tied at", kind: "count" },
      { key: "default", label: "× default, cold", kind: "factor" }, { key: "roof", label: "% of roof (median)", kind: "share" },
      { key: "rate", label: `Highest ${unit}`, kind: "number" }, { key: "peak", label: "% of peak", kind: "share" }, { key: "wins", label: "Best kernel", kind: "text" },
    ],
    rows: types.map(({ type, rows, compared, ahead, behind, fastest, wins }): Cell[] => [
      type || "not known", rows.length, geometricMean(known(rows, "ratio")), median(known(rows, "ratio")),
      ...[ahead, behind, compared - ahead - behind].map((counted) => compared > 0 ? counted : null),
      geometricMean(known(rows, "default")), median(known(rows, "roof")), fastest?.rate ?? null, fastest?.peak ?? null,
      wins.filter(([, won]) => won > 0).map(([kernel, won]) => `${kernel} ${count(won)}`).join(", "),
    ]),
  };
}

function againstLibrary({ rows, compared, ahead, behind }: OfType, library: string): string {
  if (compared === 0) return "No library was timed beside the best kernels.";
  const ratios = known(rows, "ratio"), tied = compared - ahead - behind;
  return `The best kernel of each size is ${geometricMean(ratios)!.toFixed(2)}× as fast as ${library} (geometric mean of ${plural(compared, "size")}; `
    + `median ${median(ratios)!.toFixed(2)}×): ahead at ${count(ahead)}, behind at ${count(behind)}${tied > 0 ? `, tied at ${count(tied)}` : ""}.`;
}

/** The verdict of a family: sentences of one type; of several types the table of types has what differs. */
export function verdictOf(family: Family, types: OfType[]): string {
  const counted = `${plural(family.sizes.rows.length, "size")}, ${plural(kernelsOf(family).length, "kernel")}.`;
  if (types.length !== 1) return `${plural(types.length, "type")}, ${counted}`;
  const [{ type, fastest }] = types;
  const highest = fastest && `Highest rate: ${significant(fastest.rate as number, 4)}\u00a0${family.unit} at ${fastest.size}`
    + `${fastest.peak === null ? "" : `, ${share(fastest.peak as number)} of the nominal peak`}.`;
  return [type === "" ? counted : `${type}: ${counted}`, againstLibrary(types[0], family.library), ...(highest ? [highest] : [])].join(" ");
}

/** "4.274 TB/s" of thousands of millions a second. */
const rateInUnit = (giga: number, unit: string): string => giga >= 1000 ? `${significant(giga / 1000, 4)}\u00a0T${unit}` : `${significant(giga, 4)}\u00a0G${unit}`;

/** The roofs below which the sizes are, with what reached them. */
function roofsNote({ roofs, unit }: Family, types: OfType[]): string[] {
  const isRated = unit.endsWith("FLOP/s");
  const moves = (row: Row) => isRated ? row.intensity !== null : row.work !== null;
  const parts = roofs.gbytes > 0 && types.some(({ rows }) => rows.some(moves)) ? [`memory ${rateInUnit(roofs.gbytes, "B/s")} (${roofs.gbytes_from})`] : [];
  for (const { type, rows } of types) {
    if (!isRated || roofs.gflops[type] === undefined || rows.every(({ work }) => work === null)) continue;
    parts.push(`${type || "arithmetic"} ${rateInUnit(roofs.gflops[type], "FLOP/s")} (${roofs.gflops_from[type]})`);
  }
  return parts.length === 0 ? [] : [`Roof, the highest rate measured on this device: ${parts.join("; ")}.`];
}

/** What the numbers of a family are of: its roofs, and imported sizes. */
export function notesOf(family: Family, types: OfType[]): string {
  const rows = types.flatMap((one) => one.rows).filter(({ best }) => best !== null), imported = rows.filter((row) => has(row, "imported")).length;
  const which = imported === rows.length ? "Imported" : `Imported, ${count(imported)} of ${count(rows.length)} sizes`;
  const origin = `${which}: timed by the program that wrote ${family.imported_from.join(", ")}, not verified on this machine.`;
  return [...roofsNote(family, types), ...(imported > 0 ? [origin] : [])].join(" ");
}

// ---- to do ----

/** What the latest run left undone at a size, by its state. */
const kUnfinished = [
  { state: "screened", brief: "finalize", verb: ["has", "have"], text: "screening times only: re-time the fastest.", command: "finalize " },
  { state: "few trials", brief: "search longer (few trials)", verb: ["has", "have"], text: "fewer than 30 trials in the latest run: search longer.", command: "" },
  { state: "improving", brief: "search longer (improving)", verb: ["was", "were"], text: "still improving in the last fifth of the latest run: search longer.", command: "" },
];

/** What is to be done about a type's sizes, in a few words; null where nothing is. */
export function toDoInBrief({ rows }: OfType): string | null {
  const counted = [...kUnfinished, { state: "behind", brief: "behind the library" }]
    .map(({ state, brief }): [number, string] => [rows.filter((row) => has(row, state)).length, brief]).filter(([n]) => n > 0);
  return counted.length === 0 ? null : counted.map(([n, brief]) => `${count(n)}: ${brief}`).join("; ");
}

/** A size's label without the value that is its type. */
export const withoutType = (label: string, type: string): string => label.split(", ").filter((part) => type === "" || !part.endsWith(`=${type}`)).join(", ");

/** The first of some sizes, named with a value each, and how many are left. */
function named(rows: Row[], value: (row: Row) => string): string {
  const others = rows.length - kMostNamed;
  const texts = rows.slice(0, kMostNamed).map((row) => `${withoutType(String(row.size), String(row.type))}${row.type === "" ? "" : ` (${row.type})`} ${value(row)}`);
  return texts.join("; ") + (others > 0 ? `; and ${count(others)} more` : "");
}

/** What is to be done about the sizes of a type; of all types where `type` is empty. */
export function toDo({ kernels }: Overview, family: Family, type: string): ToDo[] {
  const rows = rowsOf(family.sizes).filter((row) => row.best !== null && (type === "" || row.type === type));
  /** One for each kernel that is best at one of the sizes: a run there, or another command of the program, which needs no sizes. */
  const commands = (some: Row[], command = "") => [...new Set(some.map(({ best }) => best))].map((best) => {
    const { options } = kernels.find((one) => one.family === family.family && one.kernel === best)!;
    return `tune ${command}${options}${command === "" ? some.filter((row) => row.best === best).map(({ problem }) => ` --size ${problem}`).join("") : ""}`;
  });
  const list: ToDo[] = kUnfinished.flatMap(({ state, verb, text, command }) => {
    const some = rows.filter((row) => has(row, state));
    return some.length === 0 ? [] : [{
      text: `${plural(some.length, `size ${verb[0]}`, `sizes ${verb[1]}`)} ${text}`, commands: commands(some, command), note: "", show: { state, sort: "" },
    }];
  });
  /** Sizes of which the first are named, the slowest by a column. */
  const addSlow = (some: Row[], text: string, show: ToDo["show"]) => {
    const note = some.length > kMostNamed ? "The commands are of the sizes named." : "";
    if (some.length > 0) list.push({ text: `${text}. A longer search, or another kernel, may change that.`, commands: commands(some.slice(0, kMostNamed)), note, show });
  };
  const behind = rows.filter((row) => has(row, "behind")).sort((a, b) => (a.ratio as number) - (b.ratio as number));
  addSlow(behind, `${plural(behind.length, "size is", "sizes are")} behind ${family.library}, which the dispatcher calls there: ${named(behind, ({ ratio }) => `${(ratio as number).toFixed(3)}×`)}`,
    { state: "behind", sort: "ratio" });
  if (family.library !== "" || (median(known(rows, "roof")) ?? 1) >= kHalf) return list;
  const far = rows.filter(({ roof }) => roof !== null && (roof as number) < kHalf).sort((a, b) => ns(b) - ns(a));
  addSlow(far, `No library was timed here, and ${plural(far.length, "size reaches", "sizes reach")} less than half of the roof, the longest: ${named(far, ({ roof }) => share(roof as number))}`,
    { state: "", sort: "roof" });
  return list;
}
