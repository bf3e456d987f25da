// Opens the pages of `glee serve` in Chromium and checks them, over the runs of scene.sh: serve.js SCRATCH [PICTURES]
//
// GLEE and CHROMIUM name the programs. Every text in the project `debate` contains markup.
'use strict';
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const { execFileSync, spawn } = require('node:child_process');
const { chromium } = require('playwright-core');

const [scratch, pictures] = process.argv.slice(2);
const AXE = fs.readFileSync(require.resolve('axe-core'), 'utf8');
const OPENS_WITHIN = 1500;
const env = { ...process.env, HOME: path.join(scratch, 'home'), GLEE_STATE_DIR: path.join(scratch, 'state') };

let checks = 0;
const failed = [];
function check(name, holds, found) {
  checks += 1;
  if (!holds) failed.push(`${name}: ${typeof found === 'string' ? found : JSON.stringify(found)}`);
}

function glee(project, ...args) {
  try {
    return execFileSync(process.env.GLEE, args, { cwd: path.join(scratch, project), env, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    return error.stdout;
  }
}

// Starts a server and returns it with its address.
async function serve(project) {
  const child = spawn(process.env.GLEE, ['serve'], { cwd: path.join(scratch, project), env, stdio: ['ignore', 'pipe', 'ignore'] });
  const address = await new Promise((done, fail) => {
    let text = '';
    child.stdout.on('data', (data) => { text += data; if (text.includes('\n')) done(text.trim()); });
    child.on('exit', (code) => fail(new Error(`glee serve ended with ${code}`)));
  });
  return { child, address };
}

// Counts what a page must not do. It runs before the page, and the policy of the page does not apply to it.
function spy() {
  window.hits = 0;
  window.hit = () => { window.hits += 1; };
  window.violations = [];
  document.addEventListener('securitypolicyviolation', (event) => {
    window.violations.push(`${event.violatedDirective} ${event.blockedURI}`);
  });
}

// Opens a page with a browser that is signed in, and returns the path below which the pages are.
async function enter(browser, address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const noise = [];
  page.on('console', (message) => noise.push(message.text()));
  page.on('pageerror', (error) => noise.push(error.message));
  page.on('dialog', (dialog) => { noise.push(`dialog ${dialog.message()}`); dialog.dismiss(); });
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== new URL(address).origin && protocol !== 'data:') noise.push(`request ${request.url().slice(0, 200)}`);
  });
  await page.addInitScript(spy);
  await page.goto(address);
  return { context, page, noise, base: page.url().replace(/\/runs$/, '') };
}

async function look(browser, project, address, paths) {
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [1280, 390]) {
      const { context, page, noise, base } = await enter(browser, address, { colorScheme, viewport: { width, height: 900 } });
      check(`${project}: the token is not in the address`, !page.url().includes('token'), page.url());
      for (const at of paths) {
        const name = `${project}${at} ${colorScheme} ${width}`;
        await page.goto(base + at);
        await page.waitForTimeout(150);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        check(`${name}: nothing is wider than the screen`, wide <= width, wide);
        await page.evaluate(AXE);
        const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
        const serious = violations.filter(({ impact }) => ['serious', 'critical'].includes(impact));
        check(`${name}: axe`, serious.length === 0, serious.map(({ id, nodes }) => `${id}: ${nodes[0].html}`));
        const spied = await page.evaluate(() => ({ hits: window.hits, violations: window.violations }));
        check(`${name}: no injected script runs`, spied.hits === 0, spied.hits);
        check(`${name}: the policy blocks nothing`, spied.violations.length === 0, spied.violations);
        check(`${name}: no error, external request or dialog`, noise.length === 0, noise);
        if (pictures) {
          await page.screenshot({ path: path.join(pictures, `serve-${name.replace(/[/ ]/g, '_')}.png`), fullPage: true });
        }
      }
      await context.close();
    }
  }
}

// Settles the open dispute with the keyboard.
async function rules(browser, address, number) {
  const { context, page, noise, base } = await enter(browser, address);
  await page.goto(`${base}/disputes/${number}`);
  const dismissal = page.locator('.of-dismissal');
  check('form: the fields of a dismissal are hidden at first', !await dismissal.isVisible(), 'visible');
  await page.locator('input[value="dismiss"]').focus();
  await page.keyboard.press('Space');
  check('form: the fields of a dismissal appear', await dismissal.isVisible(), 'hidden');
  await page.locator('select[name="as"]').selectOption('deferred');
  await page.locator('textarea').fill('Later. <script>hit()</script>');
  noise.length = 0;
  await page.locator('button[type="submit"]').press('Enter');
  await page.waitForSelector('#error');
  const error = await page.locator('#error').textContent();
  check('form: the error is that of the terminal', error.includes('--as deferred requires --ref'), error);
  check('form: the fields keep their values', await page.locator('textarea').inputValue() === 'Later. <script>hit()</script>', 'lost');
  // The browser reports the status 422 of the form with the error.
  noise.splice(0, noise.length, ...noise.filter((text) => !text.includes('422')));
  await page.locator('input[name="ref"]').fill('issue 12');
  await page.locator('button[type="submit"]').press('Enter');
  await page.waitForSelector('#settlement');
  const text = await page.locator('main').textContent();
  check('form: the page shows the outcome', text.includes('deferred to issue 12'), text);
  check('form: no error, external request or dialog', noise.length === 0, noise);
  const listed = glee('shop', 'disputes');
  check('form: `glee disputes` shows the outcome', listed.includes('DISMISS, deferred to issue 12'), listed);
  await context.close();
}

// A page of another port knows the path of the pages and has a browser that is signed in.
async function attacks(browser, address, number) {
  const { context, base } = await enter(browser, address);
  const attacker = http.createServer((request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>other</title>');
  });
  await new Promise((done) => { attacker.listen(0, '127.0.0.1', done); });
  const page = await context.newPage();
  const statuses = [];
  page.on('response', (response) => { if (response.url().startsWith(base)) statuses.push(response.status()); });
  await page.goto(`http://127.0.0.1:${attacker.address().port}/`);
  const read = await page.evaluate(async ({ base, number }) => {
    const text = async (options) => {
      try {
        return (await (await fetch(`${base}/disputes/${number}`, { credentials: 'include', ...options })).text()).length;
      } catch {
        return 'refused';
      }
    };
    const load = (name, attribute) => new Promise((done) => {
      const node = document.createElement(name);
      node.onload = () => done('loaded');
      node.onerror = () => done('refused');
      node[attribute] = `${base}/runs`;
      document.body.append(node);
    });
    const frame = document.createElement('iframe');
    frame.src = `${base}/disputes/${number}`;
    document.body.append(frame);
    await new Promise((done) => { setTimeout(done, 500); });
    let framed = 'refused';
    try { if (frame.contentDocument?.forms.length) framed = 'read'; } catch { /* The document is of another origin. */ }
    return [await text({}), await text({ mode: 'no-cors' }), await load('script', 'src'), await load('img', 'src'), framed];
  }, { base, number });
  check('another origin reads nothing', read.every((one) => one === 'refused' || one === 0), read);
  await page.evaluate(({ base, number }) => {
    document.body.innerHTML = `<form method="post" action="${base}/disputes/${number}"><input name="word" value="enforce"></form>`;
    document.forms[0].submit();
  }, { base, number });
  await page.waitForURL(`${base}/disputes/${number}`);
  check('another origin sends no ruling', (await page.content()).includes('was not sent from a page of this server'), await page.content());
  check('every request of another origin is refused', statuses.length > 0 && statuses.every((status) => status === 403), statuses);
  check('the dispute is still open', glee('shop', 'disputes', '--open').includes(`${number}  `), 'settled');
  await context.close();
  const stranger = await browser.newContext();
  const other = await stranger.newPage();
  const refused = await other.goto(`${base}/runs`);
  check('a browser that is not signed in is refused', refused.status() === 401, refused.status());
  await stranger.close();
  await new Promise((done) => { attacker.close(done); });
}

// A review runs while the browser shows the live view.
async function live(browser, address) {
  const { context, page, noise, base } = await enter(browser, address);
  const before = await page.locator('tbody tr').count();
  const review = spawn(process.env.GLEE, ['review', 'examples/shop', '--no-input', '--fresh'],
    { cwd: path.join(scratch, 'shop'), env, stdio: 'ignore' });
  const ended = new Promise((done) => { review.on('exit', done); });
  for (let attempt = 0; attempt < 200 && await page.locator('tbody tr').count() === before; attempt += 1) {
    await page.waitForTimeout(50);
    await page.reload();
  }
  await page.goto(`${base}/runs/last/live`);
  await page.waitForFunction(() => document.getElementById('state').textContent.startsWith('Ended after'), null, { timeout: 60000 });
  await ended;
  const log = await page.locator('#log').textContent();
  check('live: the page shows what the agents do', log.includes('rules') && log.includes('findings'), log);
  check('live: no agent is at work at the end', await page.locator('#working li').count() === 0, 'at work');
  check('live: the connection is shown', await page.locator('#connection').textContent() === 'live', await page.locator('#connection').textContent());
  check('live: no error, external request or dialog', noise.length === 0, noise);
  await context.close();
}

async function opens(browser, address) {
  const { context, page, base } = await enter(browser, address);
  const times = [];
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await page.goto(`${base}/runs/last`);
    times.push(await page.evaluate(() => new Promise((done) => {
      requestAnimationFrame(() => setTimeout(() => {
        const { responseStart } = performance.getEntriesByType('navigation')[0];
        done({ server: responseStart, browser: performance.now() - responseStart });
      }));
    })));
  }
  const { server, browser: rest } = times.sort((a, b) => a.browser - b.browser)[1];
  // The server is many times slower in a debug build, so that only the browser's time has a limit.
  check(`many: the browser shows the run within ${OPENS_WITHIN} ms`, rest < OPENS_WITHIN, `${rest.toFixed(0)} ms`);
  await context.close();
  return `${server.toFixed(0)} ms of the server and ${rest.toFixed(0)} ms of the browser`;
}

(async () => {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
  const servers = {};
  try {
    for (const project of ['shop', 'debate', 'many']) servers[project] = await serve(project);
    const listed = JSON.parse(glee('shop', 'disputes', '--json')).disputes;
    const open = listed.find((dispute) => !dispute.disposition).number;
    const settled = listed.find((dispute) => dispute.disposition).number;
    const pages = ['/runs', '/runs/last', '/runs/last/live', '/findings', '/findings?state=all', '/disputes', '/statistics'];
    await look(browser, 'shop', servers.shop.address, [...pages, `/disputes/${open}`, `/disputes/${settled}`]);
    const hostile = JSON.parse(glee('debate', 'disputes', '--json')).disputes.map((dispute) => `/disputes/${dispute.number}`);
    await look(browser, 'debate', servers.debate.address, [...pages, ...hostile]);
    await attacks(browser, servers.shop.address, open);
    await rules(browser, servers.shop.address, open);
    await live(browser, servers.shop.address);
    const time = await opens(browser, servers.many.address);
    console.log(`the page of 2,000 findings takes ${time}`);
  } finally {
    for (const { child } of Object.values(servers)) child.kill('SIGINT');
    await browser.close();
  }
  for (const line of failed) console.log(`FAILED ${line}`);
  console.log(`${checks} checks of glee serve, ${failed.length} failed`);
  process.exitCode = failed.length > 0 ? 1 : 0;
})();
