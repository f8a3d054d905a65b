// SPDX-License-Identifier: Apache-2.0
"use strict";

/** The sum of the last `width` counts at each place; fewer at the beginning. Counts are whole numbers. */
function movingSums(counts, width) {
  const sums = [];
  for (let end = 1; end <= counts.length; end++) {
    const last = counts.slice(Math.max(0, end - width), end);
    sums.push(last.reduce((sum, count) => sum + count, 0));
  }
  return sums;
}

module.exports = { movingSums };
