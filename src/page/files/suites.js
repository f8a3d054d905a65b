// SPDX-License-Identifier: Apache-2.0
// What `accelopt bench` left: suite runs over time.
import { documentLink, el, folded, get, heading, number, part, ratio, table } from './dom.js';

export async function showSuites() {
  const { lines } = await get('suites');
  const runs = lines.filter((line) => line.type === 'suite_run').reverse();
  if (runs.length === 0) return [heading('Suites'), el('p', {}, 'No suite run yet; make one with: accelopt bench SUITE')];
  const mean = (value) => (typeof value === 'number' ? `${number(value)}x` : '');
  return [
    heading('Suites'), el('p', {}, documentLink('The report over time', 'suites/report', 'report-suites.html')),
    runs.map((run, i) => folded(`${run.created}: ${run.suite.split('/').pop()}, ${run.state}, ${run.finished} of ${run.tasks.length} finished, mean ${mean(run.geometric_mean)}`, () =>
      table(`Tasks of suite run ${run.suite_run}`, [['task'], ['run'], ['state'], ['outcome'], ['speed-up [95 %]', 'right'], ['evaluations', 'right']],
        run.runs.map((one) => [one.task, one.run ? el('a', { href: `#/runs/${part(one.run)}` }, one.run) : one.error ?? '', one.state, one.outcome ?? '', ratio(one.speedup), one.evaluations])), i === 0)),
  ].flat();
}
