// SPDX-License-Identifier: Apache-2.0
import type { EChartsOption, LineSeriesOption } from "echarts";
import { axisStyle, logAxis, plot, timeAxis } from "../axis";
import { cell, significant } from "../format";
import { columnIndex, numbers, texts, type PerformanceSection } from "../document";
import { kManyDotsOpacity, type Theme } from "../theme";
import { tip, tooltipStyle } from "../tooltip";

const kMostJoined = 60;

/** Rate (or time, where no work is known) of best, default and library over the sizes of a type. */
export function performanceChart(section: PerformanceSection, type: string, theme: Theme): EChartsOption {
  const { columns } = section.table;
  const table = { columns, rows: section.table.rows.filter((row) => row[columnIndex(section.table, "type")] === type) };
  const extents = numbers(table, "extent") as number[];
  const labels = texts(table, "size");
  const kind = table.columns[columnIndex(table, "best")].kind;
  const isTime = kind === "time";
  const isMany = extents.length > kMostJoined; // lines between neighbours of other shapes would hide the dots
  const place = (value: number | null) => (value === null ? null : isTime ? Math.log10(value) : value);

  const line = (key: string, color: string, symbol: string, dash: LineSeriesOption["lineStyle"]): LineSeriesOption | null => {
    const values = numbers(table, key);
    if (values.every((value) => value === null)) return null;
    const name = table.columns[columnIndex(table, key)].label;
    return {
      type: "line", name, symbol, symbolSize: isMany ? 5 : 8, color, connectNulls: true, showAllSymbol: isMany,
      lineStyle: isMany ? { width: 0 } : { width: 2, ...dash }, itemStyle: isMany ? { opacity: kManyDotsOpacity } : {},
      data: extents.map((x, i) => [Math.log10(x), place(values[i]), i]),
      endLabel: { show: true, formatter: name, color, fontSize: 12, fontWeight: 600, distance: 10 },
      labelLayout: { moveOverlap: "shiftY" },
      z: key === "best" ? 3 : 2,
    };
  };
  const series = [
    line("library", theme.library, "triangle", { type: "dashed" }),
    line("default", theme.standard, "rect", { type: "dotted" }),
    line("best", theme.best, "circle", { width: 3 }),
  ].filter((one): one is LineSeriesOption => one !== null);
  const all = ["best", "default", "library"].flatMap((key) => numbers(table, key)).filter((v): v is number => v !== null);

  return {
    grid: plot(34, 120, 4, 4),
    xAxis: {
      ...logAxis(theme, extents, extents, (x) => significant(x, 3)),
      name: `${columns[columnIndex(table, "extent")].label}, logarithmic`, nameLocation: "middle", nameGap: 28, splitLine: { show: false },
    },
    yAxis: isTime
      ? { ...timeAxis(theme, all), axisLine: { ...axisStyle(theme).axisLine, onZero: false }, name: "time that sizes are ranked by", nameLocation: "end" }
      : { ...axisStyle(theme), type: "value", min: 0, axisLine: { ...axisStyle(theme).axisLine, onZero: false }, name: section.unit, nameLocation: "end" },
    tooltip: {
      ...tooltipStyle(theme), trigger: "item",
      formatter: (hovered) => {
        const i = ((hovered as { data: number[] }).data)[2];
        const cells = columns.map((column, c) => ({ column, value: table.rows[i][c] }));
        return tip(labels[i], cells.slice(columnIndex(table, "best")).map(({ column, value }) => [column.label, `${cell(value, column.kind)}${column.kind !== "number" || value === null ? "" : ` ${section.unit}`}`]));
      },
    },
    series,
  };
}
