// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert";
import ranks from "../ranks.js";

assert.deepStrictEqual(ranks.ranksAtArrival([10, 30, 20, 30]), [1, 1, 2, 1]);
assert.deepStrictEqual(ranks.ranksAtArrival([]), []);
