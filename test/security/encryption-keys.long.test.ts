import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createKeys } from '../../src/redis/keys.ts';
import { openApi } from '../support/api/api-caller.ts';
import { startCollector, type Collector } from '../support/receivers/collector.ts';
import { apiToken, startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { storedRecords } from '../support/redis/stored-account.ts';
import { dropDeliveries } from '../support/redis/stored-queues.ts';
import { testRedis, type TestRedis } from '../support/redis/test-redis.ts';

const newKey = () => randomBytes(32).toString('base64');
const [former, latter] = [newKey(), newKey()];
const subscriptions = '/v1/accounts/one/subscriptions';

let redis: TestRedis;
let collector: Collector;
let daemon: DaemonProcess | undefined;
const stored = () => storedRecords(redis.connect(), createKeys(redis.prefix));

beforeEach(async () => {
  redis = testRedis();
  collector = await startCollector();
  await start(`2026-03:${former}`);
  await daemon?.api.ok('PUT', '/v1/accounts/one', { baseUrl: 'http://127.0.0.1:9/v1', partnerKey: 'pk' });
  await register();
});

afterEach(async () => {
  await daemon?.[Symbol.asyncDispose]();
  await collector[Symbol.asyncDispose]();
  await redis.cleanup();
});

async function start(encryptionKey: string): Promise<DaemonProcess> {
  await daemon?.end('SIGTERM');
  daemon = undefined;
  daemon = await startDaemonProcess({
    REDIS_URL: redis.url,
    REDIS_PREFIX: redis.prefix,
    ENCRYPTION_KEY: encryptionKey,
  });
  return daemon;
}

/** Registers the same subscription under the same idempotency key. */
async function register() {
  const body = { url: collector.url, secret: collector.secret, headers: { 'x-api-key': 'of the receiver' } };
  const { url } = daemon ?? { url: '' };
  return openApi(url, apiToken).call('POST', subscriptions, body, { 'idempotency-key': 'once' });
}

/** Every sealed text in the store. */
async function sealedTexts(): Promise<string[]> {
  const texts = [
    ...Object.values(await stored().accountTexts()),
    ...(await stored().of('one').subscriptionTexts()),
    ...(await stored().of('one').registrations()),
  ];
  return texts.flatMap((text) => text.match(/v1\.[\w-]+\.[\w-]{30,}/g) ?? []);
}

async function reasons(): Promise<string> {
  const answer = await daemon?.api.call('GET', '/health/ready');
  return `${answer?.status} ${String(answer?.body['reasons'])}`;
}

const logged = (msg: string) => daemon?.logs.find((line) => line['msg'] === msg);

describe('ENCRYPTION_KEY', () => {
  test('a newer key takes over everything in the background, and it is told when the former is free', async () => {
    const before = await sealedTexts();
    expect(before.map((text) => text.split('.')[1])).toEqual(Array(3).fill('2026-03'));
    const { api } = await start(`2026-06:${latter},2026-03:${former}`);
    await vi.waitFor(() => expect(logged('secrets.key_free')).toMatchObject({ key: '2026-03' }), 10_000);
    expect(logged('secrets.resealed')).toMatchObject({ records: 3, key: '2026-06' });
    expect((await sealedTexts()).map((text) => text.split('.')[1])).toEqual(Array(3).fill('2026-06'));
    const metrics = await (await fetch(`${daemon?.url}/metrics`)).text();
    expect(metrics).toContain('filing_webhooks_sealed_secrets{key="2026-06"} 3');
    expect(metrics).toContain('filing_webhooks_sealed_secrets{key="2026-03"} 0');
    expect(await api.ok('GET', '/health/ready')).toMatchObject({ ready: true });

    await start(`2026-06:${latter}`);
    expect(await reasons()).toBe('200 ');
    const again = await register();
    expect(again.body).toMatchObject({ secret: collector.secret });
    await daemon?.api.ok('POST', `${subscriptions}/${String(again.body['id'])}/test`);
    expect(collector.received.map(({ headers }) => headers['x-api-key'])).toEqual(['of the receiver']);
  });

  test('another key under a known name ends the start with 78, and nothing is written', async () => {
    await daemon?.end('SIGTERM');
    const before = await sealedTexts();
    await expect(start(`2026-03:${latter}`)).rejects.toThrow(/ended with 78.*\\"2026-03\\" opens nothing/s);
    await expect(start(`2026-06:${newKey()},2026-03:${latter}`)).rejects.toThrow(/ended with 78/);
    expect(await sealedTexts()).toEqual(before);
  });

  test('a lost key leaves the daemon unready, which says so, until the secrets are set anew', async () => {
    await start(`2026-06:${latter}`);
    expect(await reasons()).toMatch(/^503 Stored secrets that do not open .*: 3, sealed with key "2026-03"/);
    expect(logged('secrets.unreadable')).toMatchObject({
      whose: [
        'account:one',
        expect.stringMatching(/^subscription:one\/sub_[0-9a-f]{32}$/),
        'registration:one',
      ],
    });
    const account = { baseUrl: 'http://127.0.0.1:9/v1', partnerKey: 'another' };
    expect((await daemon?.api.call('PUT', '/v1/accounts/one', account))?.status).toBe(200);
  });

  test('a lost key leaves the other settings of its account to be changed, and the daemon running', async () => {
    const { api } = await start(`2026-06:${latter}`);
    const changed = await api.call('PATCH', '/v1/accounts/one', { pollIntervalMs: 20_000 });
    expect(changed).toMatchObject({
      status: 200,
      body: { pollIntervalMs: 20_000, check: { ok: false, detail: expect.stringContaining('"2026-03"') } },
    });
    expect(await api.ok('GET', '/v1/accounts/one')).toMatchObject({ pollIntervalMs: 20_000 });
    expect(logged('daemon.crashed')).toBeUndefined();
  });

  test('a key that still seals something is counted in the metrics', async () => {
    await start(`2026-06:${latter}`);
    const account = { baseUrl: 'http://127.0.0.1:9/v1', partnerKey: 'another' };
    await daemon?.api.ok('PUT', '/v1/accounts/one', account);
    await start(`2026-06:${latter}`);
    const metrics = await (await fetch(`${daemon?.url}/metrics`)).text();
    expect(metrics).toContain('filing_webhooks_sealing_key{key="2026-06"} 1');
    expect(metrics).toContain('filing_webhooks_sealed_secrets{key="2026-06"} 1');
    expect(metrics).toContain('filing_webhooks_sealed_secrets{key="2026-03"} 2');
  });

  describe('once its key is lost, a subscription', () => {
    let path: string;
    const call = (method: string, to: string, body?: unknown) =>
      openApi(daemon?.url ?? '', apiToken).call(method, to, body);

    beforeEach(async () => {
      const { api } = await start(`2026-06:${latter}`);
      const { items } = await api.ok<{ items: { id: string }[] }>('GET', subscriptions);
      path = `${subscriptions}/${items[0]?.id}`;
    });

    test('is shown with the key that is missing, and with what to do', async () => {
      const shown = await call('GET', path);
      expect(shown).toMatchObject({ status: 200, body: { url: collector.url, headers: {} } });
      expect(shown.body['unreadable']).toMatch(
        /key "2026-03", which ENCRYPTION_KEY does not contain. Add it/,
      );
      expect((await call('GET', subscriptions)).body['items']).toEqual([shown.body]);
      expect((await call('GET', `${path}/attempts`)).status).toBe(200);
    });

    test('is sent nothing, for nothing unsigned may go out', async () => {
      const tested = await call('POST', `${path}/test`);
      expect(tested).toMatchObject({ status: 503, body: { code: 'secret_unreadable' } });
      expect(tested.body['detail']).toContain('"2026-03"');
      expect((await register()).body).toMatchObject({ code: 'secret_unreadable' });
      expect(collector.received).toEqual([]);
    });

    test('is failing for that reason once something is to be sent, until a daemon starts that has the key', async () => {
      // As any change does, it wakes the delivery.
      await call('PATCH', path, { description: 'new' });
      await vi.waitFor(async () => expect((await call('GET', path)).body['state']).toBe('failing'), 10_000);
      const { lastError, unreadable } = (await call('GET', path)).body;
      expect(lastError).toMatch(/key "2026-03", which ENCRYPTION_KEY does not contain. Add it/);
      expect(lastError).toBe(unreadable);
      expect(logged('delivery.blocked')).toMatchObject({ account: 'one', reason: lastError });
      await daemon?.end('SIGTERM');

      // The next look is far away, and the job that would wake it is lost.
      const id = String(path.split('/').at(-1));
      const delivery = stored().of('one').of(id);
      const block = JSON.parse((await delivery.state())['blocked'] ?? '') as object;
      const nextAt = Date.now() + 3_600_000;
      await delivery.setState({ blocked: JSON.stringify({ ...block, nextAt }) });
      await dropDeliveries(redis.connect(), createKeys(redis.prefix));
      await start(`2026-06:${latter},2026-03:${former}`);
      await vi.waitFor(
        async () =>
          expect((await call('GET', path)).body).toMatchObject({ state: 'active', lastError: null }),
        10_000,
      );
    });

    test('keeps what is sealed through changes of other settings, until the key is back', async () => {
      const changed = await call('PATCH', path, { description: 'new', enabled: false });
      expect(changed).toMatchObject({ status: 200, body: { description: 'new', enabled: false } });
      expect(changed.body['unreadable']).toContain('"2026-03"');
      await start(`2026-06:${latter},2026-03:${former}`);
      expect(await call('GET', path)).toMatchObject({
        body: { unreadable: null, description: 'new', headers: { 'x-api-key': '***' } },
      });
      expect(await call('POST', `${path}/test`)).toMatchObject({ body: { outcome: 'delivered' } });
      expect(collector.received[0]?.headers['x-api-key']).toBe('of the receiver');
    });

    test('works again with a secret and headers of its own', async () => {
      const secret = { secret: collector.secret };
      // The headers that are sealed with it may still be found.
      expect((await call('POST', `${path}/rotate-secret`, secret)).status).toBe(422);
      expect((await call('PATCH', path, secret)).status).toBe(422);
      expect((await call('GET', path)).body['unreadable']).toContain('"2026-03"');
      const all = { ...secret, headers: { 'x-api-key': 'new' }, auth: null, tls: null };
      const healed = await call('PATCH', path, all);
      expect(healed).toMatchObject({ status: 200, body: { unreadable: null } });
      expect(await call('POST', `${path}/test`)).toMatchObject({ body: { outcome: 'delivered' } });
      expect(collector.received[0]?.headers['x-api-key']).toBe('new');
    });
  });
});
