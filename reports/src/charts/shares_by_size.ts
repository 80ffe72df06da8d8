// SPDX-License-Identifier: Apache-2.0
import type { EChartsOption } from "echarts";
import { axisStyle, plot } from "../axis";
import { share } from "../format";
import { texts, type SharesBySize } from "../document";
import { kViridis, type Theme } from "../theme";
import { tip, tooltipStyle } from "../tooltip";

/** The share of each parameter, the most important on top, at each size; empty where it is not known. */
export function sharesBySizeChart({ table }: SharesBySize, theme: Theme): EChartsOption {
  const sizes = texts(table, "size");
  const parameters = table.columns.slice(1).map((column) => column.label);
  const cells = table.rows.flatMap((row, x) => row.slice(1).flatMap((value, y) => value === null ? [] : [[x, y, value as number]]));
  return {
    grid: plot(8, 84, 4, 4),
    xAxis: { ...axisStyle(theme), type: "category", data: sizes, axisLabel: { color: theme.muted, fontSize: 12, rotate: 60, hideOverlap: true }, splitLine: { show: false } },
    yAxis: { ...axisStyle(theme), type: "category", data: parameters, inverse: true, splitLine: { show: false } },
    visualMap: {
      type: "continuous", min: 0, max: 1, dimension: 2, calculable: false, right: 0, top: "middle", itemHeight: 120, itemWidth: 12,
      inRange: { color: kViridis }, text: ["100\u00a0%", "0\u00a0%"], textStyle: { color: theme.muted, fontSize: 12 },
    },
    tooltip: {
      ...tooltipStyle(theme), trigger: "item",
      formatter: (hovered) => {
        const [x, y, value] = (hovered as { data: number[] }).data;
        return tip(sizes[x], [[parameters[y], share(value)]]);
      },
    },
    series: [{ type: "heatmap", data: cells, itemStyle: { borderColor: theme.paper, borderWidth: 1 } }],
  };
}
