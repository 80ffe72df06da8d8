// SPDX-License-Identifier: Apache-2.0
// The page's first screen stands without this script; with it, it has charts, details, choices and
// downloads.
import { ratiosChart } from "./charts/ratios";
import { rooflineChart } from "./charts/roofline";
import { addCopyButtons, downloadButton } from "./controls";
import { at, readOverview, readReport, type Family, type KernelSummary, type Section } from "./document";
import { make } from "./elements";
import { Figure } from "./figure";
import { count } from "./format";
import { fillPanel, makePanel } from "./panel";
import { SizesTable } from "./sizes";
import { recall, remember } from "./state";

const overview = readOverview();

function fillFamily(element: HTMLElement, family: Family): void {
  const figures: (() => void)[] = [];
  const table = new SizesTable(element, overview, family, () => figures.forEach((redraw) => redraw()));
  const charts = { ratios: ratiosChart, roofline: rooflineChart };
  for (const [name, draw] of Object.entries(charts)) {
    const panel = element.querySelector<HTMLElement>(`[data-overview=${name}]`)!;
    const chart = panel.querySelector<HTMLElement>(".chart")!;
    const reactions = { pick: (i: number) => table.show(i), whenEmpty: () => { panel.hidden = true; } };
    const figure = new Figure(chart, (theme) => draw(family, () => true, theme), reactions);
    figure.redraw((theme) => draw(family, table.passes, theme));
    figures.push(() => figure.redraw());
  }
  const clock = family.peak.clock_mhz;
  element.querySelector("[data-overview=roofline] .note")!.textContent = "The roof is made of the highest rates measured on this device."
    + (clock > 0 ? ` The peak is nominal, at the highest clock measured: ${count(clock)}\u00a0MHz.` : "");
  for (const head of element.querySelectorAll<HTMLElement>(".types tbody th")) {
    const type = head.textContent!;
    const button = make("button", { type: "button", class: "pick", "aria-pressed": "false" }, type);
    button.addEventListener("click", () => table.toggleType(type));
    head.replaceChildren(button);
  }
  table.apply();
}

/** A kernel's sections, made when it is first opened. */
function fillKernel(element: HTMLDetailsElement, kernel: KernelSummary): void {
  const fine = element.querySelector(".fine")!;
  const grid = make("div", { class: "grid" }, ...kernel.sections.map((section) => makePanel(section, "h3")));
  fine.before(grid);
  if (kernel.commands.length === 0) return;
  const commands = make("section", { class: "panel" }, make("h3", {}, "Reproduce"), make("p", { class: "answer" }, "The commands of the runs, the latest first."),
    ...kernel.commands.map((command) => make("pre", {}, make("code", { "data-copy": `command of ${kernel.kernel}` }, command))));
  addCopyButtons(commands);
  fine.before(commands);
}

function goTo(id: string): void {
  const target = document.getElementById(id);
  if (!target) return;
  if (target instanceof HTMLDetailsElement) target.open = true;
  target.scrollIntoView();
  target.tabIndex = -1; // the next Tab goes on from here
  target.focus({ preventScroll: true });
}

document.documentElement.classList.add("scripted");
for (const element of document.querySelectorAll<HTMLElement>("[data-family]")) {
  fillFamily(element, overview.families[Number(element.dataset.family)]);
}
for (const element of document.querySelectorAll<HTMLDetailsElement>("[data-kernel]")) {
  const key = `kernel-${element.dataset.kernel}`;
  let filled = false;
  element.addEventListener("toggle", () => {
    remember(key, element.open ? "open" : "");
    if (!element.open || filled) return;
    filled = true;
    fillKernel(element, overview.kernels[Number(element.dataset.kernel)]);
  });
  if (recall(key) === "open") element.open = true;
}
for (const element of document.querySelectorAll<HTMLElement>("[data-section]")) {
  fillPanel(element, at<Section>(overview, element.dataset.section!));
}
addCopyButtons(document);
for (const link of document.querySelectorAll<HTMLAnchorElement>("nav a, .skip")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    goTo(link.hash.slice(1));
    remember("at", link.hash.slice(1));
  });
}
goTo(recall("at") ?? location.hash.slice(1));
document.getElementById("download")!.append(
  downloadButton("Download its data (JSON)", "report.json", "application/json", async () => JSON.stringify(await readReport(overview))));
Figure.followTheme();
