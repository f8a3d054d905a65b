// SPDX-License-Identifier: Apache-2.0
// Calls the function on every case, a line of readings each; writes what it gave and its argument after the call.
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const { distinct } = (await import(pathToFileURL(resolve("readings.js")))).default;
let results = "";
for (const line of readFileSync(process.argv[2], "utf8").split("\n").slice(0, -1)) {
  const readings = line === "" ? [] : line.split(" ").map(Number);
  results += distinct(readings).join(" ") + "|" + readings.join(" ") + "\n";
}
writeFileSync(process.argv[3], results);
