// SPDX-License-Identifier: Apache-2.0
import type { CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams, EChartsOption } from "echarts";
import { axisStyle, plot, timeAxis } from "../axis";
import { cell, count, time } from "../format";
import { numbers, type DistributionSection } from "../document";
import { markLines } from "./marks";
import type { Theme } from "../theme";
import { tip, tooltipStyle } from "../tooltip";

/** How many candidates took how long: bins of equal width in log time. */
export function distributionChart(section: DistributionSection, theme: Theme): EChartsOption {
  const from = numbers(section.table, "from_ns") as number[];
  const to = numbers(section.table, "to_ns") as number[];
  const counts = numbers(section.table, "count") as number[];
  const cumulative = numbers(section.table, "cumulative") as number[];

  const bar = (_: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => {
    const [left, top] = api.coord([api.value(0), api.value(2)]);
    const [right, bottom] = api.coord([api.value(1), 0]);
    return {
      type: "rect" as const,
      shape: { x: left + 0.5, y: top, width: Math.max(1, right - left - 1), height: bottom - top },
      style: { fill: theme.cloud },
      emphasis: { style: { fill: theme.best } },
    };
  };
  return {
    grid: plot(56, 24, 4, 4),
    xAxis: {
      ...timeAxis(theme, [...from, ...to, ...section.marks.map((mark) => mark.ns)]),
      splitLine: { show: false }, name: `time ${section.measure}, logarithmic`, nameLocation: "middle", nameGap: 28,
    },
    yAxis: { ...axisStyle(theme), type: "value", min: 0, minInterval: 1 },
    tooltip: {
      ...tooltipStyle(theme), trigger: "item",
      formatter: (hovered) => {
        const i = (hovered as { dataIndex: number }).dataIndex;
        return tip(`${time(from[i])} – ${time(to[i])}`, [
          ["trials", count(counts[i])],
          ["as fast or faster", cell(cumulative[i], "share")],
        ]);
      },
    },
    series: [{
      type: "custom", renderItem: bar, encode: { x: [0, 1], y: 2 },
      data: from.map((low, i) => [Math.log10(low), Math.log10(to[i]), counts[i]]),
      markLine: markLines(section.marks, "x", theme),
    }],
  };
}
