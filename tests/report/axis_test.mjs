// SPDX-License-Identifier: Apache-2.0
// Ticks of logarithmic axes, also of ranges that hold no round number.
//   axis_test.mjs NODE_DIRECTORY
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const directory = process.argv[2];
const { buildSync } = createRequire(join(directory, "package.json"))("esbuild");
const { outputFiles } = buildSync({ entryPoints: [join(directory, "src/axis.ts")], bundle: true, format: "esm", write: false });
const { niceLogTicks } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);

assert.deepEqual(niceLogTicks(1, 1e5), [1, 10, 100, 1000, 1e4, 1e5]);
for (let low = 0.01; low < 100; low *= 1.07) {
  for (const width of [1.08 ** 4, 2, 30, 1e5]) {
    const ticks = niceLogTicks(low, low * width);
    assert.ok(ticks.length >= 1 && ticks.length <= 12, `${low} to ${low * width}: ${ticks}`);
    assert.ok(ticks.every((tick) => tick >= low * 0.998 && tick <= low * width * 1.002));
    const labels = ticks.map((tick) => tick.toPrecision(2));
    assert.equal(new Set(labels).size, ticks.length, `two digits tell ${ticks} apart`);
  }
}
