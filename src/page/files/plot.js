// SPDX-License-Identifier: Apache-2.0
// The best speed-up so far against evaluations, as the report draws it.
import { number, plain, ratio } from './dom.js';

const kWidth = 720;
const kHeight = 300;
const kLeft = 64;
const kRight = 18;
const kTop = 14;
const kBottom = 46;

function svg(name, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  for (const child of children) element.append(child instanceof Node ? child : plain(child));
  return element;
}

// Round values within a range, about `count` of them.
function ticksOf(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const size = [1, 2, 5, 10].map((digit) => digit * power).find((one) => one >= rough);
  const ticks = [];
  for (let k = Math.ceil(low / size - 1e-9); k * size <= high + size * 1e-9; ++k) ticks.push(k * size);
  return ticks;
}

const shortNumber = (value) => String(Number(value.toFixed(3)));

// rounds: {iteration, evaluations, incumbent: {id, title, score} or nothing}. Nothing where nothing is better yet.
export function convergence(rounds) {
  const best = rounds.filter((one) => one.incumbent);
  if (best.length === 0) return null;
  const lastX = rounds.at(-1).evaluations * 1.06;
  const values = best.flatMap((one) => [one.incumbent.score.low, one.incumbent.score.high]).filter(Number.isFinite);
  const low = Math.min(1, ...values);
  const high = Math.max(1, ...values);
  const room = Math.max((high - low) * 0.08, 0.02);
  const bottom = Math.max(low - room, 0);
  const top = high + room;
  const x = (value) => Number((kLeft + (value / lastX) * (kWidth - kLeft - kRight)).toFixed(2));
  const y = (value) => Number((kTop + (1 - (value - bottom) / (top - bottom)) * (kHeight - kTop - kBottom)).toFixed(2));
  const floor = kHeight - kBottom;
  const parts = [];
  for (const tick of ticksOf(0, lastX, 7)) {
    parts.push(svg('line', { class: 'grid', x1: x(tick), y1: kTop, x2: x(tick), y2: floor }),
      svg('text', { class: 'tick tick-x', x: x(tick), y: floor + 17, 'text-anchor': 'middle' }, shortNumber(tick)));
  }
  for (const tick of ticksOf(bottom, top, 6)) {
    parts.push(svg('line', { class: 'grid', x1: kLeft, y1: y(tick), x2: kWidth - kRight, y2: y(tick) }),
      svg('text', { class: 'tick tick-y', x: kLeft - 8, y: y(tick) + 4, 'text-anchor': 'end' }, `${shortNumber(tick)}x`));
  }
  parts.push(svg('text', { class: 'axis', x: (kLeft + kWidth - kRight) / 2, y: kHeight - 8, 'text-anchor': 'middle' }, 'evaluations'),
    svg('text', { class: 'axis', 'text-anchor': 'middle', transform: `translate(14 ${(kTop + floor) / 2}) rotate(-90)` }, 'old / new, over the baseline'));
  const path = best.reduce((way, one) => `${way}H${x(one.evaluations)}V${y(one.incumbent.score.estimate)}`, `M${x(0)} ${y(1)}`);
  parts.push(svg('path', { class: 'steps', d: `${path}H${x(lastX)}` }));
  for (const one of best) {
    const { score, id } = one.incumbent;
    const at = x(one.evaluations);
    const upper = Number.isFinite(score.high) ? score.high : top;
    parts.push(svg('line', { class: 'interval best', x1: at, y1: y(score.low), x2: at, y2: y(upper) }),
      svg('circle', { class: 'mark best', cx: at, cy: y(score.estimate), r: 5 }, svg('title', {}, `round ${one.iteration + 1}: ${ratio(score)}, ${id}`)));
  }
  const last = best.at(-1);
  const words = `Best so far by evaluations: ${number(last.incumbent.score.estimate)}x after ${last.evaluations}. The table below has the numbers.`;
  return svg('svg', { id: 'convergence', viewBox: `0 0 ${kWidth} ${kHeight}`, role: 'img', 'aria-label': words }, ...parts);
}
