// SPDX-License-Identifier: Apache-2.0
import type { EChartsOption } from "echarts";
import { BarChart, CustomChart, HeatmapChart, LineChart, ScatterChart } from "echarts/charts";
import { AriaComponent, GridComponent, LegendComponent, MarkLineComponent, TooltipComponent, VisualMapContinuousComponent } from "echarts/components";
import { init, use, type ECharts } from "echarts/core";
import { LabelLayout } from "echarts/features";
import { CanvasRenderer } from "echarts/renderers";
import { currentTheme, onThemeChange, type Theme } from "./theme";

use([BarChart, CustomChart, HeatmapChart, LineChart, ScatterChart, AriaComponent, GridComponent, LegendComponent,
  MarkLineComponent, TooltipComponent, VisualMapContinuousComponent, LabelLayout, CanvasRenderer]);

/** What a chart shows in a theme; null when there is nothing to draw. */
export type Draw = (theme: Theme) => EChartsOption | null;

/** A chart on the page: drawn when first visible, and anew when its size or the theme changes. */
export class Figure {
  private static readonly all: Figure[] = [];
  private chart: ECharts | null = null;

  constructor(private readonly element: HTMLElement, private draw: Draw) {
    Figure.all.push(this);
    new ResizeObserver(() => this.fit()).observe(element);
  }

  /** Shows something else in the same place. */
  redraw(draw: Draw = this.draw, medium: "screen" | "paper" = "screen"): void {
    this.draw = draw;
    if (!this.chart) return;
    const option = this.draw(currentTheme(medium));
    if (option) this.chart.setOption({ animation: false, textStyle: { fontFamily: getComputedStyle(this.element).fontFamily }, ...option }, { notMerge: true });
  }

  private fit(): void {
    if (this.element.clientWidth === 0) return; // in a hidden tab
    if (this.chart) {
      this.chart.resize();
    } else if (this.draw(currentTheme("screen"))) {
      this.chart = init(this.element);
      this.redraw();
      this.element.dataset.drawn = "true";
    } else {
      this.element.hidden = true;
    }
  }

  static followTheme(): void {
    onThemeChange(() => Figure.all.forEach((figure) => figure.redraw()));
    window.addEventListener("beforeprint", () => Figure.all.forEach((figure) => figure.redraw(undefined, "paper")));
    window.addEventListener("afterprint", () => Figure.all.forEach((figure) => figure.redraw()));
  }
}
