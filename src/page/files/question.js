// SPDX-License-Identifier: Apache-2.0
// The questions of a run whose roles are played here: the oldest open one, and a form to answer it.
import { el, field, fill, say, text, tool } from './dom.js';

export class QuestionForm {
  constructor(run) {
    this.run = run;
    this.asked = null;
    this.element = el('div', {});
  }

  // `open`: the names of the open questions, the oldest first. What is being typed stays while its question does.
  async show(open) {
    if (open.includes(this.asked) || (open.length === 0 && this.asked === null)) return;
    this.asked = null;
    if (open.length === 0) return fill(this.element);
    const { question } = await tool('next_question', { run: this.run, wait_s: 0 });
    if (!question) return fill(this.element);
    this.asked = question.id;
    const answer = el('textarea', { required: true });
    const give = el('button', {}, 'Give the answer');
    const form = el('form', {}, field('Your answer, in the form that the question asks for', answer), give);
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      give.disabled = true;
      try {
        say((await tool('answer', { run: this.run, question: question.id, text: answer.value })).text);
        fill(this.element, el('p', { class: 'soft' }, 'Answered.'));
      } catch (error) {
        say(error.message, true);
        give.disabled = false;
      }
    });
    fill(this.element, el('h2', { id: 'question' }, `A question for the ${question.role}: ${question.id}`), text('The question', question.prompt, 'wrap'), form);
  }
}
