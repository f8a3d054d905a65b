// SPDX-License-Identifier: Apache-2.0
// One refactoring of a repository's function.
import { diff, documentLink, el, get, heading, list, number, part, ratio, table } from './dom.js';

const words = (verdict) => verdict.replaceAll('_', ' ');
const GAINS = { memory: 'memory saved [95 %]', readability: 'complexity saved' };

/// Before and after at one size, in the goal's unit.
function sizes(it) {
  const bySize = (unit, amounts) => table(`Confirmed ${unit === 'MiB' ? 'peaks of memory' : 'times'} by inputs and size`,
    [['inputs'], ['size', 'right'], ['role'], [`before, ${unit}`, 'right'], [`after, ${unit}`, 'right'], ['old / new [95 %]', 'right'], ['start-up']],
    it.workloads.map((one) => [one.workload, one.size, words(one.role), ...amounts(one).map((amount) => number(amount)), ratio(one.ratio), one.timed ? 'left out' : 'prevails, counted in the ratio']));
  return it.goal === 'memory' ? bySize('MiB', (one) => [one.old_peak_bytes / 1048576, one.new_peak_bytes / 1048576])
    : bySize('ms', (one) => [one.old_ms, one.new_ms]);
}

function figures(text) {
  if (!text) return null;
  const row = (name, of) => [name, ...['cognitive', 'nesting', 'statements'].map((figure) => `${of.before[figure]} → ${of.after[figure]}`)];
  return table('Figures of the text', [['function'], ['cognitive complexity', 'right'], ['deepest nesting', 'right'], ['statements', 'right']],
    [...text.functions.map((one) => row(one.name, one)), row('all of these', text)]);
}

export async function showRefactoring(signal, name) {
  const it = await get(`refactorings/${part(name)}`);
  return [
    heading(`Refactoring ${it.run}`), el('p', { class: 'lead' }, it.answer),
    el('p', {}, documentLink('The report', `refactorings/${part(it.run)}/report`, `report-${it.run}.html`)),
    list([['task', it.task], ['may change', it.scope.join(', ')], ['strategy', it.strategy], ['verdict', words(it.verdict)], [GAINS[it.goal] ?? 'speed-up [95 %]', ratio(it.speedup)],
      ['branch', it.branch.replace(/^refs\/heads\//, '')], ['commit', it.commit], ['experience', it.experience ? el('a', { href: `#/memory/${part(it.experience)}` }, it.experience) : null],
      ['begun', it.created]]),
    figures(it.readability), sizes(it),
    table('What was tried', [['strategy'], ['added to'], ['fate'], ['short race [95 %]', 'right'], ['over the best until then', 'right'], ['why']],
      it.trials.map((one) => [one.strategy, one.built_on || 'the base', one.failed_gate ? `failed ${one.failed_gate}` : words(one.verdict), ratio(one.ratio), ratio(one.over_best), one.why])),
    table('Gates', [['gate'], ['outcome'], ['found'], ['seconds', 'right']],
      it.gates.map((one) => [one.name, one.passed ? 'passed' : 'failed', one.facts.join('\n'), number(one.seconds, 1)])),
    it.diff ? [el('h2', {}, 'The change'), diff('The change', it.diff)] : null,
  ].flat().filter(Boolean);
}
