// SPDX-License-Identifier: Apache-2.0
import type { XAXisComponentOption, YAXisComponentOption } from "echarts";
import { time } from "./format";
import type { Theme } from "./theme";

/** Where a chart's axes stand: inside these margins together with their labels and names. */
export function plot(top: number, right: number, bottom: number, left: number) {
  return { top, right, bottom, left, outerBoundsMode: "same" as const, outerBoundsContain: "all" as const };
}

/** What all axes share. */
export function axisStyle(theme: Theme) {
  return {
    axisLine: { lineStyle: { color: theme.line } },
    axisTick: { show: false },
    axisLabel: { color: theme.muted, fontSize: 12 },
    splitLine: { lineStyle: { color: theme.line } },
    nameTextStyle: { color: theme.muted, fontSize: 12 },
  };
}

/** Numbers of two digits: some are in every range that is a sixth of its values wide. */
const kFineSteps = Array.from({ length: 90 }, (_, i) => (10 + i) / 10);
const kFewTicks = 6; // stand apart on a phone

/** Round numbers in a range, as many as its width in powers of ten lets stand apart. */
export function niceLogTicks(low: number, high: number): number[] {
  const decades = Math.log10(high / low);
  const ticks = ticksIn(low, high, decades > 4 ? [1] : decades > 1.2 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 8]);
  if (ticks.length > 1) return ticks;
  const fine = ticksIn(low, high, kFineSteps);
  return fine.filter((_, i) => i % Math.ceil(fine.length / kFewTicks) === 0);
}

function ticksIn(low: number, high: number, steps: number[]): number[] {
  const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
  const ticks: number[] = [];
  for (let power = first; power <= last; ++power) {
    for (const step of steps) ticks.push(step * 10 ** power);
  }
  return ticks.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
}

/**
 * A logarithmic axis on values that the caller has put through Math.log10: ECharts' own labels
 * nothing but powers, of which most ranges here hold one or none.
 */
export function logAxis(theme: Theme, values: number[], ticks: number[] | null,
                        label: (value: number) => string) {
  const low = Math.min(...values) / 1.08, high = Math.max(...values) * 1.08;
  const marks = (ticks ?? niceLogTicks(low, high)).map(Math.log10);
  const style = axisStyle(theme);
  return {
    ...style,
    type: "value" as const,
    min: Math.log10(low),
    max: Math.log10(high),
    axisTick: { show: false, customValues: marks },
    axisLabel: { ...style.axisLabel, customValues: marks, formatter: (v: number) => label(10 ** v), hideOverlap: true },
  };
}

/** A tick's time without the zeros that four digits would show: "1.5 ms". */
function tickTime(ns: number): string {
  const [value, unit] = time(ns).split("\u00a0");
  return `${Number(value)}\u00a0${unit}`;
}

export function timeAxis(theme: Theme, times: number[]): XAXisComponentOption & YAXisComponentOption {
  return logAxis(theme, times, null, tickTime) as XAXisComponentOption & YAXisComponentOption;
}
