// SPDX-License-Identifier: Apache-2.0
import type { MarkLineComponentOption } from "echarts";
import type { Mark } from "../document";
import type { Theme } from "../theme";

export function markColor(role: Mark["role"], theme: Theme): string {
  return { best: theme.best, library: theme.library, default: theme.standard }[role];
}

/** Lines across a chart at times to compare with. On an x axis their labels stand in steps. */
export function markLines(marks: Mark[], axis: "x" | "y", theme: Theme): MarkLineComponentOption {
  const byTime = [...marks].sort((a, b) => a.ns - b.ns);
  return {
    silent: true,
    symbol: "none",
    animation: false,
    data: byTime.map((mark, i) => ({
      ...(axis === "x" ? { xAxis: Math.log10(mark.ns) } : { yAxis: Math.log10(mark.ns) }),
      name: mark.label,
      lineStyle: { color: markColor(mark.role, theme), type: mark.role === "library" ? "dashed" as const : mark.role === "default" ? "dotted" as const : "solid" as const, width: 2 },
      label: {
        formatter: mark.label, color: markColor(mark.role, theme), fontSize: 12, fontWeight: 600,
        position: "end" as const, offset: axis === "x" ? [0, -15 * (byTime.length - 1 - i)] : [0, 0],
      },
    })),
  };
}
