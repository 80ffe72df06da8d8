// SPDX-License-Identifier: Apache-2.0
import type { EChartsOption } from "echarts";
import { axisStyle, logAxis, plot } from "../axis";
import { rate, rounded, share, significant } from "../format";
import { columnIndex, type ExplanationSection } from "../document";
import type { Theme } from "../theme";
import { tip, tooltipStyle } from "../tooltip";
import { contenderName, counted } from "./speed_of_light";

/** Where the best configuration and another contender are below the nominal roof of their size; null where it is not known. */
export function rooflinePlaceChart(section: ExplanationSection, other: number, theme: Theme): EChartsOption | null {
  if (!section.roofline) return null;
  const { flops, bytes, peak_gflops, peak_gbytes } = section.roofline;
  const median = columnIndex(section.table, "median_ns");
  const rows = counted(section);
  const shown = rows.length === 0 ? section.table.rows.slice(0, 1) : rows.filter((_, i) => i === 0 || i === other);
  const places = shown.flatMap((row) =>
    (typeof row[median] === "number" ? [{ name: contenderName(section, row), gflops: flops / row[median] }] : []));
  if (places.length === 0) return null;
  const intensity = flops / bytes, ridge = peak_gflops / peak_gbytes;
  const roofAt = (x: number) => Math.min(peak_gflops, x * peak_gbytes);
  const low = Math.min(intensity, ridge) / 4, high = Math.max(intensity, ridge) * 4;
  const heights = [roofAt(low), peak_gflops * 1.5, ...places.map(({ gflops }) => gflops)];
  const style = axisStyle(theme), colors = [theme.best, theme.library];
  const log = (x: number, y: number) => [Math.log10(x), Math.log10(y)];
  return {
    grid: plot(24, 16, 4, 4),
    xAxis: {
      ...logAxis(theme, [low, high], null, rounded), axisLine: { ...style.axisLine, onZero: false }, splitLine: { show: false },
      name: "FLOP/byte, logarithmic", nameLocation: "middle", nameGap: 28,
    },
    yAxis: { ...logAxis(theme, heights, null, rate), axisLine: { ...style.axisLine, onZero: false }, name: "FLOP/s", nameLocation: "end" },
    tooltip: {
      ...tooltipStyle(theme), trigger: "item",
      formatter: (hovered) => {
        const one = places[(hovered as { dataIndex: number }).dataIndex];
        return tip(one.name, [["rate", `${rate(one.gflops)}FLOP/s`], ["of the roof", share(one.gflops / roofAt(intensity))], ["FLOP/byte", significant(intensity, 3)]]);
      },
    },
    series: [
      { type: "line", data: [log(low, roofAt(low)), log(ridge, peak_gflops), log(high, peak_gflops)], showSymbol: false, silent: true, color: theme.ink, lineStyle: { width: 1.5 } },
      { // from the best up to the roof
        type: "line", data: [log(intensity, places[0].gflops), log(intensity, roofAt(intensity))], showSymbol: false, silent: true,
        color: theme.muted, lineStyle: { width: 1, type: "dashed" },
      },
      {
        type: "scatter", symbolSize: 10, z: 5,
        data: places.map(({ gflops }, i) => ({ value: log(intensity, gflops), itemStyle: { color: colors[i], borderColor: theme.paper, borderWidth: 0.5 },
          label: { color: colors[i], offset: [0, places.length > 1 ? 16 * i - 8 : 0] } })), // one above the other where the marks are close
        label: {
          show: true, position: intensity < ridge ? "right" : "left",
          formatter: ({ dataIndex }) => `${share(places[dataIndex].gflops / roofAt(intensity))} of the roof`,
        },
      },
    ],
  };
}
