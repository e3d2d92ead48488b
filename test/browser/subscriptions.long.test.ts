import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createKeys } from '../../src/redis/keys.ts';
import { storedAccount } from '../support/redis/stored-account.ts';
import { startCollector, type Collector } from '../support/receivers/collector.ts';
import { setStage } from './stage.ts';

const stage = setStage();
const path = '/v1/accounts/default/subscriptions';
let collector: Collector;

beforeAll(async () => {
  collector = await startCollector();
});
afterAll(async () => {
  await collector[Symbol.asyncDispose]();
});

async function subscribe(settings: Record<string, unknown> = {}): Promise<string> {
  const body = { url: collector.url, secret: collector.secret, ...settings };
  return (await stage.daemon.api.ok<{ id: string }>('POST', path, body)).id;
}

async function visit(id: string) {
  const tab = await stage.visit(`#/accounts/default/subscriptions/${id}`);
  await tab.page.getByRole('button', { name: 'Send a test' }).waitFor();
  return tab;
}

describe('subscriptions', () => {
  test('leads from an empty list to the form for the first', async () => {
    await using tab = await stage.visit('#/accounts/default/subscriptions');
    await tab.page.getByText('There is no subscription yet.').waitFor();
    await tab.page.getByRole('link', { name: 'New subscription' }).click();
    await tab.page.getByRole('heading', { name: 'New subscription' }).waitFor();
    expect(tab.problems).toEqual([]);
  });

  test('lists each by its description, with what it asks for and how it does; failing ones first', async () => {
    await subscribe({ description: 'The billing system', statuses: ['PAID', 'REJECTED'] });
    await using other = await startCollector();
    other.answer(500);
    await subscribe({ description: 'The broken one', url: other.url });
    await stage.settle('f_listed', { status: 'PAID' });
    await using tab = await stage.visit('#/accounts/default/subscriptions');
    const row = tab.page.getByRole('row', { name: /The billing system/ });
    await expect
      .poll(() => row.innerText(), { timeout: 10_000 })
      .toMatch(
        /active[^]*filing\.\*[^]*only PAID, REJECTED[^]*standard[^]*\b0\b[^]*100 % of \d+, median \d+ ms/,
      );
    await tab.page.getByText('failing', { exact: true }).waitFor();
    const names = await tab.page.locator('tbody tr a').allInnerTexts();
    expect(names).toEqual(['The broken one', 'The billing system']);
    await tab.picture('subscriptions');
    await row.getByRole('link').click();
    await tab.page.getByRole('heading', { name: 'The billing system', level: 1 }).waitFor();
    expect(tab.problems).toEqual([]);
  });
});

describe('subscriptions that are not working', () => {
  test('are on top although they are on a later page, those that the daemon has disabled too', async () => {
    const crowded = '/v1/accounts/crowded/subscriptions';
    const { baseUrl } = stage.sandbox;
    await stage.daemon.api.ok('PUT', '/v1/accounts/crowded', { baseUrl, partnerKey: 'sandbox-key-2' });
    for (let at = 0; at < 101; at += 1)
      await stage.daemon.api.ok('POST', crowded, { url: `${collector.url}/${at}`, enabled: false });
    await using gone = await startCollector();
    gone.answer(410);
    const { id } = await stage.daemon.api.ok<{ id: string }>('POST', crowded, {
      url: gone.url,
      description: 'The one that is gone',
    });
    await stage.sandbox.set('f_crowded', { status: 'REJECTED', owner: 'second' });
    await expect
      .poll(() => stage.daemon.api.ok('GET', `${crowded}/${id}`), { timeout: 20_000 })
      .toMatchObject({ state: 'disabled' });
    await using tab = await stage.visit('#/');
    await tab.page.getByRole('link', { name: '1 of 102 not working' }).click();
    await tab.page.getByRole('link', { name: 'The one that is gone' }).click();
    await tab.page.getByText('the endpoint answered 410 Gone').waitFor();
    expect(tab.problems).toEqual([]);
    await stage.daemon.api.ok('DELETE', '/v1/accounts/crowded');
  });
});

describe('a subscription', () => {
  test('is tested at once, with the response of the endpoint, good or bad', async () => {
    await using tab = await visit(await subscribe());
    await tab.page.getByRole('button', { name: 'Send a test' }).click();
    await tab.page.getByText(/Test: Delivered with status 200 after/).waitFor();
    collector.answer(500);
    await tab.page.getByRole('button', { name: 'Send a test' }).click();
    await tab.page.getByText(/Test: HTTP error with status 500 after/).waitFor();
    collector.answer(200);
    expect(collector.received.filter(({ event }) => event.type === 'ping')).toHaveLength(2);
    const attempts = tab.page.getByRole('table', { name: 'Attempts' });
    await attempts.getByRole('row', { name: /ping – 1 HTTP error 500/ }).waitFor();
    await attempts.getByRole('link').first().click();
    await tab.page.getByRole('heading', { name: 'Attempts of this event' }).waitFor();
    await tab.page.getByText('"type": "ping"').waitFor();
    expect(tab.problems).toEqual([]);
  });

  test('says why the daemon itself can send nothing', async () => {
    const id = await subscribe();
    const reason = 'A stored secret was sealed with key "lost".';
    const block = { reason, since: Date.now(), times: 1, nextAt: Date.now() + 3_600_000 };
    const keys = createKeys(stage.redis.prefix).account('default');
    const stored = storedAccount(stage.redis.connect(), keys).of(id);
    await using tab = await visit(id);
    // A settlement under way writes the state, too.
    await vi.waitFor(async () => {
      await stored.setState({ blocked: JSON.stringify(block) });
      await tab.page.getByText(`Nothing can be sent: ${reason}`).waitFor({ timeout: 4_000 });
    }, 20_000);
    await tab.page.getByText('failing', { exact: true }).waitFor();
    expect(tab.problems).toEqual([]);
  });

  test('says in its banner what fails, how often and since when', async () => {
    const id = await subscribe();
    collector.answer(503);
    await using tab = await visit(id);
    await stage.settle('f_down', { status: 'PAID' });
    await tab.page.getByText(/HTTP error 503 from \d+ attempts? since \d\d:\d\d/).waitFor();
    await tab.page.getByText('The receiver failed: its log says why').waitFor();
    const attempts = tab.page.getByRole('table', { name: 'Attempts' });
    await attempts
      .getByRole('row', {
        name: /f_down 2 HTTP error 503 \d+ m?s as above|f_down 2 HTTP error 503 \d+ m?s noted/,
      })
      .waitFor();
    collector.answer(200);
    expect(tab.problems).toEqual([]);
  });

  test('tries what waits at once where the reader asks for it, and counts it for a replay until then', async () => {
    await using own = await startCollector();
    own.answer(500);
    const settings = { url: own.url, secret: own.secret, retryMs: [3_600_000] };
    await using tab = await visit(await subscribe(settings));
    await stage.settle('f_waits', { status: 'PAID' });
    const tryNow = tab.page.getByRole('button', { name: 'Try now' });
    await tryNow.waitFor();
    own.answer(200);
    await tab.page.getByRole('button', { name: 'Replay …' }).click();
    const dialog = tab.page.getByRole('dialog', { name: 'Replay' });
    await dialog.getByRole('button', { name: 'Count events' }).click();
    await dialog.getByText(/No event matches.* [1-9]\d* pending go out by themselves/).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    const received = own.received.length;
    await tryNow.click();
    await expect.poll(() => own.received.length, { timeout: 10_000 }).toBeGreaterThan(received);
    await tryNow.waitFor({ state: 'detached' });
    expect(tab.problems).toEqual([]);
  });

  test('is disabled after a question, keeps its place, and gets what it missed when it is enabled', async () => {
    const id = await subscribe();
    await using tab = await visit(id);
    await tab.page.getByRole('button', { name: 'Disable …' }).click();
    const dialog = tab.page.getByRole('dialog', { name: 'Disable the subscription' });
    await dialog.getByText('Its place in the log is kept').waitFor();
    await dialog.getByRole('button', { name: 'Disable' }).click();
    await tab.page.getByText('It is disabled, so nothing is sent.').waitFor();
    await stage.settle('f_missed', { status: 'PAID' });
    const pending = tab.page.locator('.facts div', { hasText: 'Pending deliveries' }).locator('dd');
    await expect.poll(() => pending.innerText()).toBe('1');
    await tab.page.getByRole('button', { name: 'Enable' }).click();
    await tab.page
      .getByRole('table', { name: 'Attempts' })
      .getByRole('row', { name: /f_missed 1 Delivered 200/ })
      .waitFor();
    await expect.poll(() => pending.innerText()).toBe('0');
    expect(tab.problems).toEqual([]);
  });

  test('shows a new secret once and never again', async () => {
    await using tab = await visit(await subscribe());
    await tab.page.getByRole('button', { name: 'Rotate the secret' }).click();
    const dialog = tab.page.getByRole('dialog', { name: 'Rotate the secret' });
    await dialog.getByLabel('The old secret stays valid for').selectOption('1 hour');
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    const secret = await dialog.getByLabel('New secret').inputValue();
    expect(secret).toMatch(/^whsec_[\w+/]+=*$/);
    await tab.picture('rotation');
    await dialog.getByRole('button', { name: 'Close' }).click();
    await tab.page.getByText('Old secret valid until').waitFor();
    expect(await tab.page.content()).not.toContain(secret);
    await tab.page.reload();
    await tab.page.getByRole('button', { name: 'Rotate the secret' }).waitFor();
    expect(await tab.page.content()).not.toContain(secret);
    expect(tab.problems).toEqual([]);
  });

  test('that is signed with a public key alone shows the new key', async () => {
    const body = { url: collector.url, signatures: ['v1a'] };
    const { id } = await stage.daemon.api.ok<{ id: string }>('POST', path, body);
    await using tab = await visit(id);
    await tab.page.getByRole('button', { name: 'Rotate the secret' }).click();
    const dialog = tab.page.getByRole('dialog', { name: 'Rotate the secret' });
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    const key = await dialog.getByLabel('New public key').inputValue();
    const shown = await stage.daemon.api.ok<{ publicKeys: { key: string }[] }>('GET', `${path}/${id}`);
    expect(key).toBe(shown.publicKeys[0]?.key);
    expect(tab.problems).toEqual([]);
  });

  test('has no buttons for those who may only read', async () => {
    const id = await subscribe({ description: 'Only to look at' });
    const tokens = '/v1/accounts/default/tokens';
    const { token } = await stage.daemon.api.ok<{ token: string }>('POST', tokens, {
      name: 'reader',
      readOnly: true,
    });
    await using tab = await stage.visit(`#/accounts/default/subscriptions/${id}`, token);
    await tab.page.getByRole('heading', { name: 'Only to look at', level: 1 }).waitFor();
    await tab.page.getByText('Nothing was sent yet.').waitFor();
    const buttons = await tab.page.locator('main').getByRole('button').allInnerTexts();
    expect(buttons).toEqual(['Copy']);
    expect(await tab.page.getByRole('link', { name: 'Edit' }).count()).toBe(0);
    for (const form of [`${id}/edit`, 'new']) {
      await tab.show(`#/accounts/default/subscriptions/${form}`);
      await tab.page.getByText('Your token or link only reads').waitFor();
      expect(await tab.page.locator('main form').count(), form).toBe(0);
      await tab.show('#/accounts/default');
      await tab.page.getByText('Your token or link only reads').waitFor({ state: 'detached' });
    }
    expect(tab.problems).toEqual([]);
  });
});
