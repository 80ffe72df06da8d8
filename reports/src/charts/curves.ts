// SPDX-License-Identifier: Apache-2.0
import type { EChartsOption, LineSeriesOption } from "echarts";
import { axisStyle, logAxis, plot, timeAxis } from "../axis";
import { significant, time } from "../format";
import { numbers, texts, type SweepSection } from "../document";
import { seriesStyle, type Theme } from "../theme";
import { tip, tooltipStyle } from "../tooltip";

export type Scale = "logarithmic" | "linear";

const kMostTicks = 12;

/** Rows of the legend at the width of half a page. */
export const legendRows = ({ table }: SweepSection): number => Math.ceil((table.columns.length - 2) / 3);

/** The time of each contender, a column each behind the first two, over the sizes. */
export function curvesChart(section: SweepSection, scales: { x: Scale; y: Scale }, theme: Theme): EChartsOption {
  const { table } = section;
  const isLog = { x: scales.x === "logarithmic", y: scales.y === "logarithmic" };
  const extents = numbers(table, "extent") as number[];
  const labels = texts(table, "size");
  const contenders = table.columns.slice(2);
  const place = (value: number, axis: "x" | "y") => (isLog[axis] ? Math.log10(value) : value);
  const all = contenders.flatMap(({ key }) => numbers(table, key)).filter((ns): ns is number => ns !== null);
  const series = contenders.map(({ key, label }, nth): LineSeriesOption => {
    const { color, line, symbol } = seriesStyle(nth);
    return {
      type: "line", name: label, color, symbol, symbolSize: 6, connectNulls: false, lineStyle: { width: 2, type: line },
      data: numbers(table, key).map((ns, i) => [place(extents[i], "x"), ns === null ? null : place(ns, "y"), i]),
    };
  });
  const named = { name: `${table.columns[1].label}, ${scales.x}`, nameLocation: "middle" as const, nameGap: 28, splitLine: { show: false } };
  return {
    legend: { type: "plain", top: 0, left: 0, textStyle: { color: theme.muted }, itemWidth: 16, itemHeight: 8 },
    grid: plot(24 * (1 + legendRows(section)), 24, 4, 4),
    xAxis: isLog.x
      ? { ...logAxis(theme, extents, extents.length <= kMostTicks ? extents : null, (x) => significant(x, 3)), ...named }
      : { ...axisStyle(theme), type: "value", min: 0, ...named },
    yAxis: isLog.y
      ? timeAxis(theme, all)
      : { ...axisStyle(theme), type: "value", min: 0, axisLabel: { color: theme.muted, formatter: (ns: number) => (ns === 0 ? "0" : time(ns, 3)) } },
    tooltip: {
      ...tooltipStyle(theme), trigger: "item",
      formatter: (hovered) => {
        const { seriesName, data } = hovered as { seriesName: string; data: number[] };
        return tip(labels[data[2]], [[seriesName, time(numbers(table, seriesName)[data[2]]!)]]);
      },
    },
    series,
  };
}
