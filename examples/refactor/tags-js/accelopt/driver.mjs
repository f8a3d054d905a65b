// SPDX-License-Identifier: Apache-2.0
// Calls the function on every case; writes what it gave, and its argument after the call.
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const { distinct } = (await import(pathToFileURL(resolve("tags.js")))).default;
const results = [];
for (const line of readFileSync(process.argv[2], "utf8").split("\n").slice(0, -1)) {
  const words = line.split(" ");
  results.push({ value: distinct(words), words });
}
writeFileSync(process.argv[3], JSON.stringify(results));
