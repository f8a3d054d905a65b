// SPDX-License-Identifier: Apache-2.0
// node scripts_test.mjs: the page's scripts on a document of its own making, and a server that answers what a test says.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

// As much of a document as the scripts ask for.
class Node {
  constructor(name, text = '') {
    Object.assign(this, { name, own: text, children: [], attributes: {}, listeners: {}, id: '', value: '', className: '' });
  }
  get textContent() { return this.own + this.children.map((child) => child.textContent).join(''); }
  set textContent(text) { this.own = text; this.children = []; }
  append(...children) { this.children.push(...children.map((child) => (child instanceof Node ? child : new Node('#text', String(child))))); }
  replaceChildren(...children) { this.children = []; this.append(...children); }
  setAttribute(key, value) { this.attributes[key] = value; if (key === 'id') this.id = value; }
  getAttribute(key) { return this.attributes[key] ?? null; }
  removeAttribute(key) { delete this.attributes[key]; }
  addEventListener(event, does) { this.listeners[event] = does; }
  focus() {}
  all(name) { return [...(this.name === name ? [this] : []), ...this.children.flatMap((child) => child.all(name))]; }
  querySelector(name) { return this.all(name)[0] ?? null; }
}

const places = {};
const place = (name) => (places[name] ??= new Node(name));
let answers = {};  // by path; a function makes its answer
const asked = [];
Object.assign(globalThis, {
  Node,
  document: { createElement: (name) => new Node(name), createElementNS: (_, name) => new Node(name), getElementById: place, querySelector: place, querySelectorAll: () => [], activeElement: null, title: '' },
  location: { hash: '' },
  sessionStorage: { kept: {}, getItem(key) { return this.kept[key] ?? null; }, setItem(key, value) { this.kept[key] = value; } },
  scrollTo() {},
  addEventListener(event, does) { place('window').addEventListener(event, does); },
  fetch: async (path, options) => {
    asked.push({ path, body: options.body ? JSON.parse(options.body) : null });
    const found = answers[path];
    const { http: status = 200, ...body } = await (typeof found === 'function' ? found(options) : found ?? { http: 404, error: `nothing at ${path}` });
    return { ok: status === 200, status, json: async () => body };
  },
});

// The scripts are modules to a browser; to node a package says so.
const files = mkdtempSync(join(tmpdir(), 'accelopt-page-'));
cpSync(fileURLToPath(new URL('../../src/page/files', import.meta.url)), files, { recursive: true });
writeFileSync(join(files, 'package.json'), '{"type": "module"}');
process.on('exit', () => rmSync(files, { recursive: true }));
const load = (name) => import(pathToFileURL(join(files, name)).href);

const shown = (children) => { const all = new Node('main'); all.append(...children.flat(3).filter(Boolean)); return all; };
const rows = (table) => table.all('tr').map((row) => row.children.map((cell) => cell.textContent));
const tables = (all, caption) => all.all('table').filter((one) => one.querySelector('caption').textContent.startsWith(caption)).map(rows);
const opened = (all) => { for (const one of all.all('details')) { one.open = true; one.listeners.toggle(); } return all; };

const interval = (estimate, low, high) => ({ estimate, low, high });

test('samples stand beside the workloads in the order of the task', async () => {
  const workload = (name, role, time_ns) => ({ name, role, time_ns, reference_ns: 2 * time_ns, ratio: interval(2, 1.9, 2.1) });
  answers = {
    '/api/runs/r/candidates/c': {
      id: 'c', parent: 'baseline', failed: [], questions: [], profile: null, fate: 'faster',
      race: { verdict: 'FASTER', ratio: interval(2, 1.9, 2.1), decided_by: 'look', blocks: 1,
        workloads: [workload('race', 'race', 1000), workload('check', 'check', 5), workload('aa_big', 'race', 8000)],
        samples: [{ reference_ns: [2000, 16000], candidate_ns: [1000, 8000] }] },
    },
  };
  const { showCandidate } = await load('candidate.js');
  const all = opened(shown(await showCandidate(null, 'r', 'c')));
  assert.deepEqual(tables(all, 'Samples')[0].slice(1).map((row) => [row[1], row[3]]), [['race', '1.00 us'], ['aa_big', '8.00 us']]);
});

test('ratios have as many decimals as the report gives them', async () => {
  const { ratio } = await load('dom.js');
  const written = (...ends) => ratio(interval(...ends));
  // Those of tests/report/format_test.cpp.
  assert.equal(written(15.31, 15.09, 15.58), '15.3x [15.1, 15.6]');
  assert.equal(written(9.123, 9.05, 9.2), '9.12x [9.05, 9.20]');
  assert.equal(written(1.0042, 0.9981, 1.0113), '1.004x [0.998, 1.011]');
  assert.equal(written(123.4, 121, 126), '123x [121, 126]');
  assert.equal(written(1, 1, 1), '1.00x [1.00, 1.00]');
  assert.equal(written(0.972, 0.949, 0.9951), '0.972x [0.949, 0.995]');
  assert.equal(written(1.02, 1.0009, 1.04), '1.020x [1.001, 1.040]');
  assert.equal(written(0.98, 0.96, 0.9998), '0.9800x [0.9600, 0.9998]');
  assert.equal(written(1.5, 1.00001, 2), '1.5000x [1.0000, 2.0000]');
  assert.equal(written(1.5, 0, 'inf'), '1.50x');
  assert.equal(written('nan', 0, 'inf'), '-');
  assert.equal(ratio(null), '');
});

// Does what the page put off, and says for how many milliseconds it had.
const put_off = [];
const settled = () => new Promise((resolve) => setImmediate(resolve));
async function after_its_pause() {
  await settled();
  const { work, pause } = put_off.shift();
  await work();
  return pause;
}
globalThis.setTimeout = (work, pause) => put_off.push({ work, pause });
globalThis.clearTimeout = () => {};

test('a run that stands still is looked at until it is done', async () => {
  const { showRun } = await load('runs.js');
  const run = { run: 'r', status: 'interrupted', ended: true, task: 't', created: '', device: 'cpu', attempts: {}, notes: [],
    spent: { calls: 0, tokens: 0, usd: null, evaluations: 0, device_seconds: 0, wall_seconds: 0 }, best: null, result: null };
  answers = { '/api/runs/r': () => run, '/api/runs/r/outline?after=0': { run: 'r', anew: true, after: 0, attempts: [], rounds: [] } };
  const left = new AbortController();
  const all = shown(await showRun(left.signal, 'r'));
  const resume = all.all('button').find((one) => one.textContent === 'Resume');
  assert.equal(await after_its_pause(), 5000);
  Object.assign(run, { status: 'running', ended: false });  // somebody else has resumed it
  assert.equal(await after_its_pause(), 5000);
  assert.ok(resume.hidden);
  assert.equal(await after_its_pause(), 1000);
  Object.assign(run, { status: 'done', ended: true });
  assert.equal(await after_its_pause(), 1000);
  await settled();
  assert.deepEqual(put_off, []);
  left.abort();
});

test('what goes wrong with looking at runs is shown until it goes well', async () => {
  const { showRuns } = await load('runs.js');
  const there = { '/api/about': { folders: ['/tasks'], version: '1', workspace: '/w' }, '/api/runs?offset=0&limit=100': { total: 0, runs: [] } };
  const gone = { '/api/runs?offset=0&limit=100': () => { throw new Error('no network'); } };
  answers = there;
  const left = new AbortController();
  await showRuns(left.signal);
  const message = place('message');
  answers = gone;
  await after_its_pause();
  await settled();
  assert.match(message.textContent, /the server does not answer/);
  answers = there;
  await after_its_pause();
  await settled();
  assert.equal(message.textContent, '');
  answers = gone;
  await after_its_pause();
  await settled();
  message.textContent = 'what somebody did meanwhile';
  answers = there;
  await after_its_pause();
  await settled();
  assert.equal(message.textContent, 'what somebody did meanwhile');
  message.textContent = '';
  left.abort();
  put_off.length = 0;
});

// Presses the button that says so.
const press = async (all, label) => {
  all.all('button').find((one) => one.textContent.startsWith(label)).listeners.click();
  await settled();
};
const refused = { http: 503, error: 'busy' };

test('a page of runs that does not come is asked for again, and none is passed over', async () => {
  const { showRuns } = await load('runs.js');
  const page = (offset) => ({ total: 300, runs: [{ run: `from ${offset}`, kind: 'run', task: 't', status: 'done', outcome: 'improved', speedup: null, created: '' }] });
  answers = { '/api/about': { folders: ['/tasks'], version: '1', workspace: '/w' }, '/api/runs?offset=0&limit=100': page(0), '/api/runs?offset=100&limit=100': refused };
  const left = new AbortController();
  const all = shown(await showRuns(left.signal));
  const first = () => tables(all, '')[0][1][0];
  await press(all, 'The 100 older');
  assert.deepEqual([first(), place('message').textContent], ['from 0', 'busy']);
  answers['/api/runs?offset=100&limit=100'] = page(100);
  await press(all, 'The 100 older');
  assert.deepEqual([first(), place('message').textContent], ['from 100', '']);
  left.abort();
  put_off.length = 0;
});

test('a page of experiences that does not come is asked for again, and the last one asked for is shown', async () => {
  const { showMemory } = await load('memory.js');
  const page = (offset) => ({ store: 's', experiences: Array.from({ length: 50 }, (_, i) => ({ id: `e${offset + i}`, polarity: 'helps', effect: null, suspicions: [] })) });
  answers = { '/api/memory?offset=0&limit=50': page(0), '/api/memory?offset=50&limit=50': refused, '/api/memory?offset=100&limit=50': page(100) };
  const left = new AbortController();
  const all = shown(await showMemory(left.signal));
  const first = () => tables(all, '')[0][1][0];
  await press(all, 'Next');
  assert.deepEqual([first(), place('message').textContent], ['e0', 'busy']);
  let late;
  answers['/api/memory?offset=50&limit=50'] = () => new Promise((resolve) => { late = resolve; });
  await press(all, 'Next');
  answers['/api/memory?offset=50&limit=50'] = page(50);
  await press(all, 'Next');
  assert.deepEqual([first(), place('message').textContent], ['e50', '']);
  await press(all, 'Next');
  late(page(50));
  await settled();
  assert.equal(first(), 'e100');
  left.abort();
});

test('a seed that a script cannot hold is refused, and no other is sent', async () => {
  const { showRuns } = await load('runs.js');
  answers = { '/api/about': { folders: ['/tasks'], version: '1', workspace: '/w' }, '/api/runs?offset=0&limit=100': { total: 0, runs: [] },
    '/mcp': { result: { content: [{ type: 'text', text: 'started' }], structuredContent: { run: 'r' } } } };
  const left = new AbortController();
  const all = shown(await showRuns(left.signal));
  const seed = all.all('input').find((one) => one.attributes.min === '0');
  const started = async (value) => {
    seed.value = value;
    asked.length = 0;
    all.querySelector('form').listeners.submit({ preventDefault() {} });
    await settled();
    return asked.filter((one) => one.path === '/mcp').map((one) => one.body.params.arguments.seed);
  };
  assert.deepEqual(await started('9007199254740993'), []);
  assert.match(place('message').textContent, /seed 9007199254740993: .*9007199254740991/);
  assert.deepEqual(await started('9007199254740991'), [9007199254740991]);
  left.abort();
});

test('a refactoring is told as its report tells it', async () => {
  const { showRefactoring } = await load('refactoring.js');
  answers = { '/api/refactorings/f': { run: 'f', answer: 'It is faster.', task: 't', scope: [], strategy: 's', verdict: 'confirmed', goal: 'time', speedup: interval(2, 1.9, 2.1),
    branch: '', commit: '', experience: '', created: '', readability: null, gates: [], diff: '',
    workloads: [true, false].map((timed) => ({ workload: 'w', size: timed ? 100 : 1, role: 'raced', timed, ratio: interval(2, 1.9, 2.1), old_ms: 2, new_ms: 1 })),
    trials: [{ strategy: 's', verdict: 'faster', built_on: 'b', failed_gate: null, why: '', ratio: interval(2, 1.9, 2.1), over_best: interval(1.1, 1.05, 1.2) }] } };
  const all = shown(await showRefactoring(null, 'f'));
  assert.deepEqual(tables(all, 'Confirmed')[0].map((row) => row.at(-1)), ['start-up', 'left out', 'prevails, counted in the ratio']);
  assert.deepEqual(tables(all, 'What was tried')[0].map((row) => row[4]), ['over the best until then', '1.10x [1.05, 1.20]']);
});

test('a name that is no encoded text is asked for, and a wrong token is said', async () => {
  answers = {};
  asked.length = 0;
  location.hash = '#/runs/%E0%A4%A';
  await load('main.js');
  await settled();
  assert.ok(asked.some((one) => one.path === '/api/runs/%25E0%25A4%25A'));
  assert.match(place('content').textContent, /This cannot be shown.*nothing at/);

  location.hash = '#/suites';
  answers = { '/api/suites': (options) => (options.headers.Authorization === 'Bearer right' ? { lines: [] } : { http: 401, error: 'no' }) };
  place('window').listeners.hashchange();
  await settled();
  assert.equal(place('message').textContent, '');
  const give = async (secret) => {
    place('content').querySelector('input').value = secret;
    place('content').querySelector('form').listeners.submit({ preventDefault() {} });
    await settled();
  };
  await give('wrong');
  assert.match(place('message').textContent, /does not take the token/);
  await give('right');
  assert.equal(place('message').textContent, '');
  assert.match(place('content').textContent, /Suites/);
});
