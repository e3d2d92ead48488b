import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createKeys } from '../../src/redis/keys.ts';
import { openApi } from '../support/api/api-caller.ts';
import { apiToken, startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { startCollector, type Collector } from '../support/receivers/collector.ts';
import { storedRecords } from '../support/redis/stored-account.ts';
import { testRedis, type TestRedis } from '../support/redis/test-redis.ts';

const partner = 'http://127.0.0.1:9/v1';

type Stored = { url: string; privateSettings: string };

let redis: TestRedis;
let stored: ReturnType<typeof storedRecords>;
let [victim, mallory]: Collector[] = [];
let daemon: DaemonProcess | undefined;

const of = (account: string) => `/v1/accounts/${account}/subscriptions`;
const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  openApi(daemon?.url ?? '', apiToken).call(method, path, body, headers);
const testCall = (account: string, id: string) => call('POST', `${of(account)}/${id}/test`);
const logged = (msg: string) => daemon?.logs.find((line) => line['msg'] === msg);
const whose = () => ((logged('secrets.unreadable')?.['whose'] ?? []) as string[]).toSorted();

async function start(): Promise<void> {
  await daemon?.end('SIGTERM');
  daemon = undefined;
  daemon = await startDaemonProcess({ REDIS_URL: redis.url, REDIS_PREFIX: redis.prefix });
}

const register = (key: string, url: string) => ({
  send: (account: string) =>
    call(
      'POST',
      of(account),
      { url, secret: victim?.secret, headers: { 'x-key': `of ${key}` } },
      { 'idempotency-key': key },
    ),
});

async function read(account: string, id: string): Promise<Stored> {
  return JSON.parse((await stored.of(account).subscriptionText(id)) ?? '') as Stored;
}

async function write(account: string, id: string, change: Partial<Stored>): Promise<void> {
  const changed = JSON.stringify({ ...(await read(account, id)), ...change });
  await stored.of(account).setSubscription(id, changed);
}

/** Every sealed text in the store, with the version of its seal first. */
async function sealedTexts(): Promise<string[]> {
  const texts = [
    ...Object.values(await stored.accountTexts()),
    ...(await stored.of('a').subscriptionTexts()),
    ...(await stored.of('b').subscriptionTexts()),
    ...(await stored.of('a').registrations()),
    ...(await stored.of('b').registrations()),
  ];
  return texts.flatMap((text) => text.match(/v\d\.default\.[\w-]{30,}/g) ?? []).toSorted();
}

const versions = async () => [...new Set((await sealedTexts()).map((text) => text.slice(0, 2)))];

async function registered(account: string, url: string, key: string = randomUUID()): Promise<string> {
  return String((await register(key, url).send(account)).body['id']);
}

async function open(): Promise<void> {
  redis = testRedis();
  stored = storedRecords(redis.connect(), createKeys(redis.prefix));
  [victim, mallory] = [await startCollector(), await startCollector()];
  await start();
  for (const account of ['a', 'b'])
    await call('PUT', `/v1/accounts/${account}`, { baseUrl: partner, partnerKey: 'pk' });
}

async function close(): Promise<void> {
  await daemon?.[Symbol.asyncDispose]();
  daemon = undefined;
  await victim?.[Symbol.asyncDispose]();
  await mallory?.[Symbol.asyncDispose]();
  await redis.cleanup();
}

describe('every seal is bound to its place', () => {
  beforeAll(open);
  afterAll(close);

  /** Each moves something of the first subscription, and resolves with the one that must not be called. */
  const moves: [string, (from: string, to: string, other: string) => Promise<[string, string]>][] = [
    [
      'the private settings of another subscription',
      async (from, to) => {
        await write('a', to, { privateSettings: (await read('a', from)).privateSettings });
        return ['a', to];
      },
    ],
    [
      'the private settings of another account',
      async (from, _, other) => {
        await write('b', other, { privateSettings: (await read('a', from)).privateSettings });
        return ['b', other];
      },
    ],
    [
      'a partner key in the place of private settings',
      async (from) => {
        const account = JSON.parse((await stored.accountTexts())['a'] ?? '') as { sealedKey: string };
        await write('a', from, { privateSettings: account.sealedKey });
        return ['a', from];
      },
    ],
    [
      'the whole of another subscription but for its URL',
      async (from, to) => {
        await write('a', to, { ...(await read('a', from)), url: mallory?.url ?? '' });
        return ['a', to];
      },
    ],
    [
      'the URL of another receiver',
      async (from) => {
        await write('a', from, { url: mallory?.url ?? '' });
        return ['a', from];
      },
    ],
  ];

  test.each(moves)('%s: refused, reported and never sent', async (_, move) => {
    const [from, to, other] = [
      await registered('a', victim?.url ?? ''),
      await registered('a', mallory?.url ?? ''),
      await registered('b', mallory?.url ?? ''),
    ];
    expect(await versions()).toEqual(['v1']);
    const [account, id] = await move(from, to, other);
    expect(await testCall(account, id)).toMatchObject({ status: 503, body: { code: 'secret_unreadable' } });
    // As any change does, it wakes the delivery, which has nothing that it may send.
    await call('PATCH', `${of(account)}/${id}`, { description: 'new' });
    const view = async () => (await call('GET', `${of(account)}/${id}`)).body;
    await vi.waitFor(async () => expect((await view())['state']).toBe('failing'), 10_000);
    expect((await view())['unreadable']).toMatch(
      new RegExp(`subscription:${account}/${id} does not open .* or the stored text was changed or moved`),
    );
    moved.push(`subscription:${account}/${id}`);
  });

  const moved: string[] = [];
  test('all of them are reported by name, and nothing was sent to anybody', async () => {
    await start();
    expect((await call('GET', '/health/ready')).status).toBe(503);
    expect(whose()).toEqual(moved.toSorted());
    expect(moved).toHaveLength(moves.length);
    expect([...(victim?.received ?? []), ...(mallory?.received ?? [])]).toEqual([]);
    expect([...(victim?.refused ?? []), ...(mallory?.refused ?? [])]).toEqual([]);
  });
});

describe('a seal elsewhere', () => {
  let ids: Record<'one' | 'two', string>;
  beforeEach(async () => {
    await open();
    ids = {
      one: await registered('a', victim?.url ?? '', 'one'),
      two: await registered('a', mallory?.url ?? '', 'two'),
    };
  });
  afterEach(close);

  test('the key of another account, and one whose base URL is changed, is not sent to the partner service', async () => {
    const accounts = await stored.accountTexts();
    const [a, b] = ['a', 'b'].map((account) => JSON.parse(accounts[account] ?? '') as { sealedKey: string });
    await stored.setAccount('b', JSON.stringify({ ...b, sealedKey: a?.sealedKey }));
    await stored.setAccount('a', JSON.stringify({ ...a, baseUrl: `${mallory?.url}/v1` }));
    await expect(start()).resolves.toBeUndefined();
    expect(whose()).toEqual(['account:a', 'account:b']);
    expect(mallory?.refused).toEqual([]);
  });

  test('a remembered registration answers under its own idempotency key only, and shows no other secret', async () => {
    const own = stored.of('a');
    const remembered = (await own.registration('one')) ?? '';
    expect(remembered.length).toBeLessThan(500);
    const again = register('one', victim?.url ?? '');
    expect((await again.send('a')).body).toMatchObject({ id: ids.one, secret: victim?.secret });
    await own.setRegistration('two', remembered);
    expect((await register('two', victim?.url ?? '').send('a')).body['code']).toBe('secret_unreadable');
    const sealed = (await read('a', ids.one)).privateSettings;
    await own.setRegistration('one', sealed);
    expect((await again.send('a')).body['code']).toBe('secret_unreadable');
  });

  test('what its owner changes is sealed for its new place: another receiver, another secret', async () => {
    const changed = await call('PATCH', `${of('a')}/${ids.one}`, { url: mallory?.url });
    expect(changed.body).toMatchObject({ unreadable: null, url: mallory?.url });
    expect((await testCall('a', ids.one)).body).toMatchObject({ outcome: 'delivered' });
    await call('POST', `${of('a')}/${ids.two}/rotate-secret`, { secret: victim?.secret });
    expect((await testCall('a', ids.two)).body).toMatchObject({ outcome: 'delivered' });
    await start();
    expect((await call('GET', '/health/ready')).body).toMatchObject({ ready: true });
  });
});
