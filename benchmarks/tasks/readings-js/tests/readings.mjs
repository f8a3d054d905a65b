// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert";
import readings from "../readings.js";

assert.deepStrictEqual(readings.distinct([2, 1, 2, 3, 1]), [2, 1, 3]);
assert.deepStrictEqual(readings.distinct([]), []);
