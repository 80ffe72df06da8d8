// SPDX-License-Identifier: Apache-2.0
// Bundles src/main.ts and src/echarts.ts into dist/report.js: the page's script, a line, the charts' script with the licences of
// what it contains at its head. A page holds the second as a text, which it evaluates for its first chart.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const licences = [
  ["Apache ECharts", "node_modules/echarts/NOTICE"],
  ["Apache ECharts", "node_modules/echarts/LICENSE"],
  ["d3, in parts of Apache ECharts", "node_modules/echarts/licenses/LICENSE-d3"],
  ["ZRender", "node_modules/zrender/LICENSE"],
  ["tslib", "node_modules/tslib/LICENSE.txt"],
].map(([name, path]) => `${name}\n\n${readFileSync(path, "utf8").replaceAll("\r", "").trim()}`);

const options = {
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2020",
  legalComments: "none", // they stand in full in the banner
  define: { "process.env.NODE_ENV": '"production"' },
  write: false,
};
const page = await build({ ...options, entryPoints: ["src/main.ts"] });
const charts = await build({
  ...options, entryPoints: ["src/echarts.ts"], globalName: "reportCharts", banner: { js: `/*!\n${licences.join("\n\n----\n\n")}\n*/` },
});

const line = "//---- charts ----\n"; // known to tuner/report/split_script.cmake
const [first, second] = [page, charts].map(({ outputFiles }) => outputFiles[0].text);
if ((first + second).includes(line)) throw new Error(`the bundle holds the line ${line}`);
// An HTML parser would end the element at the first two and change the others under its hash.
if (/<\/script|<!--|[\r\0]/i.test(first + second)) {
  throw new Error("the bundle holds '</script', '<!--', CR or NUL and cannot stand inside a page");
}
mkdirSync("dist", { recursive: true });
writeFileSync("dist/report.js", first + line + second);
