// SPDX-License-Identifier: Apache-2.0
// One refactoring of a repository's function.
import { diff, documentLink, el, get, heading, list, number, part, ratio, table } from './dom.js';

const words = (verdict) => verdict.replaceAll('_', ' ');

export async function showRefactoring(signal, name) {
  const it = await get(`refactorings/${part(name)}`);
  return [
    heading(`Refactoring ${it.run}`), el('p', { class: 'lead' }, it.answer),
    el('p', {}, documentLink('The report', `refactorings/${part(it.run)}/report`, `report-${it.run}.html`)),
    list([['task', it.task], ['may change', it.scope.join(', ')], ['strategy', it.strategy], ['verdict', words(it.verdict)], ['speed-up [95 %]', ratio(it.speedup)],
      ['branch', it.branch.replace(/^refs\/heads\//, '')], ['commit', it.commit], ['experience', it.experience ? el('a', { href: `#/memory/${part(it.experience)}` }, it.experience) : null],
      ['begun', it.created]]),
    table('Confirmed times by inputs and size', [['inputs'], ['size', 'right'], ['role'], ['before, ms', 'right'], ['after, ms', 'right'], ['speed-up [95 %]', 'right']],
      it.workloads.map((one) => [one.workload, one.size, words(one.role), number(one.old_ms), number(one.new_ms), ratio(one.ratio)])),
    table('What was tried', [['strategy'], ['added to'], ['fate'], ['short race [95 %]', 'right'], ['why']],
      it.trials.map((one) => [one.strategy, one.built_on || 'the base', one.failed_gate ? `failed ${one.failed_gate}` : words(one.verdict), ratio(one.ratio), one.why])),
    table('Gates', [['gate'], ['outcome'], ['found'], ['seconds', 'right']],
      it.gates.map((one) => [one.name, one.passed ? 'passed' : 'failed', one.facts.join('\n'), number(one.seconds, 1)])),
    it.diff ? [el('h2', {}, 'The change'), diff('The change', it.diff)] : null,
  ].flat().filter(Boolean);
}
