// SPDX-License-Identifier: Apache-2.0
// The candidates of a run as a tree. Only what is unfolded is made, and at most so many children at once: a run may have
// ten thousand.
import { el, field, fill, part, ratio } from './dom.js';

const kAtOnce = 100;
const kBaseline = 'baseline';

// "i1.b0.p3.a0" of "i1.b0.p3.a0.f2": what stays while an attempt is mended.
const attemptOf = (id) => id.replace(/\.f\d+$/, '');

const kinds = {
  all: () => true,
  'under way': (it) => it.state !== 'done',
  passed: (it) => it.status === 'PASSED',
  faster: (it) => it.ratio && it.ratio.low > 1,
  failed: (it) => it.state === 'done' && it.status !== 'PASSED',
};

export class CandidateTree {
  constructor(run) {
    this.run = run;
    this.after = 0;
    this.rounds = [];
    this.attempts = new Map();
    this.unfolded = new Map([[kBaseline, kAtOnce]]);  // how many children are shown
    this.place = el('div', {});
    this.kind = el('select', { onchange: () => this.show() }, Object.keys(kinds).map((kind) => el('option', {}, kind)));
    this.count = el('p', { class: 'soft', id: 'count' });
    this.element = el('div', {}, field('Which', this.kind), this.count, this.place);
  }

  // What the server told since the last time. Whether anything is new.
  take(outline) {
    const anew = outline.anew && outline.after !== this.after;
    if (anew) {
      this.rounds = [];
      this.attempts = new Map();
    }
    this.after = outline.after;
    for (const one of outline.rounds) this.rounds.push(one);
    for (const one of outline.attempts) this.attempts.set(attemptOf(one.id), one);
    const news = anew || outline.rounds.length > 0 || outline.attempts.length > 0;
    if (news || this.children === undefined) this.show();
    return news;
  }

  parentOf(id) {
    const [, iteration, place] = /^i(\d+)\.b(\d+)/.exec(id) ?? [null, 0, 0];
    const before = this.rounds.find((one) => one.iteration === Number(iteration) - 1);
    return attemptOf(before?.beam[Number(place)]?.id ?? kBaseline);
  }

  show() {
    this.children = new Map();
    for (const id of this.attempts.keys()) {
      const parent = this.parentOf(id);
      if (!this.children.has(parent)) this.children.set(parent, []);
      this.children.get(parent).push(id);
    }
    this.kept = new Set(this.rounds.flatMap((one) => one.beam.map((member) => attemptOf(member.id))));
    this.count.textContent = `${this.attempts.size} candidates`;
    if (this.kind.value === 'all') {
      fill(this.place, el('ul', { class: 'tree' }, this.node(kBaseline)));
      return;
    }
    const ids = [...this.attempts.keys()].filter((id) => kinds[this.kind.value](this.attempts.get(id)));
    this.count.textContent += `, ${ids.length} of them ${this.kind.value}`;
    fill(this.place, this.branch(`only ${this.kind.value}`, ids, false));
  }

  node(id) {
    const it = this.attempts.get(id);
    const children = this.children.get(id) ?? [];
    const open = this.unfolded.has(id);
    const button = children.length === 0 ? el('span', { class: 'leaf' })
      : el('button', {
        id: `fold-${id}`, 'aria-expanded': String(open), 'aria-label': `${children.length} made from ${id}`,
        onclick: () => {
          if (open) this.unfolded.delete(id);
          else this.unfolded.set(id, kAtOnce);
          this.show();
        },
      }, open ? '-' : '+');
    const shown = it?.id ?? id;
    const link = el('a', { href: `#/runs/${part(this.run)}/${part(shown)}`, id: `candidate-${id}` }, shown);
    return el('li', {}, button, link, ' ', it ? this.words(id, it) : null, open && children.length ? this.branch(id, children, true) : null);
  }

  words(id, it) {
    const fate = it.state !== 'done' ? it.state : it.note || (it.ratio ? ratio(it.ratio) : it.status);
    const style = it.state === 'done' && it.ratio?.low > 1 ? 'good' : it.state === 'done' && it.status !== 'PASSED' ? 'bad' : 'soft';
    return [el('span', { class: style }, fate), this.kept.has(id) ? el('strong', {}, ' kept') : null, ` ${it.title ?? ''}`];
  }

  // `nested`: with what was made from each.
  branch(id, ids, nested) {
    const most = this.unfolded.get(id) ?? kAtOnce;
    const leaf = (one) => (nested ? this.node(one) : el('li', {}, el('a', { href: `#/runs/${part(this.run)}/${part(this.attempts.get(one).id)}`, id: `candidate-${one}` }, this.attempts.get(one).id), ' ', this.words(one, this.attempts.get(one))));
    const more = ids.length > most && el('li', {}, el('button', { id: `more-${id}`, onclick: () => { this.unfolded.set(id, most + kAtOnce); this.show(); } }, `Show ${Math.min(kAtOnce, ids.length - most)} of ${ids.length - most} more`));
    return el('ul', { class: nested ? null : 'tree' }, ids.slice(0, most).map(leaf), more);
  }
}
