// SPDX-License-Identifier: Apache-2.0
// node check_pages.mjs MODULES CHROMIUM [--screenshots DIR] [--vnu] FILE.html...
// Opens each page in Chromium, light and dark, wide and as narrow as a phone, and as it is printed; checks it with axe and
// HTML validators. Prints one JSON object a page: problems, requests, messages of the console, dialogs, widths.
import { createRequire } from 'node:module';
import { execFileSync } from 'node:child_process';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readFileSync } from 'node:fs';

const [modules, chromiumPath, ...rest] = process.argv.slice(2);
const require = createRequire(join(resolve(modules), 'node_modules', 'x.js'));
const { chromium } = require('playwright-core');
const { HtmlValidate } = require('html-validate');
const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

let screenshots = null;
let useVnu = false;
const files = [];
while (rest.length > 0) {
  const word = rest.shift();
  if (word === '--screenshots') screenshots = rest.shift();
  else if (word === '--vnu') useVnu = true;
  else files.push(resolve(word));
}

// Rules of content, none of layout of the source. Trailing slashes: SVG needs them.
const validator = new HtmlValidate({
  extends: ['html-validate:standard', 'html-validate:a11y'],
  // A region that scrolls must be reached by the keyboard, and the page's parts have headings.
  rules: { 'no-inline-style': 'error', 'void-style': 'off', 'long-title': 'off', 'no-trailing-whitespace': 'off', 'prefer-native-element': 'off' },
});

function vnu(file) {
  try {
    execFileSync('java', ['-jar', require('vnu-jar'), '--format', 'json', '--stdout', file], { encoding: 'utf8', maxBuffer: 1 << 26 });
    return [];
  } catch (error) {
    if (error.stdout === undefined || error.stdout === '') throw error;
    return JSON.parse(error.stdout).messages.filter((message) => message.type !== 'info').map((message) => `${message.lastLine}: ${message.message}`);
  }
}

// As a reader opens it, under its own policy of content.
async function open(browser, file) {
  const context = await browser.newContext();
  const tab = await context.newPage();
  const refused = [];
  tab.on('console', (message) => refused.push(message.text()));
  await tab.goto(pathToFileURL(file).href);
  // eslint-disable-next-line no-undef
  const styled = await tab.evaluate(() => getComputedStyle(document.querySelector('main')).maxWidth !== 'none');
  // What somebody managed to put in must not run either.
  const runs = await tab.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.ran = true';
    document.body.append(script);
    return window.ran === true;
  });
  // eslint-disable-next-line no-undef
  const title = await tab.evaluate(() => document.title === document.querySelector('title').textContent && document.title !== 'taken');
  await context.close();
  return { refused: refused.filter((text) => !text.includes('script')), styled, runs, title };
}

async function look(browser, file, looks) {
  // axe is put in by evaluation, which the page's own policy of content would refuse.
  const context = await browser.newContext({ viewport: { width: looks.width, height: 900 }, colorScheme: looks.scheme, bypassCSP: true });
  const tab = await context.newPage();
  const heard = { requests: [], console: [], dialogs: [] };
  tab.on('request', (request) => heard.requests.push(request.url()));
  tab.on('console', (message) => heard.console.push(message.text()));
  tab.on('pageerror', (error) => heard.console.push(String(error)));
  tab.on('dialog', async (dialog) => { heard.dialogs.push(dialog.message()); await dialog.dismiss(); });
  await tab.goto(pathToFileURL(file).href);
  const elements = await tab.evaluate(() => ({
    // eslint-disable-next-line no-undef
    scripts: document.querySelectorAll('script,iframe,object,embed,link,img,video,audio,base,form').length,
    handlers: [...document.querySelectorAll('*')].filter((node) => [...node.attributes].some((a) => a.name.startsWith('on') || a.name === 'style')).length,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    figures: document.querySelectorAll('figure').length,
  }));
  await tab.evaluate(() => document.querySelectorAll('details').forEach((part) => { part.open = true; }));
  await tab.evaluate(axeSource);
  // eslint-disable-next-line no-undef
  const found = await tab.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
  const axe = found.violations.map((violation) => `${violation.id}: ${violation.help}: ${violation.nodes.slice(0, 3).map((node) => node.target.join(' ')).join('; ')}`);
  await tab.evaluate(() => document.querySelectorAll('details').forEach((part) => { part.open = false; }));
  if (screenshots) await tab.screenshot({ path: join(screenshots, `${basename(file, '.html')}-${looks.name}.png`), fullPage: true });
  let printed = 0;
  if (looks.name === 'light') {
    const pdf = await tab.pdf({ path: screenshots ? join(screenshots, `${basename(file, '.html')}.pdf`) : undefined, format: 'A4' });
    printed = pdf.length;
    await tab.emulateMedia({ media: 'print' });
    const hidden = await tab.evaluate(() => [...document.querySelectorAll('details table')].filter((table) => table.getBoundingClientRect().height === 0).length);
    // As wide as A4 paper at 96 pixels an inch, less its margins.
    await tab.setViewportSize({ width: 718, height: 1000 });
    const wide = await tab.evaluate(() => [...document.querySelectorAll('table,svg')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1).length);
    if (wide > 0) axe.push(`print: ${wide} tables or plots are cut off at the paper's edge`);
    if (hidden > 0) axe.push(`print: ${hidden} tables are hidden on paper`);
  }
  await context.close();
  return { ...heard, ...elements, axe, printed };
}

const LOOKS = [
  { name: 'light', scheme: 'light', width: 1200 },
  { name: 'dark', scheme: 'dark', width: 1200 },
  { name: 'phone', scheme: 'light', width: 390 },
];

const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] });
for (const file of files) {
  const report = { file: basename(file), looks: {} };
  const result = await validator.validateFile(file);
  report.html = result.results.flatMap((one) => one.messages.map((message) => `${message.line}:${message.column} ${message.ruleId}: ${message.message}`));
  if (useVnu) report.vnu = vnu(file);
  report.opened = await open(browser, file);
  for (const looks of LOOKS) report.looks[looks.name] = await look(browser, file, looks);
  console.log(JSON.stringify(report));
}
await browser.close();
