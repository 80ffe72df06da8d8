// SPDX-License-Identifier: Apache-2.0
// page_test.mjs NODE_DIRECTORY PAGE_FIXTURE: opens the page of the sample database in Debian's
// chromium and uses it as a reader does. NODE_DIRECTORY holds node_modules with playwright-core.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

const kBrowser = process.env.CHROMIUM ?? "/usr/bin/chromium";
const [nodeDirectory, fixture] = process.argv.slice(2);
if (!existsSync(kBrowser)) {
  console.error(`${kBrowser} was not found: the page test needs it (apt-get install chromium, or set CHROMIUM)`);
  process.exit(1);
}
const { chromium } = createRequire(join(nodeDirectory, "package.json"))("playwright-core");

const directory = mkdtempSync(join(tmpdir(), "tuner-page-"));
const url = pathToFileURL(execFileSync(fixture, [directory], { encoding: "utf8" }).trim()).href;
/** Files of large pages by their number of kernels, written while other tests run. */
const largePages = promisify(execFile)(fixture, [directory, "--large"], { encoding: "utf8" }).then(({ stdout }) => {
  const [few, many] = stdout.trim().split("\n");
  return { 3: few, 10: many };
});
largePages.catch(() => {}); // the test that needs them reports it
/** The page of the published results of an H200, some 1,000 sizes, where its table is installed beside the program. */
const installed = join(directory, "installed");
for (const folder of ["bin", "share/tuner/tables"]) mkdirSync(join(installed, folder), { recursive: true });
copyFileSync(fixture, join(installed, "bin/fixture"));
copyFileSync(fileURLToPath(new URL("../../db/seed/nvidia-h200.json", import.meta.url)), join(installed, "share/tuner/tables/nvidia-h200.json"));
const publishedPage = promisify(execFile)(join(installed, "bin/fixture"), [directory, "--published"], { encoding: "utf8" }).then(({ stdout }) => stdout.trim());
publishedPage.catch(() => {}); // likewise
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
  if (options.javaScriptEnabled !== false) await page.waitForSelector("main[data-complete]", { state: "attached" });
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

/** Opens the details of a size of gemm and waits until they are there. */
async function openSize(page, label) {
  const button = page.locator("#family-1 .open", { hasText: label });
  if (await button.getAttribute("aria-expanded") === "false") await button.click();
  const detail = page.locator("tr.detail").filter({ has: page.locator("[data-complete]") });
  await detail.waitFor();
  return detail;
}

/** Waits until what clicks have opened is made: a page hears of it (`toggle`) after the click. */
const openedContents = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));

/** Contrast of two colours "#rrggbb" (WCAG 2.2). */
function contrast(a, b) {
  const luminance = (color) => [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/** What a page is loaded with: its nodes, and how far below its top the lowest chart is that was drawn. */
async function load(file) {
  const context = await browser.newContext({ offline: true, viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector("main[data-complete]", { state: "attached" });
  await page.waitForFunction(() => [...document.querySelectorAll("[data-overview] .chart")]
    .filter((one) => one.offsetWidth > 0 && one.getBoundingClientRect().top < innerHeight).every((one) => one.dataset.drawn));
  const weight = await page.evaluate(async () => {
    await new Promise((done) => requestIdleCallback(done)); // no chart is left to be drawn
    const walker = document.createTreeWalker(document, NodeFilter.SHOW_ALL);
    let nodes = 0;
    while (walker.nextNode()) ++nodes;
    const charts = [...document.querySelectorAll(".chart")].filter((one) => one.offsetWidth > 0);
    const tops = charts.filter((one) => one.dataset.drawn).map((one) => one.getBoundingClientRect().top);
    const [paint] = performance.getEntriesByName("first-contentful-paint");
    const sizes = document.querySelector(".sizes").getBoundingClientRect().top + scrollY;
    return {
      nodes, charts: charts.length, drawn: tops.length, lowest: Math.max(...tops), firstPaint: Math.round(paint?.startTime ?? -1),
      screensToSizes: sizes / 900, screens: document.documentElement.scrollHeight / 900,
    };
  });
  await context.close();
  return weight;
}

const tests = {
  async "every chart is drawn and named, and has a table with rows"() {
    const { page, problems, close } = await open();
    await openSize(page, "4096×4096×4096");
    for (const summary of await page.locator(".kernel > summary").all()) await summary.click();
    await openedContents(page);
    const charts = page.locator(".chart:visible");
    const kinds = [];
    for (let i = 0; i < await charts.count(); ++i) {
      const chart = charts.nth(i);
      const label = await chart.getAttribute("aria-label");
      assert.equal(await chart.getAttribute("role"), "img");
      await chart.scrollIntoViewIfNeeded();
      await chart.and(page.locator("[data-drawn]")).waitFor();
      assert.ok(await chart.locator("canvas").evaluateAll(inkOf) > 0.001, `nothing drawn: ${label}`);
      const panel = chart.locator("xpath=ancestor::section[1]");
      kinds.push(await panel.getAttribute("data-kind") ?? await panel.getAttribute("data-overview"));
      if (await panel.getAttribute("data-overview")) continue; // they draw the table of sizes
      assert.match(label, /.+: .+/);
      const summary = panel.locator("details > summary");
      if (!await panel.locator("details[open]").count()) await summary.click();
      await panel.locator("details tbody tr").first().waitFor();
    }
    assert.equal(await page.locator("[data-kind=explanation] [data-drawn]").count(), 2, "speed-of-light bars and the place on the roofline");
    assert.deepEqual([...new Set(kinds)].sort(), ["budget", "convergence", "curves", "distribution", "energy", "explanation", "failures", "finalists", "heatmap",
      "importance", "importance_by_size", "importance_over_sizes", "performance", "ratios", "roofline", "search", "speedups", "split", "start_up", "trials"]);
    assert.deepEqual(problems, []);
    await close();
  },

  async "a chart without data takes no room"() {
    const { page, close } = await open();
    const panels = page.locator("#family-0 [data-overview]");
    assert.equal(await panels.count(), 2);
    assert.deepEqual(await panels.evaluateAll((all) => all.map((one) => one.offsetHeight)), [0, 0]);
    await close();
  },

  async "names from the database stay text"() {
    const { page, close } = await open();
    await page.locator("#family-0 .open").click();
    await page.locator("#family-0 [data-complete]").waitFor();
    for (const summary of await page.locator(".kernel > summary").all()) await summary.click();
    assert.equal(await page.evaluate(() => window.hit), undefined);
    assert.equal(await page.locator("img, b").count(), 0);
    assert.match(await page.locator(".family h2").first().textContent(), /<script>window\.hit=1<\/script>\{\{data\}\}/);
    await close();
  },

  async "sizes are sorted and filtered, and the address keeps it"() {
    const { page, problems, close } = await open();
    const family = page.locator("#family-1");
    const shown = () => family.locator("tbody > tr:visible .open").allTextContents();
    const all = ["512×512×512", "1024×1024×1024", "2048×2048×2048", "4096×4096×4096"];
    assert.deepEqual(await shown(), all);
    await family.getByRole("button", { name: "Cold", exact: true }).click();
    assert.deepEqual(await shown(), [...all].reverse());
    assert.equal(await family.locator("th[aria-sort=descending]").textContent(), "Cold");
    await family.getByLabel("State").selectOption("improving");
    assert.deepEqual(await shown(), ["2048×2048×2048", "1024×1024×1024"]);
    assert.equal(await family.locator(".shown").textContent(), "2 of 4 sizes shown.");
    await family.getByLabel("Search").fill("2048");
    assert.deepEqual(await shown(), ["2048×2048×2048"]);
    for (const typed of ["2048x2048x2048", "2048 2048 2048", "2048, 2048,2048", "2048×2048", "2048^3", "2048³"]) {
      await family.getByLabel("Search").fill(typed);
      assert.deepEqual(await shown(), ["2048×2048×2048"], typed);
    }
    await family.getByLabel("Search").fill("2048");
    await openSize(page, "2048×2048×2048");
    const address = page.url();
    const again = await page.context().newPage();
    await again.goto(address);
    await again.locator("#family-1 [data-complete]").waitFor();
    assert.deepEqual(await again.locator("#family-1 tbody > tr:visible .open").allTextContents(), ["2048×2048×2048"]);
    assert.deepEqual(problems, []);
    await close();
  },

  async "every type has its verdict, and choosing one shows its sizes alone, in the charts too"() {
    const { page, problems, close } = await open();
    const family = page.locator("#family-2");
    assert.equal(await family.locator(".verdict").textContent(), "3 types, 6 sizes, 1 kernel.");
    assert.deepEqual(await family.locator(".types tbody th").allTextContents(), ["bf16", "f32", "f64"]);
    await family.locator("[data-overview=roofline]").scrollIntoViewIfNeeded();
    await family.locator("[data-overview=roofline] [data-drawn]").waitFor();
    const image = () => family.locator("[data-overview=roofline] canvas").evaluateAll(imageOf);
    const before = await image();
    await family.getByRole("button", { name: "bf16", exact: true }).click();
    const shown = () => family.locator(".sizes tbody > tr:visible .open").allTextContents();
    assert.deepEqual(await shown(), ["1024×1024×1024", "4096×4096×4096"]);
    assert.notEqual(await image(), before);
    assert.match(page.url(), /rows\.type=bf16/);
    const again = await page.context().newPage();
    await again.goto(page.url());
    await again.waitForSelector("main[data-complete]", { state: "attached" });
    assert.equal(await again.locator("#family-2 .sizes tbody > tr:visible").count(), 2);
    assert.equal(await again.locator("#family-2").getByRole("button", { name: "bf16", exact: true }).getAttribute("aria-pressed"), "true");
    await family.locator(".filters").getByLabel("Type").selectOption("all");
    assert.equal((await shown()).length, 6);
    assert.deepEqual(problems, []);
    await close();
  },

  async "the keyboard moves between sizes, opens and closes them"() {
    const { page, close } = await open();
    await page.locator("#family-1 .open").first().focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    const button = page.locator("#family-1 .open", { hasText: "1024×1024×1024" });
    assert.equal(await button.getAttribute("aria-expanded"), "true");
    await page.keyboard.press("Escape");
    assert.equal(await button.getAttribute("aria-expanded"), "false");
    assert.equal(await page.locator("tr.detail").count(), 0);
    await page.keyboard.press("End");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "4096×4096×4096");
    await close();
  },

  async "a mark of a chart opens its size"() {
    const { page, close } = await open();
    const chart = page.locator("#family-1 [data-overview=ratios] .chart");
    await chart.scrollIntoViewIfNeeded();
    await chart.and(page.locator("[data-drawn]")).waitFor();
    const box = await chart.boundingBox();
    for (let y = 20; y < box.height && await page.locator("tr.detail").count() === 0; y += 4) {
      for (let x = box.width - 40; x < box.width - 8; x += 4) await page.mouse.click(box.x + x, box.y + y);
    }
    assert.ok(await page.locator("tr.detail").count() > 0);
    await close();
  },

  async "the heatmap and its table follow the chosen parameters"() {
    const { page, problems, close } = await open();
    const panel = (await openSize(page, "4096×4096×4096")).locator(".panel[data-kind=heatmap]");
    await panel.scrollIntoViewIfNeeded();
    await panel.locator("[data-drawn]").waitFor();
    await panel.locator("summary").click();
    const image = () => panel.locator("canvas").evaluateAll(imageOf);
    const header = () => panel.locator("thead th").first().textContent();
    const before = await image();
    const other = (await panel.getByLabel("Across").locator("option").allTextContents())[2];
    await panel.getByLabel("Across").selectOption(other);
    assert.equal(await header(), other);
    assert.notEqual(await image(), before);
    const up = await panel.getByLabel("Up").inputValue();
    await panel.getByLabel("Across").selectOption(up);
    assert.equal(await panel.getByLabel("Up").inputValue(), other, "the same on both axes: they change places");
    assert.deepEqual(problems, []);
    await close();
  },

  async "finalists have one name in chart, note and table, and the heatmap names its unit"() {
    const { page, problems, close } = await open();
    const detail = await openSize(page, "4096×4096×4096");
    const finalists = detail.locator("[data-kind=finalists]");
    const names = await finalists.locator("tbody tr:visible th").allTextContents();
    assert.ok(names.includes("finalist 1") && !names.includes("candidate"), `${names}`);
    const named = (await finalists.locator(".note").textContent()).match(/finalist \d+(?= at)/g) ?? [];
    for (const name of named) assert.ok(names.includes(name), `${name} is in the note alone`);
    assert.match(await detail.locator("[data-kind=heatmap] .note").textContent(), /^The best (TFLOP\/s|GFLOP\/s|time) over all other parameters;.*not tried\.$/);
    assert.deepEqual(problems, []);
    await close();
  },

  async "the note on kernels' columns stands where there are some"() {
    const { page, close } = await open();
    for (const family of await page.locator(".family").all()) {
      const columns = await family.locator(".sizes thead .kernel").count();
      const notes = await family.locator("> .note").allTextContents();
      assert.equal(notes.some((text) => text.includes("The column of a kernel")), columns > 0, notes.join(" "));
    }
    const large = await page.context().newPage();
    await large.goto(pathToFileURL((await largePages)[3]).href);
    await large.waitForSelector("main[data-complete]", { state: "attached" });
    assert.match(await large.locator(".family > .note").last().textContent(), /The column of a kernel/);
    await close();
  },

  async "on a phone no text of an opened size is cut, covered or broken within a word"() {
    const { page, problems, close } = await open({ viewport: { width: 360, height: 800 } });
    const detail = await openSize(page, "4096×4096×4096");
    for (const chart of await detail.locator(".chart").all()) {
      await chart.scrollIntoViewIfNeeded();
      await chart.and(page.locator("[data-drawn]")).waitFor();
      const inkAtEdges = await chart.locator("canvas").evaluateAll((canvases) => canvases.map((canvas) => {
        const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return data.some((value, i) => i % 4 === 3 && value > 0 && [0, width - 1].includes(Math.floor(i / 4) % width));
      }));
      assert.ok(!inkAtEdges.includes(true), `cut: ${await chart.getAttribute("aria-label")}`);
    }
    const covered = await detail.locator(".panel").evaluateAll((panels) => panels.flatMap((panel) => {
      const summary = panel.querySelector("summary")?.getBoundingClientRect();
      return summary ? [...panel.querySelectorAll(".tools button")].map((one) => one.getBoundingClientRect())
        .filter((one) => one.left < summary.right && one.right > summary.left && one.top < summary.bottom && one.bottom > summary.top).map(() => panel.dataset.kind) : [];
    }));
    assert.deepEqual(covered, []);
    const firsts = await detail.locator(".cards tbody tr").evaluateAll((rows) => rows.map((row) =>
      getComputedStyle(row.querySelector("td:not(.absent)"), "::before").content));
    assert.ok(firsts.length > 5 && firsts.every((text) => !text.includes("·")), `a row begins with a separator: ${firsts}`);
    const broken = await detail.locator(".use pre .word").evaluateAll((words) => words.filter((word) => !word.textContent.includes(",") && word.getClientRects().length > 1).length);
    assert.equal(broken, 0);
    assert.ok(await detail.locator(".use pre .word", { hasText: /^--size$/ }).count() > 0);
    const config = await detail.locator("[data-kind=finalists] td.code").first().evaluate((cell) => [cell.querySelectorAll("wbr").length, cell.textContent.split(",").length - 1]);
    assert.equal(config[0], config[1], "configurations may break at commas");
    assert.deepEqual(problems, []);
    await close();
  },

  async "trials are filtered by the values of their parameters, in the chart and in the table of the fastest"() {
    const { page, problems, close } = await open();
    const panel = (await openSize(page, "4096×4096×4096")).locator(".panel[data-kind=trials]");
    await panel.scrollIntoViewIfNeeded();
    await panel.locator("[data-drawn]").waitFor();
    const image = () => panel.locator("canvas").evaluateAll(imageOf);
    const answer = () => panel.locator(".answer").textContent();
    const column = (name) => panel.locator("table").evaluate((table, name) => {
      const at = [...table.tHead.rows[0].cells].findIndex((cell) => cell.textContent === name);
      return [...table.tBodies[0].rows].map((row) => row.cells[at].textContent);
    }, name);
    const [before, all, fastest] = [await image(), await answer(), await column("× fastest")];
    assert.match(all, /^\d+ successful trials: the fastest takes /);
    assert.equal(fastest[0], "1.000×");
    assert.equal(fastest.length, 10);
    await panel.getByLabel("TILE_K").selectOption("8");
    assert.deepEqual([...new Set(await column("TILE_K"))], ["8"]);
    assert.ok(parseInt(await answer()) < parseInt(all));
    assert.notEqual(await image(), before);
    assert.deepEqual(problems, []);
    await close();
  },

  async "a page of a run that goes on loads itself again, unless it is held"() {
    const context = await browser.newContext({ offline: true });
    const page = await context.newPage();
    await page.clock.install();
    let loads = 0;
    page.on("load", () => ++loads);
    const live = execFileSync(fixture, [directory, "--live"], { encoding: "utf8" }).trim();
    await page.goto(pathToFileURL(live).href);
    await page.waitForSelector("main[data-complete]", { state: "attached" });
    assert.match(await page.locator(".live").textContent(), /A run is in progress\. .* every 5 seconds/);
    const reloaded = page.waitForEvent("load");
    await page.clock.runFor(6000);
    await reloaded;
    await page.waitForSelector("main[data-complete]", { state: "attached" });
    await page.getByRole("button", { name: "Hold" }).click();
    const before = loads;
    await page.clock.runFor(20_000);
    assert.equal(loads, before);
    await context.close();
  },

  async "a kernel shows which parameter decides at which size, as a chart and as a table"() {
    const { page, problems, close } = await open();
    await page.locator("#kernel-1 > summary").click();
    const panel = page.locator("#kernel-1 [data-kind=importance_by_size]");
    assert.match(await panel.locator(".answer").textContent(), /^Most important: [A-Z_]+ at \d sizes?/);
    await panel.scrollIntoViewIfNeeded();
    await panel.locator("[data-drawn]").waitFor();
    assert.ok(await panel.locator("canvas").evaluateAll(inkOf) > 0.1);
    assert.equal(await panel.locator("table").count(), 0, "made when it is opened");
    await panel.locator("summary").click();
    await panel.locator("tbody").waitFor();
    assert.deepEqual(await panel.locator("tbody th").allTextContents(), ["512×512×512", "1024×1024×1024", "2048×2048×2048", "4096×4096×4096"]);
    const parameters = await panel.locator("thead th").allTextContents();
    assert.deepEqual(parameters.slice(1).sort(), ["BLOCK_X", "BLOCK_Y", "PAD", "TILE_K", "TILE_M", "TILE_N", "UNROLL"]);
    const over = await page.locator("#kernel-1 [data-kind=importance_over_sizes] .answer").textContent();
    assert.ok(over.startsWith(`${parameters[1]} explains`), "the same order");
    assert.deepEqual(problems, []);
    await close();
  },

  async "a link of the index moves the focus too"() {
    const { page, close } = await open();
    await page.locator("nav").getByRole("link", { name: "Kernels" }).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.closest(".kernel").id), "kernel-0");
    await page.evaluate(() => window.scrollTo(0, 0));
    await page.locator(".skip").focus();
    await page.keyboard.press("Enter");
    assert.match(page.url(), /#~.*at=family-0/, "the address keeps what was chosen");
    await close();
  },

  async "many kernels and long sizes fit a wide screen, a phone and paper"() {
    const place = mkdtempSync(join(tmpdir(), "tuner-page-"));
    const file = execFileSync(fixture, [place, "10", "6"], { encoding: "utf8" }).trim();
    for (const width of [1440, 1024, 360]) {
      const page = await browser.newPage({ viewport: { width, height: 900 } });
      await page.goto(pathToFileURL(file).href);
      await page.locator("#family-0 .open").last().click();
      await page.locator("#family-0 [data-complete]").waitFor();
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
      const edges = await page.locator(".detail button, .detail select, .detail .chart").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().right));
      assert.ok(edges.length > 10 && Math.max(...edges) <= width, `${width}: details end at ${Math.max(...edges)}`);
      const first = await page.locator("#family-0 .sizes > .scroll > table > thead th").evaluateAll((all) =>
        all.filter((one) => one.getBoundingClientRect().right <= innerWidth).map((one) => one.textContent));
      const seen = width === 360 ? 9 : width === 1024 ? 8 : 17;
      assert.ok(first.length >= seen, `${width}: ${first}`);
      if (width > 360) assert.ok(await page.locator("#family-0 .sizes > .scroll").evaluate((one) => one.scrollWidth <= one.clientWidth), `${width}: sizes are cut`);
      const rows = await page.locator("#family-0 .sizes > .scroll > table > tbody > tr:not(.detail)").evaluateAll((all) => all.map((one) => one.offsetHeight));
      assert.ok(Math.max(...rows) <= (width === 360 ? 180 : 60), `${width}: a row of ${Math.max(...rows)} pixels`);
      await page.close();
    }
    const page = await browser.newPage({ viewport: { width: 718, height: 1047 } }); // A4 within margins of 1 cm, at 96 dots an inch
    await page.goto(pathToFileURL(file).href);
    await page.locator("#family-0 .open").last().click();
    await page.locator("#family-0 [data-complete]").waitFor();
    await page.emulateMedia({ media: "print" });
    const tables = await page.locator("table:visible").evaluateAll((all) => all.map((one) => [one.getAttribute("aria-label"), one.getBoundingClientRect().right]));
    for (const [name, right] of tables) assert.ok(right <= 718, `${name} is ${right} wide on paper`);
    const rows = await page.locator("#family-0 .sizes > .scroll > table > tbody > tr:not(.detail)").evaluateAll((all) => all.map((one) => one.offsetHeight));
    assert.ok(Math.max(...rows) <= 50, `a row of ${Math.max(...rows)} pixels on paper`);
    await page.close();
    rmSync(place, { recursive: true });
  },

  async "what a kernel engineer asks takes at most one click"() {
    const questions = {
      "which kernel for which size": [0, async (page) => await page.locator("#family-1 .sizes tbody tr").first().textContent(), /gemm_shared/],
      "how far from the library": [0, async (page) => await page.locator("#family-1 .verdict").textContent(), /\d× as fast as cuBLAS/],
      "how far from the roof": [0, async (page) => await page.locator("#family-1 [data-overview=roofline] h3").textContent(), /Roofline/],
      "why is it so fast: registers, spills, clock, hot cache": [1, async (page, click) => {
        await click(page.locator("#family-1 .open").first());
        const table = page.locator("[data-kind=finalists] table:visible");
        assert.ok(await table.evaluate((one) => one.scrollWidth <= one.parentElement.clientWidth), "without scrolling");
        return await table.locator("thead").textContent();
      }, /Hot cache.*Clock.*Registers.*Shared memory.*Spilled/],
      "which parameters matter over all sizes": [1, async (page, click) => {
        await click(page.getByRole("link", { name: "gemm_shared" }));
        return await page.locator("#kernel-1 [data-kind=importance_over_sizes] .answer").textContent();
      }, /explains .* of the variance/],
      "did the search converge": [0, async (page) => await page.locator("#family-1 .sizes tbody tr", { hasText: "2048" }).textContent(), /improving/],
      "what failed": [1, async (page, click) => {
        await click(page.getByRole("link", { name: "gemm_shared" }));
        return await page.locator("#kernel-1 [data-kind=failures] .answer").textContent();
      }, /did not compile/],
      "what to do next": [0, async (page) => await page.locator("#family-1 .todo code").first().textContent(), /^tune /],
      "what changed since another environment": [1, async (page, click) => {
        await click(page.locator('nav a[href="#comparison-0"]'));
        return await page.locator("#comparison-0 tbody").textContent();
      }, /SLOWER/],
      "how do I use it": [1, async (page, click) => {
        await click(page.locator("#family-1 .open").last());
        return await page.locator(".detail .use").textContent();
      }, /Configuration:.*Look it up:tune query .*--format cpp.*Time it again:tune bench --kernel gemm_shared --space \S+ --size \S+ --config '\w+=/],
      "what was checked": [0, async (page) => await page.locator("footer .checks").textContent(), /gave the results of its family's reference.* Of \d+ sizes, \d+ are imported .* and 0 unproven/],
    };
    let { page, close } = await open();
    for (const [question, [most, ask, answer]] of Object.entries(questions)) {
      let clicks = 0;
      const text = await ask(page, async (place) => { ++clicks; await place.click(); });
      console.log(`        ${question}: ${clicks}`);
      assert.match(text, answer, question);
      assert.ok(clicks <= most, `${question}: ${clicks} clicks`);
      if (clicks === 0) continue; // the page is as it was
      await close();
      ({ page, close } = await open());
    }
    await close();
  },

  async "the searches are compared over trials and over seconds, with their table open"() {
    const { page, problems, close } = await open();
    const panel = (await openSize(page, "4096×4096×4096")).locator(".panel[data-kind=search]");
    assert.match(await panel.locator(".answer").textContent(), /^Within 3\u00a0% of the best known: auto after \d+ trials/);
    assert.deepEqual(await panel.locator("tbody tr:visible th").allTextContents(), ["auto", "bayesian", "random"]);
    await panel.scrollIntoViewIfNeeded();
    await panel.locator("[data-drawn]").waitFor();
    const image = () => panel.locator("canvas").evaluateAll(imageOf);
    const before = await image();
    await panel.locator(".controls select").selectOption("elapsed time");
    assert.notEqual(await image(), before);
    const [download] = await Promise.all([page.waitForEvent("download"), panel.getByRole("button", { name: "Download curves (CSV)" }).click()]);
    const lines = readFileSync(await download.path(), "utf8").trim().split("\r\n");
    assert.equal(lines[0], "strategy,runs,over,at,low,median,high");
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
      await panel.locator("[data-drawn]").waitFor();
      const image = () => panel.locator("canvas").evaluateAll(imageOf);
      const before = await image();
      await panel.locator(".controls select").nth(nth).selectOption(other);
      assert.notEqual(await image(), before, `${kind}, choice ${nth}`);
    }
    assert.match(await page.locator(".panel[data-kind=curves] .answer").nth(1).textContent(), /pageable: faster is CPU at 64×64×64, then GPU from 256×256×256 to 1024×1024×1024/);
    assert.deepEqual(problems, []);
    await close();
  },

  async "downloads hold the raw numbers and the whole document"() {
    const { page, close } = await open();
    const panel = (await openSize(page, "4096×4096×4096")).locator(".panel[data-kind=convergence]");
    const [download] = await Promise.all([page.waitForEvent("download"), panel.getByRole("button", { name: "Download trials (CSV)" }).click()]);
    const lines = readFileSync(await download.path(), "utf8").trim().split("\r\n");
    assert.equal(lines[0], "run,trial,elapsed_s,outcome,ranking_ns,cold_ns,TILE_M,TILE_N,TILE_K,BLOCK_X,BLOCK_Y,UNROLL,PAD");
    assert.equal(lines.length, 1 + 378);
    const [whole] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download its data (JSON)" }).click()]);
    const report = JSON.parse(readFileSync(await whole.path(), "utf8"));
    assert.equal(report.format, "tune.report/3");
    assert.deepEqual(report.kernels.map((kernel) => kernel.sizes.length), [1, 4, 6]);
    assert.equal(report.kernels[1].sizes[3].trials.trial.length, 378);
    await close();
  },

  async "dark mode draws other colours"() {
    const pixels = async (colorScheme) => {
      const { page, problems, close } = await open({ colorScheme });
      await page.locator("#family-1 [data-overview=ratios]").scrollIntoViewIfNeeded();
      await page.locator("#family-1 [data-overview=ratios] [data-drawn]").waitFor();
      const image = await page.locator("#family-1 [data-overview=ratios] canvas").evaluateAll(imageOf);
      assert.deepEqual(problems, []);
      await close();
      return image;
    };
    assert.notEqual(await pixels("light"), await pixels("dark"));
  },

  async "text has a contrast of 4.5 and marks of 3"() {
    const source = readFileSync(join(nodeDirectory, "src/theme.ts"), "utf8");
    for (const name of ["kLight", "kDark"]) {
      const block = source.match(new RegExp(`const ${name}: Theme = \\{([^}]*)\\}`))[1];
      const theme = Object.fromEntries([...block.matchAll(/(\w+): "(#\w{6})"/g)].map(([, role, color]) => [role, color]));
      for (const role of ["ink", "muted", "best", "library", "standard"]) {
        assert.ok(contrast(theme[role], theme.paper) >= 4.5, `${name}.${role}: ${contrast(theme[role], theme.paper)}`);
      }
      assert.ok(contrast(theme.cloud, theme.paper) >= 3, `${name}.cloud: ${contrast(theme.cloud, theme.paper)}`);
      const series = [...source.match(/const kSeries[^=]*= \[([^;]*)\];/)[1].matchAll(/"(#\w{6})", "(#\w{6})"/g)];
      assert.equal(series.length, 6);
      for (const [, light, dark] of series) {
        const color = name === "kDark" ? dark : light;
        assert.ok(contrast(color, theme.paper) >= 3, `${name}: ${color}: ${contrast(color, theme.paper)}`);
      }
    }
  },

  async "tables have names and row headers, regions that scroll take the focus, buttons differ"() {
    const { page, close } = await open();
    await openSize(page, "4096×4096×4096");
    for (const summary of await page.locator(".kernel > summary, .detail summary").all()) await summary.click();
    await openedContents(page);
    const tables = await page.locator("table").evaluateAll((all) => all.map((one) =>
      [one.getAttribute("aria-label"), [...one.tBodies[0].rows].every((row) => row.className === "detail" || row.cells[0].scope === "row"), one.parentElement.tabIndex]));
    assert.ok(tables.length >= 10);
    for (const [name, hasHeaders, tabIndex] of tables) assert.ok(name && hasHeaders && tabIndex === 0, `${name} ${hasHeaders} ${tabIndex}`);
    const buttons = await page.locator(".detail button, .todo button").evaluateAll((all) => all.map((one) => one.getAttribute("aria-label") ?? one.textContent));
    assert.deepEqual(buttons.filter((name, i) => buttons.indexOf(name) !== i && !/^Copy/.test(name)), []);
    await page.keyboard.press("Home");
    assert.equal(await page.locator(".skip").count(), 1);
    await close();
  },

  async "a phone needs no sideways scrolling"() {
    const { page, close } = await open({ viewport: { width: 360, height: 800 } });
    await openSize(page, "4096×4096×4096");
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
    const shown = await page.locator(".summary tbody td:visible").evaluateAll((all) => all.map((one) =>
      [one.dataset.label, [...one.getClientRects()].every((box) => box.left >= 0 && box.right <= 360)]));
    for (const label of ["Sizes", "× cuBLAS", "Behind at", "Sizes to do"]) assert.ok(shown.some(([name]) => name === label), label);
    assert.deepEqual(shown.filter(([, isInside]) => !isInside), []);
    const cells = (rows) => page.locator(`${rows} > td:visible`).evaluateAll((all) => all.map((one) =>
      [one.dataset.label, [...one.getClientRects()].every((box) => box.left >= 0 && box.right <= 360)]));
    const sizes = await cells("#family-1 .sizes > .scroll > table > tbody > tr:not(.detail)");
    for (const label of ["Best kernel", "× cuBLAS", "95\u00a0% interval", "Cold", "% of roof"]) assert.ok(sizes.some(([name]) => name === label), label);
    const finalists = await cells("#family-1 [data-kind=finalists] tbody > tr");
    assert.ok(finalists.some(([name]) => name === "Configuration"));
    assert.deepEqual([...sizes, ...finalists].filter(([, isInside]) => !isInside), []);
    assert.deepEqual(await page.locator(".index a").evaluateAll((all) => all.filter((one) => one.getBoundingClientRect().right > 360).length), 0, "the index is not cut");
    await close();
  },

  async "paper has the rows that are shown, a page of them, and no controls"() {
    const { page, close } = await open();
    await page.locator("#family-1").getByLabel("Search").fill("2048");
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.locator("#family-1 tbody > tr:visible").count(), 1);
    assert.match(await page.locator("#family-1 .paper").textContent(), /^1 of 4 sizes\./);
    assert.equal(await page.locator("#family-1 .controls:visible").count(), 0);
    await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
    assert.equal(await page.locator("#family-1 tbody > tr").count(), 1);
    assert.ok((await page.pdf({ format: "A4" })).length > 20_000);
    await close();
  },

  async "paper has an opened size in full"() {
    const { page, close } = await open();
    await openSize(page, "4096×4096×4096");
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    const widths = await page.locator("#family-1 .chart[data-drawn] canvas").evaluateAll((all) => all.map((one) => parseFloat(one.style.width)));
    assert.ok(widths.length >= 5 && widths.every((width) => width <= 700), `charts are drawn for paper before it is laid out: ${widths}`);
    await page.emulateMedia({ media: "print" });
    const cut = await page.locator("#family-1 .use pre").evaluateAll((all) => all.filter((one) => one.scrollHeight > one.clientHeight + 1).length);
    assert.equal(cut, 0, "code is whole");
    assert.ok(await page.locator(".detail .questions .note").first().isVisible(), "what a reader would open is open");
    assert.equal(await page.locator(".kernels:visible").count(), 0, "no heading without a part");
    assert.equal(await page.locator(".open").first().evaluate((one) => getComputedStyle(one, "::before").content), "none");
    assert.equal(await page.locator("#family-1 [data-kind=finalists] td.figure").first().evaluate((one) => getComputedStyle(one).whiteSpace), "nowrap");
    assert.equal(await page.locator("#family-1 thead").first().evaluate((one) => getComputedStyle(one).display), "table-header-group");
    await page.emulateMedia({ media: "screen" });
    await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
    assert.equal(await page.locator(".detail .questions[open]").count(), 0);
    await close();
  },

  async "a link to an open size leads to it"() {
    const { page, close } = await open();
    await page.locator("nav").getByRole("link", { name: "gemm", exact: true }).click();
    await openSize(page, "4096×4096×4096");
    const again = await page.context().newPage();
    await again.goto(page.url());
    await again.waitForSelector("main[data-complete]", { state: "attached" });
    const { y } = await again.locator("#family-1 .open", { hasText: "4096×4096×4096" }).boundingBox();
    assert.ok(y >= 0 && y < 300, `the size is at ${y}`);
    await close();
  },

  async "a type's button leads to its sizes, and what is to do is of that type"() {
    const { page, close } = await open();
    const family = page.locator("#family-2");
    assert.match(await family.locator(".todo li").first().textContent(), /1024×1024×1024 \(bf16\) 0\.800×/);
    await family.getByRole("button", { name: "f32", exact: true }).click();
    assert.ok((await family.getByRole("heading", { name: "Sizes", exact: true }).boundingBox()).y < 200);
    assert.equal(await family.locator(".todo").isVisible(), false, "nothing of f32 is to do");
    await close();
  },

  async "without scripts there is one table of the best configurations, and a sentence"() {
    const { page, close } = await open({ javaScriptEnabled: false });
    const table = page.locator("main table:visible");
    assert.equal(await table.count(), 1);
    assert.deepEqual(await table.locator("tr").first().locator("th").allTextContents(), ["Family", "Kernel", "Size", "Time", "Configuration"]);
    const head = table.locator("tr", { has: page.locator("th", { hasText: /^gemm_shared$/ }) }), [family, kernel, names] = await head.locator("th").allTextContents();
    assert.deepEqual([family, kernel], ["gemm", "gemm_shared"]);
    const rows = await head.locator("xpath=following-sibling::tr").evaluateAll((all) => all.slice(0, 4).map((one) => [...one.cells].map((cell) => cell.textContent)));
    assert.deepEqual(rows.map(([size]) => size), ["512×512×512", "1024×1024×1024", "2048×2048×2048", "4096×4096×4096"]);
    assert.match(rows[3][1], /^[\d.]+\u00a0ms$/);
    assert.equal(rows[3][2].split(",")[names.split(",").indexOf("BLOCK_Y")], "16");
    assert.equal(await page.locator("main p:visible").last().textContent(), "Charts, verdicts, filters and details need JavaScript.");
    assert.equal(await page.locator("img, b").count(), 0);
    await close();
  },

  async "the header says what the device is, and when it was measured"() {
    const { page, close } = await open();
    assert.match(await page.locator("header .eyebrow").textContent(), /^Tuning report · \d{4}-\d\d-\d\d/);
    assert.deepEqual((await page.locator("header dt").allTextContents()).slice(0, 2), ["Architecture", "Multiprocessors"]);
    await close();
  },

  async "figures stand under each other, and a value that is not known is a dash"() {
    const { page, close } = await open();
    const cell = (label) => page.locator("#family-2 .sizes").evaluate((sizes, label) => {
      const at = [...sizes.querySelectorAll("thead th")].findIndex((one) => one.textContent === label);
      return [...sizes.querySelectorAll(`tbody tr > :nth-child(${at + 1})`)].map((one) => [one.className.split(" ")[0], one.textContent]);
    }, label);
    for (const [kind, text] of await cell("Cold")) assert.match(`${kind} ${text}`, /^figure [\d.]+\u00a0[nµm]s$/);
    for (const [kind] of await cell("Type")) assert.equal(kind, "text");
    const finalists = await (await openSize(page, "4096×4096×4096")).locator("[data-kind=finalists] td.figure").allTextContents();
    assert.ok(finalists.includes("–"), String(finalists));
    await close();
  },

  async "the first screen sums up families and types, and leads to them"() {
    const { page, close } = await open();
    const summary = page.locator(".summary");
    assert.equal(await summary.locator("tbody tr").count(), 5, "three families, one of three types");
    assert.ok((await summary.boundingBox()).y < 900);
    const heads = await summary.locator("thead th").allTextContents();
    for (const head of ["Family", "Type", "Sizes", "× cuBLAS", "× default, cold", "% of roof (median)", "Ahead at", "Behind at"]) assert.ok(heads.includes(head), head);
    await summary.getByRole("link", { name: "rows" }).first().click();
    assert.equal(await page.evaluate(() => document.activeElement.id), "family-2");
    await close();
  },

  async "rows are drawn as they are scrolled to, sorted and found before that"() {
    const context = await browser.newContext({ offline: true, viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    await page.goto(pathToFileURL(await publishedPage).href);
    await page.waitForSelector("main[data-complete]", { state: "attached" });
    const family = page.locator(".family", { has: page.locator("h2", { hasText: /^gemm$/ }) });
    const count = () => family.locator(".sizes tbody tr").count();
    assert.ok(await count() < 100, `${await count()} rows`);
    const box = family.locator(".sizes > .scroll");
    await box.scrollIntoViewIfNeeded();
    for (let i = 0; i < 60 && await count() < 700; ++i) {
      await box.evaluate((one) => { one.scrollTop = one.scrollHeight; });
      await page.waitForTimeout(50);
    }
    assert.equal(await count(), 700);
    await family.getByLabel("Search").fill("64x777");
    assert.equal(await count(), await family.locator(".sizes tbody .open", { hasText: /64×777/ }).count());
    await context.close();
  },

  async "paper has the sizes furthest behind and those of the longest times"() {
    const context = await browser.newContext({ offline: true, viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    await page.goto(pathToFileURL(await publishedPage).href);
    await page.waitForSelector("main[data-complete]", { state: "attached" });
    assert.deepEqual(await page.locator(".scroll:visible").evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.getAttribute("aria-label"))), [],
      "no table is cut at 1440 px");
    await page.setViewportSize({ width: 1024, height: 900 });
    const sizes = page.locator(".family .sizes");
    await page.waitForFunction(() => document.querySelectorAll(".sizes[data-narrow~=kernel]").length > 0);
    assert.deepEqual(await page.locator(".scroll:visible").evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.getAttribute("aria-label"))), [],
      "nor at 1024 px");
    const headsOf = (width) => page.setViewportSize({ width, height: 900 }).then(() => sizes.locator("thead th:visible").count());
    const few = await headsOf(1024);
    assert.ok(await sizes.locator(".narrow-note:visible").count() > 0, "a note says what a wider window has");
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.waitForFunction(() => document.querySelectorAll(".sizes[data-narrow~=kernel]").length === 0);
    assert.ok(await headsOf(1440) > few, "the columns are back");
    const family = page.locator(".family", { has: page.locator("h2", { hasText: /^gemm$/ }) });
    const drawn = await family.locator(".sizes tbody tr").count();
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    const rows = await family.locator(".sizes tbody .open").allTextContents();
    assert.equal(rows.length, 30);
    assert.ok(rows.includes("16384×16384×16384"));
    const named = (await family.locator(".todo li").first().textContent()).match(/\d+×\d+×\d+(?= \(f32\) 0\.)/g);
    assert.equal(named.length, 5);
    for (const size of named) assert.ok(rows.includes(size), `${size} is behind`);
    assert.match(await family.locator(".paper").textContent(), /^30 of 700 sizes: the 15 furthest behind cuBLAS and the 15 of the longest times\./);
    await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
    assert.equal(await family.locator(".sizes tbody tr").count(), drawn);
    await context.close();
  },

  async "each sheet of paper has the heads of its tables"() {
    const context = await browser.newContext({ offline: true, viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    await page.goto(pathToFileURL(await publishedPage).href);
    await page.waitForSelector("main[data-complete]", { state: "attached" });
    const file = join(directory, "paper.pdf");
    await page.pdf({ format: "A4", path: file });
    await context.close();
    const sheets = execFileSync("pdftotext", ["-layout", file, "-"], { encoding: "utf8" }).split("\f").map((sheet) => sheet.split("\n"));
    const places = sheets.map((lines) => [lines.findIndex((line) => /^ *Size .*(Best|kernel)/.test(line)), lines.findIndex((line) => /^ *\d+×\d+\S*( [A-Z_]+=\S+)* {3}/.test(line))]);
    const withRows = places.filter(([, row]) => row >= 0);
    assert.ok(withRows.length >= 8, `${withRows.length} sheets have sizes`);
    assert.deepEqual(withRows.filter(([head, row]) => head < 0 || head > row), [], "rows stand below a head");
  },

  async "the page of published results keeps its budgets"() {
    const file = await publishedPage;
    const bytes = statSync(file).size;
    const weight = await load(file);
    console.log(`        ${bytes} bytes, ${JSON.stringify(weight)}`);
    assert.ok(bytes <= 2.5e6, `${bytes} bytes`);
    assert.ok(weight.nodes <= 4000, `${weight.nodes} nodes`);
    assert.ok(weight.screensToSizes <= 8, `${weight.screensToSizes} screens before the first table of sizes`);
  },

  async "an imported size shows what its line holds, and nothing of a search"() {
    const context = await browser.newContext({ offline: true, viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    await page.goto(pathToFileURL(await publishedPage).href);
    await page.waitForSelector("main[data-complete]", { state: "attached" });
    await page.locator("#family-1 .open").first().click();
    const detail = page.locator("tr.detail [data-complete]");
    await detail.waitFor();
    assert.deepEqual(await detail.locator("[data-kind]").evaluateAll((all) => all.map((one) => one.dataset.kind)), ["finalists"]);
    const text = await detail.textContent();
    assert.match(text, /Imported from nvidia-h200\.jsonl/);
    assert.doesNotMatch(text, /No trial succeeded|No final round/);
    assert.ok(await detail.locator("[data-kind=finalists] tbody tr").count() >= 2);
    const [explain, again] = await detail.locator(".questions pre code > span").allTextContents();
    assert.match(explain, /^tune explain --kernel copy_\w+ --space spaces\/copy\.json --size \S+$/);
    assert.match(again, /^tune --kernel copy_\w+ --space spaces\/copy\.json --size \S+$/);
    assert.match(text, /It reaches \d+(\.\d)?\s% of the memory roof, the lower one at this size\. On this device/);
    assert.match(text, /Why it is this fast: not measured.*Since another driver or version: not known/s);
    assert.match(text, /are of driver 580\.159\.04, .*: nothing to compare with/);
    assert.match(await page.locator(".family .todo pre").first().textContent(), /^tune --kernel \w+ --space spaces\/\w+\.json --size /);
    assert.doesNotMatch(await page.locator(".sizes > .scroll > table > tbody > tr:not(.detail) > td").evaluateAll((all) => all.map((one) => one.textContent).join(" ")), /\b1(0[1-9]|[1-9]\d)(\.\d)?\s%/, "no share above the roof");
    const summary = page.locator(".summary");
    assert.ok(await summary.locator("td", { hasText: /^not known$/ }).count() === 0, "the installed table tells the types");
    for (const type of ["bf16", "e4m3", "tf32"]) assert.equal(await summary.locator("tr", { hasText: "gemm_tensor" }).locator("td", { hasText: type }).count() > 0, true, type);
    await summary.locator("tr", { hasText: "gemm_tensor" }).filter({ has: page.locator("td", { hasText: /^bf16$/ }) }).getByRole("link").click();
    const tensor = page.locator(".family", { has: page.locator("h2", { hasText: /^gemm_tensor$/ }) });
    assert.deepEqual([...new Set(await tensor.locator(".sizes > .scroll > table > tbody > tr > td:nth-child(2)").allTextContents())], ["bf16"], "a link of the summary chooses its type");
    const [download] = await Promise.all([page.waitForEvent("download"), tensor.getByRole("button", { name: "Download all sizes (CSV)" }).click()]);
    const [names, ...lines] = readFileSync(await download.path(), "utf8").trim().split("\r\n");
    assert.match(names, /^size,problem,.*,configuration,environments$/);
    assert.ok(lines.every((line) => /,"?[A-Z_]+=.*driver /.test(line)), "each line has its configuration and environment");
    const gemm = page.locator(".family", { has: page.locator("h2", { hasText: /^gemm$/ }) });
    await gemm.getByLabel("Search").fill("2048x2048x2048");
    await gemm.locator(".open").first().click();
    assert.match(await gemm.locator("tr.detail .use").textContent(), /static cudaError_t launch_gemm_\w+\(.*<<<dim3\(/s, "and the launch code");
    await gemm.getByLabel("Search").fill("16x24x17");
    await gemm.locator(".open").first().click();
    const finalists = gemm.locator("tr.detail [data-kind=finalists] tbody tr");
    assert.match(await finalists.filter({ hasText: "default" }).textContent(), /[A-Z_]+=.*cold$/, "of the default only single launches are in the line");
    assert.match(await finalists.filter({ hasText: "cuBLAS" }).textContent(), /back to back$/);
    assert.deepEqual((await finalists.filter({ hasText: "default" }).locator("td").allTextContents()).slice(3, 5), ["–", "–"], "its interval is not in the line");
    assert.match(await gemm.locator("tr.detail [data-kind=finalists] .note").textContent(), /^Compared cold, not on this axis: default at [\d.]+×\. Lines: /);
    await context.close();
  },

  async "what is behind is found, named and put beside the library"() {
    const context = await browser.newContext({ offline: true, viewport: { width: 1024, height: 900 } });
    const page = await context.newPage();
    await page.goto(pathToFileURL(await publishedPage).href);
    await page.waitForSelector("main[data-complete]", { state: "attached" });
    assert.deepEqual(await page.locator(".todo pre, .types .scroll").evaluateAll((all) => all.flatMap((one) => [one, ...one.querySelectorAll("span")])
      .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline" || one.scrollHeight > one.clientHeight + 1 && getComputedStyle(one).display !== "inline").length), 0, "commands and types are whole");
    for (const family of await page.locator(".family").all()) {
      assert.match(await family.textContent(), /Roof, the highest rate measured on this device: memory [\d.]+\u00a0TB\/s \(.* at /);
      assert.match(await family.textContent(), /Imported: timed by the program that wrote nvidia-h200\.jsonl, not verified/);
    }
    const gemm = page.locator(".family", { has: page.locator("h2", { hasText: /^gemm$/ }) });
    const ratios = () => gemm.locator(".sizes > .scroll > table > tbody > tr > td:nth-child(3)").allTextContents().then((all) => all.map(parseFloat));
    await gemm.locator("th", { hasText: "× cuBLAS" }).getByRole("button").click();
    assert.equal((await ratios())[0], 0.109, "the worst stands first");
    await gemm.locator("th", { hasText: "Size" }).getByRole("button").click();
    await gemm.locator(".todo").getByRole("button", { name: /^Show them/ }).click();
    assert.match(await gemm.locator(".shown").textContent(), /^116 of 700/);
    const behind = await ratios();
    assert.deepEqual(behind, [...behind].sort((a, b) => a - b));
    assert.deepEqual([...new Set(await gemm.locator(".sizes > .scroll > table > tbody > tr > td:nth-child(10)").allTextContents())], ["behind"]);
    await gemm.locator(".open").first().click();
    const detail = gemm.locator("tr.detail");
    await detail.locator("[data-complete]").waitFor();
    const use = await detail.locator(".use").textContent();
    assert.match(use, /^cuBLAS is 9\.2× as fast; the dispatcher uses it\./);
    assert.match(use, /The size is M×N×K; matrices are row-major\..*dispatcher\.family\("gemm"\).*"17,57,7676".*\{alpha, A, B, beta, C\}.*from kernels\/gemm\/gemm_tiled\.cu/s);
    assert.match(await detail.locator("[data-kind=finalists]").textContent(), /30 repetitions.*chosen, best of ours/s);
    assert.doesNotMatch(await detail.locator("[data-kind=finalists] .note").textContent(), /Outside the chart/, "the library is on the axis");
    await context.close();
  },

  async "a download reads once what is compressed together"() {
    const context = await browser.newContext({ offline: true, viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    await page.goto(pathToFileURL(await publishedPage).href);
    await page.waitForSelector("main[data-complete]", { state: "attached" });
    await page.evaluate(() => {
      const Native = DecompressionStream;
      window.reads = 0;
      window.DecompressionStream = function (format) { ++window.reads; return new Native(format); };
    });
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download its data (JSON)" }).click()]);
    assert.ok(JSON.parse(readFileSync(await download.path(), "utf8")).kernels.length > 20);
    assert.equal(await page.evaluate(() => window.reads), await page.locator("script[id^=sizes-]").count());
    await context.close();
  },

  // Its times are measured by benchmarks/report/page_load.mjs; these are what they depend on.
  async "a page of 72 sizes keeps its budgets"() {
    for (const [kernels, limit] of [[3, 2e6], [10, 5e6]]) {
      const file = await largePages.then((files) => files[kernels]);
      const bytes = statSync(file).size;
      console.log(`        ${kernels} kernels × 72 sizes: ${bytes} bytes`);
      assert.ok(bytes <= limit, `${bytes} bytes`);
      const weight = await load(file);
      console.log(`        ${JSON.stringify(weight)}`);
      assert.ok(weight.nodes <= 6000, `${weight.nodes} nodes`);
      assert.ok(weight.drawn > 0 && weight.lowest < 900 + 400, `a chart at ${weight.lowest} px was drawn, 400 px below the screen is the limit`);
    }
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  const start = performance.now();
  try {
    await test();
    console.log(`ok      ${name} (${((performance.now() - start) / 1e3).toFixed(1)} s)`);
  } catch (error) {
    ++failed;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}
await browser.close();
rmSync(directory, { recursive: true });
process.exit(failed === 0 ? 0 : 1);
