// SPDX-License-Identifier: Apache-2.0
import type { EChartsOption } from "echarts";
import type { Trials } from "../document";
import { time } from "../format";
import { kViridis, type Theme } from "../theme";

const kMostLines = 800; // more only cover each other

/** Each of some trials, the fastest first, as a line over the values of its parameters to its time. */
export function parallelChart(trials: Trials, chosen: number[], parameters: number[], theme: Theme): EChartsOption | null {
  if (chosen.length === 0) return null;
  const lines = chosen.slice(0, kMostLines);
  const logs = lines.map((i) => Math.log10(trials.ns[i]!));
  const low = logs[0], high = Math.max(logs[logs.length - 1], low + 1e-6);
  const text = { color: theme.ink, fontSize: 12, backgroundColor: theme.paper, padding: [1, 3] };
  const axis = { nameTextStyle: { color: theme.ink, fontSize: 12 }, axisLine: { lineStyle: { color: theme.muted } }, axisTick: { show: false }, axisLabel: text };
  const last = parameters.length;
  return {
    parallel: { left: 24, right: 72, top: 40, bottom: 16, axisExpandable: false },
    parallelAxis: [
      ...parameters.map((p, dim) => ({ ...axis, dim, name: trials.parameters[p].name, type: "category" as const, data: valuesInOrder(trials.parameters[p].values) })),
      { ...axis, dim: last, name: `time ${trials.measure}`, type: "value" as const, inverse: true, nameLocation: "start" as const, min: low, max: high,
        axisLabel: { ...text, formatter: (v: number) => time(10 ** v, 3) } },
    ],
    visualMap: { type: "continuous", show: false, min: low, max: high, dimension: last, inRange: { color: [...kViridis].reverse().slice(theme.paper === "#ffffff" ? 2 : 0) } },
    series: [{
      type: "parallel", silent: true, animation: false, smooth: false, progressive: 0,
      lineStyle: { width: lines.length > 200 ? 0.7 : 1.3, opacity: lines.length > 200 ? 0.35 : 0.7 },
      // the fastest are drawn last, above the others
      data: [...lines.keys()].reverse().map((nth) => ({
        value: [...parameters.map((p) => trials.parameters[p].values[trials.parameters[p].choices[lines[nth]]]), logs[nth]],
        ...(nth === 0 ? { lineStyle: { width: 3, opacity: 1 } } : {}),
      })),
    }],
  };
}

/** Numbers by size, other values as they are. */
export function valuesInOrder(values: string[]): string[] {
  return values.every((value) => value !== "" && Number.isFinite(Number(value))) ? [...values].sort((a, b) => Number(a) - Number(b)) : values;
}
