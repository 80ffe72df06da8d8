// SPDX-License-Identifier: Apache-2.0
// Bundles src/main.ts into dist/report.js, the licences of what it contains at its head.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const licences = [
  ["Apache ECharts", "node_modules/echarts/NOTICE"],
  ["Apache ECharts", "node_modules/echarts/LICENSE"],
  ["d3, in parts of Apache ECharts", "node_modules/echarts/licenses/LICENSE-d3"],
  ["ZRender", "node_modules/zrender/LICENSE"],
  ["tslib", "node_modules/tslib/LICENSE.txt"],
].map(([name, path]) => `${name}\n\n${readFileSync(path, "utf8").replaceAll("\r", "").trim()}`);

const result = await build({
  entryPoints: ["src/main.ts"],
  outfile: "dist/report.js",
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2020",
  legalComments: "none", // they stand in full in the banner
  banner: { js: `/*!\n${licences.join("\n\n----\n\n")}\n*/` },
  define: { "process.env.NODE_ENV": '"production"' },
  write: false,
});

const script = result.outputFiles[0];
// An HTML parser would end the element at the first two and change the others under its hash.
if (/<\/script|<!--|[\r\0]/i.test(script.text)) {
  throw new Error("the bundle holds '</script', '<!--', CR or NUL and cannot stand inside a page");
}
mkdirSync("dist", { recursive: true });
writeFileSync("dist/report.js", script.contents);
