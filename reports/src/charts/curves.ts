// SPDX-License-Identifier: Apache-2.0
import type { EChartsOption, LineSeriesOption } from "echarts";
import { axisStyle, logAxis, plot, timeAxis } from "../axis";
import { significant, time } from "../format";
import { numbers, texts, type SweepSection } from "../document";
import { seriesStyle, type Theme } from "../theme";
import { tip, tooltipStyle } from "../tooltip";

export type Scale = "logarithmic" | "linear";

const kMostTicks = 12;
const kMostCurves = 8; // drawn at first: more cross one another

/** The keys of the contenders, those with the least times first: by the mean logarithm of their times over the fastest at each size. */
export function fastestFirst({ table }: SweepSection): string[] {
  const keys = table.columns.slice(2).map(({ key }) => key);
  const times = keys.map((key) => numbers(table, key));
  const least = table.rows.map((_, i) => Math.min(...times.map((its) => its[i] ?? Infinity)));
  const slowness = times.map((its) => {
    const logs = its.flatMap((ns, i) => (ns === null ? [] : [Math.log(ns / least[i])]));
    return logs.length === 0 ? Infinity : logs.reduce((sum, one) => sum + one, 0) / logs.length;
  });
  return keys.map((_, k) => k).sort((a, b) => slowness[a] - slowness[b] || a - b).map((k) => keys[k]);
}

/** What a chart of many contenders leaves to its legend; empty where it draws all. */
export function curvesNote(section: SweepSection): string {
  const all = section.table.columns.length - 2;
  return all <= kMostCurves ? "" : `The ${kMostCurves} fastest of ${all} are drawn; a name in the legend adds or removes its curve.`;
}

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
  const order = fastestFirst(section);
  const isMany = contenders.length > kMostCurves;
  const series = contenders.map(({ key, label }, nth): LineSeriesOption => {
    const { color, line, symbol } = seriesStyle(isMany ? order.indexOf(key) : nth, theme);
    return {
      type: "line", name: label, color, symbol, symbolSize: 6, connectNulls: false, lineStyle: { width: 2, type: line },
      data: numbers(table, key).map((ns, i) => [place(extents[i], "x"), ns === null ? null : place(ns, "y"), i]),
    };
  });
  const named = { name: `${table.columns[1].label}, ${scales.x}`, nameLocation: "middle" as const, nameGap: 28, splitLine: { show: false } };
  return {
    legend: {
      type: "plain", top: 0, left: 0, textStyle: { color: theme.muted }, itemWidth: 16, itemHeight: 8,
      selected: Object.fromEntries(contenders.map(({ key, label }) => [label, !isMany || order.indexOf(key) < kMostCurves])),
    },
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
