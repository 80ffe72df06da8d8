// SPDX-License-Identifier: Apache-2.0
import type { EChartsOption } from "echarts";
import { axisStyle, plot, timeAxis } from "../axis";
import { count, duration, time } from "../format";
import { numbers, type MarkedSection, type Trials } from "../document";
import { markLines } from "./marks";
import type { Theme } from "../theme";
import { tip, tooltipStyle } from "../tooltip";

export type Progress = "evaluation" | "elapsed_s";

/** Every candidate's time and, as a step, the best so far. */
export function convergenceChart(section: MarkedSection, trials: Trials, progress: Progress, theme: Theme): EChartsOption {
  const cloud: [number, number, number][] = [];
  trials.median_ns.forEach((ns, i) => {
    if (ns !== null) cloud.push([trials[progress][i], Math.log10(ns), i]);
  });
  const x = numbers(section.table, progress) as number[];
  const best = numbers(section.table, "median_ns") as number[];
  const steps = x.map((at, i) => [at, Math.log10(best[i])]);
  const end = trials[progress][trials[progress].length - 1];
  if (steps.length > 0) steps.push([end, steps[steps.length - 1][1]]);
  const times = [...cloud.map(([, log]) => 10 ** log), ...section.marks.map((mark) => mark.ns)];

  return {
    grid: plot(16, 64, 4, 4),
    xAxis: {
      ...axisStyle(theme), type: "value", min: 0, max: end, splitLine: { show: false },
      name: progress === "evaluation" ? "candidates tried" : "time spent on this size",
      nameLocation: "middle", nameGap: 28,
      axisLabel: { color: theme.muted, hideOverlap: true, showMaxLabel: false, formatter: (v: number) => (progress === "evaluation" ? count(v) : duration(v)) },
    },
    yAxis: timeAxis(theme, times),
    tooltip: {
      ...tooltipStyle(theme), trigger: "item",
      formatter: (hovered) => {
        const i = ((hovered as { data: number[] }).data)[2];
        return tip(`Candidate ${count(trials.evaluation[i])}`, [
          ["time", time(trials.median_ns[i]!)],
          ["after", duration(trials.elapsed_s[i])],
          ...trials.parameters.map((p): [string, string] => [p.name, p.values[p.choices[i]]]),
        ]);
      },
    },
    series: [
      { type: "scatter", data: cloud, symbolSize: 4, color: theme.cloud, itemStyle: { opacity: 0.7 }, emphasis: { scale: 2 } },
      {
        type: "line", step: "end", data: steps, showSymbol: false, silent: true, color: theme.best,
        lineStyle: { width: 2.5 },
        markLine: markLines(section.marks.filter((mark) => mark.role !== "best"), "y", theme),
      },
    ],
  };
}
