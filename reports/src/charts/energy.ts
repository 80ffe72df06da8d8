// SPDX-License-Identifier: Apache-2.0
import type { EChartsOption } from "echarts";
import { axisStyle, plot } from "../axis";
import { cell } from "../format";
import { numbers, texts, type EnergySection } from "../document";
import type { Theme } from "../theme";
import { tip, tooltipStyle } from "../tooltip";

/** The contenders of a size, or of all: time against energy, each over the least of its size; the Pareto set in full colour. */
export function energyChart({ table }: EnergySection, size: string | null, theme: Theme): EChartsOption {
  const sizes = texts(table, "size"), measures = texts(table, "measure"), names = texts(table, "contender"), optimal = texts(table, "pareto");
  const time = numbers(table, "time"), energy = numbers(table, "energy");
  const ns = numbers(table, "ns"), joules = numbers(table, "joules"), watts = numbers(table, "watts");
  const drawn = sizes.flatMap((one, i) => (size === null || one === size ? [i] : []));
  const axis = (name: string, nameGap: number, values: (number | null)[]) => {
    const most = Math.max(1.01, ...drawn.map((i) => values[i]!)), margin = 0.06 * (most - 1); // no mark is on an edge
    return {
      ...axisStyle(theme), type: "value" as const, min: 1 - margin, max: most + margin, name, nameLocation: "middle" as const, nameGap,
      axisLine: { ...axisStyle(theme).axisLine, onZero: false },
      axisLabel: { color: theme.muted, showMinLabel: false, showMaxLabel: false, formatter: (v: number) => `${v.toFixed(most < 1.1 ? 3 : 2)}×`, hideOverlap: true },
    };
  };
  const named = { show: size !== null, position: "right" as const, color: theme.muted, formatter: ({ data }: { data?: unknown }) => names[(data as number[])[2]] };
  const dots = (name: string, color: string, symbol: string, ids: number[]) => ({
    type: "scatter" as const, name, color, symbol, symbolSize: 9, data: ids.map((i) => [time[i]!, energy[i]!, i]), label: named, labelLayout: { hideOverlap: true },
  });
  const front = drawn.filter((i) => optimal[i] === "yes");
  const line = [...front].sort((a, b) => time[a]! - time[b]!).map((i) => [time[i]!, energy[i]!]);
  return {
    legend: { show: true, top: 0, left: 0, textStyle: { color: theme.muted }, itemWidth: 12, itemHeight: 10 },
    grid: plot(34, size === null ? 24 : 84, 4, 4),
    xAxis: axis("time over the fastest’s", 28, time),
    yAxis: axis("energy over the least", 48, energy),
    tooltip: {
      ...tooltipStyle(theme), trigger: "item",
      formatter: (hovered) => {
        const i = (hovered as { data: number[] }).data[2];
        if (i === undefined) return "";
        return tip(`${names[i]}, ${sizes[i]}`, [
          [`time ${measures[i]}`, cell(ns[i], "time")], ["energy", `${cell(joules[i], "number")}\u00a0J a run`], ["power", `${cell(watts[i], "number")}\u00a0W`],
        ]);
      },
    },
    series: [
      ...(size === null ? [] : [{ type: "line" as const, name: "Pareto set", silent: true, showSymbol: false, step: "end" as const, color: theme.best, lineStyle: { width: 1 }, data: line }]),
      dots("Pareto set", theme.best, "circle", front),
      dots("others", theme.cloud, "emptyCircle", drawn.filter((i) => optimal[i] !== "yes")),
    ],
  };
}
