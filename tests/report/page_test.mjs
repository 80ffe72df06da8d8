// SPDX-License-Identifier: Apache-2.0
// page_test.mjs NODE_DIRECTORY PAGE_FIXTURE: opens the page of the sample database in Debian's
// chromium and uses it as a reader does. NODE_DIRECTORY holds node_modules with playwright-core.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const kBrowser = process.env.CHROMIUM ?? "/usr/bin/chromium";
const [nodeDirectory, fixture] = process.argv.slice(2);
if (!existsSync(kBrowser)) {
  console.error(`${kBrowser} was not found: the page test needs it (apt-get install chromium, or set CHROMIUM)`);
  process.exit(1);
}
const { chromium } = createRequire(join(nodeDirectory, "package.json"))("playwright-core");

const directory = mkdtempSync(join(tmpdir(), "tuner-page-"));
const url = pathToFileURL(execFileSync(fixture, [directory], { encoding: "utf8" }).trim()).href;
const browser = await chromium.launch({ executablePath: kBrowser, args: ["--no-sandbox", "--disable-gpu"] });

/** Opens the page; `problems` gathers what a page that is complete and inert never does. */
async function open(options = {}) {
  const context = await browser.newContext({ offline: true, viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => problems.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("request", (request) => { if (request.url() !== url) problems.push(`request: ${request.url()}`); });
  await page.goto(url);
  return { page, problems, close: () => context.close() };
}

/** The largest share of a chart's canvases that is drawn on. */
const inkOf = (canvases) => Math.max(...canvases.map((canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let drawn = 0;
  for (let i = 3; i < data.length; i += 4) if (data[i] > 0) ++drawn;
  return drawn / (data.length / 4);
}));
const imageOf = (canvases) => canvases.map((canvas) => canvas.toDataURL()).join();

const tests = {
  async "every visible chart is drawn, named and has a table with rows"() {
    const { page, problems, close } = await open();
    const charts = page.locator(".chart:visible");
    const total = await charts.count();
    assert.equal(total, 22, "gemm_shared: 8 (one size open); the other: 7, it held no final; the sweep: 7");
    for (let i = 0; i < total; ++i) {
      const chart = charts.nth(i);
      const label = await chart.getAttribute("aria-label");
      assert.equal(await chart.getAttribute("role"), "img");
      assert.match(label, /.+: .+/);
      await chart.scrollIntoViewIfNeeded();
      assert.ok(await chart.locator("canvas").evaluateAll(inkOf) > 0.003, `nothing drawn: ${label}`);
      const panel = chart.locator("xpath=ancestor::section[1]");
      assert.ok(await panel.locator("details tbody tr").count() > 0, `no table: ${label}`);
    }
    assert.deepEqual(problems, []);
    await close();
  },

  async "names from the database stay text"() {
    const { page, close } = await open();
    assert.equal(await page.evaluate(() => window.hit), undefined);
    assert.equal(await page.locator("img, b").count(), 0);
    assert.match(await page.locator("h2").first().textContent(), /<script>window\.hit=1<\/script>\{\{data\}\}/);
    await close();
  },

  async "tabs open one size at a time, by mouse and by keyboard"() {
    const { page, problems, close } = await open();
    const open_size = () => page.locator(".size:visible[role=tabpanel]").getAttribute("data-label");
    assert.equal(await open_size(), "4096×4096×4096");
    await page.getByRole("tab", { name: "512×512×512" }).click();
    assert.equal(await open_size(), "512×512×512");
    await page.keyboard.press("ArrowRight");
    assert.equal(await open_size(), "1024×1024×1024");
    await page.waitForFunction(() => [...document.querySelectorAll(".size[role=tabpanel]:not([hidden]) .chart")].every((chart) => chart.dataset.drawn));
    assert.deepEqual(problems, []);
    await close();
  },

  async "the heatmap and its table follow the chosen parameters"() {
    const { page, problems, close } = await open();
    const panel = page.locator(".size:visible[role=tabpanel] .panel[data-kind=heatmap]");
    const image = () => panel.locator("canvas").evaluateAll(imageOf);
    const header = () => panel.locator("thead th").first().textContent();
    const before = await image();
    await panel.getByLabel("Across").selectOption("TILE_N");
    assert.equal(await header(), "TILE_N");
    assert.notEqual(await image(), before);
    const up = await panel.getByLabel("Up").inputValue();
    await panel.getByLabel("Across").selectOption(up);
    assert.equal(await panel.getByLabel("Up").inputValue(), "TILE_N", "the same on both axes: they change places");
    assert.deepEqual(problems, []);
    await close();
  },

  async "the searches are compared over candidates and over seconds, with their table open"() {
    const { page, problems, close } = await open();
    const panel = page.locator(".size:visible[role=tabpanel] .panel[data-kind=search]");
    assert.match(await panel.locator(".answer").textContent(), /^Within 3\u00a0% of the best known: auto after \d+ candidates/);
    assert.deepEqual(await panel.locator("tbody tr:visible td:first-child").allTextContents(), ["auto", "bayesian", "random"]);
    await panel.scrollIntoViewIfNeeded();
    const image = () => panel.locator("canvas").evaluateAll(imageOf);
    const before = await image();
    await panel.locator(".controls select").selectOption("elapsed time");
    assert.notEqual(await image(), before);
    const [download] = await Promise.all([page.waitForEvent("download"), panel.getByRole("button", { name: "Download curves (CSV)" }).click()]);
    const lines = readFileSync(await download.path(), "utf8").trim().split("\r\n");
    assert.equal(lines[0], "strategy,sessions,over,at,low,median,high");
    assert.ok(lines.some((line) => line.startsWith("auto,3,seconds,")));
    assert.deepEqual(problems, []);
    await close();
  },

  async "a sweep is shown on both kinds of axes and size by size"() {
    const { page, problems, close } = await open();
    for (const [kind, nth, other] of [["curves", 0, "linear"], ["curves", 1, "linear"], ["split", 0, "64×64×64"],
                                        ["ratios", 0, "With transfers, pageable"], ["speedups", 0, "64×64×64"]]) {
      const panel = page.locator(`.panel[data-kind=${kind}]`).last();
      await panel.scrollIntoViewIfNeeded();
      const image = () => panel.locator("canvas").evaluateAll(imageOf);
      const before = await image();
      await panel.locator(".controls select").nth(nth).selectOption(other);
      assert.notEqual(await image(), before, `${kind}, choice ${nth}`);
    }
    assert.match(await page.locator(".panel[data-kind=curves] .answer").nth(1).textContent(), /pageable: faster is CPU at 64×64×64, then GPU from 256×256×256 to 1024×1024×1024/);
    assert.deepEqual(problems, []);
    await close();
  },

  async "a download holds the raw numbers"() {
    const { page, close } = await open();
    const panel = page.locator(".size:visible[role=tabpanel] .panel[data-kind=convergence]");
    const [download] = await Promise.all([page.waitForEvent("download"), panel.getByRole("button", { name: "Download candidates (CSV)" }).click()]);
    const lines = readFileSync(await download.path(), "utf8").trim().split("\r\n");
    assert.equal(lines[0], "evaluation,elapsed_s,outcome,median_ns,TILE_M,TILE_N,TILE_K,BLOCK_X,BLOCK_Y,UNROLL,PAD");
    assert.equal(lines.length, 1 + 378);
    await close();
  },

  async "dark mode draws other colours"() {
    const pixels = async (colorScheme) => {
      const { page, problems, close } = await open({ colorScheme });
      const image = await page.locator(".chart canvas").evaluateAll(imageOf);
      assert.deepEqual(problems, []);
      await close();
      return image;
    };
    assert.notEqual(await pixels("light"), await pixels("dark"));
  },

  async "a phone needs no sideways scrolling"() {
    const { page, close } = await open({ viewport: { width: 390, height: 800 } });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    await close();
  },

  async "without scripts every table is there"() {
    const { page, close } = await open({ javaScriptEnabled: false });
    assert.equal(await page.locator(".best tbody tr").count(), 5);
    assert.equal(await page.locator(".size:visible").count(), 5);
    assert.ok(await page.locator("details table").count() >= 20);
    await close();
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log(`ok      ${name}`);
  } catch (error) {
    ++failed;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}
await browser.close();
rmSync(directory, { recursive: true });
process.exit(failed === 0 ? 0 : 1);
