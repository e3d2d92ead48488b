import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { apiToken, startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { testRedis } from '../support/redis/test-redis.ts';
import { startSandbox, type TestSandbox } from '../support/partner/sandbox.ts';

const account = '/v1/accounts/default';
const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const redis = testRedis();
let sandbox: TestSandbox;
let daemon: DaemonProcess;

beforeAll(async () => {
  sandbox = await startSandbox();
  for (const id of ['f_slack', 'f_alert', 'f_repeat', 'f_page', 'f_list'])
    await sandbox.set(id, { status: 'PENDING' });
  daemon = await startDaemonProcess({
    REDIS_URL: redis.url,
    REDIS_PREFIX: redis.prefix,
    PARTNER_BASE_URL: sandbox.baseUrl,
    PARTNER_KEY: 'sandbox-key',
    PARTNER_MAX_RPS: '1000',
  });
  await vi.waitFor(async () => {
    const { health } = await daemon.api.ok<{ health: { state: string } }>('GET', account);
    if (health.state !== 'ok') throw new Error(`the account is ${health.state}`);
  }, 10_000);
});

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
  await redis.cleanup();
});

/**
 * Another service: keeps the JSON and the headers that it is sent, answers with the statuses given in turn,
 * then 200.
 */
async function startService(...statuses: number[]) {
  const bodies: unknown[] = [];
  const paths: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      bodies.push(JSON.parse(body));
      paths.push(request.url ?? '');
      headers.push(request.headers);
      response.writeHead(statuses.shift() ?? 200).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies, paths, headers };
}

/** Runs a program of docs/recipes and returns where it listens. */
async function startRecipe(name: string, env: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../docs/recipes', name)], {
    env: { PATH: process.env['PATH'], PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(async () => {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return `http://127.0.0.1:${/\d+$/.exec(line)?.[0] ?? ''}/`;
}

/** Registers a subscription for the test and returns its path. */
async function subscribe(settings: Record<string, unknown>, path = account): Promise<string> {
  const { id } = await daemon.api.ok<{ id: string }>('POST', `${path}/subscriptions`, {
    secret,
    ...settings,
  });
  onTestFinished(async () => void (await daemon.api.ok('DELETE', `${path}/subscriptions/${id}`)));
  return `${path}/subscriptions/${id}`;
}

/** The body of the command that a recipe consists of. */
async function bodyOf(recipe: string): Promise<Record<string, unknown>> {
  const document = await readFile(join(import.meta.dirname, '../../docs/recipes.md'), 'utf8');
  const section = document.split(/^## /m).find((part) => part.startsWith(`${recipe}\n`)) ?? '';
  return JSON.parse(/ -d '(\{.*?\})'$/ms.exec(section)?.[1] ?? '') as Record<string, unknown>;
}

const fast = { timeout: 10_000, interval: 50 };

test('rejections to Slack: a message that names the filing and the reason', async () => {
  const slack = await startService();
  await subscribe({ ...(await bodyOf('Rejections to Slack')), url: `${slack.url}/services/T/B/X` });
  await sandbox.set('f_slack', {
    status: 'REJECTED',
    rejectionReason: 'No seal <!channel>',
    insuredsName: 'Blue & Co',
  });
  await vi.waitFor(() => expect(slack.bodies).toHaveLength(1), fast);
  const message = JSON.stringify(slack.bodies[0]);
  expect(message).toContain('Blue &amp; Co');
  expect(message).not.toContain('<!channel>');
});

test('what is REJECTED at first sight reaches Slack, and fires an alert that is resolved later', async () => {
  const [slack, alertmanager] = [await startService(), await startService()];
  const url = await startRecipe('pager.mjs', { ALERTMANAGER_URL: alertmanager.url, WEBHOOK_SECRET: secret });
  await subscribe({ ...(await bodyOf('Rejections to Slack')), url: slack.url });
  await subscribe({ url });
  await sandbox.set('f_born', { status: 'REJECTED', rejectionReason: 'Born rejected' });
  await sandbox.set('f_born_paid', { status: 'PAID' });
  await vi.waitFor(
    () => expect([slack.bodies, alertmanager.bodies].map(({ length }) => length)).toEqual([1, 1]),
    fast,
  );
  expect(JSON.stringify(slack.bodies)).toContain('Born rejected');
  const [[fired]] = alertmanager.bodies as [[Alert]];
  expect(fired).toMatchObject({
    labels: { filing: 'f_born' },
    annotations: { description: 'Born rejected' },
  });
  await sandbox.set('f_born', { status: 'PENDING' });
  await vi.waitFor(() => expect(alertmanager.bodies).toHaveLength(2), fast);
  const [, [resolved]] = alertmanager.bodies as [[Alert], [Alert]];
  expect(Date.parse(resolved.endsAt)).toBeLessThanOrEqual(Date.now());
  expect(slack.bodies).toHaveLength(1);
});

test('what is REJECTED already alerts a pager that begins with what is', async () => {
  await sandbox.set('f_known', { status: 'REJECTED', rejectionReason: 'Before anybody listened' });
  await settled('f_known', 'REJECTED');
  const alertmanager = await startService();
  const url = await startRecipe('pager.mjs', { ALERTMANAGER_URL: alertmanager.url, WEBHOOK_SECRET: secret });
  await subscribe({ url, from: 'state' });
  await vi.waitFor(() => {
    const alerts = (alertmanager.bodies as [Alert][]).map(([{ labels }]) => labels['filing']);
    expect(alerts).toContain('f_known');
  }, fast);
});

test('rejections to Alertmanager: one that is down is told again, and what leaves REJECTED is resolved', async () => {
  const alertmanager = await startService(503);
  const url = await startRecipe('pager.mjs', { ALERTMANAGER_URL: alertmanager.url, WEBHOOK_SECRET: secret });
  await subscribe({ url });
  await sandbox.set('f_alert', { status: 'REJECTED', rejectionReason: 'No seal' });
  await vi.waitFor(() => expect(alertmanager.bodies).toHaveLength(2), fast);
  await sandbox.set('f_alert', { status: 'PENDING' });
  await vi.waitFor(() => expect(alertmanager.bodies).toHaveLength(3), fast);
  const [[first], [second], [resolved]] = alertmanager.bodies as [[Alert], [Alert], [Alert]];
  expect(first).toMatchObject({
    labels: { alertname: 'FilingRejected', account: 'default', filing: 'f_alert' },
    annotations: { description: 'No seal' },
  });
  expect(second).toEqual(first);
  expect(resolved.labels).toEqual(first.labels);
  expect(Date.parse(first.endsAt) - Date.now()).toBeGreaterThan(86_400_000);
  expect(Date.parse(resolved.endsAt)).toBeLessThanOrEqual(Date.now());
  expect(new Set(alertmanager.paths)).toEqual(new Set(['/api/v2/alerts']));
});

test('rejections to Alertmanager: what a later filing answers is resolved', async () => {
  const alertmanager = await startService();
  const url = await startRecipe('pager.mjs', { ALERTMANAGER_URL: alertmanager.url, WEBHOOK_SECRET: secret });
  await subscribe({ url });
  const type = { filingType: 'NEW_BUSINESS', endorsementNumber: null };
  const fields = { ...type, policyNumber: 'SL-77', filingState: { stateAbbr: 'TX' } };
  await sandbox.set('f_old', { ...fields, status: 'REJECTED', createdAt: '2026-01-01T00:00:00.000Z' });
  await vi.waitFor(() => expect(alertmanager.bodies).toHaveLength(1), fast);
  await sandbox.set('f_new', { ...fields, status: 'UNPAID', createdAt: '2026-01-02T00:00:00.000Z' });
  await vi.waitFor(() => expect(alertmanager.bodies).toHaveLength(2), fast);
  const [[fired], [resolved]] = alertmanager.bodies as [[Alert], [Alert]];
  expect(fired.labels['filing']).toBe('f_old');
  expect(resolved.labels).toEqual(fired.labels);
  expect(Date.parse(resolved.endsAt)).toBeLessThanOrEqual(Date.now());
});

interface Alert {
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
  readonly endsAt: string;
}

test('rejections to Alertmanager: a repeat fires nothing that is resolved, the next rejection fires again', async () => {
  const alertmanager = await startService();
  const url = await startRecipe('pager.mjs', { ALERTMANAGER_URL: alertmanager.url, WEBHOOK_SECRET: secret });
  const subscription = await subscribe({ url });
  await sandbox.set('f_repeat', { status: 'REJECTED', rejectionReason: 'No seal' });
  await vi.waitFor(() => expect(alertmanager.bodies).toHaveLength(1), fast);
  await sandbox.set('f_repeat', { status: 'PENDING' });
  await vi.waitFor(() => expect(alertmanager.bodies).toHaveLength(2), fast);

  const request = { filingId: 'f_repeat', eventTypes: ['filing.rejected'] };
  const { id } = await daemon.api.ok<{ id: string }>('POST', `${subscription}/replay`, request);
  await vi.waitFor(async () => {
    const replay = await daemon.api.ok('GET', `${subscription}/replays/${id}`);
    expect(replay).toMatchObject({ state: 'finished', delivered: 1 });
  }, fast);
  await sandbox.set('f_repeat', { status: 'REJECTED', rejectionReason: 'Still no seal' });
  await vi.waitFor(() => expect(alertmanager.bodies).toHaveLength(3), fast);
  const reasons = (alertmanager.bodies as [Alert][]).map(([{ annotations }]) => annotations['description']);
  expect(reasons).toEqual(['No seal', '', 'Still no seal']);
});

test('rejections to PagerDuty: trigger and resolve under one key, and nothing that is not signed', async () => {
  const pagerDuty = await startService();
  const env = { PAGERDUTY_KEY: 'key', PAGERDUTY_URL: pagerDuty.url, WEBHOOK_SECRET: secret };
  const url = await startRecipe('pager.mjs', env);
  const forged = await fetch(url, { method: 'POST', body: '{"type":"filing.rejected"}' });
  expect(forged.status).toBe(400);
  await subscribe({ url });
  await sandbox.set('f_alert', { status: 'REJECTED', rejectionReason: 'No seal' });
  await sandbox.set('f_list', { status: 'COMPLETED' });
  await vi.waitFor(() => expect(pagerDuty.bodies).toHaveLength(1), fast);
  await sandbox.set('f_alert', { status: 'PAID' });
  await vi.waitFor(() => expect(pagerDuty.bodies).toHaveLength(2), fast);
  const key = { routing_key: 'key', dedup_key: 'filing-rejected/default/f_alert' };
  expect(pagerDuty.bodies).toMatchObject([
    {
      ...key,
      event_action: 'trigger',
      payload: { summary: expect.stringMatching(/was rejected: No seal$/) as string },
    },
    { ...key, event_action: 'resolve' },
  ]);
});

test('a page of your own: browsers get events without ever seeing the token', async () => {
  const { token } = await daemon.api.ok<{ token: string }>('POST', `${account}/tokens`, {
    name: 'ops page',
    readOnly: true,
  });
  const url = await startRecipe('ops-page.mjs', {
    FILING_WEBHOOKS_URL: daemon.url,
    FILING_WEBHOOKS_TOKEN: token,
  });
  const page = await (await fetch(url)).text();
  expect(page).toContain('EventSource');
  expect(page).not.toContain(token);
  const end = new AbortController();
  onTestFinished(() => end.abort());
  const stream = await fetch(`${url}events`, { signal: end.signal });
  let seen = '';
  void (async () => {
    for await (const piece of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) seen += piece;
  })().catch(() => undefined);
  // The page may not follow yet: each further change is another chance.
  let n = 0;
  await vi.waitFor(
    async () => {
      n += 1;
      await sandbox.set('f_page', { status: 'REJECTED', rejectionReason: `Reason ${n}` });
      expect(seen).toMatch(/^data: .*filing\.rejected · .*f_page · Reason \d+$/m);
    },
    { timeout: 10_000, interval: 500 },
  );
});

test('rejections in a spreadsheet: the command of the recipe writes a table', async () => {
  await sandbox.set('f_list', { status: 'REJECTED', rejectionReason: '=1+1, really' });
  await vi.waitFor(async () => {
    const response = await fetch(`${daemon.url}${account}/filings?status=REJECTED`, {
      headers: { authorization: `Bearer ${apiToken}`, accept: 'text/csv' },
    });
    expect(await response.text()).toMatch(/^f_list,REJECTED,.*,"'=1\+1, really",/m);
  }, fast);
});

test('only what concerns one team: these states, these types, and the header of the team', async () => {
  const team = await startService();
  await subscribe({ ...(await bodyOf('Only what concerns one team')), url: team.url });
  for (const [id, state] of [
    ['f_california', 'CA'],
    ['f_texas', 'TX'],
    ['f_oklahoma', 'OK'],
  ] as const) {
    await sandbox.set(id, { status: 'PENDING', filingState: { stateAbbr: state } });
    await settled(id, 'PENDING');
    await sandbox.set(id, { status: 'REJECTED', rejectionReason: 'No seal' });
    await settled(id, 'REJECTED');
  }
  await sandbox.set('f_texas', { status: 'PAID' });
  await settled('f_texas', 'PAID');
  await sandbox.set('f_texas', { status: 'COMPLETED' });
  await vi.waitFor(() => expect(team.bodies).toHaveLength(3), fast);
  expect(team.bodies).toMatchObject([
    { type: 'filing.rejected', data: { filingId: 'f_texas' } },
    { type: 'filing.rejected', data: { filingId: 'f_oklahoma' } },
    { type: 'filing.completed', data: { filingId: 'f_texas' } },
  ]);
  expect(team.headers.map((each) => each['x-team'])).toEqual(['southwest', 'southwest', 'southwest']);
});

/** Waits until the daemon has seen a filing so. */
async function settled(id: string, status: string): Promise<void> {
  await vi.waitFor(async () => {
    const filing = await daemon.api.ok<{ status: string }>('GET', `${account}/filings/${id}`);
    expect(filing.status).toBe(status);
  }, fast);
}

test('being told when the daemon itself is in trouble: a key that is refused, a subscription that is disabled', async () => {
  const operations = await startService();
  const gone = await startService(410);
  const path = '/v1/accounts/troubled';
  const settings = { baseUrl: sandbox.baseUrl, partnerKey: 'sandbox-key' };
  await daemon.api.ok('PUT', path, settings);
  onTestFinished(async () => void (await daemon.api.ok('DELETE', path)));
  await vi.waitFor(async () => {
    const { health } = await daemon.api.ok<{ health: { state: string } }>('GET', path);
    expect(health.state).toBe('ok');
  }, fast);
  const trouble = 'Being told when the daemon itself is in trouble';
  await subscribe({ ...(await bodyOf(trouble)), url: operations.url }, path);

  await subscribe({ url: gone.url }, path);
  await sandbox.set('f_list', { status: 'PAID' });
  await vi.waitFor(() => expect(operations.bodies).toHaveLength(1), fast);
  await daemon.api.ok('PUT', path, { ...settings, partnerKey: 'a-key-that-was-revoked' });
  await vi.waitFor(() => expect(operations.bodies).toHaveLength(2), fast);
  expect(operations.bodies).toMatchObject([
    { type: 'subscription.disabled', data: { account: 'troubled' } },
    { type: 'account.auth_failed', data: { account: 'troubled' } },
  ]);
});
