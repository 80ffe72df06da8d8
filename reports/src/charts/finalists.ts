// SPDX-License-Identifier: Apache-2.0
import type { CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams, EChartsOption } from "echarts";
import { axisStyle, logAxis, plot } from "../axis";
import { cell, rounded } from "../format";
import { columnIndex, texts, type FinalistsSection, type Table } from "../document";
import type { Theme } from "../theme";
import { tip, tooltipStyle } from "../tooltip";

const kFar = 1.25; // beyond this factor a contender would flatten the differences among the others

/** `low` and `high` are null where the interval is not known; `isOnAxis`: its ratio is of the chart's measure. */
interface Contender {
  name: string; role: string; ratio: number; low: number | null; high: number | null; config: string; cold: number; backToBack: number | null; isOnAxis: boolean;
}

/** Candidates by their number, the others by their role. */
function namesOf(table: Table): string[] {
  let candidates = 0;
  return texts(table, "role").map((role) => role === "candidate" ? `finalist ${++candidates}` : role);
}

/** The section's table with the names of the chart. */
export function finalistsTable({ table }: FinalistsSection): Table {
  const names = namesOf(table), role = columnIndex(table, "role");
  return { ...table, rows: table.rows.map((row, i) => row.map((value, column) => column === role ? names[i] : value)) };
}

function contenders(section: FinalistsSection): Contender[] {
  const { table } = section;
  const index = (key: string) => columnIndex(table, key); // none of a column that is empty
  const measures = index("measure") < 0 ? [] : texts(table, "measure"); // where they differ
  const names = namesOf(table);
  return table.rows.map((row, i) => ({
    name: names[i],
    role: String(row[index("role")]),
    config: String(row[index("config")]),
    ratio: row[index("ratio")] as number,
    low: (row[index("ratio_low")] ?? null) as number | null,
    high: (row[index("ratio_high")] ?? null) as number | null,
    cold: row[index("median_ns")] as number,
    backToBack: (row[index("sustained_ns")] ?? null) as number | null,
    isOnAxis: (measures[i] ?? section.measure) === section.measure,
  }));
}

const isFar = ({ ratio }: Contender) => ratio > kFar || ratio < 1 / kFar;
const isLibrary = ({ role }: Contender, { table }: FinalistsSection) =>
  table.rows.some((row) => row[columnIndex(table, "role")] === role && String(row[columnIndex(table, "standing")]).startsWith("library"));
/** Those of the chart: the library wherever it is, others that are near. */
const isDrawn = (one: Contender, section: FinalistsSection) => one.isOnAxis && (!isFar(one) || isLibrary(one, section));

/** Each contender's time as a multiple of that of the chosen one, with its interval: of one measure. Logarithmic where the library is far. */
export function finalistsChart(section: FinalistsSection, theme: Theme): EChartsOption {
  const near = contenders(section).filter((one) => isDrawn(one, section));
  const isLog = near.some(isFar);
  const place = (ratio: number) => isLog ? Math.log10(ratio) : ratio;
  const color = (one: Contender) => isLibrary(one, section) ? theme.library : one.role === "default" ? theme.standard : theme.best;

  const interval = (_: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => {
    const at = near[api.value(3) as number];
    const [x, y] = api.coord([place(at.ratio), api.value(3)]);
    const [left] = api.coord([place(at.low ?? at.ratio), api.value(3)]), [right] = api.coord([place(at.high ?? at.ratio), api.value(3)]);
    return {
      type: "group" as const,
      children: [
        { type: "line" as const, shape: { x1: left, y1: y, x2: right, y2: y }, style: { stroke: color(at), lineWidth: 3, opacity: 0.45 } },
        { type: "circle" as const, shape: { cx: x, cy: y, r: 5 }, style: { fill: color(at) } },
      ],
    };
  };
  return {
    grid: plot(12, 24, 4, 4),
    xAxis: {
      ...(isLog ? logAxis(theme, near.flatMap(({ ratio, low, high }) => [low ?? ratio, high ?? ratio]), null, (v) => `${rounded(v)}×`)
        : { ...axisStyle(theme), type: "value" as const, scale: true, axisLabel: { color: theme.muted, formatter: (v: number) => `${v.toFixed(3)}×`, hideOverlap: true } }),
      name: `× the chosen one, ${section.measure}${isLog ? ", logarithmic" : ""}`, nameLocation: "middle", nameGap: 28,
    },
    yAxis: { ...axisStyle(theme), type: "category", data: near.map((one) => one.name), inverse: true, splitLine: { show: false } },
    tooltip: {
      ...tooltipStyle(theme), trigger: "item",
      formatter: (hovered) => {
        const one = near[(hovered as { dataIndex: number }).dataIndex];
        return tip(one.name, [
          ...(one.backToBack === null ? [] : [["back to back", cell(one.backToBack, "time")] as [string, string]]),
          ["cold median", cell(one.cold, "time")],
          ["over the chosen", cell(one.ratio, "factor") + (one.low === null ? "" : ` (${cell(one.low, "factor")} – ${cell(one.high, "factor")})`)],
          ["", one.config],
        ]);
      },
    },
    series: [{
      type: "custom", renderItem: interval, encode: { x: [0, 1, 2], y: 3 },
      data: near.map((one, i) => [place(one.low ?? one.ratio), place(one.ratio), place(one.high ?? one.ratio), i]),
      markLine: {
        silent: true, symbol: "none", animation: false, label: { show: false },
        lineStyle: { color: theme.muted, type: "dashed" }, data: [{ xAxis: place(1) }],
      },
    }],
  };
}

/** Who stands outside the chart, and where: too far, or timed in single launches alone. */
export function finalistsNote(section: FinalistsSection): string {
  const all = contenders(section);
  const named = (some: Contender[]) => some.map((one) => `${one.name} at ${cell(one.ratio, "factor")}`).join(", ");
  const far = all.filter((one) => one.isOnAxis && !isDrawn(one, section)), cold = all.filter((one) => !one.isOnAxis);
  const notes = [...(far.length > 0 ? [`Outside the chart: ${named(far)}.`] : []), ...(cold.length > 0 ? [`Compared cold, not on this axis: ${named(cold)}.`] : [])];
  if (all.some(({ low }) => low !== null)) notes.push("Lines: 95 % intervals of the median of the ratios within repetitions, distribution-free.");
  return notes.join(" ");
}
