// SPDX-License-Identifier: Apache-2.0
// Runs: the list, starting one, and one of them live.
import { documentLink, el, field, fill, folded, get, heading, list, number, part, ratio, Refused, say, table, text, tool, Trouble } from './dom.js';
import { convergence } from './plot.js';
import { QuestionForm } from './question.js';
import { CandidateTree } from './tree.js';

const kRunsAtOnce = 100;
const kLookAgain = 1000;  // milliseconds
const kLookSlowly = 5000;  // at what nothing works on, until somebody does

// `work`, again after the milliseconds that it gives, until the view is left or it gives none. Returns what does it at once.
function whileShown(signal, work) {
  let timer = null;
  const trouble = new Trouble();
  const step = async () => {
    timer = null;
    if (signal.aborted) return;
    let pause = kLookAgain;
    try {
      pause = await work();
      if (!signal.aborted) trouble.over();
    } catch (error) {
      if (signal.aborted) return;
      trouble.say(error);
      if (error instanceof Refused && error.status !== 0) pause = null;
    }
    if (pause && !signal.aborted) timer = setTimeout(step, pause);
  };
  step();
  return () => {
    if (timer === null) return;
    clearTimeout(timer);
    step();
  };
}

// Does it, and says what came of it.
async function act(button, work) {
  button.disabled = true;
  say('...');
  try {
    say(await work());
  } catch (error) {
    say(error.message, true);
  }
  button.disabled = false;
}

// A larger one would be sent as another.
function wholeNumber(name, text) {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`${name.replaceAll('_', ' ')} ${text}: from this page it must be a whole number up to ${Number.MAX_SAFE_INTEGER}`);
  return value;
}

function startForm(folders) {
  const input = (attributes) => el('input', attributes);
  const task = input({ required: true, autocomplete: 'off' });
  const who = el('select', {}, [['auto'], ['recipes'], ['model'], ['client', 'you, on the page of the run']].map(([name, label]) => el('option', { value: name }, label ?? name)));
  const numbers = { iterations: input({ type: 'number', min: '1' }), max_evaluations: input({ type: 'number', min: '1' }), seed: input({ type: 'number', min: '0' }) };
  const words = { max_time: input({ placeholder: '10m' }), device: input({ placeholder: 'cpu' }), model: input({}) };
  const button = el('button', {}, 'Start the run');
  const form = el('form', {}, el('p', { class: 'soft' }, `A task folder below ${folders.join(' or ')}. What is left empty has its usual value.`),
    el('div', { class: 'row' }, field('Task folder', task, 'wide'), field('Who plays the roles', who)),
    el('div', { class: 'row' }, field('Rounds', numbers.iterations), field('Most evaluations', numbers.max_evaluations), field('Longest time', words.max_time),
      field('Device', words.device), field('Model of the settings', words.model), field('Seed', numbers.seed)), button);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    act(button, async () => {
      const args = { task: task.value, agents: who.value };
      for (const [name, one] of Object.entries(numbers)) if (one.value !== '') args[name] = wholeNumber(name, one.value);
      for (const [name, one] of Object.entries(words)) if (one.value !== '') args[name] = one.value;
      const started = await tool('start', args);
      location.hash = `#/runs/${part(started.run)}`;
      return started.text;
    });
  });
  return form;
}

export async function showRuns(signal) {
  const about = await get('about');
  const place = el('div', {});
  let offset = 0;  // of what is shown
  let wanted = 0;
  let before = '';
  const trouble = new Trouble();
  const turn = (by) => async () => {
    const mine = offset + by;
    wanted = mine;
    try {
      await load();
    } catch (error) {
      if (wanted === mine) wanted = offset;
      if (!signal.aborted) trouble.say(error);
      return;
    }
    trouble.over();
    document.getElementById(by > 0 ? 'newer' : offset > 0 ? 'newer' : 'older')?.focus();
  };
  const load = async () => {
    const asked = wanted;
    const { total, runs } = await get(`runs?offset=${asked}&limit=${kRunsAtOnce}`);
    if (asked !== wanted) return kLookAgain; // the page was turned meanwhile
    offset = asked;
    const now = JSON.stringify([offset, total, runs]);
    if (now === before) return kLookAgain;
    before = now;
    const rows = runs.map((run) => [el('a', { href: `#/${run.kind === 'run' ? 'runs' : 'refactorings'}/${part(run.run)}`, id: `run-${run.run}` }, run.run), run.task,
      run.kind, run.status, run.outcome.replaceAll('_', ' '), ratio(run.speedup), run.created]);
    const range = total > kRunsAtOnce ? `${offset + 1} to ${offset + runs.length} of ` : '';
    fill(place, total === 0 ? el('p', {}, 'No run yet: start one below, or with accelopt run.') : null,
      table(`${range}${total} ${total === 1 ? 'run' : 'runs'}, the newest first`, [['run'], ['task'], ['kind'], ['status'], ['outcome'], ['old / new [95 %]', 'right'], ['begun']], rows),
      el('div', { class: 'row' }, offset > 0 && el('button', { id: 'newer', onclick: turn(-kRunsAtOnce) }, `The ${kRunsAtOnce} newer ones`),
        offset + kRunsAtOnce < total && el('button', { id: 'older', onclick: turn(kRunsAtOnce) }, `The ${Math.min(kRunsAtOnce, total - offset - kRunsAtOnce)} older ones`)));
    return kLookAgain;
  };
  await load();
  whileShown(signal, load);
  return [heading('Runs'), place, el('h2', {}, 'Start a run'), startForm(about.folders),
    el('p', { class: 'soft' }, `accelopt ${about.version}, workspace ${about.workspace}`)];
}

function improvement(result) {
  const figure = ratio(result.speedup);
  if (result.goal === 'memory') return `a peak of memory besides the start-up ${figure} as small as the baseline's`;
  if (result.goal === 'readability') return `a cognitive complexity ${figure} as low as the baseline's`;
  return `${figure} as fast as the baseline`;
}

function standing(run) {
  const spent = run.spent;
  const attempts = Object.entries(run.attempts).map(([status, count]) => `${count} ${status}`).join(', ');
  return [
    run.result?.outcome ? el('p', { class: 'lead' }, run.result.outcome === 'improved'
      ? `${improvement(run.result)}, confirmed in fresh processes on fresh inputs.`
      : `${run.result.outcome}${run.result.reason ? `: ${run.result.reason}` : ''}`) : null,
    list([
      ['status', el('span', { id: 'status' }, run.status)], ['task', run.task], ['begun', run.created], ['device', run.device],
      ['round', run.iterations ? `${Math.max(run.iteration, 1)} of at most ${run.iterations}` : ''],
      ['now', run.doing], ['best so far', run.best ? `${ratio(run.best.speedup)} ${run.best.title}` : 'none yet'], ['attempts', attempts],
      ['spent', `${spent.calls} calls, ${spent.tokens} tokens${spent.usd === null ? '' : `, $${number(spent.usd, 4)}`}, ${spent.evaluations} evaluations, ${number(spent.device_seconds, 1)} s on the device, ${number(spent.wall_seconds, 1)} s in all`],
      ['trouble', run.trouble]]),
    run.notes.length ? el('ul', { class: 'soft' }, run.notes.map((note) => el('li', {}, note))) : null,
  ];
}

function roundsTable(rounds) {
  return table('Best so far by round', [['round', 'right'], ['evaluations', 'right'], ['best so far, in its play-off [95 %]', 'right'], ['candidate'], ['plan']],
    rounds.map((one) => [one.iteration + 1, one.evaluations, one.incumbent ? ratio(one.incumbent.score) : 'none', one.incumbent?.id ?? '', one.incumbent?.title ?? '']));
}

export async function showRun(signal, name) {
  const base = `runs/${part(name)}`;
  const standingPlace = el('div', {});
  const roundsPlace = el('div', {});
  const question = new QuestionForm(name);
  const tree = new CandidateTree(name);
  let last = '';
  let again = () => {};
  const button = (label, does) => el('button', { onclick: (event) => act(event.currentTarget, does) }, label);
  const buttons = {
    stop: button('Stop and confirm', async () => (await tool('stop', { run: name })).text),
    now: button('Stop at once', async () => (await tool('stop', { run: name, now: true })).text),
    // Refused, too, it may go on: somebody else has resumed it.
    resume: button('Resume', () => tool('resume', { run: name }).then((said) => said.text).finally(() => again())),
  };
  const hint = el('input', { required: true, maxlength: '2000', autocomplete: 'off' });
  const give = el('button', {}, 'Give the hint');
  const steer = el('form', { class: 'row' }, field("A hint for the next round's planners", hint, 'wide'), give);
  steer.addEventListener('submit', (event) => {
    event.preventDefault();
    act(give, async () => {
      const said = (await tool('steer', { run: name, hint: hint.value })).text;
      hint.value = '';
      return said;
    });
  });
  const after = async () => {
    const outline = await get(`${base}/outline?after=${tree.after}`);
    if (tree.take(outline)) fill(roundsPlace, convergence(tree.rounds), roundsTable(tree.rounds));
  };
  const stand = async () => {
    const run = await get(base);
    const now = JSON.stringify(run);
    if (now !== last) fill(standingPlace, ...standing(run));
    last = now;
    buttons.stop.hidden = buttons.now.hidden = run.status !== 'running';
    buttons.resume.hidden = !run.ended || run.status === 'done';
    steer.hidden = run.status === 'done';
    await question.show(run.ended ? [] : run.questions ?? []);
    return !run.ended ? kLookAgain : run.status !== 'done' ? kLookSlowly : null;
  };
  const look = async () => {
    const pause = await stand();
    await after();
    return pause;
  };
  await Promise.all([after(), stand()]);
  again = whileShown(signal, look);
  return [heading(`Run ${name}`), standingPlace, el('div', { class: 'row' }, Object.values(buttons)), question.element, steer,
    el('p', {}, documentLink('The report', `${base}/report`, `report-${name}.html`)),
    folded('The explanation', () => {
      const place = el('div', {}, el('p', { class: 'soft' }, '...'));
      get(`${base}/explanation`).then((told) => fill(place, text('The explanation', told.text, 'wrap')), (error) => fill(place, el('p', { class: 'bad' }, error.message)));
      return place;
    }),
    el('h2', {}, 'Rounds'), roundsPlace, el('h2', {}, 'Candidates'), tree.element];
}
