// SPDX-License-Identifier: Apache-2.0
import type { EChartsOption } from "echarts";
import { axisStyle, plot } from "../axis";
import { cell } from "../format";
import { columnIndex, type Cell, type Table } from "../document";
import type { Theme } from "../theme";
import { tip, tooltipStyle } from "../tooltip";

const kParts = ["#cc79a7", "#e69f00", "#0072b2", "#009e73", "#d55e00"];

/** A bar for each row, named by one column, of one or several columns stacked. */
export function barsChart(table: Table, rows: Cell[][], name: string, keys: string[], theme: Theme): EChartsOption {
  const columns = keys.map((key) => columnIndex(table, key));
  const { kind } = table.columns[columns[0]];
  const stacked = keys.length > 1;
  return {
    aria: { enabled: true, label: { enabled: false }, decal: { show: stacked } },
    grid: plot(stacked ? 36 : 8, 84, 4, 4),
    legend: { show: stacked, top: 0, left: 0, textStyle: { color: theme.muted }, itemWidth: 16, itemHeight: 10 },
    xAxis: { ...axisStyle(theme), type: "value", min: 0, axisLabel: { color: theme.muted, formatter: (v: number) => (v === 0 ? "0" : cell(v, kind)), hideOverlap: true } },
    yAxis: { ...axisStyle(theme), type: "category", data: rows.map((row) => String(row[columnIndex(table, name)])), inverse: true, splitLine: { show: false } },
    tooltip: {
      ...tooltipStyle(theme), trigger: "item",
      formatter: (hovered) => {
        const { seriesName, name: bar, value } = hovered as { seriesName: string; name: string; value: number };
        return tip(bar, [[seriesName, cell(value, kind)]]);
      },
    },
    series: columns.map((column, nth) => ({
      type: "bar" as const, name: table.columns[column].label, stack: "all", barMaxWidth: 18,
      color: stacked ? kParts[nth % kParts.length] : theme.best,
      label: { show: !stacked, position: "right" as const, color: theme.muted, formatter: ({ value }: { value?: unknown }) => cell(value as number, kind) },
      data: rows.map((row) => row[column] as number),
    })),
  };
}
