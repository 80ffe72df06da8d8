// SPDX-License-Identifier: Apache-2.0
import { cell } from "./format";
import type { Cell, Kind, Table } from "./document";

/** An element with attributes and content; text stays text. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Record<string, string> = {}, ...content: (Node | string)[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...content);
  return element;
}

/** A text that may break after its commas. */
export function breakable(text: string): (Node | string)[] {
  return text.split(/(?<=,)/).flatMap((part, i) => (i > 0 ? [make("wbr"), part] : [part]));
}

function cssClass(kind: string): string {
  return kind === "text" || kind === "code" ? kind : "figure";
}

/** A row of a table, whose first cell is its header. */
export function makeRow(values: Cell[], kinds: Kind[]): HTMLTableRowElement {
  return make("tr", {}, ...values.map((value, i) => {
    const text = cell(value, kinds[i]);
    const content = kinds[i] === "code" ? breakable(text) : [text];
    return i === 0 ? make("th", { scope: "row", class: cssClass(kinds[i]) }, ...content) : make("td", { class: cssClass(kinds[i]) }, ...content);
  }));
}

/** A named table in a region that scrolls by itself. The first cell of a row is its header. */
export function makeTable(table: Table, name: string): HTMLElement {
  const head = table.columns.map(({ label, kind }) => make("th", { scope: "col", class: cssClass(kind) }, label));
  const kinds = table.columns.map(({ kind }) => kind);
  const rows = table.rows.map((row) => makeRow(row, kinds));
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name },
    make("table", { "aria-label": name }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows)));
}

/** Writes the columns' names to a row's cells, for where the row is a text of names and values. */
export function nameCells(row: HTMLTableRowElement, labels: string[]): void {
  [...row.cells].forEach((cell, i) => {
    cell.dataset.label = labels[i];
    cell.classList.toggle("absent", cell.textContent === "–" || cell.textContent === "");
  });
}

/** On a narrow screen each row of this table is a text of names and values. */
export function makeCards(table: HTMLTableElement): void {
  table.classList.add("cards");
  const labels = [...table.tHead!.rows[0].cells].map((cell) => cell.textContent!);
  for (const row of table.tBodies[0].rows) nameCells(row, labels);
}
