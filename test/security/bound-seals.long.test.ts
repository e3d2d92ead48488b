import { createHash, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createKeys } from '../../src/redis/keys.ts';
import { createSealer } from '../../src/secrets/seal.ts';
import { partnerKeyPlace } from '../../src/secrets/seal-place.ts';
import { listSealedSubscriptions } from '../../src/subscriptions/store/sealed-subscriptions.ts';
import { openApi } from '../support/api/api-caller.ts';
import { apiToken, startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { startCollector, type Collector } from '../support/receivers/collector.ts';
import { testRedis, type TestRedis } from '../support/redis/test-redis.ts';

const encryption = { id: 'default', key: Buffer.alloc(32, 7) };
const former = createSealer([encryption], () => 'former');
const any = createSealer([encryption], () => 'binding');
const partner = 'http://127.0.0.1:9/v1';

type Stored = { url: string; headers: unknown; secrets: { text: string }[] };

let redis: TestRedis;
let keys: ReturnType<typeof createKeys>;
let client: ReturnType<TestRedis['connect']>;
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
  return JSON.parse((await client.hget(keys.account(account).subscriptions, id)) ?? '') as Stored;
}

async function write(account: string, id: string, change: Partial<Stored>): Promise<void> {
  const changed = JSON.stringify({ ...(await read(account, id)), ...change });
  await client.hset(keys.account(account).subscriptions, id, changed);
}

/** Every sealed text in the store, with the version of its seal first. */
async function sealedTexts(): Promise<string[]> {
  const remembered = await client.keys(`${redis.prefix}:{*}:idempotency:*`);
  const texts = [
    ...(await client.hvals(keys.accounts)),
    ...(await client.hvals(keys.account('a').subscriptions)),
    ...(await client.hvals(keys.account('b').subscriptions)),
    ...(await Promise.all(remembered.map(async (key) => client.get(key)))),
  ];
  return texts.flatMap((text) => text?.match(/v\d\.default\.[\w-]{30,}/g) ?? []).toSorted();
}

const versions = async () => [...new Set((await sealedTexts()).map((text) => text.slice(0, 2)))];

/** Makes the store what an older version leaves: all its seals of the former format, and no mark. */
async function makeFormer(): Promise<void> {
  await daemon?.end('SIGTERM');
  for await (const record of listSealedSubscriptions(client, keys, ['a', 'b']))
    await record.replace(record.texts.map(({ text, place }) => former.seal(any.open(text, place), place)));
  for (const [account, text] of Object.entries(await client.hgetall(keys.accounts))) {
    const sealedKey = former.seal('pk', partnerKeyPlace(account, partner));
    await client.hset(keys.accounts, account, JSON.stringify({ ...JSON.parse(text), sealedKey }));
  }
  await client.del(keys.seals);
  expect(await versions()).toEqual(['v1']);
}

async function registered(account: string, url: string, key: string = randomUUID()): Promise<string> {
  return String((await register(key, url).send(account)).body['id']);
}

async function open(): Promise<void> {
  redis = testRedis();
  keys = createKeys(redis.prefix);
  client = redis.connect();
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

describe('on a new store every seal is bound to its place from the first', () => {
  beforeAll(open);
  afterAll(close);

  /** Each moves something of the first subscription, and resolves with the one that must not be called. */
  const moves: [string, (from: string, to: string, other: string) => Promise<[string, string]>][] = [
    [
      'the headers of another subscription',
      async (from, to) => {
        await write('a', to, { headers: (await read('a', from)).headers });
        return ['a', to];
      },
    ],
    [
      'the secrets of another subscription',
      async (from, to) => {
        await write('a', to, { secrets: (await read('a', from)).secrets });
        return ['a', to];
      },
    ],
    [
      'the headers of another account',
      async (from, _, other) => {
        await write('b', other, { headers: (await read('a', from)).headers });
        return ['b', other];
      },
    ],
    [
      'headers in the place of a secret',
      async (from) => {
        await write('a', from, { secrets: [{ text: String((await read('a', from)).headers) }] });
        return ['a', from];
      },
    ],
    [
      'a secret in the place of headers',
      async (from) => {
        await write('a', from, { headers: (await read('a', from)).secrets[0]?.text });
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
    expect(await versions()).toEqual(['v2']);
    expect(await client.get(keys.seals)).toBe('bound');
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

describe('on a new store', () => {
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
    const accounts = await client.hgetall(keys.accounts);
    const [a, b] = ['a', 'b'].map((account) => JSON.parse(accounts[account] ?? '') as { sealedKey: string });
    await client.hset(keys.accounts, 'b', JSON.stringify({ ...b, sealedKey: a?.sealedKey }));
    await client.hset(keys.accounts, 'a', JSON.stringify({ ...a, baseUrl: `${mallory?.url}/v1` }));
    await expect(start()).resolves.toBeUndefined();
    expect(whose()).toEqual(['account:a', 'account:b']);
    expect(mallory?.refused).toEqual([]);
  });

  test('a remembered registration answers under its own idempotency key only, and shows no other secret', async () => {
    const place = (key: string) =>
      keys.account('a').idempotency(createHash('sha256').update(key).digest('hex'));
    const remembered = (await client.get(place('one'))) ?? '';
    expect(remembered.length).toBeLessThan(500);
    const again = register('one', victim?.url ?? '');
    expect((await again.send('a')).body).toMatchObject({ id: ids.one, secret: victim?.secret });
    await client.set(place('two'), remembered);
    expect((await register('two', victim?.url ?? '').send('a')).body['code']).toBe('secret_unreadable');
    const sealed = (await read('a', ids.one)).secrets[0]?.text;
    await client.set(place('one'), JSON.stringify({ ...JSON.parse(remembered), sealed }));
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

describe('a store of an older version', () => {
  let ids: Record<'one' | 'two', string>;
  beforeEach(async () => {
    await open();
    ids = {
      one: await registered('a', victim?.url ?? '', 'one'),
      two: await registered('a', mallory?.url ?? '', 'two'),
    };
    await registered('b', mallory?.url ?? '');
    await makeFormer();
  });
  afterEach(close);

  test('works, and keeps its format for an hour, in which an older version may still open all of it', async () => {
    await start();
    expect(logged('secrets.unbound')).toMatchObject({ secrets: 11 });
    const from = Number((await client.get(keys.seals))?.replace('from ', ''));
    expect(from).toBeGreaterThan(Date.now() + 3_000_000);
    expect((await testCall('a', ids.one)).body).toMatchObject({ outcome: 'delivered' });
    await register('three', victim?.url ?? '').send('a');
    expect(await versions()).toEqual(['v1']);
    const metrics = await (await fetch(`${daemon?.url}/metrics`)).text();
    expect(metrics).toContain('filing_webhooks_unbound_secrets 11');
  });

  test('is bound in the background then, after which a seal kept from before is refused for good', async () => {
    await client.set(keys.seals, `from ${Date.now() - 600_000}`);
    const kept = await read('a', ids.one);
    await start();
    await vi.waitFor(() => expect(logged('secrets.bound')).toBeDefined(), 10_000);
    expect(logged('secrets.resealed')).toMatchObject({ records: 8 });
    expect(await versions()).toEqual(['v2']);
    expect((await testCall('a', ids.one)).body).toMatchObject({ outcome: 'delivered' });
    expect((await register('one', victim?.url ?? '').send('a')).body).toMatchObject({ id: ids.one });

    await write('a', ids.two, { headers: kept.headers, secrets: kept.secrets });
    // The mark is in the same Redis; a running process does not fall for its removal.
    await client.del(keys.seals);
    expect((await testCall('a', ids.two)).body).toMatchObject({ code: 'secret_unreadable' });
    await client.set(keys.seals, 'bound');
    await start();
    expect(String((await call('GET', '/health/ready')).body['reasons'])).toMatch(
      /an older version sealed, or that were moved: 2. Set them anew/,
    );
    expect(logged('secrets.unreadable')).toMatchObject({ whose: [`subscription:a/${ids.two}`] });
    expect(mallory?.received).toEqual([]);
  });

  test('that a crash left half bound opens whole, and the rest is bound by the next process', async () => {
    await client.set(keys.seals, 'from 0');
    for await (const { texts, replace } of listSealedSubscriptions(client, keys, ['a'])) {
      await replace(texts.map(({ text, place }) => any.seal(any.open(text, place), place)));
      break;
    }
    expect(await versions()).toEqual(['v1', 'v2']);
    await start();
    await vi.waitFor(async () => expect(await versions()).toEqual(['v2']), 10_000);
    for (const id of [ids.one, ids.two])
      expect((await testCall('a', id)).body).toMatchObject({ outcome: 'delivered' });
    expect((await call('GET', '/health/ready')).body).toMatchObject({ ready: true });
  });

  test('may keep its format for longer, but no mark brings it back once there are bound seals', async () => {
    await client.set(keys.seals, 'from 9999999999999');
    await start();
    await registered('a', victim?.url ?? '');
    expect(await versions()).toEqual(['v1']);
    await client.set(keys.seals, 'from 0');
    await start();
    await vi.waitFor(async () => expect(await versions()).toEqual(['v2']), 10_000);
    await client.set(keys.seals, 'from 9999999999999');
    await start();
    await registered('a', victim?.url ?? '');
    expect(await versions()).toEqual(['v2']);
  });

  test('whose mark is of another type opens the least: bound seals only', async () => {
    await client.del(keys.seals);
    await client.lpush(keys.seals, 'x');
    await start();
    expect((await testCall('a', ids.one)).body).toMatchObject({ code: 'secret_unreadable' });
    expect((await call('GET', '/health/ready')).status).toBe(503);
  });
});
