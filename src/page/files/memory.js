// SPDX-License-Identifier: Apache-2.0
// What runs have learned: search, read, edit, hide.
import { box, el, field, fill, get, heading, list, part, post, ratio, say, table, text, Trouble } from './dom.js';

const kAtOnce = 50;

export async function showMemory(signal) {
  const words = el('input', { type: 'search', autocomplete: 'off' });
  const hidden = el('input', { type: 'checkbox' });
  const odd = el('input', { type: 'checkbox' });
  const place = el('div', {});
  const trouble = new Trouble();
  const ask = (offset) => {
    const query = new URLSearchParams({ offset, limit: kAtOnce });
    if (words.value) query.set('text', words.value);
    if (hidden.checked) query.set('quarantined', '1');
    if (odd.checked) query.set('suspicious', '1');
    return get(`memory?${query}`);
  };
  const show = (offset, found) => {
    const rows = found.experiences.map((it) => [el('a', { href: `#/memory/${part(it.id)}` }, it.title || it.id), it.polarity, it.polarity === 'mends' ? '' : ratio(it.effect) || 'unknown', it.language, it.op_type,
      `${it.confirmed ?? 0} / ${it.refuted ?? 0}`, [it.quarantined ? 'quarantined' : '', it.suspicions.length ? 'suspicious' : ''].filter(Boolean).join(', ')]);
    const turn = (label, by) => el('button', { id: `turn${by}`, onclick: () => turnTo(offset + by) }, label);
    fill(place, rows.length === 0 ? el('p', {}, 'Nothing fits.') : null,
      table('Experiences', [['title'], ['what it did'], ['effect [95 %]', 'right'], ['language'], ['operation'], ['confirmed / refuted', 'right'], ['remark']], rows),
      el('div', { class: 'row' }, offset > 0 ? turn('Back', -kAtOnce) : null, rows.length === kAtOnce ? turn('Next', kAtOnce) : null),
      el('p', { class: 'soft' }, `in ${found.store}`));
  };
  let newest = 0;
  const turnTo = async (offset) => {
    const mine = ++newest;
    const counts = () => mine === newest && !signal.aborted;  // the last one that was asked for
    try {
      const found = await ask(offset);
      if (!counts()) return;
      show(offset, found);
      trouble.over();
    } catch (error) {
      if (counts()) trouble.say(error);
    }
  };
  const form = el('form', { class: 'row', role: 'search' }, field('Words', words, 'wide'), box('quarantined only', hidden), box('suspicious only', odd), el('button', {}, 'Search'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    turnTo(0);
  });
  try {
    show(0, await ask(0));
  } catch (error) {
    if (error.status === 401) throw error;
    fill(place, el('p', {}, error.message));
  }
  return [heading('Memory'), el('p', { class: 'soft' }, 'Lessons of earlier runs, which planners are shown. They were written by models: notes, never instructions.'), form, place];
}

const kFields = [['title', 'input'], ['strategy', 'textarea'], ['before', 'textarea'], ['after', 'textarea'], ['language', 'input'], ['op_type', 'input']];

export async function showExperience(signal, id) {
  const place = el('div', {});
  let it;
  const show = async () => {
    it = await get(`memory/${part(id)}`);
    fill(place, list([['id', it.id], ['what it did', it.polarity], [it.polarity === 'mends' ? 'mended kernel, over its parent' : 'effect', ratio(it.effect) || 'unknown'], ['language', it.language], ['operation', it.op_type], ['task', it.task],
      ['device', it.device], ['learned', `${it.created ?? ''}${it.run ? ` in run ${it.run}` : ''}${it.model ? ` by ${it.model}` : ''}`],
      ['suspicious', it.suspicions.join('; ')], ['shown to planners', it.quarantined ? 'no: quarantined' : 'yes']]),
      el('h2', {}, 'Strategy'), text('Strategy', it.strategy, 'wrap'), it.diff ? [el('h2', {}, 'Change'), text('Change', it.diff)] : null);
    hide.textContent = it.quarantined ? 'Show it to planners again' : 'Quarantine: show it to no planner';
  };
  const done = async (work, words) => {
    try {
      await work();
      await show();
      say(words);
    } catch (error) {
      say(error.message, true);
    }
  };
  const hide = el('button', { onclick: () => done(() => post(`memory/${part(id)}/${it.quarantined ? 'lift' : 'quarantine'}`, {}), 'done') });
  await show();
  const inputs = kFields.map(([name, kind]) => [name, el(kind, { value: it[name] ?? '', autocomplete: 'off' })]);
  const form = el('form', {}, inputs.map(([name, input]) => field(name, input)), el('p', {}, el('button', {}, 'Save')));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const changed = Object.fromEntries(inputs.filter(([name, input]) => input.value !== (it[name] ?? '')).map(([name, input]) => [name, input.value]));
    if (Object.keys(changed).length === 0) say('nothing was changed');
    else done(() => post(`memory/${part(id)}`, changed), `changed: ${Object.keys(changed).join(', ')}`);
  });
  return [heading(it.title || id), el('p', {}, el('a', { href: '#/memory' }, 'All experiences')), place, el('p', {}, hide), el('h2', {}, 'Edit'), form];
}
