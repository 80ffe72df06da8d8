// SPDX-License-Identifier: Apache-2.0
import type { CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams, EChartsOption } from "echarts";
import { axisStyle, plot } from "../axis";
import { share } from "../format";
import { numbers, texts, type ImportanceSection, type SpreadSection } from "../document";
import type { Theme } from "../theme";
import { tip, tooltipStyle } from "../tooltip";

/** Of each parameter the share of the variance of log time, as a bar with a line from low to high. */
export function sharesChart({ table }: ImportanceSection | SpreadSection, theme: Theme): EChartsOption {
  const names = texts(table, "parameter");
  const [shares, low, high] = ["share", "low", "high"].map((key) => numbers(table, key) as number[]);
  const range = (_: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => {
    const i = api.value(0) as number;
    const [left, y] = api.coord([low[i], i]), [right] = api.coord([high[i], i]);
    return { type: "line" as const, shape: { x1: left, y1: y, x2: right, y2: y }, style: { stroke: theme.ink, lineWidth: 1.5 } };
  };
  return {
    grid: plot(8, 24, 4, 4),
    xAxis: { ...axisStyle(theme), type: "value", min: 0, max: 1, axisLabel: { color: theme.muted, formatter: (v: number) => `${Math.round(100 * v)}\u00a0%` } },
    yAxis: { ...axisStyle(theme), type: "category", data: names, inverse: true, splitLine: { show: false } },
    tooltip: {
      ...tooltipStyle(theme), trigger: "item",
      formatter: (hovered) => {
        const i = (hovered as { dataIndex: number }).dataIndex;
        return tip(names[i], [["share", share(shares[i])], ["from", share(low[i])], ["to", share(high[i])]]);
      },
    },
    series: [
      { type: "bar", data: shares, barMaxWidth: 14, color: theme.best },
      { type: "custom", renderItem: range, encode: { x: [1, 2], y: 0 }, data: names.map((_, i) => [i, low[i], high[i]]), silent: true, z: 5 },
    ],
  };
}
