// SPDX-License-Identifier: Apache-2.0
// The trials of a size by the values of their parameters: filtered, drawn as parallel coordinates, the fastest in a table.
import { parallelChart, valuesInOrder } from "./charts/parallel";
import { choice } from "./controls";
import type { Cell, Table, Trials } from "./document";
import { make, makeCards, makeTable } from "./elements";
import { Figure } from "./figure";
import { count, time } from "./format";

const kInTable = 10;
const kFewest = 3; // trials and parameters that a chart is worth

/** Places of the parameters that the trials vary. */
function varied({ parameters }: Trials): number[] {
  return parameters.flatMap(({ values }, p) => (values.length > 1 ? [p] : []));
}

/** Trials that ended `ok` with these values of parameters, the fastest first. */
function passing(trials: Trials, wanted: Map<number, string>): number[] {
  const passes = (i: number) => [...wanted].every(([p, value]) => trials.parameters[p].values[trials.parameters[p].choices[i]] === value);
  return [...trials.ns.keys()].filter((i) => trials.ns[i] !== null && passes(i)).sort((a, b) => trials.ns[a]! - trials.ns[b]!);
}

function fastestTable(trials: Trials, chosen: number[]): Table {
  const best = Math.min(...trials.ns.filter((ns): ns is number => ns !== null));
  return {
    columns: [
      { key: "trial", label: "Trial", kind: "count" }, { key: "ns", label: `Time, ${trials.measure}`, kind: "time" }, { key: "ratio", label: "× fastest", kind: "factor" },
      ...(trials.cold_ns ? [{ key: "cold_ns", label: "Cold", kind: "time" as const }] : []),
      ...trials.parameters.map(({ name }) => ({ key: name, label: name, kind: "text" as const })),
    ],
    rows: chosen.slice(0, kInTable).map((i): Cell[] => [
      trials.trial[i], trials.ns[i], trials.ns[i]! / best, ...(trials.cold_ns ? [trials.cold_ns[i]] : []),
      ...trials.parameters.map(({ values, choices }) => values[choices[i]]),
    ]),
  };
}

/** Null where there is too little to compare. */
export function trialsPanel(trials: Trials): HTMLElement | null {
  const parameters = varied(trials);
  if (parameters.length < kFewest - 1 || passing(trials, new Map()).length < kFewest) return null;
  const wanted = new Map<number, string>();
  const chart = make("div", { class: "chart", role: "img", "aria-label": "Trials by the values of their parameters: a line for each" });
  const answer = make("p", { class: "answer", role: "status" });
  const controls = make("div", { class: "controls" });
  let holder = make("div", { class: "scroll" });
  const table = make("details", { open: "" }, make("summary", {}, "Fastest"), holder);
  const panel = make("section", { class: "panel wide", "data-kind": "trials" }, make("h4", {}, "Trials by parameter"), answer, controls, chart,
    make("p", { class: "note" }, `Each line is a trial: from the values of its parameters to its time ${trials.measure}, the fastest on top.`), table);
  const figure = new Figure(chart, (theme) => parallelChart(trials, passing(trials, wanted), parameters, theme));
  const show = () => {
    const chosen = passing(trials, wanted);
    answer.textContent = chosen.length === 0 ? "No successful trial has these values."
      : `${count(chosen.length)} successful ${chosen.length === 1 ? "trial" : "trials"}${wanted.size > 0 ? " with these values" : ""}: the fastest takes ${time(trials.ns[chosen[0]]!)}.`;
    figure.redraw();
    const next = makeTable(fastestTable(trials, chosen), "Fastest trials");
    makeCards(next.querySelector("table")!);
    holder.replaceWith(next);
    holder = next as HTMLDivElement;
  };
  for (const p of parameters) {
    const values = valuesInOrder(trials.parameters[p].values);
    controls.append(choice(trials.parameters[p].name, ["all", ...values], 0, (i) => {
      if (i === 0) wanted.delete(p); else wanted.set(p, values[i - 1]);
      show();
    }).element);
  }
  show();
  return panel;
}
