import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createKeys, type AccountKeys, type Keys, type SubscriptionKeys } from '../../src/redis/keys.ts';
import { startCollector, type Collector } from '../support/collector.ts';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon-process.ts';
import { testRedis } from '../support/redis.ts';
import { startSandbox, type TestSandbox } from '../support/sandbox.ts';

/** What is done to a key, and who gets the next change nevertheless. */
interface Case {
  /** Writes what is not ours into the key, which has its own type and what the daemon put there. */
  readonly garbage: (redis: Redis, key: string, own: string) => Promise<unknown>;
  /** Who has to wait until the key is restored: `own` is the subscription that the case is about. */
  readonly waits: { readonly wrongType: Waits; readonly garbage: Waits };
  /** Where the garbage does no harm, nothing says that it is there. */
  readonly silent?: readonly Damage[];
}

type Damage = 'wrongType' | 'garbage';
type Waits = 'nobody' | 'own' | 'all';

const nobodyWaits = { wrongType: 'nobody', garbage: 'nobody' } as const;
const texts = [
  'garbage',
  '[1,"P",null',
  '{}',
  '17',
  'two\nlines',
  '"text"',
  '[1,2,3]',
  Buffer.from([0xff, 0xfe, 0x80]),
];

async function spoilFields(redis: Redis, key: string): Promise<void> {
  const fields = await redis.hkeys(key);
  if (fields.length === 0) throw new Error(`${key} is empty`);
  for (const [i, field] of fields.entries()) await redis.hset(key, field, texts[i % texts.length] ?? '');
}

const addField = (redis: Redis, key: string) => redis.hset(key, 'f_1', 'garbage');
const addEntry = (redis: Redis, key: string) => redis.xadd(key, '*', 'a', 'garbage');
const spoilText = (redis: Redis, key: string) => redis.set(key, 'garbage');

const accountCases: Record<Exclude<keyof AccountKeys, 'base' | 'subscription'>, Case> = {
  incarnation: { garbage: spoilText, waits: nobodyWaits },
  filings: { garbage: spoilFields, waits: { wrongType: 'all', garbage: 'nobody' } },
  index: { garbage: (redis, key) => redis.zadd(key, 0, 'garbage'), waits: nobodyWaits, silent: ['garbage'] },
  details: { garbage: spoilFields, waits: nobodyWaits },
  counts: { garbage: spoilFields, waits: nobodyWaits },
  countHistory: { garbage: addEntry, waits: nobodyWaits, silent: ['garbage'] },
  head: { garbage: spoilText, waits: nobodyWaits },
  events: { garbage: addEntry, waits: { wrongType: 'all', garbage: 'nobody' } },
  bodies: { garbage: spoilFields, waits: { wrongType: 'all', garbage: 'nobody' }, silent: ['garbage'] },
  checked: { garbage: spoilText, waits: nobodyWaits, silent: ['garbage'] },
  filingEvents: { garbage: spoilFields, waits: nobodyWaits, silent: ['garbage'] },
  missing: { garbage: addField, waits: nobodyWaits },
  polling: {
    garbage: (redis, key) => redis.hset(key, 'requestsTotal', 'garbage', 'hidden', 'x'),
    waits: nobodyWaits,
  },
  lease: { garbage: spoilText, waits: nobodyWaits },
  tokens: { garbage: addField, waits: nobodyWaits },
  unreadable: { garbage: addEntry, waits: nobodyWaits, silent: ['garbage'] },
  subscriptions: {
    garbage: (redis, key, own) => redis.hset(key, own, 'garbage'),
    waits: { wrongType: 'all', garbage: 'own' },
  },
  resting: {
    garbage: (redis, key, own) => redis.hset(key, own, 'garbage'),
    waits: nobodyWaits,
    silent: ['garbage'],
  },
  idempotency: { garbage: spoilText, waits: nobodyWaits, silent: ['garbage', 'wrongType'] },
};

const subscriptionCases: Record<keyof SubscriptionKeys, Case> = {
  state: { garbage: spoilFields, waits: nobodyWaits },
  lanes: { garbage: addField, waits: nobodyWaits },
  attempts: { garbage: addEntry, waits: nobodyWaits },
  dead: { garbage: addEntry, waits: nobodyWaits },
  replays: {
    garbage: (redis, key) => redis.hset(key, 'running', 'rpl_1', 'rpl_1', 'garbage', 'rpl_1:state', '{'),
    waits: nobodyWaits,
    silent: ['garbage'],
  },
  replayLanes: { garbage: addField, waits: nobodyWaits, silent: ['garbage'] },
};

// Those of the deployment are not an account's: `accounts`, `store` and `witness` have tests of their own, the others hold no record.
const deploymentKeys: Record<keyof Keys, string> = {
  prefix: 'no key',
  queues: "BullMQ's",
  store: 'tested below',
  probe: 'is only written',
  aofMark: 'is only written',
  taken: 'counts what was taken; one that cannot be added to is named by background.error',
  accounts: 'tested below',
  commits: 'a channel',
  witness: 'tested with the accounts',
  account: 'tested with the accounts',
};

const witnessCase: Case = { garbage: addEntry, waits: nobodyWaits, silent: ['garbage'] };
const idempotencyKey = 'the-key-of-the-test';
const idempotencyHash = createHash('sha256').update(idempotencyKey).digest('hex');

interface Stage {
  readonly account: string;
  readonly name: string;
  readonly damage: Damage;
  readonly keyOf: (own: string) => string;
  readonly case: Case;
  own: string;
  beside: string;
}

const redis = testRedis();
const client = redis.connect();
const keys = createKeys(redis.prefix);
let sandbox: TestSandbox;
let daemon: DaemonProcess;
let owns: Collector;
let besides: Collector;

// An account for each case, all of them at once: so each is beside all the others.
const damages: readonly Damage[] = ['wrongType', 'garbage'];
const stages = damages.flatMap((damage) => {
  const stage = (name: string, of: Case, keyOf: (account: string, own: string) => string): Stage => {
    const account = `${name}-${damage}`;
    return { account, name, damage, case: of, keyOf: (own) => keyOf(account, own), own: '', beside: '' };
  };
  return [
    stage('witness', witnessCase, keys.witness),
    ...Object.entries(accountCases).map(([name, of]) =>
      stage(name, of, (account) => {
        const key = keys.account(account)[name as keyof typeof accountCases];
        return typeof key === 'string' ? key : key(idempotencyHash);
      }),
    ),
    ...Object.entries(subscriptionCases).map(([name, of]) =>
      stage(
        name,
        of,
        (account, own) => keys.account(account).subscription(own)[name as keyof SubscriptionKeys],
      ),
    ),
  ];
});

beforeAll(async () => {
  sandbox = await startSandbox();
  await sandbox.seed(5);
  for (const id of ['f_1', 'f_2']) await sandbox.set(id, { status: 'PENDING' });
  owns = await startCollector();
  besides = await startCollector();
  daemon = await startDaemonProcess({
    REDIS_URL: redis.url,
    REDIS_PREFIX: redis.prefix,
    PARTNER_MAX_RPS: '1000',
  });
  for (const stage of stages) await setUp(stage);
  await vi.waitFor(
    async () => {
      for (const { account } of stages) expect((await healthOf(account)).state).toBe('ok');
    },
    { timeout: 60_000, interval: 500 },
  );
}, 120_000);

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  for (const each of [owns, besides, sandbox]) await each[Symbol.asyncDispose]();
  await redis.cleanup();
});

async function setUp(stage: Stage): Promise<void> {
  const path = `/v1/accounts/${stage.account}`;
  await daemon.api.ok('PUT', path, {
    baseUrl: sandbox.baseUrl,
    partnerKey: 'sandbox-key',
    pollIntervalMs: 1_000,
  });
  await daemon.api.ok('POST', `${path}/tokens`, { name: 'a' });
  const register = async ({ url, secret }: Collector) => {
    const headers = url === owns.url ? { 'idempotency-key': idempotencyKey } : {};
    const { body } = await daemon.api.call<{ id: string }>(
      'POST',
      `${path}/subscriptions`,
      { url, secret },
      headers,
    );
    return body.id;
  };
  stage.own = await register(owns);
  stage.beside = await register(besides);
}

interface Health {
  readonly state: string;
  readonly lastError: string | null;
}

async function healthOf(account: string): Promise<Health> {
  return (await daemon.api.ok<{ health: Health }>('GET', `/v1/accounts/${account}`)).health;
}

/** Waits until the change to this status has come to a collector from an account. */
async function expectTold(collector: Collector, account: string, status: string): Promise<void> {
  const told = () =>
    ['f_1', 'f_2'].filter((id) =>
      collector.received.some(
        ({ event: { data } }) => data.account === account && data.filingId === id && data.status === status,
      ),
    );
  await vi.waitFor(() => expect([account, ...told()]).toEqual([account, 'f_1', 'f_2']), {
    timeout: 30_000,
    interval: 50,
  });
}

async function spoil({ case: { garbage }, damage, keyOf, own }: Stage): Promise<Buffer | null> {
  const key = keyOf(own);
  const before = await client.dumpBuffer(key);
  if (damage === 'garbage') {
    await garbage(client, key, own);
  } else {
    const isText = (await client.type(key)) === 'string';
    await client.del(key);
    await (isText ? client.rpush(key, 'a list') : client.set(key, 'a text'));
  }
  return before;
}

async function restore({ keyOf, own }: Stage, before: Buffer | null): Promise<void> {
  if (before === null) await client.del(keyOf(own));
  else await client.restore(keyOf(own), 0, before, 'REPLACE');
}

async function expectReadable({ account, own }: Stage): Promise<void> {
  const paths = [
    '',
    '/counts',
    '/tokens',
    '/subscriptions',
    `/subscriptions/${own}`,
    `/subscriptions/${own}/attempts`,
    `/subscriptions/${own}/dead-letters`,
    '/events',
    '/events?order=newest',
    '/events?filingId=f_1',
    '/filings',
    '/filings?status=PENDING',
    '/filings/f_1',
  ];
  for (const path of paths) {
    const { status, body } = await daemon.api.call('GET', `/v1/accounts/${account}${path}`);
    const { code } = body as { code?: string };
    expect([account, path, status, code]).toEqual(
      status === 200 ? [account, path, 200, undefined] : [account, path, 503, 'record_unreadable'],
    );
  }
}

function waits({ case: of, damage }: Stage): Waits {
  return of.waits[damage];
}

test('there is a case for each key', () => {
  const { base: _, ...ofAccount } = keys.account('a');
  const { subscription, ...cases } = ofAccount;
  expect(Object.keys(accountCases).toSorted()).toEqual(Object.keys(cases).toSorted());
  expect(Object.keys(subscriptionCases).toSorted()).toEqual(Object.keys(subscription('s')).toSorted());
  expect(Object.keys(deploymentKeys).toSorted()).toEqual(Object.keys(keys).toSorted());
});

test('a record that cannot be read hurts itself alone, is named, and is mended where it can be', async () => {
  for (const id of ['f_1', 'f_2']) await sandbox.set(id, { status: 'PAID' });
  for (const { account } of stages)
    for (const collector of [owns, besides]) await expectTold(collector, account, 'PAID');

  const before = new Map<Stage, Buffer | null>();
  for (const stage of stages) before.set(stage, await spoil(stage));
  for (const id of ['f_1', 'f_2'])
    await sandbox.set(id, { status: 'REJECTED', rejectionReason: 'not signed' });
  for (const stage of stages) await expectReadable(stage);
  for (const stage of stages) {
    if (waits(stage) !== 'all') await expectTold(besides, stage.account, 'REJECTED');
    if (waits(stage) === 'nobody') await expectTold(owns, stage.account, 'REJECTED');
  }
  for (const stage of stages) await expectReadable(stage);

  for (const stage of stages) {
    const { account, damage, case: of, keyOf, own } = stage;
    const named = daemon.logs.filter(({ msg, key }) => msg === 'record.unreadable' && key === keyOf(own));
    if (of.silent?.includes(damage) !== true) expect([account, named.length]).not.toEqual([account, 0]);
    if (waits(stage) === 'nobody') continue;
    expect([account, (await healthOf(account)).lastError]).toEqual([
      account,
      expect.stringContaining(keyOf(own)),
    ]);
    await restore(stage, before.get(stage) ?? null);
  }
  for (const { account } of stages)
    for (const collector of [owns, besides]) await expectTold(collector, account, 'REJECTED');
}, 180_000);
