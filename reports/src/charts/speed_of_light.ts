// SPDX-License-Identifier: Apache-2.0
import type { EChartsOption } from "echarts";
import { axisStyle, plot } from "../axis";
import { share } from "../format";
import { columnIndex, type Cell, type ExplanationSection } from "../document";
import type { Theme } from "../theme";
import { tip, tooltipStyle } from "../tooltip";

/** The units that are bars, as the table's columns are called. */
const kUnits = ["fma", "tensor", "issue", "dram", "l2", "l1", "warps"];

/** "best", "PAD 4 → 0", "default". */
export function contenderName(section: ExplanationSection, row: Cell[]): string {
  const change = row[columnIndex(section.table, "change")];
  return String(change || row[columnIndex(section.table, "contender")]);
}

/** The rows that were counted; the best one is the first. */
export function counted(section: ExplanationSection): Cell[][] {
  const fma = columnIndex(section.table, "fma");
  return section.table.rows.filter((row) => row[fma] !== null);
}

/** How much of each unit's peak the best configuration uses, and another contender beside it. */
export function speedOfLightChart(section: ExplanationSection, other: number, theme: Theme): EChartsOption | null {
  const rows = counted(section);
  if (rows.length === 0) return null;
  const shown = other > 0 && other < rows.length ? [rows[0], rows[other]] : [rows[0]];
  const columns = kUnits.map((key) => columnIndex(section.table, key));
  const labels = columns.map((column) => section.table.columns[column].label);
  const colors = [theme.best, theme.library];
  return {
    legend: { show: true, top: 0, left: 0, textStyle: { color: theme.muted }, itemWidth: 12, itemHeight: 10 },
    grid: plot(34, 52, 4, 4),
    xAxis: { ...axisStyle(theme), type: "value", min: 0, max: 1, axisLabel: { color: theme.muted, formatter: (v: number) => `${Math.round(100 * v)}\u00a0%`, hideOverlap: true } },
    yAxis: { ...axisStyle(theme), type: "category", data: labels, inverse: true, splitLine: { show: false } },
    tooltip: {
      ...tooltipStyle(theme), trigger: "item",
      formatter: (hovered) => {
        const { seriesName, name, value } = hovered as { seriesName: string; name: string; value: number };
        return tip(name, [[seriesName, share(value)]]);
      },
    },
    series: shown.map((row, i) => ({
      type: "bar" as const, name: contenderName(section, row), barMaxWidth: 14, color: colors[i],
      label: { show: true, position: "right" as const, color: theme.muted, formatter: ({ value }: { value?: unknown }) => share(value as number) },
      data: columns.map((column) => Math.min(1, row[column] as number)),
    })),
  };
}
