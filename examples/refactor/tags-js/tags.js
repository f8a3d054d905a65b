// SPDX-License-Identifier: Apache-2.0
"use strict";

/** The tags in the order in which they come first. */
function distinct(tags) {
  const found = [];
  for (const tag of tags) {
    if (!found.includes(tag)) {
      found.push(tag);
    }
  }
  return found;
}

module.exports = { distinct };
