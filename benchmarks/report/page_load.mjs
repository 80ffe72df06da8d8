// SPDX-License-Identifier: Apache-2.0
// page_load.mjs NODE_DIRECTORY PAGE_FIXTURE [LOADS]: how fast the pages of 3 and of 10 kernels at 72 sizes open in
// Debian's chromium, by alternating loads, each in a new context: the first paint, the longest task, and a fixed amount of
// work by which to compare machines. Prints medians and quartiles. NODE_DIRECTORY holds node_modules with playwright-core,
// build/ci/tuner/report/npm; PAGE_FIXTURE is the program report_page_fixture of the tests.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [nodeDirectory, fixture, loads = "15"] = process.argv.slice(2);
const { chromium } = createRequire(resolve(nodeDirectory, "package.json"))("playwright-core");

/** The seconds of one load: until the first paint, of the longest task, and of the fixed work. */
async function load(browser, file) {
  const context = await browser.newContext({ offline: true, viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(() => {
    window.longest = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => { window.longest = Math.max(window.longest, entry.duration); }))
      .observe({ type: "longtask", buffered: true });
  });
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector("main[data-complete]", { state: "attached" });
  await page.waitForFunction(() => [...document.querySelectorAll("[data-overview] .chart")]
    .filter((one) => one.offsetWidth > 0 && one.getBoundingClientRect().top < innerHeight).every((one) => one.dataset.drawn));
  await page.waitForTimeout(100); // an observer sees a task after its end
  const seconds = await page.evaluate(() => {
    const [paint] = performance.getEntriesByName("first-contentful-paint");
    const start = performance.now();
    let sum = 0;
    for (let i = 0; i < 3e7; ++i) sum = (sum * 31 + i) | 0;
    return { "first paint": paint.startTime / 1e3, "longest task": window.longest / 1e3, "fixed work": (performance.now() - start + (sum & 0)) / 1e3 };
  });
  await context.close();
  return seconds;
}

/** "median (first to third quartile)" in seconds. */
function summary(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.round(share * (sorted.length - 1))].toFixed(3);
  return `${at(0.5)} (${at(0.25)} to ${at(0.75)})`;
}

const directory = mkdtempSync(join(tmpdir(), "tuner-page-load-"));
try {
  const files = execFileSync(fixture, [directory, "--large"], { encoding: "utf8" }).trim().split("\n");
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
  const seen = files.map(() => []);
  for (let i = 0; i < Number(loads); ++i) {
    for (const [at, file] of files.entries()) seen[at].push(await load(browser, file));
  }
  await browser.close();
  for (const [at, kernels] of [3, 10].entries()) {
    for (const name of Object.keys(seen[at][0])) {
      console.log(`${kernels} kernels × 72 sizes: ${name} ${summary(seen[at].map((one) => one[name]))} s of ${loads} loads`);
    }
  }
} finally {
  rmSync(directory, { recursive: true });
}
