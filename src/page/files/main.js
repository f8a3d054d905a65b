// SPDX-License-Identifier: Apache-2.0
// Which view is shown: the address behind the '#'.
import { el, fill, heading, field, keepToken, Refused, say, token } from './dom.js';
import { showRun, showRuns } from './runs.js';
import { showCandidate } from './candidate.js';
import { showExperience, showMemory } from './memory.js';
import { showRefactoring } from './refactoring.js';
import { showSuites } from './suites.js';

const content = document.getElementById('content');
let leave = null;  // ends what the view on display goes on doing

const views = [
  [/^\/runs$/, showRuns],
  [/^\/runs\/([^/]+)$/, showRun],
  [/^\/runs\/([^/]+)\/([^/]+)$/, showCandidate],
  [/^\/refactorings\/([^/]+)$/, showRefactoring],
  [/^\/memory$/, showMemory],
  [/^\/memory\/([^/]+)$/, showExperience],
  [/^\/suites$/, showSuites],
];

function askForToken() {
  const input = el('input', { type: 'password', autocomplete: 'off', required: true });
  const form = el('form', { class: 'row' }, field('Token', input), el('button', {}, 'Go on'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    keepToken(input.value);
    show();
  });
  if (token()) say('The server does not take the token that was given.', true);
  fill(content, heading('This server asks for its token'), el('p', {}, 'It is the secret in the ACCELOPT_MCP_TOKEN of the server. It is kept in this tab alone.'), form);
  input.focus();
}

// What is no text encoded so names nothing, and the server says that.
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function show() {
  leave?.abort();
  leave = new AbortController();
  const mine = leave;
  const path = location.hash.slice(1) || '/runs';
  if (!path.startsWith('/')) return;
  const [route, view] = views.find(([pattern]) => pattern.test(path)) ?? views[0];
  const names = (route.exec(path) ?? []).slice(1).map(decoded);
  for (const link of document.querySelectorAll('nav a')) {
    if (path.startsWith(link.getAttribute('href').slice(1))) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  say('');
  try {
    const children = await view(mine.signal, ...names);
    if (mine.signal.aborted) return;
    fill(content, ...children);
    content.querySelector('h1')?.focus({ preventScroll: true });
    scrollTo(0, 0);
  } catch (error) {
    if (mine.signal.aborted) return;
    if (error instanceof Refused && error.status === 401) return askForToken();
    fill(content, heading('This cannot be shown'), el('p', { class: 'bad' }, error.message));
    content.querySelector('h1').focus({ preventScroll: true });
    if (!(error instanceof Refused)) throw error;
  }
}

document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  content.focus();
});
addEventListener('hashchange', show);
show();
