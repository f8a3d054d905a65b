// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert";
import built from "../built/grouped.js";

const entries = [{ key: "b", value: 1 }, { key: "a", value: 2 }, { key: "b", value: 3 }];
assert.deepStrictEqual([...built.grouped(entries)], [["b", [1, 3]], ["a", [2]]]);
assert.deepStrictEqual([...built.grouped([])], []);
assert.strictEqual(entries.length, 3);
