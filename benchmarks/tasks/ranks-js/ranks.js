// SPDX-License-Identifier: Apache-2.0
"use strict";

/** The rank of each score when it arrives: 1 is the highest until then, and equal scores share a rank. */
function ranksAtArrival(scores) {
  const board = [];
  const ranks = [];
  for (const score of scores) {
    board.push(score);
    board.sort((a, b) => b - a);
    ranks.push(board.indexOf(score) + 1);
  }
  return ranks;
}

module.exports = { ranksAtArrival };
