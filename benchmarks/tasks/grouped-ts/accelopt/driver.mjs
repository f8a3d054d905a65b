// SPDX-License-Identifier: Apache-2.0
// Calls the function on every case, a line of JSON each; writes what it gave and its arguments after the call.
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const { grouped } = (await import(pathToFileURL(resolve("built/grouped.js")))).default;
const results = [];
for (const line of readFileSync(process.argv[2], "utf8").split("\n").slice(0, -1)) {
  const entries = JSON.parse(line);
  results.push({ groups: [...grouped(entries)], entries });
}
writeFileSync(process.argv[3], JSON.stringify(results));
