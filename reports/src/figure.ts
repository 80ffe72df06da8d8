// SPDX-License-Identifier: Apache-2.0
import type { EChartsOption } from "echarts";
import type { ECharts } from "echarts/core";
import { complete } from "./document";
import { make } from "./elements";
import { currentTheme, onThemeChange, type Theme } from "./theme";

/** Apache ECharts, a text of the page that is compiled and evaluated for the first chart: what a reader sees first does not wait for it. */
let library: typeof import("./echarts") | null = null;
function useLibrary(): void {
  const text = document.getElementById("charts");
  if (library || !text) return;
  document.head.append(make("script", {}, text.textContent!));
  library = (globalThis as unknown as { reportCharts: typeof import("./echarts") }).reportCharts;
}
async function loadLibrary(): Promise<void> {
  await complete; // the text stands below the script
  useLibrary();
}

/** As wide as charts are on paper, in CSS pixels: A4 within its margins. A browser lays the page out for paper after `beforeprint`, when charts are drawn. */
const kPaperWidth = 680;

/** What a chart shows in a theme; null when there is nothing to draw. */
export type Draw = (theme: Theme) => EChartsOption | null;

/** What a chart may do besides being drawn. */
export interface Reactions {
  pick?: (index: number) => void; // a mark was clicked whose third number is this
  whenEmpty?: () => void; // there is nothing to draw
}

/** One chart a task, so that none of them holds up the page. */
const waiting: (() => void)[] = [];
function inTurn(work: () => void): void {
  waiting.push(work);
  if (waiting.length === 1) setTimeout(nextInTurn);
}
function nextInTurn(): void {
  waiting[0]();
  waiting.shift();
  if (waiting.length > 0) setTimeout(nextInTurn);
}

/** A chart on the page: drawn when first near the screen, and anew when its size or the theme changes. */
export class Figure {
  private static all: Figure[] = [];
  private static readonly near = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const figure = Figure.all.find((one) => one.element === target);
      if (isIntersecting && figure && !figure.chart) void loadLibrary().then(() => inTurn(() => figure.begin()));
    }
  }, { rootMargin: "400px" });
  private chart: ECharts | null = null;

  constructor(private readonly element: HTMLElement, private draw: Draw, private readonly reactions: Reactions = {}) {
    if (!draw(currentTheme("screen"))) {
      element.hidden = true;
      reactions.whenEmpty?.();
      return;
    }
    Figure.all = Figure.all.filter((one) => one.element.isConnected || !one.chart);
    Figure.all.push(this);
    Figure.near.observe(element);
    new ResizeObserver(() => { if (element.clientWidth > 0) this.chart?.resize(); }).observe(element);
  }

  /** Shows something else in the same place. */
  redraw(draw: Draw = this.draw, medium: "screen" | "paper" = "screen"): void {
    this.draw = draw;
    if (!this.chart) return;
    const option = this.draw(currentTheme(medium));
    if (!option) this.chart.clear(); // what was chosen has nothing to draw
    else this.chart.setOption({ animation: false, textStyle: { fontFamily: getComputedStyle(this.element).fontFamily }, ...option }, { notMerge: true });
  }

  private begin(): void {
    if (this.chart || !library || this.element.clientWidth === 0) return;
    Figure.near.unobserve(this.element);
    this.chart = library.init(this.element);
    this.redraw();
    this.element.dataset.drawn = "true";
    const { pick } = this.reactions;
    if (pick) {
      this.chart.on("click", ({ data }) => {
        const index = Array.isArray(data) ? data[2] : undefined;
        if (typeof index === "number") pick(index);
      });
    }
  }

  private drawOnPaper(): void {
    this.begin();
    this.chart?.resize({ width: kPaperWidth });
    this.redraw(undefined, "paper");
  }

  private drawOnScreen(): void {
    this.chart?.resize({ width: "auto" });
    this.redraw();
  }

  static followTheme(): void {
    onThemeChange(() => Figure.all.forEach((figure) => figure.redraw()));
    window.addEventListener("beforeprint", () => {
      useLibrary();
      Figure.all.forEach((figure) => figure.drawOnPaper());
    });
    window.addEventListener("afterprint", () => Figure.all.forEach((figure) => figure.drawOnScreen()));
  }
}
