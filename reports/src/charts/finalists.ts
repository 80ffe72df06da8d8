// SPDX-License-Identifier: Apache-2.0
import type { CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams, EChartsOption } from "echarts";
import { axisStyle, plot } from "../axis";
import { cell } from "../format";
import { columnIndex, texts, type Cell, type FinalistsSection } from "../document";
import type { Theme } from "../theme";
import { tip, tooltipStyle } from "../tooltip";

const kFar = 1.25; // beyond this factor a contender would flatten the differences among the others

interface Contender { name: string; role: string; ratio: number; low: number; high: number; config: string; cold: number; backToBack: number | null }

function contenders(section: FinalistsSection): Contender[] {
  const { table } = section;
  const index = (key: string) => columnIndex(table, key);
  let candidates = 0;
  const measures = index("measure") < 0 ? [] : texts(table, "measure"); // where they differ
  const nameOf = (row: Cell[]) => row[index("role")] === "candidate" ? `finalist ${++candidates}` : String(row[index("role")]);
  return table.rows.map((row, i) => ({
    name: nameOf(row) + (measures[i] === "cold" ? ", cold" : ""),
    role: String(row[index("role")]),
    config: String(row[index("config")]),
    ratio: row[index("ratio")] as number,
    low: row[index("ratio_low")] as number,
    high: row[index("ratio_high")] as number,
    cold: row[index("median_ns")] as number,
    backToBack: row[index("sustained_ns")] as number | null,
  }));
}

const isFar = ({ ratio }: Contender) => ratio > kFar || ratio < 1 / kFar;

/** Each contender's time as a multiple of the winner's, with its interval. */
export function finalistsChart(section: FinalistsSection, theme: Theme): EChartsOption {
  const near = contenders(section).filter((one) => !isFar(one));
  const color = (one: Contender) => one.config === "" ? theme.library : one.role === "default" ? theme.standard : theme.best;

  const interval = (_: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => {
    const at = near[api.value(3) as number];
    const [x, y] = api.coord([at.ratio, api.value(3)]);
    const [left] = api.coord([at.low, api.value(3)]), [right] = api.coord([at.high, api.value(3)]);
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
      ...axisStyle(theme), type: "value", scale: true, name: "time over the winner’s, 95 % interval", nameLocation: "middle", nameGap: 28,
      axisLabel: { color: theme.muted, formatter: (v: number) => `${v.toFixed(3)}×`, hideOverlap: true },
    },
    yAxis: { ...axisStyle(theme), type: "category", data: near.map((one) => one.name), inverse: true, splitLine: { show: false } },
    tooltip: {
      ...tooltipStyle(theme), trigger: "item",
      formatter: (hovered) => {
        const one = near[(hovered as { dataIndex: number }).dataIndex];
        return tip(one.name, [
          ...(one.backToBack === null ? [] : [["back to back", cell(one.backToBack, "time")] as [string, string]]),
          ["cold median", cell(one.cold, "time")],
          ["to the winner", `${cell(one.ratio, "factor")} (${cell(one.low, "factor")} – ${cell(one.high, "factor")})`],
          ["", one.config],
        ]);
      },
    },
    series: [{
      type: "custom", renderItem: interval, encode: { x: [0, 1, 2], y: 3 },
      data: near.map((one, i) => [one.low, one.ratio, one.high, i]),
      markLine: {
        silent: true, symbol: "none", animation: false, label: { show: false },
        lineStyle: { color: theme.muted, type: "dashed" }, data: [{ xAxis: 1 }],
      },
    }],
  };
}

/** Who stands outside the chart, and where. */
export function finalistsNote(section: FinalistsSection): string {
  const far = contenders(section).filter(isFar);
  if (far.length === 0) return "";
  return `Outside the chart: ${far.map((one) => `${one.name} at ${cell(one.ratio, "factor")}`).join(", ")}.`;
}
