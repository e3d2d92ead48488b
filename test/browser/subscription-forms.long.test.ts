import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { startCollector, type Collector } from '../support/receivers/collector.ts';
import { expectAccessible } from './accessible.ts';
import { setStage } from './stage.ts';

const stage = setStage(30);
const path = '/v1/accounts/default/subscriptions';
const newForm = '#/accounts/default/subscriptions/new';
let collector: Collector;

beforeAll(async () => {
  collector = await startCollector();
});
afterAll(async () => {
  await collector[Symbol.asyncDispose]();
});

interface Shown extends Record<string, unknown> {
  readonly id: string;
  readonly headers: Record<string, string>;
}

async function subscriptions(): Promise<Shown[]> {
  return (await stage.daemon.api.ok<{ items: Shown[] }>('GET', `${path}?limit=100`)).items;
}

async function subscribe(settings: Record<string, unknown> = {}): Promise<string> {
  const body = { url: collector.url, secret: collector.secret, ...settings };
  return (await stage.daemon.api.ok<{ id: string }>('POST', path, body)).id;
}

async function openNew() {
  const tab = await stage.visit(newForm);
  await tab.page.getByLabel('Endpoint URL').waitFor();
  return tab;
}

const tick = (page: Page, name: string | RegExp) => page.getByRole('checkbox', { name, exact: true });

describe('a new subscription', () => {
  test('with a mailbox asks for nothing that e-mail has not, and is refused in words without a mail server', async () => {
    await using tab = await openNew();
    const { page } = tab;
    const ofEndpoints = ['Format', 'Payload', 'Signing secret'].map((label) =>
      page.getByLabel(label, { exact: true }),
    );
    for (const field of ofEndpoints) expect(await field.isVisible()).toBe(true);
    await page.getByLabel('Endpoint URL').fill('mailto:claims@agency.example');
    for (const field of ofEndpoints) expect(await field.count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Add a header' }).count()).toBe(0);
    await expectAccessible(tab);
    await page.getByRole('button', { name: 'Create subscription' }).click();
    await page.getByText('the operator sets SMTP_URL and SMTP_FROM').waitFor();
    await page.getByLabel('Endpoint URL').fill(collector.url);
    for (const field of ofEndpoints) expect(await field.isVisible()).toBe(true);
  });

  test('is made with what was chosen, and shows its secret once', async () => {
    await using tab = await openNew();
    const { page } = tab;
    await page.getByLabel('Endpoint URL').fill(collector.url);
    await page.getByLabel('Description').fill('The claims desk');
    await page.getByRole('radio', { name: /^Choose/ }).check();
    await tick(page, /^Every filing event/).uncheck();
    await tick(page, /^filing\.rejected/).check();
    await tick(page, /^filing\.created/).check();
    await tick(page, 'REJECTED').check();
    await page.getByLabel('Only filings of these states').fill('zz, TX');
    await page.getByRole('button', { name: 'Add a header' }).click();
    await page.getByLabel('Name of header 1').fill('x-team');
    await page.getByLabel('Value of header 1').fill('claims');
    const secret = await page.getByLabel('Signing secret', { exact: true }).inputValue();
    await tab.picture('new-subscription');
    await expectAccessible(tab);
    await page.getByRole('button', { name: 'Create subscription' }).click();
    await page.getByRole('heading', { name: 'Subscription created' }).waitFor();
    expect(await page.getByLabel('Signing secret', { exact: true }).inputValue()).toBe(secret);
    await tab.picture('new-subscription-created');
    await page.getByRole('link', { name: 'Open the subscription' }).click();
    await page.getByRole('heading', { name: 'The claims desk', level: 1 }).waitFor();
    expect(await page.content()).not.toContain(secret);
    const made = (await subscriptions()).find(({ description }) => description === 'The claims desk');
    expect(made).toMatchObject({
      url: collector.url,
      eventTypes: ['filing.rejected', 'filing.created'],
      statuses: ['REJECTED'],
      states: ['ZZ', 'TX'],
      headers: { 'x-team': '***' },
      enabled: true,
      from: 'now',
    });
    expect(tab.problems).toEqual([]);
  });

  test('tells of rejections unless something else is wanted, and says in words what it gets', async () => {
    await stage.settle('f_rejected', { status: 'REJECTED' });
    await using tab = await openNew();
    const { page } = tab;
    await page.getByLabel('Endpoint URL').fill(collector.url);
    await page.getByLabel('Description').fill('Alerts');
    expect(await page.getByRole('radio', { name: /^Rejections/ }).isChecked()).toBe(true);
    const sentence = page.locator('form p.notice');
    await expect
      .poll(() => sentence.innerText())
      .toBe('Gets every rejection of all states, as signed JSON, from now on.');
    await page.getByRole('radio', { name: /^Choose/ }).check();
    await tick(page, /^Every filing event/).uncheck();
    await tick(page, /^filing\.completed/).check();
    await expect.poll(() => sentence.innerText()).toContain('Rejections are left out');
    expect(await sentence.getAttribute('class')).toContain('bad');
    await expectAccessible(tab);
    await page.getByRole('radio', { name: /^Rejections/ }).check();
    await expect.poll(() => sentence.getAttribute('class')).not.toContain('bad');
    await page.getByRole('checkbox', { name: /rejected now/ }).check();
    await tab.picture('new-subscription-rejections');
    await page.getByRole('button', { name: 'Create subscription' }).click();
    await page.getByRole('heading', { name: 'Subscription created' }).waitFor();
    const made = (await subscriptions()).find(({ description }) => description === 'Alerts');
    expect(made).toMatchObject({ eventTypes: ['filing.*'], statuses: ['REJECTED'], from: 'state' });
    expect(tab.problems).toEqual([]);
  });

  test('for Slack or Teams takes the format of the URL, and asks for nothing that they do not read', async () => {
    await using tab = await openNew();
    const { page } = tab;
    const url = page.getByLabel('Endpoint URL');
    const format = page.getByLabel('Format', { exact: true });
    const secret = page.getByLabel('Signing secret', { exact: true });
    await secret.waitFor();
    for (const [address, expected] of [
      ['https://hooks.slack.com/services/T/B/x', 'slack'],
      ['https://prod-1.westus.logic.azure.com/workflows/x', 'teams'],
      ['https://acme.webhook.office.com/x', 'teams'],
      ['https://x.environment.api.powerplatform.com/x', 'teams'],
    ] as const) {
      await url.fill(address);
      await expect.poll(() => format.inputValue()).toBe(expected);
      for (const label of ['Signing secret', 'Payload'])
        expect(await page.getByLabel(label, { exact: true }).count()).toBe(0);
      expect(await page.getByRole('group', { name: 'Custom headers' }).count()).toBe(0);
    }
    await url.fill('https://hooks.slack.com.example.com/x');
    await expect.poll(() => format.inputValue()).toBe('standard');
    await secret.waitFor();
    expect(tab.problems).toEqual([]);
  });

  test('is tested before it is saved, with its own secret, and leaves nothing behind', async () => {
    const before = (await subscriptions()).length;
    const received = collector.received.length;
    await using tab = await openNew();
    const { page } = tab;
    await page.getByLabel('Endpoint URL').fill(collector.url);
    await page.getByLabel('Signing secret', { exact: true }).fill(collector.secret);
    await page.getByRole('button', { name: 'Send a test first' }).click();
    await page.getByText(/Test: Delivered with status 200 after/).waitFor();
    collector.answer(404);
    await page.getByRole('button', { name: 'Send a test first' }).click();
    await page.getByText('Check the path in the URL of the subscription').waitFor();
    collector.answer(200);
    await tab.picture('new-subscription-test');
    const pings = collector.received.slice(received);
    expect(pings.map(({ event }) => event.type)).toEqual(['ping', 'ping']);
    expect(await subscriptions()).toHaveLength(before);
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: 'Subscriptions', level: 1 }).waitFor();
    expect(await subscriptions()).toHaveLength(before);
    expect(tab.problems).toEqual([]);
  });

  test('takes a filter, tried on the latest events before it is saved', async () => {
    await stage.settle('f_dear', { status: 'REJECTED', rejectionReason: 'No seal', premium: 50_000 });
    await using tab = await openNew();
    const { page } = tab;
    await page.getByLabel('Endpoint URL').fill(collector.url);
    const filter = page.getByLabel('Filter', { exact: true });
    const attempt = page.getByRole('button', { name: 'Try on the latest events' });
    await filter.fill('filing.premium >');
    await attempt.click();
    await expect.poll(() => filter.getAttribute('aria-invalid')).toBe('true');
    await filter.fill('filing.premium == 50000.0');
    await attempt.click();
    await page.getByText(/^1 of \d+ match, 0 undecided\.$/).waitFor();
    await expect.poll(() => filter.getAttribute('aria-invalid')).toBe('false');
    await expectAccessible(tab);
    await page.getByRole('button', { name: 'Create subscription' }).click();
    await page.getByRole('link', { name: 'Open the subscription' }).click();
    await page.getByText('filing.premium == 50000.0').waitFor();
    expect((await subscriptions()).map((each) => each['filter'])).toContain('filing.premium == 50000.0');
    await page.getByRole('link', { name: 'Edit' }).click();
    await expect.poll(() => filter.inputValue()).toBe('filing.premium == 50000.0');
    await filter.fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(async () => (await subscriptions()).map((each) => each['filter']))
      .not.toContain('filing.premium == 50000.0');
    expect(tab.problems).toEqual([]);
  });

  test('that is refused says so beside the fields, and the first wrong one has the focus', async () => {
    const before = (await subscriptions()).length;
    await using tab = await openNew();
    const { page } = tab;
    await page.getByLabel('Endpoint URL').fill('https://127.0.0.1:6379/');
    await page.getByLabel('Signing secret', { exact: true }).fill('whsec_short');
    await page.getByRole('button', { name: 'Add a header' }).click();
    await page.getByLabel('Name of header 1').fill('content-type');
    await page.getByLabel('Value of header 1').fill('text/plain');
    await page.getByRole('button', { name: 'Create subscription' }).click();
    await page.getByText('Could not create the subscription: see the fields above.').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('url');
    const described = await page.getByLabel('Endpoint URL').getAttribute('aria-describedby');
    const problem = await page.locator(`[id="${described?.split(' ')[1]}"]`).innerText();
    expect(problem).toMatch(/6379/);
    await page
      .getByRole('group', { name: 'Custom headers' })
      .getByText(/content-type/i)
      .waitFor();
    await tab.picture('new-subscription-refused');
    await expectAccessible(tab);
    expect(await subscriptions()).toHaveLength(before);
    expect(tab.problems).toEqual([]);
  });

  test('is registered once although the answer to the first request was lost', async () => {
    const before = (await subscriptions()).length;
    await using tab = await openNew();
    const { page } = tab;
    await page.getByLabel('Endpoint URL').fill(collector.url);
    let lost = 0;
    await page.route('**/subscriptions', async (route) => {
      if (route.request().method() !== 'POST' || lost > 0) return route.continue();
      lost += 1;
      await route.fetch();
      return route.abort();
    });
    await page.getByRole('button', { name: 'Create subscription' }).click();
    await page.getByText('Could not create the subscription.').waitFor();
    await page.getByRole('button', { name: 'Create subscription' }).click();
    await page.getByRole('heading', { name: 'Subscription created' }).waitFor();
    expect(lost).toBe(1);
    expect(await subscriptions()).toHaveLength(before + 1);
  });
});

describe('a subscription that is edited', () => {
  test('keeps the headers that it has, and gets only what was changed', async () => {
    const id = await subscribe({ description: 'Before', headers: { 'x-kept': 'value' }, states: ['TX'] });
    await using tab = await stage.visit(`#/accounts/default/subscriptions/${id}`);
    const { page } = tab;
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByText('Kept as they are: x-kept').waitFor();
    await page.getByLabel('Description').fill('After');
    await page.getByLabel('Only filings of these states').fill('');
    await tab.picture('edit-subscription');
    await expectAccessible(tab);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'After', level: 1 }).waitFor();
    const shown = await stage.daemon.api.ok('GET', `${path}/${id}`);
    expect(shown).toMatchObject({ description: 'After', states: null, headers: { 'x-kept': '***' } });
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText(/Test: Delivered with status 200/).waitFor();
    expect(collector.received.at(-1)?.headers['x-kept']).toBe('value');
    expect(tab.problems).toEqual([]);
  });

  test('replaces its headers as a whole', async () => {
    const id = await subscribe({ headers: { 'x-one': 'a', 'x-two': 'b' } });
    await using tab = await stage.visit(`#/accounts/default/subscriptions/${id}/edit`);
    const { page } = tab;
    await page.getByRole('button', { name: 'Replace all headers' }).click();
    await page.getByRole('button', { name: 'Remove header 1' }).click();
    await page.getByLabel('Value of header 1').fill('c');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Send a test' }).waitFor();
    const { headers } = await stage.daemon.api.ok<Shown>('GET', `${path}/${id}`);
    expect(headers).toEqual({ 'x-two': '***' });
    expect(tab.problems).toEqual([]);
  });

  test('expires at the time that the form names, shows it, and goes on once the time is taken out', async () => {
    const id = await subscribe({ description: 'For a while' });
    await using tab = await stage.visit(`#/accounts/default/subscriptions/${id}/edit`);
    const { page } = tab;
    const expires = page.getByLabel('Expires', { exact: true });
    await expires.fill('2001-01-01T00:00:00');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('must lie in the future').waitFor();
    expect(await expires.getAttribute('aria-invalid')).toBe('true');
    await expires.fill('2100-01-02T03:04:05');
    await tab.picture('edit-subscription-expiry');
    await expectAccessible(tab);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/Jan 2, 2100/).waitFor();
    await tab.picture('subscription-expiry');
    const { expiresAt } = await stage.daemon.api.ok<{ expiresAt: string }>('GET', `${path}/${id}`);
    expect(await page.evaluate(`new Date('2100-01-02T03:04:05').toISOString()`)).toBe(expiresAt);

    const soon = new Date(Date.now() + 1_500).toISOString();
    await stage.daemon.api.ok('PATCH', `${path}/${id}`, { expiresAt: soon });
    await page.getByText('another time under Edit, or none, delivers what it missed').waitFor();
    await page.getByRole('link', { name: 'Edit' }).click();
    await expires.fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(() => stage.daemon.api.ok('GET', `${path}/${id}`))
      .toMatchObject({ expiresAt: null, enabled: true });
    await page.locator('dt', { hasText: 'Expires' }).locator('xpath=following-sibling::dd[1]').waitFor();
    // The browser logs the refusal of the time in the past.
    expect(tab.problems.filter((problem) => !problem.includes('422'))).toEqual([]);
  });

  test('says what it does not take along to another host, and shows the new secret', async () => {
    const id = await subscribe({ headers: { authorization: 'Basic abc' } });
    const tokens = '/v1/accounts/default/tokens';
    const { token } = await stage.daemon.api.ok<{ token: string }>('POST', tokens, {
      name: 'integrator',
      readOnly: false,
    });
    await using tab = await stage.visit(`#/accounts/default/subscriptions/${id}/edit`, token);
    const { page } = tab;
    await page.getByLabel('Endpoint URL').fill(collector.url.replace('127.0.0.1', '127.0.0.2'));
    await page.getByText('The URL leads to another host.').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('the custom headers: give them anew').waitFor();
    expect(await page.getByLabel('New signing secret').inputValue()).toMatch(/^whsec_/);
    await tab.picture('edit-subscription-dropped');
    expect(tab.problems).toEqual([]);
  });
});

test('a subscription is deleted once the dialog has said what is lost', async () => {
  const id = await subscribe({ description: 'Short-lived' });
  await using tab = await stage.visit(`#/accounts/default/subscriptions/${id}`);
  const { page } = tab;
  await page.getByRole('button', { name: 'Delete …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete the subscription' });
  await dialog.getByText('its attempts, dead letters and replays').waitFor();
  await tab.picture('delete-subscription');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect((await subscriptions()).map((one) => one.id)).toContain(id);
  await page.getByRole('button', { name: 'Delete …' }).click();
  await dialog.getByRole('button', { name: 'Delete for good' }).click();
  await page.getByRole('heading', { name: 'Subscriptions', level: 1 }).waitFor();
  expect((await subscriptions()).map((one) => one.id)).not.toContain(id);
  expect(tab.problems).toEqual([]);
});
