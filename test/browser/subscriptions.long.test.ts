import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
  test('says how to register the first', async () => {
    await using tab = await stage.visit('#/accounts/default/subscriptions');
    await tab.page.getByText('Register an endpoint with POST /v1/accounts/default/subscriptions').waitFor();
    expect(tab.problems).toEqual([]);
  });

  test('lists each with state, lag, failures, success rate, latency, next attempt and last success', async () => {
    await subscribe({ description: 'The billing system' });
    await stage.settle('f_listed', { status: 'PAID' });
    await using tab = await stage.visit('#/accounts/default/subscriptions');
    const row = tab.page.getByRole('row', { name: /The billing system/ });
    await expect
      .poll(() => row.innerText(), { timeout: 10_000 })
      .toMatch(/active[^]*\b0\b[^]*\b0\b[^]*100 % of \d+, median \d+ ms[^]*none due[^]*(just now|ago)/);
    await row.getByRole('link').click();
    await tab.page.getByRole('heading', { name: 'The billing system', level: 1 }).waitFor();
    expect(tab.problems).toEqual([]);
  });
});

describe('a subscription', () => {
  test('is tested at once, with the answer of the endpoint, good or bad', async () => {
    await using tab = await visit(await subscribe());
    await tab.page.getByRole('button', { name: 'Send a test' }).click();
    await tab.page.getByText(/Test: delivered with status 200 after/).waitFor();
    collector.answer(500);
    await tab.page.getByRole('button', { name: 'Send a test' }).click();
    await tab.page.getByText(/Test: http error with status 500 after/).waitFor();
    collector.answer(200);
    expect(collector.received.filter(({ event }) => event.type === 'ping')).toHaveLength(2);
    expect(tab.problems).toEqual([]);
  });

  test('says why the daemon itself can send nothing', async () => {
    const id = await subscribe();
    const reason = 'A stored secret was sealed with key "lost".';
    const block = { reason, since: Date.now(), times: 1, nextAt: Date.now() + 3_600_000 };
    const { prefix } = stage.redis;
    await stage.redis.connect().hset(`${prefix}:{default}:sub:${id}`, 'blocked', JSON.stringify(block));
    await using tab = await visit(id);
    await tab.page.getByText(`Nothing can be sent: ${reason}`).waitFor();
    await tab.page.getByText('failing', { exact: true }).waitFor();
    expect(tab.problems).toEqual([]);
  });

  test('shows attempts and dead letters, and delivers those again', async () => {
    const id = await subscribe();
    collector.answer(503);
    await using tab = await visit(id);
    await stage.settle('f_dead', { status: 'PAID' });
    const dead = tab.page.getByRole('table', { name: 'Dead letters' });
    await dead.getByRole('row', { name: /filing\.created f_dead 4 http error/ }).waitFor();
    const attempts = tab.page.getByRole('table', { name: 'Attempts' });
    await attempts.getByRole('row', { name: /f_dead 4 http error 503 \d+ m?s noted/ }).waitFor();
    await tab.page.getByText('the next event tries it again').waitFor();
    await tab.picture('subscription');

    collector.answer(200);
    await tab.page.getByRole('button', { name: 'Replay' }).click();
    const dialog = tab.page.getByRole('dialog', { name: 'Replay' });
    await dialog.getByLabel('Only the filing').fill('f_dead');
    await dialog.getByRole('button', { name: 'Replay' }).click();
    await tab.page.getByText('Replay finished: 1 of 1 delivered.').waitFor();
    expect(await tab.page.evaluate('document.activeElement.textContent')).toBe('Replay …');
    expect(tab.problems).toEqual([]);
  });

  test('says when nothing matches a replay', async () => {
    await using tab = await visit(await subscribe());
    await tab.page.getByRole('button', { name: 'Replay' }).click();
    const dialog = tab.page.getByRole('dialog', { name: 'Replay' });
    await dialog.getByLabel('Everything that matches').check();
    await dialog.getByLabel('Until').fill('2020-01-01T00:00:00');
    await dialog.getByRole('button', { name: 'Replay' }).click();
    await tab.page.getByText('No event matches, so nothing is delivered again.').waitFor();
    expect(tab.problems).toEqual([]);
  });

  test('is disabled, keeps its place, and gets what it missed when it is enabled', async () => {
    const id = await subscribe();
    await using tab = await visit(id);
    await tab.page.getByRole('button', { name: 'Disable' }).click();
    await tab.page.getByText('It is disabled, so nothing is sent.').waitFor();
    await stage.settle('f_missed', { status: 'PAID' });
    await tab.page.getByText('1 event', { exact: true }).waitFor();
    await tab.page.getByRole('button', { name: 'Enable' }).click();
    await tab.page
      .getByRole('table', { name: 'Attempts' })
      .getByRole('row', { name: /f_missed 1 delivered 200/ })
      .waitFor();
    await tab.page.getByText('0 events', { exact: true }).waitFor();
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
    await tab.page.getByText(/^in \d+ (h|min)$/).waitFor();
    expect(await tab.page.content()).not.toContain(secret);
    await tab.page.reload();
    await tab.page.getByRole('button', { name: 'Rotate the secret' }).waitFor();
    expect(await tab.page.content()).not.toContain(secret);
    expect(tab.problems).toEqual([]);
  });

  test('says why a read-only token changed nothing', async () => {
    const id = await subscribe();
    const tokens = '/v1/accounts/default/tokens';
    const { token } = await stage.daemon.api.ok<{ token: string }>('POST', tokens, {
      name: 'reader',
      readOnly: true,
    });
    await using tab = await stage.visit(`#/accounts/default/subscriptions/${id}`, token);
    await tab.page.getByRole('button', { name: 'Disable' }).click();
    await tab.page.getByText('Use a token that was made without readOnly.').waitFor();
    expect(tab.problems).toEqual([]);
  });
});
