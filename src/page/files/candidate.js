// SPDX-License-Identifier: Apache-2.0
// All that is on record of one candidate.
import { diff, el, folded, get, heading, list, number, part, ratio, table, text, time } from './dom.js';

const kSpeakers = ['system', 'user', 'assistant'];

function race(it) {
  if (!it) return el('p', { class: 'soft' }, 'No race of it is on record.');
  const names = it.workloads.filter((one) => one.role === 'race').map((one) => one.name);
  const blocks = it.samples.flatMap((block, number) => block.candidate_ns.map((ns, i) => [number + 1, names[i] ?? i + 1, time(block.reference_ns[i]), time(ns), number_of(block.reference_ns[i] / ns), block.disturbed ? 'disturbed' : '']));
  return [
    list([['verdict', it.verdict], ['ratio to its parent', ratio(it.ratio)], ['decided by', it.decided_by], ['blocks', it.blocks]]),
    table('Workloads', [['workload'], ['role'], ['time', 'right'], ["parent's time", 'right'], ['ratio [95 %]', 'right']],
      it.workloads.map((one) => [one.name, one.role, time(one.time_ns), time(one.reference_ns), ratio(one.ratio)])),
    blocks.length ? folded(`Samples of ${it.samples.length} blocks`, () => table('Samples: the medians of each block', [['block', 'right'], ['workload'], ["parent's time", 'right'], ['time', 'right'], ['ratio', 'right'], ['remark']], blocks)) : null,
  ];
}

function number_of(value) {
  return `${number(value, 3)}x`;
}

function profile(it) {
  if (!it) return el('p', { class: 'soft' }, 'It was not profiled.');
  return [
    table('Profile', [['figure'], ['value', 'right'], ['unit'], ['meaning']], it.items.map((one) => [one.name, typeof one.value === 'number' ? Number(one.value.toPrecision(4)) : one.value, one.unit, one.meaning])),
    it.remarks?.length ? text("The compiler's remarks", it.remarks.join('\n'), 'wrap') : null,
    it.notes?.length ? el('ul', {}, it.notes.map((note) => el('li', {}, note))) : null,
  ];
}

function question(one) {
  return folded(`${one.label}, answered by ${one.model}`, () => [
    (one.prompt ?? []).map(([speaker, words], i) => [el('h3', {}, kSpeakers[speaker] ?? `speaker ${speaker}`), text(`${one.label}, message ${i + 1}: ${kSpeakers[speaker]}`, words, 'wrap')]),
    one.prompt ? null : el('p', { class: 'soft' }, 'Its prompt is not on record: an older version made the run.'),
    el('h3', {}, 'answer'), text(`${one.label}: answer`, one.answer, 'wrap')]);
}

export async function showCandidate(signal, run, id) {
  const it = await get(`runs/${part(run)}/candidates/${part(id)}`);
  const to = (name) => (name ? el('a', { href: `#/runs/${part(run)}/${part(name)}` }, name) : null);
  return [
    heading(`Candidate ${it.id}`),
    el('p', {}, el('a', { href: `#/runs/${part(run)}` }, `Run ${run}`)),
    list([['plan', it.plan?.title], ['came out', `${it.fate}${it.winner ? ', confirmed' : ''}`], ['made from', to(it.parent)], ['by', it.author],
      ['over its parent', ratio(it.ratio)], ['over the baseline', ratio(it.score)], ['note', it.note], ['source', it.source_id]]),
    it.reason ? [el('h2', {}, 'Why it failed'), text('Why it failed', it.reason, 'wrap')] : null,
    it.failed.length ? folded(`${it.failed.length} earlier ${it.failed.length === 1 ? 'answer' : 'answers'} that failed`, () => it.failed.map((one) => [el('p', {}, `${one.id}: ${one.status}`), text(one.id, one.reason || 'its reason is not on record', 'wrap')])) : null,
    it.plan?.text ? [el('h2', {}, 'Plan'), text('Plan', it.plan.text, 'wrap'), it.plan.rests_on?.length ? el('p', {}, 'Rests on ', it.plan.rests_on.map((one) => [el('a', { href: `#/memory/${part(one)}` }, one), ' '])) : null] : null,
    it.diff_from_parent ? [el('h2', {}, 'Change from its parent'), diff('Change from its parent', it.diff_from_parent)] : null,
    it.diff_from_baseline && it.parent !== 'baseline' ? folded('Change from the baseline', () => diff('Change from the baseline', it.diff_from_baseline)) : null,
    it.source ? [el('h2', {}, 'Source'), text('Source', it.source)] : null,
    it.parent ? [el('h2', {}, 'Race'), race(it.race)] : null,
    el('h2', {}, 'Profile'), profile(it.profile),
    it.questions.length ? [el('h2', {}, 'Questions and answers'), it.questions.map(question)] : null,
  ].flat(3).filter(Boolean);
}
