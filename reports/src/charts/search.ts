// SPDX-License-Identifier: Apache-2.0
import type { CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams, EChartsOption, LineSeriesOption, SeriesOption, XAXisComponentOption, YAXisComponentOption } from "echarts";
import { axisStyle, logAxis, plot } from "../axis";
import { cell, count, duration } from "../format";
import type { Curve, CurveProgress, SearchSection, StrategyCurves } from "../document";
import { strategyColor, type Theme } from "../theme";
import { tip, tooltipStyle } from "../tooltip";

const kFloor = 0.005; // an excess below this is drawn as this: the best itself has none
const kTicks = [1.01, 1.03, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100];

/** A time over the best's, by its excess in powers of ten: the last percents get room. */
const height = (ratio: number) => Math.log10(Math.max(ratio - 1, kFloor));

type Point = [number, number | null];

/** A column of a curve as the corners of its steps. */
function steps(curve: Curve, column: "low" | "median" | "high"): Point[] {
  return curve.at.map((x, i): Point => {
    const ratio = curve[column][i];
    return [Math.log10(x), ratio === null ? null : height(ratio)];
  });
}

/** The area from the fastest to the slowest run; open at the top until all have a result. */
function band(curve: Curve, color: string, top: number): SeriesOption {
  const low = steps(curve, "low"), high = steps(curve, "high");
  const stretch = (_: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => {
    const i = api.value(0) as number;
    const [left, lower] = api.coord([low[i][0], low[i][1]!]);
    const [right, upper] = api.coord([low[i + 1][0], high[i][1] ?? top]);
    return { type: "rect" as const, shape: { x: left, y: upper, width: right - left, height: lower - upper }, style: { fill: color, opacity: 0.16 } };
  };
  const drawn = low.slice(0, -1).map((point, i) => ({ point, i })).filter(({ point }) => point[1] !== null);
  return { type: "custom", renderItem: stretch, silent: true, clip: true, encode: { x: 1, y: 2 }, data: drawn.map(({ point, i }) => [i, point[0], point[1]!]) };
}

function line(name: string, color: string, theme: Theme, data: Point[], width: number): LineSeriesOption {
  return {
    type: "line", name, step: "end", data, color, symbol: "circle", symbolSize: 7, showSymbol: false, lineStyle: { width },
    labelLayout: { moveOverlap: "shiftY" },
    endLabel: { show: true, formatter: name, color, fontSize: 12, fontWeight: 600, distance: 8, textBorderColor: theme.paper, textBorderWidth: 3 },
  };
}

/** One run is a line, two are two thin ones, more are their median on the area they span. */
function strategySeries(one: StrategyCurves, progress: CurveProgress, top: number, theme: Theme): SeriesOption[] {
  const color = strategyColor(one.strategy, theme);
  const curve = one[progress];
  if (one.runs === 2) {
    const slower = line(one.strategy, color, theme, steps(curve, "high"), 1.5);
    return [line(one.strategy, color, theme, steps(curve, "low"), 1.5), { ...slower, endLabel: { show: false } }];
  }
  const median = line(one.strategy, color, theme, steps(curve, "median"), 2.5);
  return one.runs === 1 ? [median] : [band(curve, color, top), median];
}

function ratioAxis(theme: Theme, top: number): YAXisComponentOption {
  const style = axisStyle(theme);
  const bottom = Math.log10(kFloor);
  const marks = [bottom, ...kTicks.map(height).filter((tick) => tick < top)];
  return {
    ...style, axisLine: { ...style.axisLine, onZero: false }, type: "value", min: bottom, max: top, splitLine: { show: false },
    name: "time over the best known", nameLocation: "end", axisTick: { show: false, customValues: marks },
    axisLabel: { ...style.axisLabel, customValues: marks, formatter: (v: number) => (v === bottom ? "best" : `${Number((1 + 10 ** v).toFixed(2))}×`) },
  };
}

function progressAxis(theme: Theme, places: number[], progress: CurveProgress): XAXisComponentOption {
  const axis = logAxis(theme, places, null, progress === "candidates" ? count : duration);
  return {
    ...axis, axisLine: { ...axis.axisLine, onZero: false }, min: Math.log10(Math.min(...places)), splitLine: { show: false },
    nameLocation: "middle", nameGap: 28,
    name: progress === "candidates" ? "trials, failed ones included, logarithmic" : "time since the run began, logarithmic",
  };
}

/** Best so far of each strategy over its progress. */
export function searchChart(section: SearchSection, progress: CurveProgress, theme: Theme): EChartsOption | null {
  const shown = section.curves.filter((one) => one[progress].low.some((ratio) => ratio !== null));
  if (shown.length === 0) return null;
  const places = shown.flatMap((one) => one[progress].at.filter((_, i) => one[progress].low[i] !== null));
  const ratios = shown.flatMap((one) => [...one[progress].low, ...one[progress].median, ...one[progress].high]);
  const top = height(Math.max(1.1, ...ratios.filter((ratio): ratio is number => ratio !== null))) + 0.08;
  const series = shown.flatMap((one) => strategySeries(one, progress, top, theme));
  return {
    grid: plot(30, 24 + 8 * Math.max(...shown.map((one) => one.strategy.length)), 4, 4),
    xAxis: progressAxis(theme, places, progress),
    yAxis: ratioAxis(theme, top),
    tooltip: {
      ...tooltipStyle(theme), trigger: "axis", axisPointer: { lineStyle: { color: theme.line } },
      formatter: (hovered) => {
        const x = 10 ** Number((hovered as unknown as { axisValue: number }[])[0].axisValue);
        const title = progress === "candidates" ? `After ${count(Math.round(x))} trials` : `After ${duration(x)}`;
        return tip(title, shown.map((one): [string, string] => [one.strategy, bestAt(one[progress], x, one.runs)]));
      },
    },
    series: series.map((one, i) => (i === 0 ? { ...one, markLine: guides(section.near, theme) } as SeriesOption : one)),
  };
}

/** Lines at the factors that count as near. */
function guides(near: number[], theme: Theme) {
  return {
    silent: true, symbol: "none", animation: false, label: { show: false },
    lineStyle: { color: theme.muted, type: "dotted" as const, width: 1 },
    data: near.map((ratio) => ({ yAxis: height(ratio) })),
  };
}

/** A strategy's best so far at a place: its median and, of several runs, its range. */
function bestAt(curve: Curve, x: number, runs: number): string {
  let i = curve.at.length - 1;
  while (i >= 0 && curve.at[i] > x * (1 + 1e-6)) --i;
  if (i < 0 || curve.low[i] === null) return "–";
  if (runs === 1) return cell(curve.median[i], "factor");
  const high = curve.high[i] === null ? "none yet" : cell(curve.high[i], "factor");
  return `${cell(curve.median[i], "factor")} (${cell(curve.low[i], "factor")} – ${high})`;
}

/** What lines and areas stand for. */
export function searchNote(section: SearchSection): string {
  const runs = section.curves.map((one) => one.runs);
  const parts = ["Each line is a strategy’s best so far"];
  if (runs.some((n) => n > 2)) parts.push("the median of its runs, its area from the fastest to the slowest of them");
  if (runs.includes(2)) parts.push("with two runs both are drawn, thin");
  return `${parts.join("; ")}. Dotted: 5\u00a0% and 3\u00a0% above the best.`;
}
