// SPDX-License-Identifier: Apache-2.0
import type { EChartsOption } from "echarts";
import { axisStyle, plot, timeAxis } from "../axis";
import { count, duration, time } from "../format";
import { numbers, texts, type ConvergenceSection, type Run, type Trials } from "../document";
import { markLines } from "./marks";
import type { Theme } from "../theme";
import { tip, tooltipStyle } from "../tooltip";

export type Progress = "trial" | "elapsed_s";

/** Every standing trial's time and, of each run, the best so far as a step. */
export function convergenceChart(section: ConvergenceSection, trials: Trials, progress: Progress, theme: Theme): EChartsOption {
  const cloud: [number, number, number][] = [];
  trials.ns.forEach((ns, i) => {
    if (ns !== null) cloud.push([trials[progress][i], Math.log10(ns), i]);
  });
  const { table, runs } = section;
  const at = numbers(table, progress) as number[], best = numbers(table, "ns") as number[];
  const ends = runs.map((run) => (progress === "trial" ? run.trials : run.elapsed_s));
  const names = texts(table, "run");
  const end = Math.max(...ends);
  const stepsOf = (run: Run, r: number) => {
    const steps = names.flatMap((name, i) => (name === run.run ? [[at[i], Math.log10(best[i])]] : []));
    if (steps.length > 0) steps.push([ends[r], steps[steps.length - 1][1]]);
    return steps;
  };
  const times = [...cloud.map(([, log]) => 10 ** log), ...section.marks.map((mark) => mark.ns)];
  const latest = runs.length - 1;

  return {
    grid: plot(34, 64, 4, 4),
    xAxis: {
      ...axisStyle(theme), type: "value", min: 0, max: end, splitLine: { show: false },
      name: progress === "trial" ? "trials of the run" : "time since the run’s first trial of this size",
      nameLocation: "middle", nameGap: 28,
      axisLabel: { color: theme.muted, hideOverlap: true, showMaxLabel: false, formatter: (v: number) => (progress === "trial" ? count(v) : duration(v)) },
    },
    yAxis: { ...timeAxis(theme, times), name: `time, ${trials.measure}`, nameLocation: "end" },
    tooltip: {
      ...tooltipStyle(theme), trigger: "item",
      formatter: (hovered) => {
        const i = ((hovered as { data: number[] }).data)[2];
        return tip(`Trial ${count(trials.trial[i])} of run ${runs[trials.run[i]].run}`, [
          [trials.measure, time(trials.ns[i]!)],
          ...(trials.cold_ns ? [["cold", time(trials.cold_ns[i]!)] as [string, string]] : []),
          ["after", duration(trials.elapsed_s[i])],
          ...trials.parameters.map((p): [string, string] => [p.name, p.values[p.choices[i]]]),
        ]);
      },
    },
    series: [
      { type: "scatter", data: cloud, symbolSize: 4, color: theme.cloud, itemStyle: { opacity: 0.85 }, emphasis: { scale: 2 } },
      ...runs.map((run, r) => ({
        type: "line" as const, name: run.run, step: "end" as const, data: stepsOf(run, r), showSymbol: false, silent: true,
        color: r === latest ? theme.best : theme.muted, lineStyle: { width: r === latest ? 2.5 : 1.5 }, z: r === latest ? 4 : 3,
        ...(r === latest ? { markLine: markLines(section.marks.filter((mark) => mark.role !== "best"), "y", theme) } : {}),
      })),
    ],
  };
}
