// SPDX-License-Identifier: Apache-2.0
// Colours of the charts: Okabe and Ito's for roles and causes, viridis for magnitudes; both are
// told apart by readers with any colour vision.

import type { FailedOutcome } from "./document";

export interface Theme {
  ink: string;
  muted: string;
  line: string;
  paper: string;
  best: string;
  library: string;
  standard: string; // the default configuration
  cloud: string; // candidates in the mass
}

const kLight: Theme = {
  ink: "#15181d", muted: "#5c6570", line: "#e2e5ea", paper: "#ffffff",
  best: "#0072b2", library: "#b84e00", standard: "#6b7480", cloud: "#5f7d96",
};
const kDark: Theme = {
  ink: "#e9ecf0", muted: "#9aa4b0", line: "#2d333b", paper: "#14171b",
  best: "#56b4e9", library: "#e69f00", standard: "#a3acb8", cloud: "#7d97ad",
};

/** Of every outcome but `ok`; a pattern tells apart what a reader's eyes or paper do not. */
export const kCauses: Record<FailedOutcome, string> = {
  compile_error: "#b87f00",
  compile_timeout: "#7d7a00",
  launch_error: "#2f8fc4",
  wrong_result: "#d55e00",
  out_of_bounds: "#a83232",
  nondeterministic: "#7a5bc4",
  timeout: "#b0588a",
  crashed: "#00795a",
  unstable: "#6b7480",
  implausible: "#0072b2",
  quarantined: "#5b4a3a",
};
export const kViridis = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];

/** Of the search strategies: the same wherever one appears. */
const kStrategies: Record<string, [light: string, dark: string]> = {
  auto: ["#0072b2", "#56b4e9"],
  random: ["#6b7480", "#a3acb8"],
  bayesian: ["#00795a", "#2fc79a"],
  exhaustive: ["#15181d", "#e9ecf0"],
  genetic: ["#b84e00", "#f08c4a"],
  simulated_annealing: ["#8a5d00", "#e69f00"],
  differential_evolution: ["#b0588a", "#e39ac4"],
  particle_swarm: ["#7a5bc4", "#b39df0"],
  local_search: ["#6f6c00", "#e0d94a"],
};

export function strategyColor(name: string, theme: Theme): string {
  const [light, dark] = kStrategies[name] ?? [theme.ink, theme.ink];
  return theme === kDark ? dark : light;
}

export interface SeriesStyle {
  color: string;
  line: "solid" | "dashed" | "dotted";
  symbol: "circle" | "rect" | "triangle";
}

/** Of curves that are many, after Okabe and Ito; the later ones again with other lines and marks. */
const kSeries: [light: string, dark: string][] = [
  ["#0072b2", "#56b4e9"], ["#c75000", "#f08c4a"], ["#00795a", "#2fc79a"], ["#b0588a", "#e39ac4"], ["#8a5d00", "#e0d94a"], ["#7a5bc4", "#b39df0"],
];
const kRounds = [["solid", "circle"], ["dashed", "rect"], ["dotted", "triangle"]] as const;

/** Of which one hides others: more are drawn translucent. */
export const kManyDots = 150;
export const kManyDotsOpacity = 0.6;

export function seriesStyle(nth: number, theme: Theme): SeriesStyle {
  const [line, symbol] = kRounds[Math.floor(nth / kSeries.length) % kRounds.length];
  const [light, dark] = kSeries[nth % kSeries.length];
  return { color: theme === kDark ? dark : light, line, symbol };
}

const kDarkQuery = window.matchMedia("(prefers-color-scheme: dark)");

/** The theme the reader's system asks for; paper is white. */
export function currentTheme(medium: "screen" | "paper"): Theme {
  return medium === "screen" && kDarkQuery.matches ? kDark : kLight;
}

export function onThemeChange(redraw: () => void): void {
  kDarkQuery.addEventListener("change", redraw);
}
