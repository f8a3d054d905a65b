// SPDX-License-Identifier: Apache-2.0
// Elements, and what is asked of the server. Texts of others become text nodes alone: nothing here reads markup.

// As the report has it: control characters, and those that reorder text, become blanks.
const unfit = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export function plain(text) {
  return String(text ?? '').replace(/\r\n?/g, '\n').replace(unfit, ' ');
}

// Attributes are this page's own words; of others' texts only `value`, which is set as a property.
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key === 'value') element.value = value;
    else element.setAttribute(key, value === true ? '' : plain(value));
  }
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : plain(child));
  }
  return element;
}

// What takes the place of all that was below; where the focus was, it is again.
export function fill(element, ...children) {
  const focused = document.activeElement?.id;
  element.replaceChildren(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  if (focused && document.activeElement?.id !== focused) document.getElementById(focused)?.focus();
}

export function heading(text) {
  document.title = `${plain(text)} - accelopt`;
  return el('h1', { tabindex: '-1' }, text);
}

// columns: [title, 'right' or nothing]; cells are texts or elements.
export function table(caption, columns, rows) {
  if (rows.length === 0) return null;
  const align = (index) => (columns[index][1] ? { class: 'right' } : {});
  return el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    el('table', {}, el('caption', {}, caption),
      el('thead', {}, el('tr', {}, columns.map(([title], i) => el('th', { scope: 'col', ...align(i) }, title)))),
      el('tbody', {}, rows.map((row) => el('tr', {}, row.map((cell, i) => el('td', align(i), cell)))))));
}

export function list(entries) {
  return el('dl', {}, entries.filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]));
}

// A text of others in a box that scrolls.
export function text(label, content, style = '') {
  return el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label }, el('pre', { class: style || null }, content));
}

// A unified diff, its lines marked.
export function diff(label, unified) {
  if (!unified) return null;
  const lines = plain(unified).split('\n').map((line) => {
    const style = line.startsWith('@@') || line.startsWith('---') || line.startsWith('+++') ? 'at' : line.startsWith('+') ? 'new' : line.startsWith('-') ? 'old' : null;
    return style ? el('span', { class: style }, line || ' ') : `${line}\n`;
  });
  return el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label }, el('pre', {}, lines));
}

export function folded(summary, make, open = false) {
  const details = el('details', { open }, el('summary', {}, summary));
  let made = false;
  const show = () => {
    if (!details.open || made) return;
    made = true;
    details.append(...[make()].flat(3).filter(Boolean));
  };
  details.addEventListener('toggle', show);
  show();
  return details;
}

let serial = 0;
export function field(label, input, style = null) {
  input.id ||= `field${++serial}`;
  return el('div', { class: style }, el('label', { for: input.id }, label), input);
}

export function box(label, input) {
  input.id ||= `field${++serial}`;
  return el('label', { class: 'box', for: input.id }, input, label);
}

const kMostRatioDecimals = 4;

export function number(value, digits = 2) {
  return typeof value === 'number' && Number.isFinite(value) ? value.toFixed(digits) : '?';
}

// As report::format_ratio has it: an end that is not one does not look like one, and ends without a bound are left out.
export function ratio(interval) {
  if (!interval) return '';
  const { estimate, low, high } = interval;
  if (!Number.isFinite(estimate)) return '-';
  const usual = estimate < 9.995 ? 2 : estimate < 99.95 ? 1 : 0;
  if (!Number.isFinite(low) || !Number.isFinite(high)) return `${estimate.toFixed(usual)}x`;
  const half = (high - low) / 2;
  let decimals = half > 0 ? Math.min(Math.max(usual, Math.ceil(-Math.log10(half))), usual + 1) : usual;
  const looksLikeOne = (end) => end !== 1 && Number(end.toFixed(decimals)) === 1;
  while (decimals < kMostRatioDecimals && (looksLikeOne(low) || looksLikeOne(high))) ++decimals;
  return `${estimate.toFixed(decimals)}x [${low.toFixed(decimals)}, ${high.toFixed(decimals)}]`;
}

export function time(ns) {
  if (typeof ns !== 'number') return '';
  for (const [unit, size] of [['s', 1e9], ['ms', 1e6], ['us', 1e3]]) if (ns >= size) return `${(ns / size).toPrecision(3)} ${unit}`;
  return `${ns.toPrecision(3)} ns`;
}

export function say(message, bad = false) {
  const place = document.getElementById('message');
  place.className = bad ? 'bad' : '';
  place.textContent = plain(message);
}

// What goes wrong with something that is tried again: it is shown until that goes well.
export class Trouble {
  said = null;

  say(error) {
    this.said = plain(error.message);
    say(this.said, true);
  }

  // It goes well now. What somebody else has said meanwhile stays.
  over() {
    if (this.said !== null && document.getElementById('message').textContent === this.said) say('');
    this.said = null;
  }
}

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

// The secret of this tab alone; empty: the server asks for none, or has not been told it.
const kToken = 'accelopt-token';
export function token() {
  return sessionStorage.getItem(kToken) ?? '';
}
export function keepToken(secret) {
  sessionStorage.setItem(kToken, secret);
}

async function fetched(path, options = {}) {
  const headers = { ...(options.headers ?? {}) };
  if (token()) headers.Authorization = `Bearer ${token()}`;
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch {
    throw new Refused(0, 'the server does not answer; it was ended, or the network is gone');
  }
  if (!response.ok) {
    let message = `the server answered ${response.status}`;
    try {
      message = (await response.json()).error ?? message;
    } catch { /* no object: the status says it */ }
    throw new Refused(response.status, message);
  }
  return response;
}

const asJson = (object) => ({ method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(object) });

export async function get(path) {
  return (await fetched(`/api/${path}`)).json();
}
export async function post(path, object) {
  return (await fetched(`/api/${path}`, asJson(object))).json();
}

// A tool of MCP, as any agent calls it.
export async function tool(name, args) {
  const reply = await (await fetched('/mcp', asJson({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }))).json();
  if (reply.error) throw new Refused(400, reply.error.message);
  const words = reply.result.content.filter((part) => part.type === 'text').map((part) => part.text).join('\n');
  if (reply.result.isError) throw new Refused(400, words);
  return { text: words, ...reply.result.structuredContent };
}

// A document of the server in a tab of its own; where a token is asked for, saved, because a link cannot bear it.
export function documentLink(label, path, file) {
  const link = el('a', { href: `/api/${path}`, target: '_blank', rel: 'noopener' }, label);
  link.addEventListener('click', async (event) => {
    if (!token()) return;
    event.preventDefault();
    try {
      const address = URL.createObjectURL(await (await fetched(`/api/${path}`)).blob());
      el('a', { href: address, download: file }).click();
      setTimeout(() => URL.revokeObjectURL(address), 60000);
    } catch (error) {
      say(error.message, true);
    }
  });
  return link;
}

export const part = encodeURIComponent;
