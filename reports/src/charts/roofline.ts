// SPDX-License-Identifier: Apache-2.0
import type { EChartsOption } from "echarts";
import { axisStyle, logAxis, plot } from "../axis";
import { cell, rate, rounded } from "../format";
import { numbers, texts, type Family } from "../document";
import { kManyDots, kManyDotsOpacity, seriesStyle, type Theme } from "../theme";
import { tip, tooltipStyle } from "../tooltip";

/** The best rate of each size over its FLOP per byte, below the highest rates measured on the device with its type. */
export function rooflineChart({ sizes: table, roofs }: Family, shown: (index: number) => boolean, theme: Theme): EChartsOption | null {
  const intensity = numbers(table, "intensity"), work = numbers(table, "work"), cold = numbers(table, "median_ns");
  const ns = numbers(table, "sustained_ns").map((backToBack, i) => backToBack ?? cold[i]); // what sizes are ranked by
  const labels = texts(table, "size"), types = texts(table, "type");
  const drawn = intensity.flatMap((value, i) =>
    (value !== null && value > 0 && ns[i] !== null && work[i] !== null && roofs.gflops[types[i]] !== undefined && shown(i) ? [i] : []));
  if (drawn.length === 0 || roofs.gbytes <= 0) return null;
  const gflops = (i: number) => 1e9 * work[i]! / ns[i]!;
  const kinds = [...new Set(Object.keys(roofs.gflops))].sort();
  const some = kinds.filter((type) => drawn.some((i) => types[i] === type));
  const ridge = (type: string) => roofs.gflops[type] / roofs.gbytes;
  const xs = [...drawn.map((i) => intensity[i]!), ...some.map(ridge)];
  const low = Math.min(...xs) / 1.08, high = Math.max(...xs) * 1.08;
  const roof = (type: string) => [low, ridge(type), high].map((x) => [Math.log10(x), Math.log10(Math.min(roofs.gflops[type], x * roofs.gbytes))]);
  const heights = some.flatMap((type) => roof(type).map(([, y]) => 10 ** y));
  const style = axisStyle(theme);
  const many = kinds.length > 1;
  return {
    legend: { show: many, top: 0, left: 0, textStyle: { color: theme.muted }, itemWidth: 12, itemHeight: 10 },
    grid: plot(34, 16, 4, 4),
    xAxis: {
      ...logAxis(theme, xs, null, rounded), axisLine: { ...style.axisLine, onZero: false }, splitLine: { show: false },
      name: "FLOP/byte, logarithmic", nameLocation: "middle", nameGap: 28,
    },
    yAxis: {
      ...logAxis(theme, [...drawn.map(gflops), ...heights], null, rate),
      axisLine: { ...style.axisLine, onZero: false }, name: many ? "" : "FLOP/s", nameLocation: "end",
    },
    tooltip: {
      ...tooltipStyle(theme), trigger: "item",
      formatter: (hovered) => {
        const i = (hovered as { data: number[] }).data[2];
        return tip(labels[i], [["rate", `${rate(gflops(i))}FLOP/s`], ["FLOP/byte", cell(intensity[i], "number")]]);
      },
    },
    series: some.flatMap((type) => {
      const { color, symbol } = seriesStyle(kinds.indexOf(type), theme);
      return [
        { type: "line", name: type, data: roof(type), showSymbol: false, silent: true, color: many ? color : theme.ink, lineStyle: { width: 1.5 } },
        { type: "scatter", name: type, symbol: many ? symbol : "circle", symbolSize: 8, color: many ? color : theme.best,
          itemStyle: { borderColor: theme.paper, borderWidth: 0.5, opacity: drawn.length > kManyDots ? kManyDotsOpacity : 1 },
          data: drawn.filter((i) => types[i] === type).map((i) => [Math.log10(intensity[i]!), Math.log10(gflops(i)), i]) },
      ];
    }),
  };
}
