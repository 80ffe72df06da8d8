// SPDX-License-Identifier: Apache-2.0
import type { EChartsOption } from "echarts";
import { axisStyle, plot } from "../axis";
import { cell, count } from "../format";
import { columnIndex, texts, type FailedOutcome, type FailuresSection } from "../document";
import { kCauses, type Theme } from "../theme";
import { tip, tooltipStyle } from "../tooltip";

/** Failed candidates by size, a colour and a pattern for each cause. Empty when nothing failed. */
export function failuresChart(section: FailuresSection, theme: Theme): EChartsOption | null {
  const { table } = section;
  const [size, outcome, number, share] = ["size", "outcome", "count", "share"].map((key) => columnIndex(table, key));
  const sizes = [...new Set(texts(table, "size"))];
  const causes = (Object.keys(kCauses) as FailedOutcome[]).filter((cause) => table.rows.some((row) => row[outcome] === cause));
  if (causes.length === 0) return null;
  const rowOf = (cause: string, where: string) => table.rows.find((row) => row[size] === where && row[outcome] === cause);

  return {
    aria: { enabled: true, label: { enabled: false }, decal: { show: true } },
    grid: plot(36, 24, 4, 4),
    legend: { top: 0, left: 0, textStyle: { color: theme.muted }, itemWidth: 16, itemHeight: 10 },
    xAxis: { ...axisStyle(theme), type: "value", minInterval: 1 },
    yAxis: { ...axisStyle(theme), type: "category", data: sizes, inverse: true, splitLine: { show: false } },
    tooltip: {
      ...tooltipStyle(theme), trigger: "item",
      formatter: (hovered) => {
        const { seriesName, name } = hovered as { seriesName: string; name: string };
        const row = rowOf(seriesName, name)!;
        return tip(`${name}: ${seriesName}`, [["trials", count(row[number] as number)], ["share", cell(row[share], "share")]]);
      },
    },
    series: causes.map((cause) => ({
      type: "bar" as const, name: cause, stack: "failed", color: kCauses[cause], barMaxWidth: 26,
      data: sizes.map((where) => (rowOf(cause, where)?.[number] ?? 0) as number),
    })),
  };
}
