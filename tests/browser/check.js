// Opens the pages of scene.sh in Chromium and checks them: check.js PAGES [PICTURES]
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { chromium } = require('playwright-core');

const [folder, pictures] = process.argv.slice(2);
const AXE = fs.readFileSync(require.resolve('axe-core'), 'utf8');
const OPENS_WITHIN = 1500;
const FILTERS_WITHIN = 100;
const MEGABYTE = 1_000_000;

let checks = 0;
const failed = [];
function check(name, holds, found) {
  checks += 1;
  if (!holds) failed.push(`${name}: ${typeof found === 'string' ? found : JSON.stringify(found)}`);
}

// Counts what a page must not do. It runs before the page, and the policy of the page does not apply to it.
function spy() {
  window.hits = 0;
  window.hit = () => { window.hits += 1; };
  window.violations = [];
  document.addEventListener('securitypolicyviolation', (event) => {
    window.violations.push(`${event.violatedDirective} ${event.blockedURI} line ${event.lineNumber}`);
  });
}

async function open(browser, name, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const noise = [];
  page.on('console', (message) => noise.push(message.text()));
  page.on('pageerror', (error) => noise.push(error.message));
  page.on('dialog', (dialog) => { noise.push(`dialog ${dialog.message()}`); dialog.dismiss(); });
  page.on('request', (request) => {
    if (request.url() !== `file://${path.join(folder, name)}`) noise.push(`request ${request.url().slice(0, 200)}`);
  });
  if (options.javaScriptEnabled !== false) await page.addInitScript(spy);
  await page.goto(`file://${path.join(folder, name)}`);
  return { context, page, noise };
}

async function opensWithin(browser, name) {
  const times = [];
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const { context, page } = await open(browser, name);
    // From the start of the navigation to the first frame after the load event.
    times.push(await page.evaluate(() => new Promise((done) => {
      requestAnimationFrame(() => setTimeout(() => done(performance.now())));
    })));
    await context.close();
  }
  return times.sort((a, b) => a - b)[1];
}

async function accessible(page, name, what) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
  const found = violations.filter(({ id, impact }) => ['serious', 'critical'].includes(impact) || id === 'landmark-unique');
  check(`${name}: axe ${what}`, found.length === 0, found.map(({ id, nodes }) => `${id}: ${nodes[0].html}`));
}

async function quiet(page, noise, name, what) {
  const { hits, violations } = await page.evaluate(() => ({ hits: window.hits, violations: window.violations }));
  check(`${name}: no injected script runs ${what}`, hits === 0, hits);
  check(`${name}: the policy blocks nothing ${what}`, violations.length === 0, violations);
  check(`${name}: no error, request or dialog ${what}`, noise.length === 0, noise);
}

async function look(browser, name, isLarge) {
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [1280, 390]) {
      const what = `${colorScheme} ${width}`;
      const { context, page, noise } = await open(browser, name, { colorScheme, viewport: { width, height: 900 } });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      check(`${name}: nothing is wider than the screen, ${what}`, wide <= width, wide);
      if (!isLarge) {
        await page.evaluate(() => document.querySelectorAll('details').forEach((node) => { node.open = true; }));
        await accessible(page, name, what);
      } else if (width === 1280 && colorScheme === 'light') {
        // Of a long page, a part: the rest has the same form.
        await page.evaluate(() => [...document.querySelectorAll('.file')].slice(2).forEach((node) => node.remove()));
        await accessible(page, name, what);
      }
      await quiet(page, noise, name, what);
      if (pictures) {
        const height = await page.evaluate(() => document.documentElement.scrollHeight);
        const file = path.join(pictures, `${name}-${colorScheme}-${width}.png`);
        await page.screenshot({ path: file, fullPage: height < 15_000 });
      }
      await context.close();
    }
  }
}

async function works(browser, name) {
  const { context, page, noise } = await open(browser, name, { colorScheme: 'light' });
  const active = () => page.evaluate(() => document.activeElement.id || document.activeElement.className);
  await page.keyboard.press('Tab');
  check(`${name}: the first tab stop skips to the content`, await active() === 'skip', await active());
  await page.keyboard.press('Tab');
  check(`${name}: then the theme`, await active() === 'theme', await active());
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await background();
  await page.keyboard.press('Enter');
  check(`${name}: the theme stays light`, await background() === light, await background());
  await page.keyboard.press('Enter');
  check(`${name}: the theme becomes dark`, await background() !== light, await background());
  await page.keyboard.press('/');
  check(`${name}: a key moves to the search`, await active() === 'search', await active());
  const folded = page.locator('.card > summary').last();
  const state = () => page.locator('.card').last().evaluate((node) => node.open);
  const before = await state();
  await folded.focus();
  await page.keyboard.press('Enter');
  check(`${name}: a key folds a finding`, await state() !== before, before);
  const anchors = await page.evaluate(() => [...document.querySelectorAll('a[href^="#"]')]
    .filter((node) => !document.getElementById(node.getAttribute('href').slice(1))).length);
  check(`${name}: links lead somewhere`, anchors === 0, anchors);
  await page.emulateMedia({ media: 'print' });
  const printed = await page.evaluate(() => {
    window.dispatchEvent(new Event('beforeprint'));
    const shown = (selector) => [...document.querySelectorAll(selector)].filter((node) => node.offsetHeight > 0).length;
    return { filters: shown('.filters'), all: document.querySelectorAll('.inside').length, shown: shown('.inside') };
  });
  check(`${name}: a print shows every finding`, printed.filters === 0 && printed.shown === printed.all, printed);
  if (pictures) await page.pdf({ path: path.join(pictures, `${name}.pdf`), format: 'A4', printBackground: true });
  await quiet(page, noise, name, 'in use');
  await context.close();

  const plain = await open(browser, name, { javaScriptEnabled: false });
  const [filters, findings] = [plain.page.locator('#filters'), plain.page.locator('.card').first()];
  check(`${name}: without scripts there are no filters`, !(await filters.isVisible()), 'visible');
  check(`${name}: without scripts findings are shown`, await findings.isVisible(), 'hidden');
  await plain.context.close();
}

// Each filter with the number of findings that it leaves.
async function filters(browser, name) {
  const { context, page, noise } = await open(browser, name);
  const choices = [
    ['search', 'word7x3 checked', 11],
    ['search', 'is not checked', 2000],
    ['search', 'nothing has this', 0],
    ['path', 'module_12.', 50],
    ['reviewer', '1', 1000],
    ['severity', 'must', 400],
    ['state', 'open', 2000],
    ['search', '', 2000],
  ];
  let slowest = 0;
  for (const [field, value, expected] of choices) {
    const { millis, shown, said } = await page.evaluate(async ({ field, value }) => {
      const form = document.getElementById('filters');
      form.reset();
      await new Promise((done) => { setTimeout(() => requestAnimationFrame(() => setTimeout(done)), 50); });
      const box = form.querySelector(`input[name="${field}"][value="${value}"]`);
      const target = box ?? document.getElementById(field);
      const began = performance.now();
      if (box) box.checked = true; else target.value = value;
      target.dispatchEvent(new Event('input', { bubbles: true }));
      await new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); });
      const millis = performance.now() - began;
      const cards = [...document.querySelectorAll('.card')];
      const shown = cards.filter((card) => !card.hidden && !card.closest('.file').hidden).length;
      return { millis, shown, said: document.getElementById('shown').textContent };
    }, { field, value });
    slowest = Math.max(slowest, millis);
    check(`${name}: ${field} "${value}" leaves ${expected}`, shown === expected, shown);
    check(`${name}: the number is said`, said.startsWith(expected.toLocaleString('en')), said);
    check(`${name}: ${field} "${value}" answers within ${FILTERS_WITHIN} ms`, millis < FILTERS_WITHIN, `${Math.round(millis)} ms`);
  }
  // A link to a finding that a filter hides shows the finding.
  await page.evaluate(() => { document.getElementById('filters').reset(); });
  await page.fill('#search', 'nothing has this');
  await page.evaluate(() => { location.hash = '#f1500'; });
  await page.waitForTimeout(200);
  const seen = await page.evaluate(() => { const card = document.getElementById('f1500'); return !card.hidden && card.open; });
  check(`${name}: a link shows a hidden finding`, seen, seen);
  await quiet(page, noise, name, 'with filters');
  await context.close();
  return slowest;
}

(async () => {
  const quietly = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'];
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: quietly });
  const names = fs.readdirSync(folder).filter((name) => name.endsWith('.html')).sort();
  check('there are four pages', names.length === 4, names);
  const sums = [];
  for (const name of names) {
    const before = failed.length;
    const { size } = fs.statSync(path.join(folder, name));
    const opened = await opensWithin(browser, name);
    check(`${name}: opens within ${OPENS_WITHIN} ms`, opened < OPENS_WITHIN, `${Math.round(opened)} ms`);
    if (name === 'shop.html') check(`${name}: is smaller than a megabyte`, size < MEGABYTE, size);
    const isLarge = name === 'many.html';
    await look(browser, name, isLarge);
    await works(browser, name);
    if (isLarge) sums.push(`2,000 findings open in ${Math.round(opened)} ms, the slowest filter takes ${Math.round(await filters(browser, name))} ms`);
    console.log(`${name.padEnd(14)} ${String(Math.ceil(size / 1000)).padStart(6)} kB  opens in ${String(Math.round(opened)).padStart(4)} ms  ${failed.length === before ? 'ok' : 'FAILED'}`);
  }
  await browser.close();
  failed.forEach((line) => console.log(`FAILED ${line}`));
  console.log(`browser: ${names.length} pages, ${checks} checks, ${failed.length} failed${sums.map((text) => `; ${text}`).join('')}`);
  process.exit(failed.length === 0 ? 0 : 1);
})();
