// SPDX-License-Identifier: Apache-2.0
import type { EChartsOption } from "echarts";
import { axisStyle, logAxis, plot } from "../axis";
import { cell, significant } from "../format";
import { numbers, texts, type Family } from "../document";
import type { Theme } from "../theme";
import { tip, tooltipStyle } from "../tooltip";

/** The best rate of each size over its FLOP per byte, below the highest rates measured on the device. */
export function rooflineChart({ sizes: table, roofs }: Family, theme: Theme): EChartsOption | null {
  const intensity = numbers(table, "intensity"), ns = numbers(table, "median_ns"), work = numbers(table, "work");
  const labels = texts(table, "size");
  const drawn = intensity.flatMap((value, i) => (value !== null && value > 0 && ns[i] !== null && work[i] !== null ? [i] : []));
  if (drawn.length === 0 || roofs.gflops <= 0 || roofs.gbytes <= 0) return null;
  const gflops = (i: number) => 1e9 * work[i]! / ns[i]!;
  const ridge = roofs.gflops / roofs.gbytes;
  const xs = [...drawn.map((i) => intensity[i]!), ridge];
  const low = Math.min(...xs) / 1.08, high = Math.max(...xs) * 1.08;
  const roof = [low, ridge, high].map((x) => [Math.log10(x), Math.log10(Math.min(roofs.gflops, x * roofs.gbytes))]);
  const style = axisStyle(theme);
  const rate = (value: number) => (value >= 1000 ? `${significant(value / 1000, 2)}\u00a0T` : `${significant(value, 2)}\u00a0G`);
  return {
    grid: plot(34, 16, 4, 4),
    xAxis: {
      ...logAxis(theme, xs, null, (x) => significant(x, 1)), axisLine: { ...style.axisLine, onZero: false }, splitLine: { show: false },
      name: "FLOP/byte, logarithmic", nameLocation: "middle", nameGap: 28,
    },
    yAxis: {
      ...logAxis(theme, [...drawn.map(gflops), ...roof.map(([, y]) => 10 ** y)], null, rate),
      axisLine: { ...style.axisLine, onZero: false }, name: "FLOP/s", nameLocation: "end",
    },
    tooltip: {
      ...tooltipStyle(theme), trigger: "item",
      formatter: (hovered) => {
        const i = (hovered as { data: number[] }).data[2];
        return tip(labels[i], [["rate", `${rate(gflops(i))}FLOP/s`], ["FLOP/byte", cell(intensity[i], "number")]]);
      },
    },
    series: [
      { type: "line", data: roof, showSymbol: false, silent: true, color: theme.ink, lineStyle: { width: 1.5 } },
      { type: "scatter", symbolSize: 8, color: theme.best, itemStyle: { borderColor: theme.paper, borderWidth: 0.5 },
        data: drawn.map((i) => [Math.log10(intensity[i]!), Math.log10(gflops(i)), i]) },
    ],
  };
}
