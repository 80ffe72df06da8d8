// SPDX-License-Identifier: Apache-2.0
import type { EChartsOption } from "echarts";
import { axisStyle, plot } from "../axis";
import { cell, count, significant } from "../format";
import type { HeatmapSection, Table } from "../document";
import { kViridis, type Theme } from "../theme";
import { tip, tooltipStyle } from "../tooltip";

const kLabelledCells = 80; // more would not be legible

/** The table of two parameters, x across: the program computed each pair once, in one order. */
export function pairTable(section: HeatmapSection, x: number, y: number): Table {
  const pair = section.pairs.find((one) => one.x === Math.min(x, y) && one.y === Math.max(x, y))!;
  const [first, second] = [section.parameters[x], section.parameters[y]];
  const columns = section.table.columns.map((column) => ({ ...column }));
  columns[0].label = first.name;
  columns[1].label = second.name;
  const rows = pair.rows.map(([a, b, best, succeeded, tried]) => {
    const [i, j] = x < y ? [a, b] : [b, a];
    return [first.values[i], second.values[j], best, succeeded, tried];
  });
  return { columns, rows };
}

function shown(value: number, kind: Table["columns"][0]["kind"]): string {
  return kind === "time" ? cell(value, kind) : significant(value, 3);
}

/** The best over all other parameters for each pair of values; empty where nothing worked. */
export function heatmapChart(section: HeatmapSection, x: number, y: number, theme: Theme): EChartsOption {
  const table = pairTable(section, x, y);
  const [first, second] = [section.parameters[x], section.parameters[y]];
  const { kind, label } = table.columns[2];
  const place = (row: Table["rows"][0]) => [first.values.indexOf(row[0] as string), second.values.indexOf(row[1] as string)];
  const cells = table.rows.filter((row) => row[2] !== null);
  const values = cells.map((row) => row[2] as number);
  const low = Math.min(...values), high = Math.max(...values);
  const colors = section.higher_is_better ? kViridis : [...kViridis].reverse();
  const isBright = (value: number) => ((value - low) / (high - low || 1) > 0.6) === section.higher_is_better;
  const category = (parameter: HeatmapSection["parameters"][0]) => ({
    ...axisStyle(theme), type: "category" as const, data: parameter.values, name: parameter.name,
    splitLine: { show: false }, splitArea: { show: false },
  });

  return {
    grid: plot(12, 84, 4, 4),
    xAxis: { ...category(first), nameLocation: "middle", nameGap: 28 },
    yAxis: { ...category(second), nameLocation: "middle", nameGap: 28 },
    visualMap: {
      type: "continuous", min: low, max: high === low ? low * 1.001 : high, dimension: 2, seriesIndex: 0, calculable: false,
      right: 0, top: "middle", itemHeight: 150, itemWidth: 12,
      inRange: { color: colors }, text: [`${shown(high, kind)}`, `${shown(low, kind)}`],
      textStyle: { color: theme.muted, fontSize: 12 },
    },
    tooltip: {
      ...tooltipStyle(theme), trigger: "item",
      formatter: (hovered) => {
        const row = table.rows[((hovered as { data: { value: number[] } }).data).value[3]];
        const unit = kind === "time" ? "" : ` ${label}`;
        return tip(`${first.name} = ${row[0]}, ${second.name} = ${row[1]}`, [
          ["best", row[2] === null ? "none worked" : `${cell(row[2], kind)}${unit}`],
          ["worked", `${count(row[3] as number)} of ${count(row[4] as number)}`],
        ]);
      },
    },
    series: [
      {
        type: "heatmap",
        data: table.rows.flatMap((row, i) => row[2] === null ? [] : [{
          value: [...place(row), row[2] as number, i],
          label: {
            show: cells.length <= kLabelledCells, fontSize: 12, formatter: shown(row[2] as number, kind),
            color: isBright(row[2] as number) ? "#111111" : "#ffffff",
          },
        }]),
        itemStyle: { borderColor: theme.paper, borderWidth: 2 },
      },
      {
        type: "scatter", symbol: "path://M0,0L10,10M10,0L0,10", symbolSize: 9,
        itemStyle: { color: "transparent", borderColor: theme.muted, borderWidth: 1.5 },
        data: table.rows.flatMap((row, i) => row[2] === null ? [{ value: [...place(row), 0, i] }] : []),
      },
    ],
  };
}
