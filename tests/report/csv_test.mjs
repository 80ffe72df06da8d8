// SPDX-License-Identifier: Apache-2.0
// Texts of a report as a spreadsheet reads them (RFC 4180): none of them is a formula.
//   csv_test.mjs NODE_DIRECTORY
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const directory = process.argv[2];
const { transformSync } = createRequire(join(directory, "package.json"))("esbuild");
const { code } = transformSync(readFileSync(join(directory, "src/tables.ts"), "utf8"), { loader: "ts", format: "esm" });
const { tableCsv } = await import(`data:text/javascript,${encodeURIComponent(code)}`);

const cells = (...row) => tableCsv({ columns: row.map((_, i) => ({ key: `c${i}`, label: "" })), rows: [row] }).split("\r\n")[1];

for (const formula of ["=1+1", "+SUM(A1)", "-cmd|' /C calc'!A0", "@SUM(A1)", "\t=1+1"]) {
  assert.equal(cells(formula), `'${formula}`, "an apostrophe makes it a text");
}
assert.equal(tableCsv({ columns: [{ key: "kernel", label: "tma", kernel: "gemm_tma" }], rows: [] }), "gemm_tma\r\n");
assert.equal(tableCsv({ columns: [{ key: "=HYPERLINK()" }], rows: [] }), "'=HYPERLINK()\r\n");
assert.equal(cells("\r=1"), "\"'\r=1\"");
assert.equal(cells('=A1,"B"'), "\"'=A1,\"\"B\"\"\"");
assert.equal(cells(-1.5, "-1.5", 'a"b', "plain", null), '-1.5,-1.5,"a""b",plain,', "numbers are what they were");
