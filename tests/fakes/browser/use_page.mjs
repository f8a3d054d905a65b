// SPDX-License-Identifier: Apache-2.0
// node use_page.mjs MODULES CHROMIUM URL < JOB.json
// Uses a served page as somebody without a mouse does. JOB: {"steps": [...], "axe": [HASH, ...]}. A step is {"go": HASH},
// {"tab": NAME} (until what has the focus is called so), {"type": TEXT}, {"press": KEY}, {"wait": SELECTOR, "text": PART},
// {"read": SELECTOR}, {"html": SELECTOR}, {"count": SELECTOR} or {"timed": HASH, "wait": SELECTOR, "text": PART}. Prints one JSON object: what was read and counted,
// milliseconds, messages of the console, dialogs, requests, and what axe finds in the named views, light and dark.
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { readFileSync } from 'node:fs';

const [modules, chromiumPath, url] = process.argv.slice(2);
const require = createRequire(join(resolve(modules), 'node_modules', 'x.js'));
const { chromium } = require('playwright-core');
const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const job = JSON.parse(readFileSync(0, 'utf8'));
const kPatience = 60000;
const kMostTabs = 200;

const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] });
const heard = { read: [], ms: [], console: [], dialogs: [], requests: [], axe: [] };

async function open(options) {
  const context = await browser.newContext({ ...options });
  const tab = await context.newPage();
  tab.on('request', (request) => heard.requests.push(request.url()));
  tab.on('console', (message) => heard.console.push(`${message.type()}: ${message.text()}`));
  tab.on('pageerror', (error) => heard.console.push(String(error)));
  tab.on('dialog', async (dialog) => { heard.dialogs.push(dialog.message()); await dialog.dismiss(); });
  return tab;
}

// What a screen reader would call what has the focus, as far as this page goes.
const focusedName = (tab) => tab.evaluate(() => {
  const it = document.activeElement;
  return it.getAttribute('aria-label') ?? (it.labels?.[0]?.textContent || it.textContent).trim();
});

async function wait(tab, selector, text) {
  await tab.waitForFunction(([selector, text]) => [...document.querySelectorAll(selector)].some((one) => one.textContent.includes(text)), [selector, text ?? ''], { timeout: kPatience })
    .catch(async () => { throw new Error(`no ${selector} with "${text}" on the page:\n${await tab.evaluate(() => document.body.innerText)}`); });
}

async function step(tab, it) {
  if (it.timed !== undefined) {
    const began = performance.now();
    await tab.goto(`${url}${it.timed}`);
    await wait(tab, it.wait, it.text);
    heard.ms.push(performance.now() - began);
  } else if (it.go !== undefined) await tab.goto(`${url}${it.go}`);
  else if (it.tab !== undefined) {
    for (let i = 0; (await focusedName(tab)) !== it.tab; ++i) {
      if (i === kMostTabs) throw new Error(`the focus never comes to "${it.tab}":\n${await tab.evaluate(() => document.body.innerText)}`);
      await tab.keyboard.press('Tab');
    }
  } else if (it.type !== undefined) await tab.keyboard.type(it.type);
  else if (it.press !== undefined) await tab.keyboard.press(it.press);
  else if (it.wait !== undefined) await wait(tab, it.wait, it.text);
  else if (it.read !== undefined) heard.read.push(await tab.evaluate((selector) => document.querySelector(selector)?.textContent ?? null, it.read));
  else if (it.html !== undefined) heard.read.push(await tab.evaluate((selector) => document.querySelector(selector).outerHTML, it.html));
  else if (it.count !== undefined) heard.read.push(await tab.evaluate((selector) => document.querySelectorAll(selector).length, it.count));
}

const tab = await open({});
try {
  for (const it of job.steps) await step(tab, it);
  // axe is put in by evaluation, which the page's own policy of content would refuse.
  for (const scheme of job.axe?.length ? ['light', 'dark'] : []) {
    const looked = await open({ colorScheme: scheme, bypassCSP: true, viewport: { width: scheme === 'dark' ? 390 : 1200, height: 900 } });
    for (const hash of job.axe) {
      await looked.goto(`${url}${hash}`);
      await looked.reload();
      await wait(looked, 'h1', '');
      await looked.waitForLoadState('networkidle');
      await looked.evaluate(() => document.querySelectorAll('details').forEach((part) => { part.open = true; }));
      await looked.waitForLoadState('networkidle');
      await looked.evaluate(axeSource);
      // eslint-disable-next-line no-undef
      const found = await looked.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
      for (const violation of found.violations) heard.axe.push(`${scheme} ${hash} ${violation.id}: ${violation.help}: ${violation.nodes.slice(0, 3).map((node) => node.target.join(' ')).join('; ')}`);
      const overflow = await looked.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (overflow > 0) heard.axe.push(`${scheme} ${hash}: ${overflow} pixels wider than the window`);
      if (job.screenshots) await looked.screenshot({ path: join(job.screenshots, `${scheme}-${hash.replace(/\W+/g, '_')}.png`), fullPage: true });
    }
  }
} catch (error) {
  heard.failed = String(error);
}
await browser.close();
console.log(JSON.stringify(heard));
