// SPDX-License-Identifier: Apache-2.0
import type { EChartsOption } from "echarts";
import { axisStyle, plot } from "../axis";
import { duration } from "../format";
import { columnIndex, numbers, texts, type BudgetSection } from "../document";
import type { Theme } from "../theme";
import { tip, tooltipStyle } from "../tooltip";

const kStages: [string, string][] = [["compile_s", "#e69f00"], ["verify_s", "#009e73"], ["measure_s", "#0072b2"], ["wall_s", "#8a939e"]];

/** Seconds of each stage by run, beside each other: compiling overlaps with the rest. */
export function budgetChart(section: BudgetSection, theme: Theme): EChartsOption {
  const { table } = section;
  const label = (key: string) => table.columns[columnIndex(table, key)].label;
  return {
    aria: { enabled: true, label: { enabled: false }, decal: { show: true } },
    grid: plot(36, 84, 4, 4),
    legend: { top: 0, left: 0, textStyle: { color: theme.muted }, itemWidth: 16, itemHeight: 10 },
    xAxis: { ...axisStyle(theme), type: "value", min: 0, axisLabel: { color: theme.muted, formatter: (v: number) => duration(v), hideOverlap: true } },
    yAxis: { ...axisStyle(theme), type: "category", data: texts(table, "run"), inverse: true, splitLine: { show: false } },
    tooltip: {
      ...tooltipStyle(theme), trigger: "item",
      formatter: (hovered) => {
        const { seriesName, name, value } = hovered as { seriesName: string; name: string; value: number };
        return tip(name, [[seriesName, duration(value)]]);
      },
    },
    series: kStages.map(([key, color]) => ({
      type: "bar" as const, name: label(key), color, barMaxWidth: 16, barGap: "20%",
      label: { show: table.rows.length === 1, position: "right" as const, color: theme.muted, formatter: ({ value }: { value?: unknown }) => duration(value as number) },
      data: numbers(table, key) as number[],
    })),
  };
}
