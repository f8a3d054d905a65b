// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert";
import compact from "../compact.js";

assert.strictEqual(compact.compact(' { "a": [1.0, "\\u0041"], "a" : 2 } '), '{"a":2}');
assert.throws(() => compact.compact("{"), SyntaxError);
