// SPDX-License-Identifier: Apache-2.0
"use strict";

/** The JSON text without what does not count: blanks, how numbers and letters are written, all but the last of equal keys. */
function compact(text) {
  return JSON.stringify(JSON.parse(text));
}

module.exports = { compact };
