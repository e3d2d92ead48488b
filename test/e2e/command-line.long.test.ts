import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { eventCount } from '../../src/cli/commands/replay.ts';
import { startCollector, type Collector } from '../support/receivers/collector.ts';
import { apiToken, startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { testRedis } from '../support/redis/test-redis.ts';
import { startSandbox, type TestSandbox } from '../support/partner/sandbox.ts';

const launcher = join(import.meta.dirname, '../../src/cli/filing-webhooks');
const subscriptions = '/v1/accounts/default/subscriptions';
const redis = testRedis();
const running: ChildProcess[] = [];
let sandbox: TestSandbox;
let daemon: DaemonProcess;
let folder: string;
let collector: Collector;

async function startDaemon(port = '0'): Promise<void> {
  daemon = await startDaemonProcess({
    PORT: port,
    REDIS_URL: redis.url,
    REDIS_PREFIX: redis.prefix,
    PARTNER_BASE_URL: sandbox.baseUrl,
    PARTNER_KEY: 'sandbox-key',
    PARTNER_MAX_RPS: '1000',
  });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-cli-'));
  sandbox = await startSandbox();
  await sandbox.seed(30);
  await startDaemon();
  await vi.waitFor(async () => {
    const { health } = await daemon.api.ok<{ health: { state: string } }>('GET', '/v1/accounts/default');
    if (health.state !== 'ok') throw new Error(`the account is ${health.state}`);
  }, 20_000);
});

beforeEach(async () => {
  collector = await startCollector();
  return async () => collector[Symbol.asyncDispose]();
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((child) => end(child)));
});

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
  await redis.cleanup();
  await rm(folder, { recursive: true, force: true });
});

/** A run of the command line through its launcher, in a folder without .env. */
function start(words: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(launcher, words, {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      API_TOKEN: apiToken,
      FILING_WEBHOOKS_URL: daemon.url,
      SANDBOX_URL: new URL(sandbox.baseUrl).origin,
      NO_COLOR: '1',
      ...env,
    },
  });
  running.push(child);
  const output = { out: '', notes: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.notes += text));
  const closed = once(child, 'close').then(() => ({ exitCode: child.exitCode, ...output }));
  return { child, output, closed };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGINT');
  await exited;
}

function run(words: readonly string[], { input = '', ...env }: Record<string, string> = {}) {
  const { child, closed } = start(words, env);
  child.stdin.end(input);
  return closed;
}

const triggered = async (...words: string[]) =>
  JSON.parse((await run(['trigger', ...words, '--json'])).out) as { filingId: string; from: string };

async function listen(...words: string[]) {
  const listening = start(['listen', '--forward-to', collector.url, '--secret', collector.secret, ...words]);
  await vi.waitFor(() => expect(listening.output.notes).toContain('Ctrl-C ends'), 20_000);
  expect(listening.output.notes).not.toContain(collector.secret);
  return listening;
}

test('listen relays what trigger causes, verifiable and byte for byte as the callback', async () => {
  await using callback = await startCollector();
  const { id } = await daemon.api.ok<{ id: string }>('POST', subscriptions, {
    url: callback.url,
    secret: callback.secret,
  });
  const { child, output, closed } = await listen('--earliest');
  const { filingId, from } = await triggered('filing.rejected', '--reason', 'No seal.');
  expect(from).not.toBe('REJECTED');
  await vi.waitFor(
    () => expect(collector.received.map(({ event }) => event.data.filingId)).toContain(filingId),
    20_000,
  );
  await vi.waitFor(() => expect(callback.received).not.toEqual([]), 20_000);
  expect(collector.refused).toEqual([]);
  const relayed = collector.received.at(-1);
  expect(relayed?.event).toMatchObject({ type: 'filing.rejected', data: { rejectionReason: 'No seal.' } });
  expect({ id: relayed?.id, raw: relayed?.raw }).toEqual({
    id: callback.received[0]?.id,
    raw: callback.received[0]?.raw,
  });
  await vi.waitFor(
    () => expect(output.out).toMatch(/→ 200 in \d+ ms .*REJECTED .*because: No seal\. {2}evt_\w+ {2}\S+/),
    5_000,
  );
  child.kill('SIGINT');
  expect(await closed).toMatchObject({
    exitCode: 0,
    notes: expect.stringMatching(/--cursor \S+$/m) as string,
  });
  await daemon.api.ok('DELETE', `${subscriptions}/${id}`);
});

test('listen makes a secret where none is given, and tells it until the end', async () => {
  const { child, output, closed } = start(['listen', '--forward-to', collector.url, '--earliest']);
  await vi.waitFor(() => expect(output.out).toMatch(/→ 200/), 20_000);
  const secret = /Secret for your receiver: (whsec_\S+)/.exec(output.notes)?.[1];
  expect(collector.refused).not.toEqual([]);
  child.kill('SIGINT');
  expect((await closed).notes.trimEnd().endsWith(` --secret ${secret}`)).toBe(true);
});

test('listen goes on where it was when the daemon was away, and begins behind a cursor', async () => {
  const { child, output, closed } = await listen();
  const first = await triggered('filing.created');
  await vi.waitFor(() => expect(collector.received).toHaveLength(1), 20_000);
  const { port } = new URL(daemon.url);
  await daemon.end('SIGTERM');
  await vi.waitFor(() => expect(output.notes).toContain('Trying again'), 20_000);
  const second = await triggered('filing.created');
  await startDaemon(port);
  await vi.waitFor(() => expect(collector.received).toHaveLength(2), 20_000);
  child.kill('SIGINT');
  const [, cursor = ''] = /--cursor (\S+)/.exec((await closed).notes) ?? [];
  const third = await triggered('filing.created');
  await listen('--cursor', cursor);
  await vi.waitFor(() => expect(collector.received).toHaveLength(3), 20_000);
  const told = collector.received.map(({ event }) => event.data.filingId);
  expect(told).toEqual([first.filingId, second.filingId, third.filingId]);
}, 60_000);

test('a receiver that is not there is told, and does not end listen', async () => {
  const { output } = start(['listen', '--forward-to', 'http://127.0.0.1:1/', '--earliest']);
  await vi.waitFor(
    () => expect(output.out).toMatch(/not delivered .*(nothing listens there|bad port)/),
    20_000,
  );
});

test('tail shows events as lines, and with --json as the API writes them', async () => {
  const lines = start(['tail', '--earliest', '--types', 'filing.rejected']);
  await vi.waitFor(() => expect(lines.output.out).toMatch(/filing\.rejected .*→ REJECTED/), 20_000);
  const asJson = start(['tail', '--earliest', '--json']);
  await vi.waitFor(() => expect(asJson.output.out).toContain('\n'), 20_000);
  const { items } = await daemon.api.ok<{ items: unknown[] }>('GET', '/v1/accounts/default/events');
  expect(JSON.parse(asJson.output.out.split('\n', 1)[0] ?? '')).toEqual(items[0]);
});

test('replay delivers again, waits for the end and tells it', async () => {
  const { filingId } = await triggered('filing.created');
  const events = (query = '') =>
    daemon.api.ok<{ items: unknown[] }>('GET', `/v1/accounts/default/events${query}`);
  await vi.waitFor(async () => expect((await events(`?filingId=${filingId}`)).items).not.toEqual([]), 20_000);
  const { id } = await daemon.api.ok<{ id: string }>('POST', subscriptions, {
    url: collector.url,
    secret: collector.secret,
  });
  const { items } = await events();
  // Without a terminal to ask at, only a count.
  expect(await run(['replay', id])).toMatchObject({
    exitCode: 64,
    notes: expect.stringMatching(/Deliver \d+ events again to sub_.*--yes/) as string,
  });
  expect((await run(['replay', id, '--dry-run'])).out).toBe(
    `${eventCount(items.length)} would be delivered again.\n`,
  );
  expect(collector.received).toEqual([]);
  const { exitCode, out } = await run(['replay', id, '--json', '--yes', '--last', '1d']);
  expect({ exitCode, ...(JSON.parse(out) as object) }).toMatchObject({
    exitCode: 0,
    state: 'finished',
    matched: items.length,
    delivered: items.length,
  });
  expect(collector.received).toHaveLength(items.length);
  const sent = await run(['api', 'GET', `/attempts?subscription=${id}&limit=100`]);
  expect(sent.out.match(/"outcome": "delivered"/g)).toHaveLength(items.length);
  expect((await run(['replay', id, '--types', 'filing.reopened'])).out).toMatch(/^No event matches/);
  await daemon.api.ok('DELETE', `${subscriptions}/${id}`);
});

test('status ends with 1 while a subscription fails', async () => {
  const calm = await run(['status']);
  expect(calm).toMatchObject({
    exitCode: 0,
    out: expect.stringMatching(/^default {2}ok {2}\d+ rejected/) as string,
  });
  const { id } = await daemon.api.ok<{ id: string }>('POST', subscriptions, {
    url: 'http://127.0.0.1:65001/',
    from: 'earliest',
  });
  await triggered('filing.created');
  await vi.waitFor(async () => {
    const { exitCode, out } = await run(['status']);
    expect([exitCode, out]).toEqual([1, expect.stringContaining(`failing  ${id}`)]);
  }, 20_000);
  await daemon.api.ok('DELETE', `${subscriptions}/${id}`);
  const { id: brief } = await daemon.api.ok<{ id: string }>('POST', subscriptions, {
    url: collector.url,
    expiresAt: new Date(Date.now() + 500).toISOString(),
  });
  await expect
    .poll(() => daemon.api.ok('GET', `${subscriptions}/${brief}`), { timeout: 10_000 })
    .toMatchObject({ state: 'disabled', disabledReason: 'expired' });
  expect(await run(['status']), 'an expired subscription is in order').toMatchObject({ exitCode: 0 });
  await daemon.api.ok('DELETE', `${subscriptions}/${brief}`);
});

test('status finds a subscription that fails behind a thousand others', async () => {
  const account = '/v1/accounts/crowded';
  await daemon.api.ok('PUT', account, { baseUrl: sandbox.baseUrl, partnerKey: 'sandbox-key-2' });
  const register = (fields: object) =>
    daemon.api.ok<{ id: string }>('POST', `${account}/subscriptions`, { url: collector.url, ...fields });
  for (let at = 0; at < 1_000; at += 10)
    await Promise.all(Array.from({ length: 10 }, () => register({ enabled: false })));
  collector.answer(410);
  const { id } = await register({ description: 'Gone' });
  await vi.waitFor(
    async () => expect(await daemon.api.ok('GET', account)).toMatchObject({ health: { state: 'ok' } }),
    20_000,
  );
  await sandbox.set('f_crowded', { status: 'REJECTED', owner: 'second' });
  await expect
    .poll(() => daemon.api.ok('GET', `${account}/subscriptions/${id}`), { timeout: 20_000 })
    .toMatchObject({ state: 'disabled' });
  const { exitCode, out } = await run(['status', '--account', 'crowded']);
  expect([exitCode, out]).toEqual([1, expect.stringContaining(`disabled  ${id}`)]);
  await daemon.api.ok('DELETE', account);
});

test('another server is told to be none of ours, and a filing that nobody has seen is named', async () => {
  expect(await run(['tail'], { FILING_WEBHOOKS_URL: new URL(sandbox.baseUrl).origin })).toMatchObject({
    exitCode: 69,
    notes: expect.stringContaining('is not a filing-webhooks daemon') as string,
  });
  const { output } = await listen('--filing', 'nosuch');
  expect(output.notes).toContain('has seen a filing nosuch');
});

test('verify takes a real callback from files and from standard input, and refuses a changed one', async () => {
  await listen('--earliest');
  await vi.waitFor(() => expect(collector.received.length).toBeGreaterThan(0), 20_000);
  const [callback] = collector.received;
  const headers = Object.entries(callback?.headers ?? {}).map(([name, value]) => `${name}: ${String(value)}`);
  await writeFile(join(folder, 'headers.txt'), headers.join('\r\n'));
  const env = { FILING_WEBHOOKS_SECRET: collector.secret, input: callback?.raw ?? '' };
  expect(await run(['verify', '--headers', 'headers.txt'], env)).toMatchObject({
    exitCode: 0,
    out: expect.stringMatching(/^genuine {2}evt_/) as string,
  });
  const changed = await run(['verify', '--headers', 'headers.txt'], { ...env, input: `${env.input} ` });
  expect(changed).toMatchObject({ exitCode: 1, out: expect.stringContaining('not genuine') as string });
  expect(await run(['verify', '--headers', 'none.txt'], env)).toMatchObject({ exitCode: 66 });
});

test('what the daemon finds wrong with the command ends with 64', async () => {
  for (const words of [
    ['tail', '--types', 'filing.eaten'],
    ['listen', '--forward-to', collector.url, '--cursor', 'nowhere'],
    ['replay', 'sub_none', '--types', 'filing.eaten'],
  ])
    expect([words, (await run(words)).exitCode]).toEqual([words, 64]);
});

test('a token that is refused ends with 77, an unknown account with 1', async () => {
  expect(
    await run(['api', 'GET', '/subscriptions'], { API_TOKEN: 'another-token-that-is-wrong' }),
  ).toMatchObject({
    exitCode: 77,
    notes: expect.stringContaining('does not know the token') as string,
  });
  expect(await run(['tail', '--account', 'none'])).toMatchObject({
    exitCode: 1,
    notes: expect.stringContaining('--account') as string,
  });
});
