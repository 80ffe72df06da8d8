// SPDX-License-Identifier: Apache-2.0
// pictures.mjs NODE_DIRECTORY PAGE DIRECTORY [PART]: pictures of a report from its top or from an element's id on, on a
// wide screen, on a phone, in the dark and on paper. NODE_DIRECTORY holds node_modules with playwright-core.
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [nodeDirectory, file, directory, part] = process.argv.slice(2);
const { chromium } = createRequire(join(resolve(nodeDirectory), "package.json"))("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });

const kPictures = [
  { name: "wide", viewport: { width: 1440, height: 900 } },
  { name: "phone", viewport: { width: 360, height: 800 } },
  { name: "dark", viewport: { width: 1440, height: 900 }, colorScheme: "dark" },
  { name: "paper", viewport: { width: 794, height: 1123 }, media: "print" }, // A4 at 96 dots an inch
];
for (const { name, media, ...options } of kPictures) {
  const page = await (await browser.newContext({ offline: true, ...options })).newPage();
  await page.goto(pathToFileURL(resolve(file)).href);
  await page.waitForTimeout(2000); // until its charts are drawn
  if (media) {
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    await page.emulateMedia({ media });
    await page.waitForTimeout(2000);
  }
  if (part) {
    await page.locator(`#${part}`).evaluate((element) => element.scrollIntoView());
    await page.waitForTimeout(1000);
  }
  await page.screenshot({ path: join(directory, `${name}.png`) });
}
await browser.close();
