// SPDX-License-Identifier: Apache-2.0
"use strict";

/** The readings without repetitions, in order. A gap (NaN) equals nothing, so that every gap is kept. */
function distinct(readings) {
  const kept = [];
  for (const reading of readings) {
    if (kept.indexOf(reading) < 0) {
      kept.push(reading);
    }
  }
  return kept;
}

module.exports = { distinct };
