// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them: the same forms as the program's own (tuner/report/format.hpp).
import type { Cell, Kind } from "./document";

const kTimeUnits: [number, string][] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

export function significant(value: number, digits: number): string {
  if (value === 0) return "0";
  const shown = Number(value.toPrecision(digits)); // 9.9996 → 10.00
  return shown.toFixed(Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(shown)))));
}

/** Two digits, without zeros at the end: "0.9", "15". */
export function rounded(value: number): string {
  return String(Number(significant(value, 2)));
}

export function time(ns: number, digits = 4): string {
  const [scale, unit] = kTimeUnits.find(([limit]) => Number(ns.toPrecision(digits)) >= limit) ?? kTimeUnits[3];
  return `${significant(ns / scale, digits)}\u00a0${unit}`;
}

export function duration(seconds: number): string {
  if (seconds < 10) return `${Number(seconds.toPrecision(2))}\u00a0s`;
  const whole = Math.round(seconds);
  const two = (n: number) => String(n).padStart(2, "0");
  if (whole < 60) return `${whole}\u00a0s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}\u00a0min\u00a0${two(whole % 60)}\u00a0s`;
  return `${Math.floor(whole / 3600)}\u00a0h\u00a0${two(Math.floor((whole % 3600) / 60))}\u00a0min`;
}

export function count(value: number): string {
  return value.toLocaleString("en-US");
}

export function share(value: number): string {
  const percent = 100 * value;
  return `${significant(percent, percent < 10 ? 2 : 3)}\u00a0%`;
}

/** "3.20×", in a sentence: a table has more digits. */
export function factor(value: number): string {
  return `${significant(value, 3)}×`;
}

/** "4096,4096,1,TRANS_B=1" → "4096×4096×1, TRANS_B=1". */
export function sizeLabel(problem: string): string {
  return problem.split(",").reduce((text, part) => `${text}${part.includes("=") ? ", " : "×"}${part}`);
}

/** "1 size", "2 sizes". */
export function plural(number: number, singular: string, several = `${singular}s`): string {
  return `${count(number)} ${number === 1 ? singular : several}`;
}

/** Thousands of millions a second, before the unit: "1.2 T". */
export function rate(giga: number): string {
  return giga >= 1000 ? `${Number(significant(giga / 1000, 2))}\u00a0T` : `${Number(significant(giga, 2))}\u00a0G`;
}

export function bytes(value: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const unit = value < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(value) / 10));
  return `${Number((value / 1024 ** unit).toPrecision(4))}\u00a0${units[unit]}`;
}

export function cell(value: Cell, kind: Kind): string {
  if (value === null) return "–";
  if (typeof value === "string") return value;
  switch (kind) {
    case "count": return count(value);
    case "time": return time(value);
    case "duration": return duration(value);
    case "bytes": return bytes(value);
    case "factor": return `${value.toFixed(3)}×`;
    case "share": return share(value);
    default: return significant(value, 4);
  }
}
