// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert";
import tags from "../tags.js";

assert.deepStrictEqual(tags.distinct(["a", "b", "a", "c", "b"]), ["a", "b", "c"]);
assert.deepStrictEqual(tags.distinct([]), []);
