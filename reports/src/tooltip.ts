// SPDX-License-Identifier: Apache-2.0
import type { TooltipComponentOption } from "echarts";
import type { Theme } from "./theme";

/** A tooltip's content, built of text nodes: no name of a parameter can become markup. */
export function tip(title: string, lines: [string, string][]): HTMLElement {
  const box = document.createElement("div");
  box.className = "tip";
  const heading = document.createElement("b");
  heading.textContent = title;
  box.append(heading);
  for (const [label, value] of lines) {
    const line = document.createElement("span");
    const name = document.createElement("i");
    name.textContent = label;
    line.append(name, value);
    box.append(line);
  }
  return box;
}

export function tooltipStyle(theme: Theme): TooltipComponentOption {
  return {
    confine: true,
    backgroundColor: theme.paper,
    borderColor: theme.line,
    textStyle: { color: theme.ink },
    transitionDuration: 0,
  };
}
