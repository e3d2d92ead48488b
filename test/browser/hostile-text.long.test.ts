import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setStage } from './stage.ts';
import type { WatchedPage } from './watched-page.ts';

const stage = setStage();
const corpus: Readonly<Record<string, string>> = {
  image: '<img src=x onerror=alert(1)>',
  script: '</script><script>alert(2)</script>',
  svg: '"><svg/onload=alert(3)>',
  frame: `<iframe srcdoc="<script>alert(4)</script>"></iframe>`,
  style: '</style><style>*{display:none}</style>',
  link: 'javascript:alert(5)',
  template: '${alert(6)} {{alert(6)}} `',
  entity: '&lt;b&gt; &amp; &#x3c;i>',
  override: 'start \u202Eevil\u202C \u2066isolated without an end',
  joiners: 'a\u200Db\u200F\u061C\uFEFF',
  surrogate: 'lone \uD800 and \uDC00 halves',
  lines: 'one\r\ntwo\ttabs and  spaces',
  long: 'W'.repeat(3000),
  prototype: '__proto__',
};
const words = Object.entries(corpus);
let receiver: Server;
let subscription: string;

beforeAll(async () => {
  receiver = createServer((_request, response) => response.writeHead(400).end(corpus['image']));
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const body = { url, description: corpus['svg'] };
  ({ id: subscription } = await stage.daemon.api.ok<{ id: string }>(
    'POST',
    '/v1/accounts/default/subscriptions',
    body,
  ));
  for (const [name, text] of words) {
    const fields = { insuredsName: text.slice(0, 200), policyNumber: text, filingState: { stateAbbr: text } };
    await stage.settle(`f_${name}`, { status: 'REJECTED', rejectionReason: text, ...fields });
  }
  await stage.settle('<b id="x">&amp;/?#%', { status: '<i>NEW</i>', insuredsName: null });
});

afterAll(() => {
  receiver.close();
});

// Compared inside of the browser: on the way out of it lone surrogates would be replaced.
async function shows({ page }: WatchedPage, text: string): Promise<boolean> {
  return page.evaluate(
    `[...document.querySelectorAll('bdi')].some((one) => one.textContent === ${JSON.stringify(text)})`,
  );
}

async function expectHarmless({ page, problems }: WatchedPage): Promise<void> {
  const foreign =
    'main :is(script, style, iframe, object, embed, b, i, [onerror], [onload], img, a[href^="javascript:" i])';
  expect(await page.locator(foreign).count()).toBe(0);
  const apart = `[...document.querySelectorAll('bdi')].every((one) => getComputedStyle(one).unicodeBidi.includes('isolate'))`;
  expect(await page.evaluate(apart)).toBe(true);
  const tooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
  expect(await page.evaluate(tooWide)).toBe(false);
  expect(problems).toEqual([]);
}

test('what attackers write into names and reasons is text in the rejections', async () => {
  await using tab = await stage.visit('#/accounts/default');
  await tab.page.getByRole('button', { name: 'Show more' }).click();
  for (const [, text] of words) {
    await expect.poll(() => shows(tab, text), { timeout: 10_000 }).toBe(true);
    expect(await shows(tab, text.slice(0, 200))).toBe(true);
  }
  await tab.picture('hostile-account');
  await expectHarmless(tab);
});

test('it is text in the changes', async () => {
  await using tab = await stage.visit('#/accounts/default/changes');
  for (const [, text] of words) await expect.poll(() => shows(tab, text), { timeout: 10_000 }).toBe(true);
  await expect.poll(() => shows(tab, '<i>NEW</i>')).toBe(true);
  await tab.picture('hostile-changes');
  await expectHarmless(tab);
});

test('it is text on the page of a filing and in its title', async () => {
  await using tab = await stage.visit('#/');
  for (const [name, text] of words) {
    await tab.show(`#/accounts/default/filing/f_${name}`);
    await expect.poll(() => shows(tab, text), { timeout: 10_000 }).toBe(true);
    await expect
      .poll(() =>
        tab.page.evaluate(
          `document.querySelector('h1').textContent === ${JSON.stringify(text.slice(0, 200))}`,
        ),
      )
      .toBe(true);
    for (const summary of await tab.page.getByText('What was sent').all()) await summary.click();
    await expectHarmless(tab);
  }
});

test('a filing whose id and status are markup has a page, and a list of its status', async () => {
  await using tab = await stage.visit('#/accounts/default/filings');
  await tab.page.getByRole('link', { name: '<b id="x">&amp;/?#%' }).click();
  await tab.page.getByRole('heading', { name: '<b id="x">&amp;/?#%', level: 1 }).waitFor();
  await expect.poll(() => shows(tab, '<i>NEW</i>')).toBe(true);
  await expectHarmless(tab);
  await tab.page.getByRole('link', { name: 'Overview' }).click();
  await tab.page.getByRole('link', { name: '1 <i>NEW</i>' }).click();
  await tab.page.getByRole('heading', { name: 'Filings: <i>NEW</i>' }).waitFor();
  await tab.page.getByRole('link', { name: '<b id="x">&amp;/?#%' }).waitFor();
  await expectHarmless(tab);
});

test('the answers of an endpoint and the description of a subscription are text', async () => {
  await using tab = await stage.visit(`#/accounts/default/subscriptions/${subscription}`);
  await expect.poll(() => shows(tab, corpus['image'] ?? ''), { timeout: 10_000 }).toBe(true);
  await tab.page.getByRole('button', { name: 'Send a test' }).click();
  await tab.page.getByText('Test:').waitFor();
  expect(await tab.page.getByRole('heading', { level: 1 }).textContent()).toBe(corpus['svg']);
  await expectHarmless(tab);
  await tab.page
    .getByRole('navigation', { name: 'Account' })
    .getByRole('link', { name: 'Subscriptions' })
    .click();
  await expect.poll(() => shows(tab, corpus['svg'] ?? '')).toBe(true);
  await expectHarmless(tab);
});

test('it is text on the page of an attempt', async () => {
  await using tab = await stage.visit(`#/accounts/default/subscriptions/${subscription}`);
  await tab.page
    .getByRole('link', { name: /, attempt 1 of filing/ })
    .first()
    .click();
  await tab.page.getByRole('region', { name: 'Request' }).waitFor();
  await expect.poll(() => shows(tab, corpus['image'] ?? ''), { timeout: 10_000 }).toBe(true);
  await expect.poll(() => shows(tab, corpus['svg'] ?? ''), { timeout: 10_000 }).toBe(true);
  await tab.picture('hostile-attempt');
  await expectHarmless(tab);
});

test('it is text in the forms, among the tokens and in their dialogs', async () => {
  const name = `${corpus['override']} ${corpus['image']}`;
  await stage.daemon.api.ok('POST', '/v1/accounts/default/tokens', { name, readOnly: true });
  await using tab = await stage.visit('#/accounts/default/tokens');
  await expect.poll(() => shows(tab, name)).toBe(true);
  await tab.page.getByRole('button', { name: 'Revoke …' }).click();
  await tab.page.getByRole('dialog').waitFor();
  await expectHarmless(tab);
  await tab.show(`#/accounts/default/subscriptions/${subscription}/edit`);
  await tab.page.getByLabel('Endpoint URL').waitFor();
  await expect.poll(() => shows(tab, corpus['svg'] ?? '')).toBe(true);
  await tab.picture('hostile-edit');
  await expectHarmless(tab);
});

test('a hash made to do harm leads nowhere', async () => {
  await using tab = await stage.visit('#/accounts/default');
  for (const hash of [
    '#javascript:alert(1)',
    '#/accounts/%E0%A4%A/filings',
    '#/accounts/..%2f..%2fhealth/<svg onload=alert(1)>',
    '#//',
    '#main',
  ]) {
    await tab.show(hash);
    await tab.page.getByRole('heading', { level: 1 }).waitFor();
    await expectHarmless(tab);
  }
});
