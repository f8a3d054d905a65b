// SPDX-License-Identifier: Apache-2.0
// Calls FUNCTION of subject.mjs with the arguments of each case, one after the other in one process, and waits for promises. A case
// is a JSON list of arguments. Writes what each call gave, or its error, with the arguments after it; then adds to each array that
// was given, and writes the arguments again: what a result shares with its arguments, or with the next result, shows.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";

const subject = await import(pathToFileURL(process.cwd() + "/subject.mjs").href);
const call = subject[process.argv[4]];
const show = (value) => inspect(value, { depth: null, maxArrayLength: null, maxStringLength: null, breakLength: Infinity });
const lines = [];
for (const args of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  let value;
  let line;
  try {
    value = await call(...args);
    line = "value " + show(value);
  } catch (error) {
    line = "error " + error.name + ": " + error.message;
  }
  lines.push(line + ", arguments " + show(args));
  if (Array.isArray(value)) {
    value.push("added by the driver");
    lines.push("arguments then " + show(args));
  }
}
writeFileSync(process.argv[3], lines.join("\n") + "\n");
