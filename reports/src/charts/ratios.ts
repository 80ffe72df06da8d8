// SPDX-License-Identifier: Apache-2.0
import type { EChartsOption, ScatterSeriesOption } from "echarts";
import { axisStyle, logAxis, plot } from "../axis";
import { cell, rounded } from "../format";
import { columnIndex, numbers, texts, type Family } from "../document";
import { kManyDots, kManyDotsOpacity, seriesStyle, type Theme } from "../theme";
import { tip, tooltipStyle } from "../tooltip";

const kSymbols = ["circle", "diamond", "triangle", "rect"];

/** Round ratios on both sides of 1, down to 1 / far and up to far. */
function ratioTicks(far: number): number[] {
  const known = far > 4 ? [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20]
    : far > 1.6 ? [0.3, 0.5, 0.7, 1, 1.5, 2, 3]
    : far > 1.12 ? [0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.4] : [0.9, 0.95, 0.98, 1, 1.02, 1.05, 1.1];
  return known.filter((tick) => tick < far && tick > 1 / far);
}

/** The best kernel's ratio to the library over the work of a size, a colour and a mark for each shape. */
export function ratiosChart({ sizes: table, library }: Family, shown: (index: number) => boolean, theme: Theme): EChartsOption | null {
  const work = numbers(table, "work"), ratio = numbers(table, "ratio");
  const labels = texts(table, "size"), shapes = texts(table, "shape"), best = texts(table, "best");
  const drawn = ratio.flatMap((value, i) => (value !== null && work[i] !== null && work[i]! > 0 && shown(i) ? [i] : []));
  if (drawn.length === 0) return null;
  const far = 1.05 * Math.max(...drawn.map((i) => Math.max(ratio[i]!, 1 / ratio[i]!)));
  const ticks = ratioTicks(far);
  const kinds = [...new Set(shapes)].sort();
  const series = kinds.map((shape, nth): ScatterSeriesOption => ({
    type: "scatter", name: shape, color: seriesStyle(nth, theme).color, symbol: kSymbols[nth % kSymbols.length], symbolSize: 9,
    itemStyle: { borderColor: theme.paper, borderWidth: 0.5, opacity: drawn.length > kManyDots ? kManyDotsOpacity : 1 },
    data: drawn.filter((i) => shapes[i] === shape).map((i) => [Math.log10(work[i]!), Math.log10(ratio[i]!), i]),
  }));
  const style = axisStyle(theme);
  return {
    grid: plot(34, 16, 4, 4),
    legend: { top: 0, left: 0, textStyle: { color: theme.muted }, itemWidth: 12, itemHeight: 10 },
    xAxis: {
      ...logAxis(theme, drawn.map((i) => work[i]!), null, rounded),
      axisLine: { ...style.axisLine, onZero: false }, splitLine: { show: false },
      name: `${table.columns[columnIndex(table, "work")].label} of the size, logarithmic`, nameLocation: "middle", nameGap: 28,
    },
    yAxis: {
      ...style, type: "value", min: -Math.log10(far), max: Math.log10(far), axisLine: { ...style.axisLine, onZero: false }, splitLine: { show: false },
      axisTick: { show: false, customValues: ticks.map(Math.log10) },
      axisLabel: { ...style.axisLabel, customValues: ticks.map(Math.log10), formatter: (v: number) => `${Number((10 ** v).toFixed(2))}×` },
      name: `× ${library}`, nameLocation: "end",
    },
    tooltip: {
      ...tooltipStyle(theme), trigger: "item",
      formatter: (hovered) => {
        const i = (hovered as { data: number[] }).data[2];
        return tip(labels[i], [[best[i], `${cell(ratio[i], "factor")} ${library}`], ["shape", shapes[i]]]);
      },
    },
    series: series.map((one, nth) => (nth > 0 ? one : {
      ...one,
      markLine: { silent: true, symbol: "none", animation: false, label: { show: false }, lineStyle: { color: theme.ink, width: 1.5 }, data: [{ yAxis: 0 }] },
    })),
  };
}
