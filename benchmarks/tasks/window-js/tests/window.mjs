// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert";
import window from "../window.js";

assert.deepStrictEqual(window.movingSums([1, 2, 3, 4], 2), [1, 3, 5, 7]);
assert.deepStrictEqual(window.movingSums([1, 2], 5), [1, 3]);
assert.deepStrictEqual(window.movingSums([], 3), []);
